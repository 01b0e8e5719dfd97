import APNSClient
import APNSSimulator
import Basics
import Delivery
import Phone
import PhoneLab
import PushPayload
import Testing
import Transport

/// Live Activities, channels and VoIP between a provider and a phone, by the tokens and channels that APNs gave.
@Suite("Live Activities and calls over the simulated APNs")
struct LabActivityTests {
  private static let match = "Match"
  private static let delivery = "Delivery"

  private static var app: AppDescription {
    var app = LabScene.app
    app.liveActivities = LiveActivitySupport(attributesTypes: [match, delivery])
    return app
  }

  private static func start(_ type: String, channel: String? = nil) -> [UInt8] {
    LiveActivityPush.start(
      LiveActivityPush.Start(attributesType: type, attributes: ["order": 12], channel: channel),
      contentState: ["left": 30], alert: LiveActivityPush.Alert(title: .literal("On its way"), body: .literal("Soon")),
      at: SystemClock().now
    ).bytes
  }

  private static func update(_ left: Int64, after seconds: Int64) -> LiveActivityPush {
    .update(contentState: ["left": .number(JSONNumber(left))], at: SystemClock().now + .seconds(seconds))
  }

  /// True as soon as an activity of that type became that.
  private func became(_ kind: ActivityChange.Kind, _ type: String, on name: String, _ scene: LabScene) async -> Bool {
    await scene.lab.wait(for: name, within: .seconds(20)) { entries in
      entries.contains { entry in
        if case .activity(let change) = entry.what {
          change.kind == kind && change.attributesType == type
        } else {
          false
        }
      }
    }
  }

  private func activities(_ scene: LabScene, _ name: String = "a") async -> [ShownActivity] {
    await scene.lab.phone(name)?.liveActivities(of: LabScene.bundle) ?? []
  }

  @Test("D-189 push-to-start by a type's own token, update and end by the activity's; each token reaches its own only")
  func byTokens() async throws {
    try await LabScene.run { scene in
      _ = await scene.phone("a", IOSVersion(18), app: Self.app)
      let phone = try #require(await scene.lab.phone("a"))
      let toMatch = try #require(phone.pushToStartToken(of: LabScene.bundle, attributesType: Self.match))
      let toDelivery = try #require(phone.pushToStartToken(of: LabScene.bundle, attributesType: Self.delivery))
      #expect(toMatch != toDelivery)

      #expect(await scene.push(Self.start(Self.match), to: toMatch, id: 1, .liveactivity)?.isAccepted == true)
      #expect(await became(.started, Self.match, on: "a", scene))
      #expect(await scene.push(Self.start(Self.delivery), to: toDelivery, id: 2, .liveactivity)?.isAccepted == true)
      #expect(await became(.started, Self.delivery, on: "a", scene))
      let tokens = await activities(scene).compactMap(\.token)
      #expect(Set(tokens).count == 2)
      #expect(scene.simulator.courier.activities(device: "a").isEmpty, "the phone keeps them, not the simulator")

      _ = await scene.push(Self.update(20, after: 1).bytes, to: tokens[0], id: 3, .liveactivity)
      #expect(await became(.updated, Self.match, on: "a", scene))
      #expect(await activities(scene).map { $0.activity.contentState["left"] } == [20, 30])

      let end = LiveActivityPush.end(contentState: nil, at: SystemClock().now + .seconds(2))
      _ = await scene.push(end.bytes, to: tokens[0], id: 4, .liveactivity)
      #expect(await became(.ended(.push), Self.match, on: "a", scene))
      #expect(await activities(scene).map(\.state) == [.ended, .active])

      await scene.lab.perform(.dismissActivity(bundleID: LabScene.bundle, id: nil), on: "a")
      var refusal: PushOutcome.Refusal?
      for id in 5...9 where refusal == nil {
        let outcome = await scene.push(Self.update(10, after: 3).bytes, to: tokens[1], id: id, .liveactivity)
        if case .refused(let told)? = outcome { refusal = told }
      }
      #expect(refusal?.reason == "ExpiredToken", "the token of an activity that was swiped away has had its time")
    }
  }

  @Test("D-189 iOS 18: a broadcast reaches the activity that listens to the channel, until it is gone")
  func broadcast() async throws {
    try await LabScene.run { scene in
      let channels = try scene.channels()
      let channel = try await channels.createChannel(.newest)
      _ = await scene.phone("a", IOSVersion(18), app: Self.app)
      _ = await scene.phone("b", IOSVersion(18), app: Self.app)
      let request = ActivityRequest(
        attributesType: Self.match, content: ActivityContent(state: ["left": 30]), pushType: .channel(channel))
      await scene.lab.perform(
        [
          .launch(bundleID: LabScene.bundle), .app(bundleID: LabScene.bundle, .startActivity(request)), .home,
        ], on: "a")
      let later = SystemClock().now.seconds + 3_600
      _ = try await channels.broadcast(
        Self.update(20, after: 1), on: channel, priority: .immediate, expiration: later)
      #expect(await became(.updated, Self.match, on: "a", scene))
      #expect(await activities(scene).map { $0.activity.contentState["left"] } == [20])

      await scene.lab.perform(.networkChanged(online: false), on: "a")
      _ = try await channels.broadcast(
        Self.update(10, after: 2), on: channel, priority: .immediate, expiration: later)
      _ = await scene.lab.take(from: "a")
      await scene.lab.perform(.networkChanged(online: true), on: "a")
      #expect(await became(.updated, Self.match, on: "a", scene), "the channel keeps the newest")
      #expect(await activities(scene).map { $0.activity.contentState["left"] } == [10])

      await scene.lab.perform(.dismissActivity(bundleID: LabScene.bundle, id: nil), on: "a")
      _ = try await channels.broadcast(
        Self.update(0, after: 3), on: channel, priority: .immediate, expiration: later)
      #expect(scene.simulator.notifications.filter { $0.push.channelID == channel }.map(\.device) == ["a", "a"])
      await channels.close()
    }
  }

