import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

/// A provider that pushes Live Activities to one phone, with a clock that the test moves.
private struct ActivityScene {
  let scene: LiveScene
  let clock: VirtualClock
  let provider: LiveProvider
  let authorization: (String, String)

  static func run(
    _ change: @escaping (inout APNSSimulator.Configuration) -> Void = { _ in },
    _ body: (ActivityScene) async throws -> Void
  ) async throws {
    let clock = VirtualClock(now: SystemClock().now)
    let setUp: (inout APNSSimulator.Configuration) -> Void = {
      $0.clock = clock
      change(&$0)
    }
    try await LiveScene.run(setUp) { scene in
      let provider = try await scene.provider()
      try await body(
        ActivityScene(
          scene: scene, clock: clock, provider: provider, authorization: scene.authorization(at: clock.now)))
      await provider.close()
    }
  }

  var courier: Courier { scene.simulator.courier }

  var start: [UInt8] {
    courier.pushToStartToken(device: "phone", bundle: "com.example.app", attributesType: "Match")
  }

  func push(_ push: LiveActivityPush, to token: [UInt8]?, priority: String = "10") async -> LiveProvider.Answer? {
    await provider.send(
      "/3/device/\((token ?? []).hex)",
      [
        authorization, ("apns-topic", "com.example.app.push-type.liveactivity"), ("apns-push-type", "liveactivity"),
        ("apns-priority", priority),
      ], body: push.json.text)
  }

  func startPush(_ change: (inout LiveActivityPush.Start) -> Void = { _ in }) -> LiveActivityPush {
    var start = LiveActivityPush.Start(attributesType: "Match", attributes: ["id": 7])
    change(&start)
    return .start(
      start, contentState: ["n": 0], alert: .init(title: .literal("t"), body: .literal("b")), at: clock.now)
  }

  func update(_ n: Int, age: Int64 = 0) -> LiveActivityPush {
    .update(contentState: ["n": .number(JSONNumber(n))], at: clock.now - .seconds(age))
  }

  func activities() async throws -> ControlAnswer {
    try await scene.control("GET", "/devices/phone/activities")
  }
}

@Suite("§12 Live Activities by token")
struct LiveActivityTests {
  @Test("push-to-start, update, end, and off the Lock Screen; the tokens' lengths and topics")
  func life() async throws {
    try await ActivityScene.run { scene in
      let start = scene.start
      #expect(start == scene.start, "one for each app, device and attributes type")
      let other = scene.courier.pushToStartToken(
        device: "phone", bundle: "com.example.app", attributesType: "Race")
      #expect(start != other)
      #expect(await scene.push(scene.startPush(), to: start)?.status == 200)
      let token = try #require(scene.courier.activities(device: "phone").first?.token)
      #expect(token.count == 80)
      scene.clock.advance(by: .seconds(10))
      #expect(await scene.push(scene.update(1), to: token)?.status == 200)
      #expect(await scene.push(scene.update(2, age: 5), to: token)?.status == 200)
      var told = try await scene.activities()
      #expect(told["activities", "0", "state"] == "active")
      #expect(told["activities", "0", "contentState"] == ["n": 1])
      #expect(told["activities", "0", "applied"] == [1, 2])
      #expect(told["activities", "0", "ignored", "0", "notification"] == 3, "older than the last applied")
      let stale = LiveActivityPush.update(
        contentState: ["n": 3], at: scene.clock.now, staleDate: scene.clock.now + .minutes(5))
      #expect(await scene.push(stale, to: token)?.status == 200)
      scene.clock.advance(by: .minutes(6))
      told = try await scene.activities()
      #expect(told["activities", "0", "stale"] == true)
      let end = LiveActivityPush.end(
        contentState: ["n": 4], at: scene.clock.now, dismissal: .at(scene.clock.now + .minutes(10)))
      #expect(await scene.push(end, to: token)?.status == 200)
      #expect(await scene.push(scene.update(5), to: token)?.status == 200, "APNs takes what the phone ignores")
      told = try await scene.activities()
      #expect(told["activities", "0", "state"] == "ended" && told["activities", "0", "contentState"] == ["n": 4])
      scene.clock.advance(by: .minutes(10))
      told = try await scene.activities()
      #expect(told["activities", "0", "state"] == "dismissed" && told["activities", "0", "token"] == nil)
    }
  }

