import PushPayload
import Testing

@testable import PhoneLab

/// What people write who have only read docs/scenarios.md once, and what they are told.
@Suite("Mistakes in scenarios")
struct ScenarioMistakeTests {
  static let refused = [
    (
      #"{"app":{"bundleId":"com.acme.shop"},"steps":["lock"]}"#,
      "app.bundleId: there is no such field. Did you mean 'bundle'?"
    ),
    (#"{"app":{"state":"background"},"steps":["lock"]}"#, "app.state: there is no such field. Did you mean 'start'?"),
    (#"{"steps":[{"sleep":"5s"}]}"#, "steps[0].sleep: there is no such field. Did you mean 'wait'?"),
    (
      #"{"steps":[{"push":{"aps":{"alert":"x"}},"priority":5}]}"#,
      "steps[0].priority: there is no such field. Did you mean 'headers'?"
    ),
    (
      #"{"steps":[{"push":{"aps":{"alert":"x"}},"headers":{"apns_priority":"5"}}]}"#,
      "steps[0].headers.apns_priority: APNs knows no such header. Did you mean apns-priority?"
    ),
    (
      #"{"steps":["lock"],"expect":{"state":"foreground"}}"#,
      #"expect.state: found "foreground". Write one of "notRunning""#
    ),
    (#"{"steps":["lock"],"expect":{"badge":"1"}}"#, #"expect.badge: found "1". Write a whole number"#),
    (#"{"steps":["lock"],"expect":{"centre":"x"}}"#, #"expect.centre: found "x". Write a list"#),
    (#"{"steps":["lock"],"expect":{"installed":"yes"}}"#, #"expect.installed: found "yes". Write true or false."#),
    (
      #"{"steps":["lock"],"expect":{"screen":{"icons":[{"badge":"1"}]}}}"#,
      #"expect.screen.icons[0].badge: found "1". Write a whole number"#
    ),
    (
      #"{"steps":[{"push":{"aps":{}},"channel":"c","formerToken":true}]}"#,
      "steps[0].formerToken: a broadcast goes to no token. Leave out channel or formerToken."
    ),
    (
      #"{"steps":["lock"],"expect":{"shown":[{"body":"x","rule":7}]}}"#, "expect.shown[0].rule"
    ),
  ]

  @Test("are refused with the place and what to write", arguments: refused)
  func refusal(json: String, words: String) throws {
    let value = try JSONReader.read(Array(json.utf8)).value
    #expect {
      _ = try Scenario(value, name: "s", sources: ScenarioSources { _ in [] })
    } throws: {
      "\($0)".hasPrefix(words)
    }
  }

  static let told = [
    (
      #"{"push":{"alert":"Hello"},"expect":{"shown":["BC"]}}"#,
      "alert beside aps, not in it"
    ),
    (#"{"tap":true,"expect":{"callbacks":["DRR"]}}"#, "finds no notification of the app to use"),
    (#"{"allow":true,"expect":{"contains":["authorizationAnswer"]}}"#, "finds no prompt to answer"),
  ]

  @Test("that only playing shows name what happened instead", arguments: told)
  func failure(step: String, words: String) async throws {
    let result = try await ScenarioTests.run(#"{"app":{},"steps":[\#(step)]}"#)
    #expect(result.text().contains(words), "\(result.text())")
  }
}
