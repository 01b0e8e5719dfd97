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

  init(policy: ChannelStoragePolicy = .newest, delivery: DeliveryRules = DeliveryRules()) throws {
    var rules = ServiceState.Rules()
    rules.delivery = delivery
    state = ServiceState(rules: rules, seed: 5)
    channel = try state.createChannel(app, policy: policy, now: now)
  }

  var key: ChannelRegistry.Key { ChannelRegistry.Key(app: app, id: channel) }

  /// The broadcasts that couriers are given by it, by device.
  @discardableResult
  mutating func broadcast(
    _ n: Int, expiration: Int64 = 1_900_000_000, priority: PushPriority = .immediate
  ) throws -> [String: UInt64] {
    let id = Array("123e4567-e89b-12d3-a456-4266554400a0".utf8)[...]
    let request = ChannelRequest(fields: HTTP2FieldList(), body: Array(#"{"aps":{"n":\#(n)}}"#.utf8))
    let checked = CheckedBroadcast(key: key, priority: priority, expiration: expiration)
    try state.broadcast(checked, request, requestID: id, uniqueID: "u\(n)", now: now)
    return given()
  }

  mutating func given() -> [String: UInt64] {
    Dictionary(state.takeDue().handovers.map { ($0.device, $0.number) }) { _, last in last }
  }

  mutating func connect(_ device: String) -> [String: UInt64] {
    _ = state.connect(device: device, now: now)
    return given()
  }

  mutating func subscribe(_ device: String) throws -> [String: UInt64] {
    try state.subscribe(device: device, to: key, now: now)
    return given()
  }

  /// What time alone brings to couriers.
  mutating func pass(_ span: Instant.Span) -> [String: UInt64] {
    now = now + span
    let outcome = state.advance(now: now)
    return Dictionary((outcome.handovers + state.takeDue().handovers).map { ($0.device, $0.number) }) { _, last in last
    }
  }

  /// States of the log, oldest first.
  var states: [String] { state.notifications.all.map { "\($0.fate)".prefix { $0 != "(" }.description } }

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

  @Test(
    "§5 §11 §13 a broadcast goes by its priority and the phone's power as any push does",
    arguments: [
      (.awake, .immediate, 0, "delivered", "delivered", "delivered"),
      (.awake, .considerate, 0, "delivered", "delivered", "delivered"),
      (.awake, .considerate, 5, "grouped", "delivered", "delivered"),
      (.awake, .powerFirst, 5, "grouped", "delivered", "delivered"),
      (.awake, .immediate, 5, "delivered", "delivered", "delivered"),
      (.asleep, .immediate, 5, "delivered", "delivered", "delivered"),
      (.asleep, .considerate, 0, "stored", "stored", "delivered"),
      (.asleep, .powerFirst, 0, "stored", "stored", "stored"),
      (.lowPower, .considerate, 0, "stored", "stored", "delivered"),
      (.lowPower, .powerFirst, 0, "stored", "stored", "stored"),
    ] as [(PhonePower, PushPriority, Int64, String, String, String)])
  func schedule(
    power: PhonePower, priority: PushPriority, window: Int64, atOnce: String, aMoment: String, quarter: String
  ) throws {
    var rules = DeliveryRules()
    rules.groupWindow = .seconds(window)
    var story = try ChannelStory(delivery: rules)
    _ = try story.subscribe("phone")
    _ = story.state.setPower(device: "phone", power, now: story.now)
    try story.broadcast(1, priority: priority)
    #expect(story.states == [atOnce])
    _ = story.pass(.seconds(5))
    #expect(story.states == [aMoment])
    _ = story.pass(.minutes(15))
    #expect(story.states == [quarter])
    _ = story.state.setPower(device: "phone", .awake, now: story.now)
    #expect(story.states == ["delivered"], "waking lets everything go")
    #expect(try story.state.channels.channel(story.key).delivered == 1)
    #expect(try story.state.channels.channel(story.key).owed == [])
  }

  @Test("one attempt at a phone that sleeps ends there; of a channel's messages only the newest waits for it")
  func asleep() throws {
    var story = try ChannelStory()
    _ = try story.subscribe("phone")
    _ = story.state.setPower(device: "phone", .asleep, now: story.now)
    try story.broadcast(1, expiration: 0, priority: .considerate)
    try story.broadcast(2, priority: .considerate)
    try story.broadcast(3, priority: .considerate)
    #expect(story.states == ["expired", "replaced", "stored"])
    _ = story.state.setOnline(device: "phone", false, now: story.now)
    #expect(story.states == ["expired", "replaced", "dropped"], "the channel keeps it")
    _ = story.state.setOnline(device: "phone", true, now: story.now)
    _ = story.pass(.minutes(15))
    #expect(story.states == ["expired", "replaced", "dropped", "delivered"])
    #expect(story.body(4) == #"{"aps":{"n":3}}"#)
  }

  @Test("one in flight to a phone: the next broadcast waits for its ack, behind what is there")
  func oneInFlight() throws {
    var story = try ChannelStory()
    _ = story.connect("phone")
    _ = try story.subscribe("phone")
    let first = try story.broadcast(1)
    #expect(try story.broadcast(2) == [:] && story.states == ["sent", "queued"])
    let outcome = story.state.acknowledge(device: "phone", number: first["phone"] ?? 0, now: story.now)
    #expect(story.body(outcome.handovers.first?.number) == #"{"aps":{"n":2}}"#)
    _ = story.state.unsubscribe(device: "phone", from: story.key, now: story.now)
    #expect(story.states == ["delivered", "sent"])
  }

  @Test(
    "what waits for a phone that leaves the channel, or whose app is removed, does not come", arguments: [false, true])
  func leaves(isRemoved: Bool) throws {
    var story = try ChannelStory()
    _ = try story.subscribe("phone")
    _ = story.state.setPower(device: "phone", .asleep, now: story.now)
    try story.broadcast(1, priority: .considerate)
    if isRemoved {
      _ = story.state.uninstall(device: "phone", bundleID: app.bundleID, now: story.now)
    } else {
      _ = story.state.unsubscribe(device: "phone", from: story.key, now: story.now)
    }
    #expect(story.states == ["dropped"])
  }

  @Test("a broadcast to 100,000 phones changes one row in the store, and the rows of those that miss it, once")
  func incremental() throws {
    var story = try ChannelStory()
    for number in 0..<100_000 { try story.state.subscribe(device: "phone-\(number)", to: story.key, now: story.now) }
    for number in 0..<3 { _ = story.state.setOnline(device: "phone-\(number)", false, now: story.now) }
    _ = story.state.takeChanges()
    try story.broadcast(1)
    let first = story.state.takeChanges()
    #expect(first.channels.channels == [story.key] && first.devices.isEmpty)
    #expect(first.channels.subscribers == [story.key: ["phone-0", "phone-1", "phone-2"]])
    try story.broadcast(2)
    #expect(story.state.takeChanges().channels.subscribers == [:], "they are owed one already")
    _ = story.state.setOnline(device: "phone-1", true, now: story.now)
    #expect(story.state.takeChanges().channels.subscribers == [story.key: ["phone-1"]])
    #expect(try story.state.channels.channel(story.key).delivered == 199_995)
  }

  @Test("what a channel owes to phones that were away outlives a restart")
  func restart() async throws {
    try await withFolder { path in
      let channel = try await LiveScene.run({ $0.dataFolder = path }) { scene in
        let simulator = scene.simulator
        let manager = try await scene.provider(to: simulator.manageEndpoint)
        let made = await manager.send(
          "/1/apps/com.example.app/channels", [scene.authorization()],
          body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        let id = try #require(made?.fields["apns-channel-id"])
        for device in ["here", "away", "gone"] {
          #expect(simulator.courier.subscribe(device: device, bundle: "com.example.app", channel: id))
        }
        simulator.courier.unsubscribe(device: "gone", bundle: "com.example.app", channel: id)
        simulator.courier.setOnline(device: "away", false)
        let sender = try await scene.provider()
        let expiration = "\(SystemClock().now.seconds + 3600)"
        let sent = await sender.send(
          "/4/broadcasts/apps/com.example.app",
          [
            scene.authorization(), ("apns-channel-id", id), ("apns-push-type", "liveactivity"),
            ("apns-priority", "10"), ("apns-expiration", expiration),
          ], body: #"{"aps":{"event":"update","timestamp":1,"content-state":{}}}"#)
        #expect(sent?.status == 200)
        await manager.close()
        await sender.close()
        return id
      }
      for isFirst in [true, false] {
        try await LiveScene.run({ $0.dataFolder = path }) { scene in
          let told = try await scene.control("GET", "/channels")
          #expect(told["channels", "0", "id"]?.string == channel && told["channels", "0", "uniqueSubscribers"] == 3)
          #expect(told["channels", "0", "devices"] == ["away", "here"])
          let got = Locked<[String]>([])
          for device in ["here", "away", "gone"] {
            scene.simulator.courier.connect(device: device) { _ in got.withLock { $0.append(device) } }
          }
          scene.simulator.courier.setOnline(device: "away", true)
          #expect(got.withLock { $0 } == (isFirst ? ["away"] : []))
        }
      }
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
    let left = story.state.unsubscribe(device: "a", from: story.key, now: story.now)
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
