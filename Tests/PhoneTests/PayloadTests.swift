import Basics
import Phone
import PushPayload
import Testing

@Suite("What a payload means on the phone")
struct PayloadTests {
  @Test(
    "D-200 bytes that are no JSON object are dropped, with the reason", arguments: ["", "{", "[1]", "7", "{\"aps\":"])
  func notJSON(text: String) {
    var story = Story(.g3)
    story.bring(to: .active)
    story.happens(.push(DeliveredPayload(id: "p", bundleID: Story.bundle, bytes: Array(text.utf8))))
    #expect(story.calls == "-")
    #expect(story.letters == "-")
    #expect(story.said("APNs would have refused it", "D-200"))
  }

  @Test("D-200 D-202 alert as string or object, badge a number, sound a string, flags 1")
  func keys() throws {
    var story = Story(.g3)
    story.push(["aps": ["alert": "text", "badge": 2, "sound": "default", "content-available": 1, "mutable-content": 1]])
    let shown = try #require(story.shown.first)
    #expect(shown.heading == "News")
    #expect(shown.body == "text")
    #expect(shown.parts.letters == "BCSN")
  }

  @Test("D-201 custom keys stand beside aps; inside it the system ignores them, yet the app sees all")
  func customInside() {
    var story = Story(.g2)
    story.bring(to: .suspended)
    story.push(["aps": ["content-available": 1, "task": "sync"]], .background)
    #expect(story.callbacks.first?.arguments.userInfo?["aps"]?.object?["task"] == "sync")
    #expect(story.told.contains { if case .arrived(_, .silent, _) = $0.what { true } else { false } }, "K3, not K7")
  }

  @Test("D-202 D-203 title and subtitle from iOS 10; before, the app's name heads the entry")
  func titles() throws {
    let payload: JSONValue = ["aps": ["alert": ["title": "T", "subtitle": "S", "body": "B"]]]
    for (version, heading, subtitle) in [(IOSVersion.g1, "News", ""), (.g2, "News", ""), (.g3, "T", "S")] {
      var story = Story(version)
      story.push(payload)
      let shown = try #require(story.shown.first)
      #expect(shown.heading == heading)
      #expect(shown.subtitle == subtitle)
      #expect(shown.body == "B")
    }
  }