  @Test("what does not start is told, with its cause")
  func unstarted() async throws {
    try await ActivityScene.run { scene in
      let start = scene.start
      #expect(await scene.push(scene.update(1), to: start)?.status == 200)
      #expect(await scene.push(scene.startPush { $0.attributesType = "Race" }, to: start)?.status == 200)
      let told = try await scene.activities()
      #expect(told["activities"] == [])
      #expect(told["unstarted", "0", "why"]?.string?.contains("only the event start") == true)
      #expect(told["unstarted", "1", "why"]?.string?.contains("\"Race\"") == true)
    }
  }

  @Test("an update token that changes in mid-life: the old one is dead, the new one works")
  func tokenChange() async throws {
    try await ActivityScene.run { scene in
      _ = await scene.push(scene.startPush(), to: scene.start)
      let told = try await scene.activities()
      let id = try #require(told["activities", "0", "id"]?.string)
      let old = try #require(scene.courier.activities(device: "phone").first?.token)
      let changed = try await scene.scene.control("POST", "/devices/phone/activities/\(id)/token")
      let new = try #require(changed["token"]?.string)
      #expect(changed.status == 201 && new != old.hex)
      scene.clock.advance(by: .seconds(1))
      let dead = await scene.push(scene.update(1), to: old)
      #expect(dead?.status == 410 && dead?.body.contains("ExpiredToken") == true)
      #expect(await scene.push(scene.update(2), to: bytes(fromHex: new.utf8))?.status == 200)
      #expect(scene.courier.activities(device: "phone").first?.activity.contentState == ["n": 2])
    }
  }

  @Test("input-push-channel: started on a channel, fed by broadcasts, among them the one that is kept")
  func onChannel() async throws {
    try await ActivityScene.run { scene in
      let manager = try await scene.scene.provider(to: scene.scene.simulator.manageEndpoint)
      let made = await manager.send(
        "/1/apps/com.example.app/channels", [scene.authorization],
        body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
      let channel = try #require(made?.fields["apns-channel-id"])
      let broadcast = { (push: LiveActivityPush) async -> Int? in
        await scene.provider.send(
          "/4/broadcasts/apps/com.example.app",
          [
            scene.authorization, ("apns-channel-id", channel), ("apns-push-type", "liveactivity"),
            ("apns-priority", "10"), ("apns-expiration", "\((scene.clock.now + .hours(1)).seconds)"),
          ], body: push.json.text)?.status
      }
      #expect(await broadcast(scene.update(1)) == 200)
      #expect(await scene.push(scene.startPush { $0.channel = channel }, to: scene.start)?.status == 200)
      var told = try await scene.activities()
      #expect(told["activities", "0", "contentState"] == ["n": 1], "the kept message")
      #expect(told["activities", "0", "token"] == nil, "none was asked for")
      scene.clock.advance(by: .seconds(1))
      #expect(await broadcast(scene.update(2)) == 200)
      #expect(await broadcast(scene.startPush()) == 200, "a broadcast starts nothing")
      told = try await scene.activities()
      #expect(told["activities", "0", "contentState"] == ["n": 2] && told["activities", "1"] == nil)
      #expect(await broadcast(.end(contentState: nil, at: scene.clock.now, dismissal: .at(scene.clock.now))) == 200)
      #expect(try await scene.scene.control("GET", "/channels")["channels", "0", "devices"] == [])
      await manager.close()
    }
  }

  @Test("an hourly budget of priority 10; priority 5 is free of it")
  func budget() async throws {
    let setting: (inout APNSSimulator.Configuration) -> Void = { $0.liveActivities.hourlyBudget = 2 }
    try await ActivityScene.run(setting) { scene in
      _ = await scene.push(scene.startPush(), to: scene.start)
      let token = scene.courier.activities(device: "phone").first?.token
      for (n, priority) in [(1, "10"), (2, "10"), (3, "5")] {
        scene.clock.advance(by: .seconds(1))
        _ = await scene.push(scene.update(n), to: token, priority: priority)
        #expect(
          scene.courier.activities(device: "phone").first?.activity.contentState
            == ["n": n == 2 ? 1 : .number(JSONNumber(n))])
      }
      let told = try await scene.activities()
      #expect(told["activities", "0", "ignored", "0", "why"]?.string?.contains("budget") == true)
    }
  }

