import Basics
import Foundation
import Phone
import PhoneLab
import PushPayload
import Testing

@Suite("Scenarios in virtual time")
struct ScenarioTests {
  static func scenario(_ json: String) throws -> Scenario {
    let sources = ScenarioSources { name in
      guard name == "payload.apns" else { throw CocoaError(.fileNoSuchFile) }
      return Array(#"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"from a file"}}"#.utf8)
    }
    return try Scenario(JSONReader.read(Array(json.utf8)).value, name: "test", sources: sources)
  }

  static func run(_ json: String) async throws -> ScenarioResult {
    let scenario = try scenario(json)
    let world = try await VirtualWorld(start: scenario.preparation)
    let result = await scenario.run(in: world)
    await world.close()
    return result
  }

  @Test("a day, a push every ten minutes, runs in moments, and twice the same")
  func day() async throws {
    let push = #"{"push":{"aps":{"alert":"x","content-available":1}}},{"wait":"10m"}"#
    let json = #"{"app":{},"pace":"0s","steps":[\#(Array(repeating: push, count: 144).joined(separator: ","))]}"#
    let begin = ContinuousClock.now
    let first = try await Self.run(json)
    #expect(begin.duration(to: .now) < .seconds(10))
    #expect(first.passed, "\(first.text())")
    let shown = first.timeline.filter { $0.entry.what.name == "shown" }
    #expect(shown.count == 144)
    #expect(shown.last?.entry.time == Instant(rfc3339: "2026-12-01T08:50:00Z"))
    let second = try await Self.run(json)
    #expect(first.timeline == second.timeline)
  }

  @Test("a step's failure says where, on which phone, what was expected beside what happened, and by which rule")
  func failure() async throws {
    let result = try await Self.run(
      #"""
      {"phones":{"old":{"ios":"6.1"},"new":{}},"app":{"start":"forceQuit"},"steps":[
        {"push":{"aps":{"content-available":1}},"note":"silent","expect":{"callbacks":["DRF(B)"],"state":"forceQuit","badge":1}}]}
      """#)
    #expect(result.failures.map(\.phone) == ["old", "old", "new", "new"])
    let text = result.text()
    #expect(text.contains(#"step 1, push {"aps":{"content-available":1}} (silent), on new: expected exactly these"#))
    #expect(
      text.contains("[steps[0].expect.callbacks]") && text.contains("D-110") && text.contains("- DRF(background)"))
    #expect(text.contains("expected 1\n    is       0"))
  }

  @Test("a refused push fails its step unless the refusal is expected")
  func refusal() async throws {
    let step = #"{"push":{"aps":{"alert":"a"}},"headers":{"apns-priority":7}"#
    let told = try await Self.run(#"{"app":{},"steps":[\#(step)}]}"#)
    #expect(told.failures.first?.summary.contains("400 BadPriority: apns-priority is \"7\"") == true)
    let meant = try await Self.run(#"{"app":{},"steps":[\#(step),"expect":{"answer":{"reason":"BadPriority"}}}]}"#)
    #expect(meant.passed, "\(meant.text())")
    let none = try await Self.run(#"{"app":{"start":"absent"},"steps":[{"push":{"aps":{"alert":"a"}}}]}"#)
    #expect(none.failures.first?.summary.contains("com.example.app has none on phone") == true)
  }

  @Test("D-340 a payload may lie in a file beside the scenario, Apple's form for its Simulator too")
  func file() async throws {
    let result = try await Self.run(
      #"{"app":{},"steps":[{"push":"payload.apns","expect":{"shown":[{"body":"from a file"}]}}]}"#)
    #expect(result.passed, "\(result.text())")
  }

  @Test("names of pushes stand for their ids, on each phone its own")
  func names() async throws {
    let result = try await Self.run(
      #"""
      {"phones":{"a":{},"b":{}},"app":{},"steps":[
        {"push":{"aps":{"alert":"1"}},"name":"one"},{"push":{"aps":{"alert":"2"}},"name":"two"},
        {"tap":"one","expect":{"centre":["two"],"contains":[{"removed":{"ids":["one"]}}]}}]}
      """#)
    #expect(result.passed, "\(result.text())")
  }

  @Test(
    "every start of an app is where it says",
    arguments: ["absent", "installed", "active", "inactive", "background", "suspended", "notRunning", "forceQuit"])
  func starts(start: String) async throws {
    let state = start == "absent" ? "null" : start == "installed" ? "\"notRunning\"" : "\"\(start)\""
    let result = try await Self.run(
      #"""
      {"app":{"start":"\#(start)"},"pace":"0s","steps":[{"wait":"0s"}],
       "expect":{"exact":[],"state":\#(state),"token":\#(start != "absent" && start != "installed")}}
      """#)
    #expect(result.passed, "\(result.text())")
  }

  @Test(
    "a mistake is told with place, finding and remedy",
    arguments: [
      (#"{"steps":[]}"#, "steps: there is no step"),
      (#"{"steps":[{"launhc":true}]}"#, "steps[0].launhc: there is no such field. Did you mean 'launch'?"),
      (#"{"steps":["launhc"]}"#, #"steps[0]: found "launhc". Did you mean "launch"?"#),
      (#"{"steps":[{"lock":true,"unlock":true}]}"#, "it has the verbs"),
      (#"{"steps":[{"wait":5}]}"#, "steps[0].wait: found 5. Write a number with its unit"),
      (
        #"{"steps":[{"wait":"5s","expect":{"shown":["X"]}}]}"#,
        "steps[0].expect.shown[0]: \"X\" is not what a user gets"
      ),
      (
        #"{"steps":[{"wait":"5s","expect":{"callbacks":["didRecieveResponse"]}}]}"#,
        "Did you mean \"didReceiveResponse\"?"
      ),
      (#"{"phone":{"iOS":"17"},"steps":["lock"]}"#, "phone.iOS: there is no such field. Did you mean 'ios'?"),
      (#"{"phone":{"ios":"new"},"steps":["lock"]}"#, "phone.ios: found \"new\". Write a version"),
      (#"{"app":{"delegate":"late"},"steps":["lock"]}"#, "app.delegate: found \"late\". Write one of \"never\""),
      (#"{"app":{"script":{"didFinish":["x"]}},"steps":["lock"]}"#, "app.script.didFinish: there is no such field"),
      (#"{"app":{"script":{"didFinishLaunching":["setBadge"]}},"steps":["lock"]}"#, "setBadge needs a value"),
      (#"{"apps":{"a":{},"b":{}},"steps":[{"launch":true}]}"#, "it does not say which of the apps is meant"),
      (#"{"phones":{"a":{}},"steps":[{"lock":true,"on":"b"}]}"#, "steps[0].on: found \"b\". Write one of \"a\""),
      (#"{"phone":{},"phones":{},"steps":["lock"]}"#, "there are both phone and phones"),
      (#"{"app":{},"steps":[{"push":"nowhere.json"}]}"#, "the file nowhere.json cannot be read"),
      (#"{"steps":[{"change":{"locked":true}}]}"#, "Use the steps lock and unlock"),
      (#"{"steps":["lock"],"expect":{"colour":"red"}}"#, "expect.colour: there is no such field"), ("7", "$: found 7"),
    ])
  func mistakes(json: String, told: String) throws {
    do {
      _ = try Self.scenario(json)
      Issue.record("it was taken")
    } catch let fault as ScenarioFault {
      #expect("\(fault)".contains(told), "\(fault)")
    }
  }
}
