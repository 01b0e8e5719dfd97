import APNSSimulator
import Basics
import BelfryTesting
import HTTPClient
import PushPayload
import Testing
import Transport

@testable import Phone
@testable import PhoneLab
@testable import belfry

/// `belfry phone --apns`: the phone is here, APNs is another process.
@Suite("A phone at an APNs that runs elsewhere", .timeLimit(.minutes(1)))
struct RemoteAPNSTests {
  private static let app = "com.example.app"

  private struct Scene {
    let host: PhoneHost
    let simulator: APNSSimulator
    /// As a provider.
    let provider: ControlLine
    let url: String

    func push(_ payload: JSONValue, _ type: PushType, to token: [UInt8]?) async -> ScenarioAnswer {
      await provider.push(
        ProviderPush(
          payload: payload.encoded(), token: token ?? [],
          headers: [
            ("apns-push-type", type.rawValue), ("apns-priority", "10"),
            ("apns-topic", type.completed(topic: RemoteAPNSTests.app)),
          ], bundleID: RemoteAPNSTests.app, environment: .sandbox))
    }

    func told(_ holds: @escaping @Sendable (TimelineEntry) -> Bool) async -> Bool {
      await eventually { await host.newest(5000).contains(where: holds) }
    }
  }

  private static func run(_ ios: IOSVersion, _ body: (Scene) async throws -> Void) async throws {
    let simulator = try await APNSSimulator.start()
    let control = try #require(simulator.controlEndpoint)
    let url = "http://\(control)"
    let clock = PhoneClock(SystemClock())
    var settings = PhoneSettings(iosVersion: ios)
    settings.deniedDropsAlertAtAPNs = true
    let host = await PhoneHost(
      name: "iPhone", settings: settings, connection: .remote(try await RemoteAPNS(url, clock: clock)), clock: clock,
      environment: .development)
    let provider = try await ControlLine(url)
    let beginning: [Phone.Event] = [
      .installApp(UsualApp.description(app, environment: .development, ios: ios)), .launch(bundleID: app),
      .answerPrompt(allow: true), .home,
    ]
    _ = try await host.perform(.events(beginning))
    do {
      try await body(Scene(host: host, simulator: simulator, provider: provider, url: url))
    } catch { Issue.record(error) }
    await host.stop()
    await provider.close()
    await simulator.stop()
  }