  @Test(
    "D-210 D-211 C22 badge 5, then each form",
    arguments: [
      (#""#, 5, 2), (#", "badge": 0"#, 0, 1), (#", "badge": "1""#, 5, 2), (#", "badge": -1"#, 5, 2),
      (#", "badge": 1.0"#, 5, 2), (#", "badge": true"#, 5, 2), (#", "badge": null"#, 5, 2),
    ])
  func badgeForms(member: String, badge: Int, entries: Int) {
    var story = Story(.g3)
    story.push(["aps": ["alert": "a", "badge": 5]])
    let bytes = Array("{\"aps\": {\"alert\": \"b\"\(member)}}".utf8)
    story.happens(.push(DeliveredPayload(id: "second", bundleID: Story.bundle, bytes: bytes)))
    #expect(story.badge == badge)
    #expect(story.centre.count == entries)
    #expect(story.centre.first == "second")
  }

  @Test(
    "D-212 custom data tells the app which page to open: after a tap it has it", arguments: [IOSVersion.g1, .g2, .g3])
  func customData(version: IOSVersion) {
    var story = Story(version)
    story.push(Sample.s2Visible)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    let opened = story.callbacks.compactMap { $0.arguments.userInfo?["customData"]?.object?["id"] }
    #expect(Set(opened) == ["12345"])
  }

  @Test("D-226 thread, category, window and Focus filter reach the app as properties of the content")
  func identifiers() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.push([
      "aps": [
        "alert": "a", "thread-id": "t", "category": "c", "target-content-id": "window", "filter-criteria": "work",
      ]
    ])
    guard case .notification(let seen)? = story.callbacks.first?.arguments else {
      Issue.record("no notification")
      return
    }
    #expect([seen.threadIdentifier, seen.categoryIdentifier] == ["t", "c"])
    #expect(seen.targetContentIdentifier == "window")
    #expect(seen.filterCriteria == "work")
    story.push(["aps": ["alert": "a"]])
    guard case .notification(let plain)? = story.callbacks.last?.arguments else {
      Issue.record("no notification")
      return
    }
    #expect([plain.threadIdentifier, plain.categoryIdentifier] == ["", ""])
    #expect(plain.targetContentIdentifier == nil)
    #expect(plain.filterCriteria == nil)
  }

  @Test("D-227 more bytes than APNs took at the time: told, and shown whole")
  func sizes() {
    for (version, limit) in [
      (IOSVersion(6, 1), 256), (IOSVersion(7, 1), 256), (IOSVersion(8), 2_048), (IOSVersion(9), 4_096), (.g3, 4_096),
    ] {
      for (size, isTold) in [(limit, false), (limit + 1, true)] {
        let empty: JSONValue = ["aps": ["alert": ""]]
        let body = String(repeating: "x", count: size - empty.encoded().count)
        var story = Story(version)
        story.push(["aps": ["alert": .string(body)]])
        #expect(story.shown.first?.body == body)
        #expect(story.rules.contains("D-227") == isTold, "iOS \(version), \(size) bytes")
      }
    }
  }

  @Test("D-214 the number is shown as it came, up to what the system can count")
  func largeNumbers() {
    var story = Story(.g3)
    story.push(["aps": ["badge": 123_456_789]])
    #expect(story.badge == 123_456_789)
  }

  @Test("D-220 absent and empty are silent, an unknown file is the system's sound")
  func sounds() {
    for (sound, letters) in [(nil, "BC"), ("", "BC"), ("gone.caf", "BCS")] as [(JSONValue?, String)] {
      var aps: JSONObject = ["alert": "a"]
      aps["sound"] = sound
      var story = Story(.g3)
      story.push(["aps": .object(aps)])
      #expect(story.letters == letters)
      #expect(story.shown.first?.sound == (letters == "BCS" ? .system : nil))
    }
  }

  @Test("C23 a badge beside content-available is something to show; a category alone is not")
  func silentThatIsNone() {
    var badge = Story(.g3)
    badge.push(Sample.k1)
    badge.happens(.launch(bundleID: Story.bundle), .home, .suspend(bundleID: Story.bundle))
    badge.forget()
    badge.push(["aps": ["content-available": 1, "badge": 0]])
    #expect(badge.letters == "N")
    #expect(badge.calls == "DRF(B)")
    #expect(badge.centre.isEmpty)
    var category = Story(.g3)
    category.bring(to: .suspended)
    category.push(["aps": ["content-available": 1, "category": "x"]], .background)
    #expect(category.letters == "-")
    #expect(category.calls == "DRF(B)")
    var alert = Story(.g3)
    alert.push(["aps": ["category": "x"]])
    #expect(alert.letters == "-")
  }

  static let nothings: [(JSONValue, heading: String?, body: String, letters: String)] = [
    (["aps": ["alert": [:]]], nil, "", "-"),
    (["aps": ["alert": ""]], nil, "", "-"),
    (["aps": ["alert": ["title": "A"]]], "A", "", "BC"),
    (["aps": ["alert": ["title": "A", "body": ""]]], "A", "", "BC"),
    (["aps": ["alert": ["body": "B"]]], "News", "B", "BC"),
    (["aps": ["sound": "default"]], nil, "", "S"),
    (["aps": ["badge": 1]], nil, "", "N"),
    (["key": "value"], nil, "", "-"),
    (["aps": [:]], nil, "", "-"),
  ]

  @Test("C24 nothing to show: what the phone shows of each is what the shared table says", arguments: nothings.indices)
  func nothingToShow(index: Int) throws {
    let row = Self.nothings[index]
    var story = Story(.g3)
    story.push(row.0)
    #expect(story.letters == row.letters)
    let appearance = Payload(row.0).appearance
    #expect(appearance.isNothing == (row.letters == "-"))
    #expect(appearance.showsText == row.letters.contains("C"))
    if let heading = row.heading {
      #expect(story.shown.first?.heading == heading)
      #expect(story.shown.first?.body == row.body)
    }
  }
}
