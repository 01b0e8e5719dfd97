import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

private let app = ChannelRegistry.App(bundleID: "com.example.app", environment: .sandbox)

/// Channels on a state alone: broadcasts, phones, time.
private struct ChannelStory {
  var state: ServiceState
  var now = Instant(seconds: 1_800_000_000)
  var channel = ""

  init(policy: ChannelStoragePolicy = .newest) throws {
    state = ServiceState(rules: .init(), seed: 5)
    channel = try state.createChannel(app, policy: policy, now: now)
  }

  var key: ChannelRegistry.Key { ChannelRegistry.Key(app: app, id: channel) }

  /// The broadcasts that couriers are given by it, by device.
  @discardableResult
  mutating func broadcast(_ n: Int, expiration: Int64 = 1_900_000_000) throws -> [String: UInt64] {
    let id = Array("123e4567-e89b-12d3-a456-4266554400a0".utf8)[...]
    let request = ChannelRequest(fields: HTTP2FieldList(), body: Array(#"{"aps":{"n":\#(n)}}"#.utf8))
    let checked = CheckedBroadcast(key: key, priority: .immediate, expiration: expiration)
    try state.broadcast(checked, request, requestID: id, uniqueID: "u\(n)", now: now)
    return given()
  }

  mutating func given() -> [String: UInt64] {
    Dictionary(state.takeBroadcastsDue().map { ($0.device, $0.number) }) { _, last in last }
  }

  mutating func connect(_ device: String) -> [String: UInt64] {
    _ = state.connect(device: device, now: now)
    return given()
  }

  mutating func subscribe(_ device: String) throws -> [String: UInt64] {
    try state.subscribe(device: device, to: key, now: now)
    return given()
  }

  func body(_ number: UInt64?) -> String? {
    state.notifications.all.first { $0.number == number }.map { String(decoding: $0.push.payload, as: UTF8.self) }
  }
}

@Suite("§13 broadcast channels")
struct ChannelTests {
  @Test("one broadcast goes to every phone that listens and is there, once")
  func fanOut() throws {
    var story = try ChannelStory()
    for device in ["a", "b", "c"] { _ = try story.subscribe(device) }
    _ = story.connect("a")
    _ = story.connect("b")
    _ = story.state.disconnect(device: "b", now: story.now)
    _ = story.connect("stranger")
    let given = try story.broadcast(1)
    #expect(Set(given.keys) == ["a"], "b is away, c has no courier and has it at once")
    _ = story.state.acknowledge(device: "a", number: given["a"] ?? 0, now: story.now)
    let channel = try story.state.channels.channel(story.key)
    #expect(channel.published == 1 && channel.delivered == 2)
    #expect(channel.subscriptions == 3 && channel.everSubscribed.count == 3)
    #expect(story.connect("a") == [:], "what was acknowledged does not come again")
  }

  @Test("policy 1 keeps the newest message for those who come later, and for those who subscribe later")
  func stored() throws {
    var story = try ChannelStory()
    _ = try story.subscribe("away")
    _ = story.connect("away")
    _ = story.state.disconnect(device: "away", now: story.now)
    try story.broadcast(1)
    try story.broadcast(2)
    let back = story.connect("away")
    #expect(story.body(back["away"]) == #"{"aps":{"n":2}}"#, "the newest only")
    _ = story.state.disconnect(device: "away", now: story.now)
    #expect(story.connect("away").count == 1, "what was not acknowledged comes again")
    _ = story.connect("late")
    let late = try story.subscribe("late")
    #expect(story.body(late["late"]) == #"{"aps":{"n":2}}"#)
  }

  @Test(
    "a message is kept until its expiration, and eight hours at most",
    arguments: [(60, 59, 60), (86_400, 28_799, 28_800)])
  func storedUntil(seconds: Int64, last: Int64, first: Int64) throws {
    for (after, isKept) in [(last, true), (first, false)] {
      var story = try ChannelStory()
      try story.broadcast(1, expiration: story.now.seconds + seconds)
      story.now = story.now + .seconds(after)
      _ = story.connect("phone")
      #expect(try story.subscribe("phone").isEmpty != isKept)
    }
  }

  @Test("policy 0, and expiration 0, keep nothing; a newer message replaces a kept one all the same")
  func notStored() throws {
    for policy in ChannelStoragePolicy.allCases {
      var story = try ChannelStory(policy: policy)
      if policy == .newest { try story.broadcast(1) }
      try story.broadcast(2, expiration: 0)
      _ = story.connect("phone")
      #expect(try story.subscribe("phone").isEmpty)
    }
  }

  @Test("a phone that has left the channel, or removed the app, gets nothing more")
  func unsubscribed() throws {
    var story = try ChannelStory()
    for device in ["a", "b"] {
      _ = story.connect(device)
      _ = try story.subscribe(device)
    }
    let left = story.state.channels.unsubscribe("a", from: story.key)
    #expect(left)
    _ = story.state.uninstall(device: "b", bundleID: app.bundleID, now: story.now)
    #expect(try story.broadcast(1) == [:])
  }

  @Test("ids are base64, seeded, and never given twice; 10,000 for each app and environment")
  func identifiers() throws {
    var first = ChannelRegistry(rules: .init())
    var dice = Dice(seed: 1)
    var ids: [String] = []
    let now = Instant(seconds: 0)
    for _ in 0..<10_000 { ids.append(try first.create(app, policy: .newest, now: now, dice: &dice)) }
    #expect(Set(ids).count == 10_000 && ids.allSatisfy { ChannelID.isWellFormed($0.utf8) })
    #expect(throws: Refusal.self) { try first.create(app, policy: .newest, now: now, dice: &dice) }
    let production = ChannelRegistry.App(bundleID: app.bundleID, environment: .production)
    _ = try first.create(production, policy: .newest, now: now, dice: &dice)
    try first.delete(.init(app: app, id: ids[0]))
    _ = try first.create(app, policy: .newest, now: now, dice: &dice)

    var again = ChannelRegistry(rules: .init())
    again.restore(channels: [:], retired: [ids[0]], capability: [:])
    var same = Dice(seed: 1)
    #expect(try again.create(app, policy: .newest, now: now, dice: &same) != ids[0], "deleted ids stay used")
    #expect(try again.create(app, policy: .newest, now: now, dice: &same) == ids[2])
  }

  @Test("over TLS and HTTP/2: create, read, list, broadcast, delete; ids in headers, bodies empty where Apple's are")
  func onTheWire() async throws {
    try await LiveScene.run { scene in
      let manager = try await scene.provider(to: scene.simulator.manageEndpoint)
      let sender = try await scene.provider()
      let authorization = scene.authorization()
      let requestID = ("apns-request-id", "123e4567-e89b-12d3-a456-4266554400a0")
      let path = "/1/apps/com.example.app/channels"
      let made = try #require(
        await manager.send(
          path, [authorization, requestID], body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#))
      #expect(made.status == 201 && made.body == "" && made.fields["apns-request-id"] == requestID.1)
      let id = try #require(made.fields["apns-channel-id"])
      let channel = ("apns-channel-id", id)
      let read = await manager.send(path, [authorization, channel], method: "GET", body: "")
      #expect(read?.status == 200 && read?.body == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
      let list = await manager.send("/1/apps/com.example.app/all-channels", [authorization], method: "GET", body: "")
      #expect(list?.status == 200 && list?.body == #"{"channels":["\#(id)"]}"#)

      let got = Locked<[DeliveredPush]>([])
      scene.simulator.courier.connect(device: "phone") { push in got.withLock { $0.append(push) } }
      #expect(scene.simulator.courier.subscribe(device: "phone", bundle: "com.example.app", channel: id))
      #expect(!scene.simulator.courier.subscribe(device: "phone", bundle: "com.example.app", channel: "dGVzdA=="))
      let body = #"{"aps":{"timestamp":1800000000,"event":"update","content-state":{"n":1.10}}}"#
      for type in ["liveactivity", "LiveActivity", "Liveactivity"] {
        let sent = await sender.send(
          "/4/broadcasts/apps/com.example.app",
          [authorization, channel, ("apns-push-type", type), ("apns-priority", "5"), ("apns-expiration", "0")],
          body: body)
        #expect(sent?.status == 200 && sent?.body == "")
        #expect(sent?.fields["apns-unique-id"]?.count == 36 && sent?.fields["apns-request-id"]?.count == 36)
      }
      let pushes = got.withLock { $0 }
      #expect(pushes.count == 3)
      #expect(pushes.first?.payload == Array(body.utf8) && pushes.first?.channelID == id)
      #expect(pushes.first?.priority == .considerate && pushes.first?.token == [])
      let told = try await scene.control("GET", "/channels?bundle=com.example.app")
      #expect(told["channels", "0", "published"] == 3 && told["channels", "0", "delivered"] == 3)
      #expect(told["channels", "0", "devices"] == ["phone"] && told["channels", "0", "uniqueSubscribers"] == 1)
      let logged = try await scene.control("GET", "/notifications")
      #expect(logged["notifications", "0", "channel"]?.string == id)
      #expect(logged["notifications", "0", "state"] == "delivered")

      let gone = await manager.send(path, [authorization, channel], method: "DELETE", body: "")
      #expect(gone?.status == 204 && gone?.body == "")
      let none = await manager.send("/1/apps/com.example.app/all-channels", [authorization], method: "GET", body: "")
      #expect(none?.body == #"{"channels":[]}"#)
      #expect(try await scene.control("GET", "/channels")["channels"] == [])
      await manager.close()
      await sender.close()
    }
  }

  @Test("a certificate manages channels, too; Apple's names are in the server's certificate")
  func certificate() async throws {
    #expect(APNSSimulator.serverNames.contains("api-manage-broadcast.sandbox.push.apple.com"))
    #expect(APNSSimulator.serverNames.contains("api-manage-broadcast.push.apple.com"))
    try await LiveScene.run { scene in
      let manager = try await scene.provider(
        to: scene.simulator.productionManageEndpoint, identity: scene.simulator.credentials.certificate)
      let made = await manager.send(
        "/1/apps/com.example.app/channels", [], body: #"{"push-type":"liveactivity","message-storage-policy":0}"#)
      #expect(made?.status == 201)
      await manager.close()
    }
  }

  @Test("an app's capability is switched on the control port")
  func capability() async throws {
    let isOff: (inout APNSSimulator.Configuration) -> Void = { $0.channels.isEnabled = false }
    try await LiveScene.run(isOff) { scene in
      let manager = try await scene.provider(to: scene.simulator.manageEndpoint)
      #expect(try await scene.control("PUT", "/apps/com.example.app/broadcast", "maybe").status == 400)
      #expect(try await scene.control("PUT", "/apps/com.example.app/broadcast", "true").status == 200)
      let authorization = scene.authorization()
      let made = await manager.send(
        "/1/apps/com.example.app/channels", [authorization],
        body: #"{"push-type":"LiveActivity","message-storage-policy":0}"#)
      #expect(made?.status == 201)
      await manager.close()
    }
  }
}
