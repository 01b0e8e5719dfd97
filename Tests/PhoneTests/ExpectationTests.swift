import Basics
import Phone
import PushPayload
import Testing

@Suite("What is expected of a timeline")
struct ExpectationTests {
  /// A push with `content-available` wakes an app; its user then taps it.
  static let entries: [TimelineEntry] = {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(Sample.k2, id: "a")
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    return Array(story.told)
  }()

  @Test(
    "a short form, or a part of the entry's JSON, says which entry is meant",
    arguments: [
      ("didReceiveResponse", 1), ("callback didReceiveResponse", 1), ("DRR(default)", 1), ("DRR(REPLY)", 0),
      ("DRF(B)", 1), ("didReceiveRemoteNotificationFetch(background)", 1), ("DRF(active)", 0), ("DRF(p)", 1),
      ("application:didReceiveRemoteNotification:fetchCompletionHandler:", 1), ("didEnterBackground", 0),
      ("callback", 4), ("shown", 1), ("shown BCSN", 1), ("shown NSCB", 1), ("shown BC", 0), ("badge 3", 1),
      ("badge 0 → 3", 1), ("badge 1 -> 3", 0), ("transition suspended → background", 2), ("state active", 1),
      ("user uses the notification", 1), ("system snapshot", 1), ("arrived (K2)", 1),
      (#"{"shown":{"body":"Hello","badge":3}}"#, 1), (#"{"shown":{"body":"Hell"}}"#, 0), (#"{"rule":"D-104"}"#, 3),
      (#"{"what":"callback","rule":"D-104"}"#, 1), (#"{"text":"snapshot"}"#, 1),
      (#"{"callback":true,"state":"active"}"#, 1),
      (#"{"callback":{"method":"DRF","userInfo":{"aps":{"badge":3}}}}"#, 1),
      (#"{"callback":{"method":"DRF","userInfo":{"aps":{"badge":4}}}}"#, 0),
      (#"{"callback":"didReceiveResponse","rule":"D-133"}"#, 1), (#"{"removed":{"ids":["a"]}}"#, 1),
    ])
  func matches(text: String, count: Int) throws {
    let value: JSONValue = text.hasPrefix("{") ? try JSONReader.read(Array(text.utf8)).value : .string(text)
    let pattern = try EntryPattern(value)
    let found = Self.entries.filter(pattern.matches)
    #expect(found.count == count, "\(found.map(\.description).joined(separator: "\n"))")
  }

  @Test(
    "what means nothing is told with a remedy",
    arguments: [
      (#""didRecieveResponse""#, "Did you mean \"didReceiveResponse\"?"), (#""shows BC""#, "Did you mean \"shown\"?"),
      (#""shown BX""#, "Write letters: B banner"), (#""badge many""#, "Write \"badge 3\""),
      (#""state awake""#, "Write one of notRunning"), (#"{"shwon":{}}"#, "shwon: there is no such field"),
      ("7", "Write a text"), (#"{"callback":{"method":"tapped"}}"#, "callback.method: \"tapped\" is no callback"),
      (#"{"rule":7}"#, "rule: found 7"), (#"{"shown":7}"#, "shown: found 7"),
    ])
  func faults(text: String, told: String) throws {
    let value = try JSONReader.read(Array(text.utf8)).value
    do throws(PatternFault) {
      _ = try EntryPattern(value)
      Issue.record("it was taken")
    } catch {
      #expect("\(error)".contains(told), "\(error)")
    }
  }

  @Test("a pattern tells itself in the short form, which means the same")
  func description() throws {
    for text in [
      "didReceiveResponse(default)", "shown BCSN", "badge 0 → 3", "transition suspended → background",
      "didReceiveRemoteNotificationFetch(background)",
    ] {
      #expect(try EntryPattern(text).description == text)
    }
  }

  @Test("all four kinds of expectation hold of what happened")
  func holds() {
    let met: [TimelineExpectation] = [
      .exactly(["DRF(B)", "willEnterForeground", "DRR(default)", "didBecomeActive"], of: ["callback"]),
      .contains(["didBecomeActive", "shown BCSN", "DRF(B)"]), .inOrder(["DRF(B)", "DRR(default)"]),
      .never(["didEnterBackground", "fault"]), .exactly(["shown"], of: ["shown"]),
    ]
    for expectation in met { #expect(expectation.failure(in: Self.entries) == nil) }
  }

  @Test("a broad pattern leaves the entry that a narrow one needs, and one entry does not stand for two")
  func matching() {
    let callbacks = TimelineExpectation.contains(["callback", "callback", "callback", "DRF(B)"])
    #expect(callbacks.failure(in: Self.entries) == nil)
    let twice = TimelineExpectation.contains(["DRF", "DRF"])
    #expect(twice.failure(in: Self.entries)?.rows.map(\.mark) == [.same, .missing])
  }

  @Test("a failure puts expected beside actual, aligned, with the rule that decided")
  func table() throws {
    let expectation = TimelineExpectation.exactly(
      ["DRF(B)", "DRN(B)", "willEnterForeground", "didBecomeActive"], of: ["callback"])
    let failure = try #require(expectation.failure(in: Self.entries))
    #expect(failure.rows.map(\.mark) == [.same, .missing, .same, .extra, .same])
    #expect(failure.rules.map(\.id) == ["D-133"])
    let parts = failure.table().split(separator: "  because:\n")
    let (lines, because) = (parts[0].split(separator: "\n"), try #require(parts.last))
    #expect(lines.count == 6 && Set(lines.map { $0.split(separator: "│")[0].count }).count == 1, "\(failure)")
    #expect(lines[1].hasSuffix("D-104") && lines[2].contains("- DRN(background)") && lines[4].hasSuffix("D-133"))
    #expect(because.contains("D-133: ") && because.contains(" ["), "the rule and who says so: \(because)")
  }

  @Test("what was withheld meanwhile is told, for it is mostly the reason")
  func reasons() throws {
    var story = Story(.g3)
    story.bring(to: .forceQuit)
    story.push(Sample.k3, .background)
    let failure = try #require(TimelineExpectation.contains(["DRF(B)"]).failure(in: Array(story.told)))
    #expect(failure.rules.map(\.id) == ["D-110"])
    #expect(failure.description.contains("and meanwhile:"))
  }

  @Test("out of order is told as such, and what must never be stands with its rule")
  func orderAndNever() throws {
    let order = try #require(TimelineExpectation.inOrder(["DRR", "DRF", "shown"]).failure(in: Self.entries))
    #expect(order.summary.contains("number 2 came earlier") && order.rows.map(\.mark) == [.same, .missing, .unknown])
    let never = try #require(TimelineExpectation.never(["DRF", "fault"]).failure(in: Self.entries))
    #expect(never.rows.map(\.mark) == [.forbidden] && never.rules.map(\.id) == ["D-104"])
  }

  @Test("a short form in Swift that means nothing fails with what is wrong about it")
  func literal() throws {
    let failure = try #require(TimelineExpectation.never(["didRecieveResponse"]).failure(in: []))
    #expect(failure.summary.contains("Did you mean \"didReceiveResponse\"?"))
  }

  @Test("the names of kinds are those that entries have")
  func kinds() {
    #expect(Set(Self.entries.map(\.what.name)).isSubset(of: TimelineEntry.What.names))
  }

  @Test("what stands on the phone can be asked as JSON")
  func facts() {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(Sample.k1, id: "a")
    let facts = JSONValue.object(story.phone.facts(of: Story.bundle))
    let expected: JSONValue = ["state": "suspended", "badge": 3, "centre": ["a"], "locked": false, "prompt": .null]
    #expect(JSONDifference.between(expected, facts, match: .contains) == [])
  }
}