  @Test("D-189 a channel that APNs does not have: the activity runs on, and hears nothing")
  func noChannel() async throws {
    try await LabScene.run { scene in
      _ = await scene.phone("a", IOSVersion(18), app: Self.app)
      let request = ActivityRequest(
        attributesType: Self.match, content: ActivityContent(state: [:]), pushType: .channel("dGVzdA=="))
      await scene.lab.perform(
        [.launch(bundleID: LabScene.bundle), .app(bundleID: LabScene.bundle, .startActivity(request))], on: "a")
      let isTold = await scene.lab.take(from: "a").contains { "\($0.what)".contains("listens in vain") }
      #expect(isTold)
      #expect(await activities(scene).map(\.state) == [.active])
    }
  }

  @Test("D-046 D-189 renewed tokens of Live Activities are the phone's at once: the new ones reach, each its own")
  func renewal() async throws {
    try await LabScene.run { scene in
      _ = await scene.phone("a", IOSVersion(18), app: Self.app)
      let phone = try #require(await scene.lab.phone("a"))
      let old = try #require(phone.pushToStartToken(of: LabScene.bundle, attributesType: Self.match))
      _ = await scene.push(Self.start(Self.match), to: old, id: 1, .liveactivity)
      #expect(await became(.started, Self.match, on: "a", scene))
      let oldUpdate = try #require(await activities(scene).first?.token)
      await scene.lab.perform(.launch(bundleID: LabScene.bundle), on: "a")
      _ = await scene.lab.take(from: "a")

      let renewed = scene.simulator.courier.renewTokens(device: "a", reason: .osUpdate)
      let told = await scene.lab.wait(for: "a", within: .seconds(20)) { entries in
        entries.count { entry in
          guard case .callback(let callback) = entry.what else { return false }
          return callback.method == .pushTokenUpdates || callback.method == .pushToStartTokenUpdates
        } == 3
      }
      #expect(told)
      let now = try #require(await scene.lab.phone("a"))
      let update = try #require(now.liveActivities(of: LabScene.bundle).first?.token)
      let start = try #require(now.pushToStartToken(of: LabScene.bundle, attributesType: Self.match))
      #expect(update == renewed.first { $0.former == oldUpdate }?.token)
      #expect(start == renewed.first { $0.former == old }?.token)
      _ = await scene.push(Self.update(5, after: 1).bytes, to: update, id: 2, .liveactivity)
      #expect(await became(.updated, Self.match, on: "a", scene))
    }
  }

  @Test("D-048 D-186 a VoIP push by PushKit's token rings; a renewed token is PushKit's at once")
  func calls() async throws {
    try await LabScene.run { scene in
      var app = LabScene.app
      app.backgroundModes.insert(.voip)
      app.script[.didFinishLaunching]?.append(.setPushTypes([.voip]))
      app.script[.pushRegistryDidReceive] = [.reportIncomingCall(from: "Lin")]
      let remote = await scene.phone("a", app: app)
      let token = try #require(await scene.lab.phone("a")?.voipToken(of: LabScene.bundle))
      #expect(token != remote)
      _ = await scene.lab.take(from: "a")
      let payload: JSONValue = ["aps": [:], "caller": "Lin"]
      #expect(await scene.push(payload, to: token, id: 1, .voip)?.isAccepted == true)
      let rings = await scene.lab.wait(for: "a", within: .seconds(20)) { entries in
        entries.contains { entry in
          if case .callback(let callback) = entry.what { callback.method == .pushRegistryDidReceive } else { false }
        }
      }
      #expect(rings)

      _ = await scene.lab.take(from: "a")
      let renewed = scene.simulator.courier.renewTokens(device: "a", reason: .osUpdate)
      #expect(
        await scene.lab.wait(for: "a", within: .seconds(20)) { entries in
          entries.contains { entry in
            if case .callback(let callback) = entry.what { callback.method == .pushRegistryDidUpdate } else { false }
          }
        })
      let new = await scene.lab.phone("a")?.voipToken(of: LabScene.bundle)
      #expect(new != token && new == renewed.first { $0.kind == .voip }?.token)
    }
  }
}