  @Test("an app starts one itself, and its user swipes it away; then its token dies")
  func byTheApp() async throws {
    let setting: (inout APNSSimulator.Configuration) -> Void = { $0.goneDelay = .seconds(1) ... .seconds(1) }
    try await ActivityScene.run(setting) { scene in
      let made = try await scene.scene.control(
        "POST", "/devices/phone/activities",
        #"{"bundle":"com.example.app","attributesType":"Match","attributes":{"id":1},"contentState":{"n":0}}"#)
      #expect(made.status == 201 && made["state"] == "active")
      let id = try #require(made["id"]?.string)
      let token = bytes(fromHex: (made["token"]?.string ?? "").utf8)
      #expect(await scene.push(scene.update(1), to: token)?.status == 200)
      #expect(try await scene.scene.control("DELETE", "/devices/phone/activities/\(id)").status == 204)
      #expect(await scene.push(scene.update(2), to: token)?.status == 200, "410 comes late, as after an uninstall")
      scene.clock.advance(by: .seconds(2))
      #expect(await scene.push(scene.update(3), to: token)?.status == 410)
      #expect(try await scene.scene.control("DELETE", "/devices/tablet/activities/\(id)").status == 404)
    }
  }

  @Test("activities, channels and subscriptions survive a restart")
  func restart() async throws {
    try await withFolder { path in
      var kept: (token: [UInt8], channel: String)?
      let setting: (inout APNSSimulator.Configuration) -> Void = { $0.dataFolder = path }
      try await ActivityScene.run(setting) { scene in
        let manager = try await scene.scene.provider(to: scene.scene.simulator.manageEndpoint)
        let made = await manager.send(
          "/1/apps/com.example.app/channels", [scene.authorization],
          body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        let channel = try #require(made?.fields["apns-channel-id"])
        _ = scene.courier.subscribe(device: "tablet", bundle: "com.example.app", channel: channel)
        _ = await scene.push(scene.startPush(), to: scene.start)
        kept = (try #require(scene.courier.activities(device: "phone").first?.token), channel)
        await manager.close()
      }
      let before = try #require(kept)
      try await ActivityScene.run(setting) { scene in
        scene.clock.advance(by: .seconds(1))
        #expect(await scene.push(scene.update(9), to: before.token)?.status == 200)
        #expect(scene.courier.activities(device: "phone").first?.activity.contentState == ["n": 9])
        let told = try await scene.scene.control("GET", "/channels")
        #expect(told["channels", "0", "id"]?.string == before.channel)
        #expect(told["channels", "0", "devices"] == ["tablet"])
      }
    }
  }

  @Test("a push that gave way, or found its app gone, is waited for no more")
  func underWay() async throws {
    try await ControlScene.run { scene in
      func waitedFor() -> Int { scene.core.withState { state, _ in state.activities.underWay.count } }
      let token = scene.token()
      scene.core.setOnline(device: "phone", false)
      for id in ["former", "newer"] { scene.push(token, id: id, type: .liveactivity) }
      #expect(waitedFor() == 1)
      #expect(await scene.call("DELETE", "/devices/\(token)").status == 200)
      scene.core.setOnline(device: "phone", true)
      #expect(waitedFor() == 0)
    }
  }
}