  @Test("D-046 D-048 D-189 it is known by all of its tokens, and each reaches what it is for")
  func tokens() async throws {
    try await Self.run(IOSVersion(17, 5)) { scene in
      let phone = await scene.host.phone()
      #expect(await scene.push(["aps": ["alert": "Hello"]], .alert, to: phone.token(of: Self.app)).status == 200)
      #expect(await scene.told { if case .shown = $0.what { true } else { false } })
      #expect(await scene.push(["aps": [:]], .voip, to: phone.voipToken(of: Self.app)).status == 200)
      #expect(await eventually { await scene.host.phone().screen.call != nil })
      let start: JSONValue = [
        "aps": [
          "event": "start", "timestamp": .number(JSONNumber(SystemClock().now.seconds)),
          "attributes-type": .string(UsualApp.activity.attributesType), "attributes": ["name": "x"],
          "content-state": ["status": "one"], "alert": ["title": "Started", "body": "now"],
        ]
      ]
      let starts = phone.pushToStartToken(of: Self.app, attributesType: UsualApp.activity.attributesType)
      #expect(await scene.push(start, .liveactivity, to: starts).status == 200)
      #expect(await eventually { await scene.host.phone().liveActivities(of: Self.app).first?.token != nil })
      // its update token is known as soon as the phone has told what happened
      let update: JSONValue = [
        "aps": [
          "event": "update", "timestamp": .number(JSONNumber(SystemClock().now.seconds + 1)),
          "content-state": ["status": "two"],
        ]
      ]
      let token = await scene.host.phone().liveActivities(of: Self.app).first?.token
      #expect(
        await eventually { await scene.push(update, .liveactivity, to: token).status == 200 })
      #expect(
        await eventually {
          await scene.host.phone().liveActivities(of: Self.app).first?.activity.contentState["status"] == "two"
        })
    }
  }

  @Test("D-047 alerts turned off: APNs drops them and the phone hears so; on again, they come")
  func alertsOff() async throws {
    try await Self.run(IOSVersion(17, 5)) { scene in
      let token = await scene.host.phone().token(of: Self.app)
      var off = Phone.UserSettings()
      off.allowed = false
      _ = try await scene.host.perform(.events([.changePermission(bundleID: Self.app, off)]))
      #expect(await scene.push(["aps": ["alert": "x"]], .alert, to: token).status == 200)
      #expect(await scene.told { if case .withheld = $0.what { $0.rule == "D-047" } else { false } })
      _ = try await scene.host.perform(.events([.changePermission(bundleID: Self.app, Phone.UserSettings())]))
      // APNs hears of it by another way than pushes come: those that were faster are dropped still
      #expect(
        await eventually {
          let answer = await scene.push(["aps": ["alert": "y"]], .alert, to: token)
          let newest = await scene.host.newest(5000)
          return answer.status == 200 && newest.contains { if case .shown = $0.what { true } else { false } }
        })
    }
  }

  @Test("an APNs that was started anew, without memory, knows the phone again, and its pushes come")
  func startedAnew() async throws {
    try await Self.run(IOSVersion(17, 5)) { scene in
      let token = await scene.host.phone().token(of: Self.app)
      await scene.simulator.stop()
      var configuration = APNSSimulator.Configuration()
      configuration.control = scene.simulator.controlEndpoint
      let simulator = try await APNSSimulator.start(configuration)
      let provider = try await ControlLine(scene.url)
      let anew = Scene(host: scene.host, simulator: simulator, provider: provider, url: scene.url)
      #expect(
        await eventually { await anew.push(["aps": ["alert": "Hello"]], .alert, to: token).status == 200 })
      #expect(await anew.told { if case .shown = $0.what { true } else { false } })
      await provider.close()
      await simulator.stop()
    }
  }

  @Test("D-189 a channel made elsewhere: its broadcasts come; one that is not there is told")
  func channel() async throws {
    try await Self.run(IOSVersion(18)) { scene in
      let made = await scene.provider.createChannel(of: Self.app, in: .sandbox, keepsNewest: false)
      let channel = try #require(made.id)
      for name in [channel, "bm9uZQ=="] {
        var request = UsualApp.activity
        request.pushType = .channel(name)
        _ = try await scene.host.perform(
          .events([.launch(bundleID: Self.app), .app(bundleID: Self.app, .startActivity(request))]))
      }
      #expect(
        await scene.told { entry in entry.description.contains("no such channel") })
      let answer = await scene.provider.push(
        ProviderPush(
          payload: JSONValue.object([
            "aps": [
              "event": "update", "timestamp": .number(JSONNumber(SystemClock().now.seconds + 1)),
              "content-state": ["status": "broadcast"],
            ]
          ]).encoded(), token: [], headers: [("apns-priority", "10")], bundleID: Self.app,
          environment: .sandbox, channel: channel))
      #expect(answer.status == 200)
      #expect(
        await eventually {
          await scene.host.phone().liveActivities(of: Self.app).contains {
            $0.activity.contentState["status"] == "broadcast"
          }
        })
    }
  }

  @Test("D-046 tokens that were renewed over there are the phone's, and reach it")
  func renewed() async throws {
    try await Self.run(IOSVersion(17, 5)) { scene in
      let former = await scene.host.phone().token(of: Self.app)
      let http = HTTPClient()
      let answer = try await http.call(
        "POST", "\(scene.url)/devices/iPhone/renew", headers: ["Content-Type": "application/json"],
        body: JSONValue.object(["reason": "os-update"]).encoded())
      #expect(answer.status == 200)
      _ = try await scene.host.perform(.events([.launch(bundleID: Self.app), .home]))
      #expect(await eventually { await scene.host.phone().token(of: Self.app) != former })
      let token = await scene.host.phone().token(of: Self.app)
      #expect(await scene.push(["aps": ["alert": "new"]], .alert, to: token).status == 200)
      #expect(await scene.told { if case .shown = $0.what { true } else { false } })
    }
  }
}
