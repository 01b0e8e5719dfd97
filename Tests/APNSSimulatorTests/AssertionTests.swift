import Basics
import BelfryTesting
import Foundation
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("POST /assertions")
struct AssertionTests {
  /// Three pushes to `phone` (score 1, 2, 2) and a silent one to `pad`; `PHONE` and `PAD` stand for the tokens.
  static let rows: [(that: String, passes: Bool)] = [
    (#"{}"#, true),
    (#"{"token":"PHONE","count":3}"#, true),
    (#"{"token":"PHONE","count":2}"#, false),
    (#"{"token":"PHONE","atLeast":2}"#, true),
    (#"{"token":"PHONE","atMost":2}"#, false),
    (#"{"token":"PHONE","atLeast":1,"atMost":3}"#, true),
    (#"{"device":"watch","never":true}"#, true),
    (#"{"device":"pad","never":true}"#, false),
    (#"{"count":4}"#, true),
    (#"{"payload":{"aps":{"alert":"Score"}},"count":3}"#, true),
    (#"{"payload":{"aps":{"alert":"Score"}},"match":"exact"}"#, false),
    (#"{"payload":{"score":1.0,"aps":{"alert":"Score"}},"match":"exact","count":1}"#, true),
    (#"{"payload":{"aps":{"alert":"score"}}}"#, false),
    (#"{"payload":{"score":9007199254740993},"never":true}"#, true),
    (#"{"headers":{"apns-priority":5,"apns-expiration":null},"count":1}"#, true),
    (#"{"headers":{"Apns-Collapse-Id":"game"},"count":3}"#, true),
    (#"{"headers":{"apns-push-type":"voip"}}"#, false),
    (#"{"device":"pad","findings":"none"}"#, true),
    (#"{"findings":"error","never":true}"#, true),
    (#"{"since":3,"count":1}"#, true),
    // in order
    (
      #"{"payload":{"score":1}},{"payload":{"score":2},"inOrder":true,"count":2},{"device":"pad","inOrder":true}"#, true
    ),
    (#"{"device":"pad"},{"payload":{"score":2},"inOrder":true}"#, false),
    (#"{"payload":{"score":2}},{"payload":{"score":2},"inOrder":true}"#, true),
    (#"{"payload":{"score":2},"count":2},{"payload":{"score":2},"inOrder":true}"#, false),
    (#"{"payload":{"score":3}},{"device":"pad","inOrder":true}"#, false),
    (#"{"payload":{"score":2},"count":2},{"payload":{"score":1},"never":true,"inOrder":true}"#, true),
    (#"{"device":"pad"},{"payload":{"score":1}}"#, true),
  ]

  private static func scene(_ body: (ControlScene, (String) -> String) async throws -> Void) async throws {
    try await ControlScene.run { scene in
      let (phone, pad) = (scene.token(), scene.token("pad"))
      for score in [1, 2, 2] {
        scene.push(phone, #"{"aps":{"alert":"Score"},"score":\#(score)}"#, collapseID: "game")
      }
      scene.push(pad, #"{"aps":{"content-available":1}}"#, type: .background, priority: .considerate)
      try await body(scene) { $0.replacing("PHONE", with: phone).replacing("PAD", with: pad) }
    }
  }

  @Test("judges by what came", arguments: rows)
  func judges(that: String, passes: Bool) async throws {
    try await Self.scene { scene, named in
      let answer = await scene.call("POST", "/assertions", named(#"{"that":[\#(that)]}"#))
      #expect(answer.status == (passes ? 200 : 422), "\(answer.text)")
      #expect(answer["passed"] == .bool(passes))
      let failures = answer["cases"]?.array?.count { $0.object?["passed"] == false }
      #expect((failures == 0) == passes)
    }
  }

  @Test("gives the same verdicts however the pushes came in portions", arguments: 0..<60 as Range<UInt64>)
  func portions(seed: UInt64) async throws {
    var dice = Dice(seed: seed)
    try await Self.scene { scene, named in
      let all = scene.core.withState { state, _ in state.notifications.all }
      for row in Self.rows {
        let request = try AssertionRequest(Array(named(#"{"that":[\#(row.that)]}"#).utf8))
        var (whole, parts) = (
          AssertionRun(request.expectations, start: .seconds(0)), AssertionRun(request.expectations, start: .seconds(0))
        )
        whole.see(all, at: .seconds(1))
        for entry in all.shuffled(using: &dice) { parts.see([entry], at: .seconds(1)) }
        #expect(whole.verdicts == parts.verdicts)
        #expect(whole.verdicts.allSatisfy(\.passed) == row.passes)
      }
    }
  }

  @Test("shows what was expected beside the nearest push, place by place")
  func nearest() async throws {
    try await Self.scene { scene, named in
      let that = #"{"name":"the score","token":"PHONE","payload":{"aps":{"alert":"Goal","badge":3},"score":2}}"#
      let answer = await scene.call("POST", "/assertions", named(#"{"that":[\#(that)]}"#))
      let failure = answer["cases", "0", "failure"]?.object
      #expect(answer["cases", "0", "name"] == "the score" && answer["cases", "0", "found"] == 0)
      #expect(failure?["message"] == "expected at least 1 push, none came")
      let nearest = failure?["nearest"]?.object
      #expect(nearest?["number"] == 3 && nearest?["device"] == "phone")
      #expect(
        nearest?["differences"] == [
          ["path": "payload.aps.alert", "expected": #""Goal""#, "actual": #""Score""#],
          ["path": "payload.aps.badge", "expected": "3", "actual": "(nothing)"],
        ])
      #expect(
        failure?["text"]?.string
          == named(
            """
            expected at least 1 push, none came
              token PHONE
              payload contains {"aps":{"alert":"Goal","badge":3},"score":2}
            The nearest is number 3, to phone at 2026-11-30T00:53:20.000Z:
              payload.aps.alert: expected "Goal", was "Score"
              payload.aps.badge: expected 3, was (nothing)
            """))
    }
  }

  @Test("a push that was refused is told with the cause")
  func refused() async throws {
    try await ControlScene.run { scene in
      var fields = HTTP2FieldList()
      let token = String(repeating: "ab", count: 32)
      fields.append(name: ":path", value: "/3/device/\(token)")
      scene.core.note(
        Refusal(.badDeviceToken, "no device has the token"), id: [], request: PushRequest(fields), now: scene.clock.now)
      let answer = await scene.call("POST", "/assertions", #"{"that":[{"token":"\#(token)"}]}"#)
      let failure = answer["cases", "0", "failure"]?.object
      #expect(failure?["refused"]?.array?.first?.object?["reason"] == "BadDeviceToken")
      let last = failure?["text"]?.string?.split(separator: "\n").last
      #expect(last == "Refused at 2026-11-30T00:53:20.000Z: 400 BadDeviceToken: no device has the token")
      #expect(await scene.call("GET", "/refusals?token=\(token)")["refusals"]?.array?.count == 1)
      #expect(await scene.call("GET", "/refusals?token=ab")["refusals"] == [])
    }
  }

  /// JSON by what it means: what differs, as paths.
  static let differences: [(String, String, JSONDifference.Match, [String])] = [
    (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, .exact, []),
    (#"{"a":1}"#, #"{"a":1,"b":2}"#, .contains, []),
    (#"{"a":1}"#, #"{"a":1,"b":2}"#, .exact, ["payload.b"]),
    (#"{"a":[1,2]}"#, #"{"a":[1,2,3]}"#, .contains, ["payload.a[2]"]),
    (#"{"a":[1,{"x":2}]}"#, #"{"a":[1,{"x":3,"y":4}]}"#, .contains, ["payload.a[1].x"]),
    (#"{"a":[1,2]}"#, #"{"a":[2]}"#, .contains, ["payload.a[0]", "payload.a[1]"]),
    (#"{"a":1}"#, #"{"a":1.0}"#, .exact, []), (#"{"a":100}"#, #"{"a":1e2}"#, .exact, []),
    (#"{"a":9007199254740993}"#, #"{"a":9007199254740992}"#, .contains, ["payload.a"]),
    (#"{"a":18446744073709551617}"#, #"{"a":18446744073709551616}"#, .contains, ["payload.a"]),
    (#"{"a":null}"#, #"{}"#, .contains, ["payload.a"]), (#"{"a":1}"#, #"{"a":"1"}"#, .contains, ["payload.a"]),
    (#"{"a":1}"#, #"{"a":2,"a":1}"#, .contains, []),
    (#"{"a b":{"c":true}}"#, #"{"a b":{}}"#, .exact, [#"payload["a b"].c"#]),
    (#"{"e":"e\u0301"}"#, #"{"e":"\u00e9"}"#, .exact, []),
    ("[]", "{}", .contains, ["payload"]),
  ]

  @Test("compares JSON by its meaning", arguments: differences)
  func compares(expected: String, actual: String, match: JSONDifference.Match, paths: [String]) throws {
    let (expected, actual) = try (
      JSONReader.read(Array(expected.utf8)).value, JSONReader.read(Array(actual.utf8)).value
    )
    #expect(JSONDifference.between(expected, actual, match: match).map(\.path) == paths)
    #expect(JSONDifference.isNone(between: expected, actual, match: match) == paths.isEmpty)
  }

  @Test("names 1,000 differences at most")
  func most() {
    let long = JSONValue.array(Array(repeating: 1, count: 5_000))
    #expect(JSONDifference.between(long, [], match: .exact).count == 1_000)
    #expect(JSONDifference.between(["a": long, "b": long], ["a": [], "b": []], match: .exact).count == 1_000)
  }

  @Test("reads each push once, however many expectations ask for its payload", .timeLimit(.minutes(2)))
  func many() async throws {
    try await ControlScene.run { scene in
      let token = scene.token()
      let long = #"{"aps":{"alert":"Hello"},"list":[\#(Array(repeating: "7", count: 2_000).joined(separator: ","))]}"#
      for _ in 0..<500 { scene.push(token, long) }
      let that = (0..<300).map { #"{"payload":{"aps":{"alert":"Goodbye \#($0)"}}}"# }.joined(separator: ",")
      let answer = await scene.call("POST", "/assertions", #"{"that":[\#(that),{"payload":\#(long),"count":500}]}"#)
      #expect(answer["failures"] == 300 && answer["cases", "300", "passed"] == true)
      #expect(answer["cases", "299", "failure", "nearest", "number"] == 500)
    }
  }

  @Test("waits until all is fulfilled, and not longer")
  func waits() async throws {
    try await ControlScene.run { scene in
      let token = scene.token()
      async let answer = scene.call(
        "POST", "/assertions",
        #"{"wait":"1m","that":[{"token":"\#(token)","count":2},{"payload":{"n":2}}]}"#)
      await scene.waiters(1)
      scene.clock.advance(by: .milliseconds(1500))
      scene.push(token, #"{"n":1}"#)
      scene.push(token, #"{"n":2}"#)
      let told = await answer
      #expect(told.status == 200, "\(told.text)")
      #expect(told["cases", "0", "time"]?.text == "1.5" && told["time"]?.text == "1.5")
      #expect(told["cases", "0", "numbers"] == [1, 2] && told["last"] == 2)
    }
  }

  @Test("never waits to the end, unless it comes: then the answer is there at once")
  func never() async throws {
    try await ControlScene.run { scene in
      let token = scene.token()
      let body = #"{"wait":"5s","that":[{"token":"\#(token)","never":true}]}"#
      async let answer = scene.call("POST", "/assertions", body)
      while scene.clock.sleeperCount == 0 { await Task.yield() }
      scene.clock.advance(by: .seconds(5))
      #expect(await answer.status == 200)
      async let failed = scene.call("POST", "/assertions", body)
      await scene.waiters(1)
      scene.push(token)
      let told = await failed
      #expect(told.status == 422)
      #expect(told["cases", "0", "failure", "message"] == "expected no push, 1 came")
    }
  }

  @Test("JUnit: well-formed whatever the pushes hold, with a case for each expectation")
  func junit() async throws {
    try await ControlScene.run { scene in
      let token = scene.token()
      scene.push(token, #"{"aps":{"alert":"<&>\"' ]]> \u0001 \u001f 👍 \n\t"},"k\u0000":1}"#)
      let body = #"""
        {"suite":"my <app> & \"co\"","that":[{"name":"comes & <is> told\n\u0002","device":"phone"},
         {"payload":{"aps":{"alert":"<b>\u0003"}}},{"token":"TOKEN","never":true}]}
        """#
      let answer = await scene.call("POST", "/assertions?format=junit", body.replacing("TOKEN", with: token))
      #expect(answer.status == 422)
      let document = try XMLDocument(xmlString: answer.text)
      let root = try #require(document.rootElement())
      #expect(root.name == "testsuites" && root.attribute(forName: "tests")?.stringValue == "3")
      #expect(root.attribute(forName: "failures")?.stringValue == "2")
      let suite = try #require(root.elements(forName: "testsuite").first)
      #expect(suite.attribute(forName: "name")?.stringValue == #"my <app> & "co""#)
      #expect(suite.attribute(forName: "timestamp")?.stringValue == "2026-11-30T00:53:20")
      let cases = suite.elements(forName: "testcase")
      #expect(cases.map { $0.elements(forName: "failure").count } == [0, 1, 1])
      #expect(cases[0].attribute(forName: "name")?.stringValue == "comes & <is> told\n\u{FFFD}")
      #expect(cases.allSatisfy { Double($0.attribute(forName: "time")?.stringValue ?? "") != nil })
      let failure = try #require(cases[1].elements(forName: "failure").first)
      #expect(failure.attribute(forName: "message")?.stringValue == "expected at least 1 push, none came")
      #expect(failure.stringValue?.contains("payload.aps.alert") == true)
    }
  }

  @Test("an unknown field is refused with the nearest name")
  func unknownField() async throws {
    try await ControlScene.run { scene in
      let answer = await scene.call("POST", "/assertions", #"{"that":[{"paylod":{}}]}"#)
      #expect(answer.status == 400)
      #expect(answer["error", "remedy"]?.string?.hasPrefix("Did you mean payload?") == true)
      let query = await scene.call("GET", "/notifications?colapseid=1")
      #expect(query["error", "remedy"]?.string?.hasPrefix("Did you mean collapseId?") == true)
    }
  }
}
