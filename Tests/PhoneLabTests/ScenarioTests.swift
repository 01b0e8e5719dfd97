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
    #expect(text.contains("expected │ is\n      ≠ 1        │ 0"))
    #expect(text.contains("D-110: after a force-quit a silent push wakes nothing [Apple,"), "the rule and who says so")
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

  /// A step's answer, what is expected of it, and what the report names as the reason.
  static let answers = [
    (#""headers":{"apns-priority":7}"#, "200", "BadPriority [Apple, “Handling notification responses from APNs”]"),
    (#""headers":{"apns-priority":10}"#, "400", "D-072: server, APNs, this phone"),
    (#""formerToken":true"#, "410", "D-045: APNs learns late that an app is gone"),
    (#""formerToken":true"#, #"{"reason":"BadDeviceToken"}"#, "D-046: a token that changes is told again"),
  ]

  @Test("an answer that is not as expected names what decided it, and who says so", arguments: answers)
  func answerReason(more: String, wanted: String, reason: String) async throws {
    let push = #""push":{"aps":{"alert":"a"}},\#(more)"#
    let before = wanted.contains("reason") ? #"{\#(push)},{"wait":"11s"},"# : ""
    let story = #"""
      {"app":{},"steps":[{"renewTokens":true},\#(before)
        {\#(push),"expect":{"answer":\#(wanted)}}]}
      """#
    let result = try await Self.run(story)
    #expect(result.failures.count == 1)
    #expect(result.text().contains(reason), "\(result.text())")
  }

  @Test("a channel that was made is known to an app's script by the scenario's name of it")
  func channelInScript() async throws {
    let result = try await Self.run(
      #"""
      {"phone":{"ios":"18.0"},"app":{"start":"notRunning","liveActivities":{"attributesTypes":["Match"]},"script":{
          "didFinishLaunching":[{"askAndRegister":"usual"}],
          "didBecomeActive":[{"startActivity":{"attributesType":"Match","state":{"n":0},"push":"lions"}}]}},
        "steps":[{"createChannel":"lions","expect":{"answer":201}},"launch","home",
          {"push":{"aps":{"event":"update","content-state":{"n":1}}},"channel":"lions",
            "expect":{"screen":{"activities":[{"content":{"n":1}}]}}}]}
      """#)
    #expect(result.passed, "\(result.text())")
  }

  @Test("what the user sees: as far as it is said, with names of pushes, and what differs in columns")
  func screen() async throws {
    func story(_ screen: String) -> String {
      #"""
      {"phone":{"locked":true,"previews":"always"},"app":{},"steps":[
        {"push":{"aps":{"alert":{"title":"T","body":"one"},"badge":3}},"name":"one"},
        {"push":{"aps":{"alert":"two"}},"name":"two","expect":{"screen":\#(screen)}}]}
      """#
    }
    let right = #"{"locked":true,"banners":[],"alert":null,"icons":[{"badge":3}],"#
    let list =
      #""lockScreen":[{"title":"App","notifications":[{"id":"two","body":"two"},{"id":"one","heading":"T"}]}]}"#
    let seen = try await Self.run(story(right + list))
    #expect(seen.passed, "\(seen.text())")
    let wrong = try await Self.run(story(#"{"locked":false,"icons":[{"badge":3}],"lockScreen":[]}"#))
    let text = wrong.text()
    #expect(text.contains("[steps[1].expect.screen]") && text.contains("the user sees something else"))
    #expect(text.contains("≠ locked         false     │ true"), "\(text)")
    #expect(text.contains("≠ lockScreen[0]  (nothing) │ {"), "\(text)")
    let update = try #require(wrong.failures.first?.update?.object)
    #expect(update["locked"] == true && update["icons"] == [["badge": 3]] && update["lockScreen"]?.array?.count == 1)
  }

  @Test("D-302 D-305 messages wait for the app, come in order, each once, again after a cut; the history is whole")
  func messages() async throws {
    let result = try await Self.run(
      #"""
      {"app":{"usesMessages":true},"steps":[
        {"message":{"content":"1"},"expect":{"never":["didReceiveMessage"]}},{"message":{"content":"2"}},
        {"launch":true,"expect":{"inOrder":[{"callback":{"method":"didReceiveMessage"},"text":"message 1 "},
          {"callback":{"method":"didReceiveMessage"},"text":"message 2 "}]}},
        "cutMessages",{"message":{"content":"3"}},
        {"wait":"1s"},{"message":{"content":"again","sequence":2},"expect":{"never":["didReceiveMessage"]}},
        {"app":"fetchMessageHistory","expect":{"callbacks":["messageHistory"]}}],
       "expect":{"contains":[{"callback":{"method":"didReceiveMessage"},"text":"message 3 "}]}}
      """#)
    #expect(result.passed, "\(result.text())")
    #expect(result.timeline.count { $0.entry.what.words.hasPrefix("BelfryKit.messages") } == 3)
  }

  @Test("D-046 renewed tokens: the app is told at its next launch, and a push by the new one arrives")
  func renewedTokens() async throws {
    let result = try await Self.run(
      #"""
      {"app":{},"steps":["renewTokens",{"push":{"aps":{"alert":"a"}},"expect":{"shown":["BC"]}},
        {"launch":true,"expect":{"contains":[{"callback":{"method":"didRegisterForRemoteNotifications"}}]}}]}
      """#)
    #expect(result.passed, "\(result.text())")
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
      (
        #"{"steps":["lock"],"expect":{"screen":{"baners":[]}}}"#,
        "expect.screen.baners: there is no such field. Did you mean 'banners'?"
      ),
      (
        #"{"steps":["lock"],"expect":{"screen":{"centre":[{"notifications":[{"titel":"x"}]}]}}}"#,
        "expect.screen.centre[0].notifications[0].titel: there is no such field"
      ),
      (#"{"steps":[{"message":{"title":"x"}}]}"#, "steps[0].message: there is no content"),
      (#"{"steps":["createChannel"]}"#, "createChannel needs a value"),
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
