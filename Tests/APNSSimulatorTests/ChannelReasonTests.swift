import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

private typealias Answer = LiveProvider.Answer

/// A request that is in order but for what a row changes.
private struct Ask {
  var isBroadcast = false
  var method = "POST"
  var path = ""
  var fields: [String: String] = [:]
  var body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#

  static let create = Ask(path: "/1/apps/com.example.app/channels")

  static func read(_ channel: String?) -> Ask {
    var ask = Ask(method: "GET", path: "/1/apps/com.example.app/channels", body: "")
    ask.fields["apns-channel-id"] = channel
    return ask
  }

  static func broadcast(_ channel: String?) -> Ask {
    var ask = Ask(isBroadcast: true, path: "/4/broadcasts/apps/com.example.app")
    ask.fields = ["apns-push-type": "liveactivity", "apns-priority": "10", "apns-expiration": "0"]
    ask.fields["apns-channel-id"] = channel
    ask.body = #"{"aps":{"timestamp":1800000000,"event":"update","content-state":{}}}"#
    return ask
  }

  func with(_ change: (inout Ask) -> Void) -> Ask {
    var ask = self
    change(&ask)
    return ask
  }
}

private typealias Setting = @Sendable (inout APNSSimulator.Configuration) -> Void
private let asApple: Setting = { _ in }
private let isOff: Setting = { $0.channels.isEnabled = false }
private let holdsTwo: Setting = { $0.channels.most = 2 }
private let takesOne: Setting = { $0.channels.broadcastsPerMinute = 1 }
private let servesOne: Setting = {
  $0.limits.requestsPerSecond = 1
  $0.clock = VirtualClock(now: SystemClock().now)  // which stands still
}

/// What leads to a reason.
private struct ReasonRow: CustomTestStringConvertible, Sendable {
  var reason: RefusalReason
  var why: String
  var change: @Sendable (inout APNSSimulator.Configuration) -> Void
  var cause: @Sendable (ChannelScene) async throws -> Answer?
  var testDescription: String { "\(reason.rawValue): \(why)" }

  init(
    _ reason: RefusalReason, _ why: String, _ change: @escaping @Sendable (inout APNSSimulator.Configuration) -> Void,
    _ cause: @escaping @Sendable (ChannelScene) async throws -> Answer?
  ) {
    self.reason = reason
    self.why = why
    self.change = change
    self.cause = cause
  }

  init(_ reason: RefusalReason, _ why: String, _ ask: @escaping @Sendable (_ channel: String) -> Ask) {
    self.init(reason, why, asApple) { scene in try await scene.send(ask(try await scene.makeChannel())) }
  }
}

/// A simulator, and a provider at its management and device ports.
private struct ChannelScene {
  let scene: LiveScene
  /// One provider token for all requests, as a connection wants it.
  let authorization: (String, String)
  let manager: LiveProvider
  let sender: LiveProvider

  static func run(
    _ change: (inout APNSSimulator.Configuration) -> Void = { _ in }, _ body: (ChannelScene) async throws -> Void
  ) async throws {
    try await LiveScene.run(change) { scene in
      let manager = try await scene.provider(to: scene.simulator.manageEndpoint)
      let sender = try await scene.provider()
      try await body(ChannelScene(scene: scene, authorization: scene.authorization(), manager: manager, sender: sender))
      await manager.close()
      await sender.close()
    }
  }

  func send(_ ask: Ask, by provider: LiveProvider? = nil, _ authorization: String? = nil) async throws -> Answer? {
    var fields = ask.fields.map { ($0.key, $0.value) }
    switch authorization {
    case nil: fields.append(self.authorization)
    case "": break
    case .some(let text): fields.append(("authorization", text))
    }
    return await (provider ?? (ask.isBroadcast ? sender : manager)).send(
      ask.path, fields, method: ask.method, body: ask.body)
  }

  func makeChannel(policy: Int = 1) async throws -> String {
    let answer = try await send(
      Ask.create.with { $0.body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"# })
    return try #require(answer?.fields["apns-channel-id"])
  }
}

@Suite("§13.3 each reason of channels and broadcasts comes for its natural cause")
struct ChannelReasonTests {
  private static let rows: [ReasonRow] = [
    ReasonRow(.featureNotEnabled, "the capability is off", isOff) {
      try await $0.send(.create)
    },
    ReasonRow(.featureNotEnabled, "a broadcast after it was switched off", asApple) { scene in
      let channel = try await scene.makeChannel()
      let off = try await scene.scene.control("PUT", "/apps/com.example.app/broadcast", "false")
      #expect(off["channelsDeleted"] == 1, "switching off deletes all channels")
      return try await scene.send(.broadcast(channel))
    },
    ReasonRow(.missingChannelID, "a read without") { _ in .read(nil) },
    ReasonRow(.missingChannelID, "a broadcast without") { _ in .broadcast(nil) },
    ReasonRow(.missingChannelID, "before the push type is looked at") { _ in
      .broadcast(nil).with { $0.fields["apns-push-type"] = nil }
    },
    ReasonRow(.badChannelID, "no base64") { _ in .read("a b") },
    ReasonRow(.badChannelID, "too long") { _ in .broadcast(String(repeating: "QUJD", count: 65)) },
    ReasonRow(.channelNotRegistered, "unknown") { _ in .read("dGVzdA==") },
    ReasonRow(.channelNotRegistered, "a broadcast to one that is not there") { _ in .broadcast("dGVzdA==") },
    ReasonRow(.channelNotRegistered, "deleted is deleted", asApple) { scene in
      let channel = try await scene.makeChannel()
      let gone = try await scene.send(Ask.read(channel).with { $0.method = "DELETE" })
      #expect(gone?.status == 204 && gone?.body == "")
      return try await scene.send(.read(channel))
    },
    ReasonRow(.channelNotRegistered, "of the other environment", asApple) { scene in
      let channel = try await scene.makeChannel()
      let production = try await scene.scene.provider(to: scene.scene.simulator.productionManageEndpoint)
      defer { Task { await production.close() } }
      return try await scene.send(.read(channel), by: production)
    },
    ReasonRow(.badRequestParams, "an attribute that is not known") { _ in
      Ask.create.with { $0.body = #"{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}"# }
    },
    ReasonRow(.badRequestPayload, "a body to create that is no JSON") { _ in Ask.create.with { $0.body = "{" } },
    ReasonRow(.badRequestPayload, "a broadcast that is no JSON") { channel in .broadcast(channel).with { $0.body = "x" }
    },
    ReasonRow(.badRequestPayload, "a broadcast that is no object") { channel in
      .broadcast(channel).with { $0.body = "[]" }
    },
    ReasonRow(.payloadEmpty, "create without body") { _ in Ask.create.with { $0.body = "" } },
    ReasonRow(.payloadEmpty, "broadcast without body") { channel in .broadcast(channel).with { $0.body = "" } },
    ReasonRow(.badMessageID, "apns-request-id is no UUID") { _ in Ask.create.with { $0.fields["apns-request-id"] = "7" }
    },
    ReasonRow(.badExpirationDate, "absent") { channel in .broadcast(channel).with { $0.fields["apns-expiration"] = nil }
    },
    ReasonRow(.badExpirationDate, "soon") { channel in
      .broadcast(channel).with { $0.fields["apns-expiration"] = "soon" }
    },
    ReasonRow(.badExpirationDate, "anything but 0 where nothing is stored", asApple) { scene in
      let channel = try await scene.makeChannel(policy: 0)
      #expect(try await scene.send(.broadcast(channel))?.status == 200)
      return try await scene.send(Ask.broadcast(channel).with { $0.fields["apns-expiration"] = "1900000000" })
    },
    ReasonRow(.badPriority, "absent") { channel in .broadcast(channel).with { $0.fields["apns-priority"] = nil } },
    ReasonRow(.badPriority, "7") { channel in .broadcast(channel).with { $0.fields["apns-priority"] = "7" } },
    ReasonRow(.missingPushType, "create without") { _ in Ask.create.with { $0.body = #"{"message-storage-policy":1}"# }
    },
    ReasonRow(.missingPushType, "broadcast without") { channel in
      .broadcast(channel).with { $0.fields["apns-push-type"] = nil }
    },
    ReasonRow(.invalidPushType, "create for alerts") { _ in
      Ask.create.with { $0.body = #"{"message-storage-policy":1,"push-type":"alert"}"# }
    },
    ReasonRow(.invalidPushType, "broadcast of widgets") { channel in
      .broadcast(channel).with { $0.fields["apns-push-type"] = "widgets" }
    },
    ReasonRow(.cannotCreateChannelConfig, "one more than there may be", holdsTwo) { scene in
      for _ in 0..<2 { _ = try await scene.makeChannel() }
      return try await scene.send(.create)
    },
    ReasonRow(.topicDisallowed, "the suffix in a broadcast's path") { channel in
      .broadcast(channel).with { $0.path += ".push-type.liveactivity" }
    },
    ReasonRow(.topicDisallowed, "the suffix in a path of management") { _ in
      Ask.create.with { $0.path = "/1/apps/com.example.app.push-type.liveactivity/channels" }
    },
    ReasonRow(.missingChannelQueueSize, "no policy") { _ in
      Ask.create.with { $0.body = #"{"push-type":"LiveActivity"}"# }
    },
    ReasonRow(.missingChannelQueueSize, "policy 2") { _ in
      Ask.create.with { $0.body = #"{"message-storage-policy":2,"push-type":"LiveActivity"}"# }
    },
    ReasonRow(.badCertificate, "of a stranger", asApple) { scene in
      let now = SystemClock().now
      return try await scene.byCertificate(
        CertificateAuthority.stranger(at: now).issuePushCertificate(bundleID: "com.example.app", now: now))
    },
    ReasonRow(.badCertificateEnvironment, "of production", asApple) { scene in
      let now = SystemClock().now
      return try await scene.byCertificate(
        scene.scene.simulator.credentials.authority.issuePushCertificate(
          bundleID: "com.example.app", environments: [.production], now: now))
    },
    ReasonRow(.topicMismatch, "the certificate is of another app", asApple) { scene in
      try await scene.byCertificate(
        scene.scene.simulator.credentials.authority.issuePushCertificate(
          bundleID: "com.example.other", now: SystemClock().now))
    },
    ReasonRow(.missingProviderToken, "no token", asApple) { try await $0.send(.create, "") },
    ReasonRow(.invalidProviderToken, "nonsense", asApple) { try await $0.send(.create, "bearer x") },
    ReasonRow(.expiredProviderToken, "an hour old", asApple) { scene in
      try await scene.send(.create, scene.scene.authorization(at: SystemClock().now - .minutes(61)).1)
    },
    ReasonRow(.tooManyProviderTokenUpdates, "two on a connection", asApple) { scene in
      _ = try await scene.send(.create, scene.scene.authorization(at: SystemClock().now - .minutes(1)).1)
      return try await scene.send(.create)
    },
    ReasonRow(.badPath, "management") { _ in Ask.create.with { $0.path = "/1/apps/com.example.app/channel" } },
    ReasonRow(.badPath, "an id in the path") { channel in
      .read(nil).with { $0.path += "/" + channel.filter { $0 != "/" } }
    },
    ReasonRow(.badPath, "broadcast") { channel in .broadcast(channel).with { $0.path = "/4/broadcasts/com.example.app" }
    },
    ReasonRow(.methodNotAllowed, "PUT") { _ in Ask.create.with { $0.method = "PUT" } },
    ReasonRow(.methodNotAllowed, "POST of the list") { _ in
      Ask.create.with { $0.path = "/1/apps/com.example.app/all-channels" }
    },
    ReasonRow(.methodNotAllowed, "GET of a broadcast") { channel in .broadcast(channel).with { $0.method = "GET" } },
    ReasonRow(.payloadTooLarge, "5121 bytes") { channel in
      .broadcast(channel).with { $0.body = #"{"x":"\#(String(repeating: "x", count: 5113))"}"# }
    },
    ReasonRow(.tooManyRequests, "more than a channel takes", takesOne) { scene in
      let channel = try await scene.makeChannel()
      #expect(try await scene.send(.broadcast(channel))?.status == 200)
      return try await scene.send(.broadcast(channel))
    },
    ReasonRow(
      .serviceUnavailable, "more requests a second than it serves",
      servesOne
    ) { scene in
      _ = try await scene.send(.create)
      return try await scene.send(.create)
    },
    ReasonRow(.internalServerError, "what is made cannot be kept: the folder is gone", asApple) { _ in
      nonisolated(unsafe) var answer: Answer?  // written and read by this task alone
      try await withFolder { path in
        let keeps: (inout APNSSimulator.Configuration) -> Void = { $0.dataFolder = path }
        try await ChannelScene.run(keeps) { scene in
          removeFolder(path)
          answer = try await scene.send(.create)
        }
      }
      return answer
    },
    ReasonRow(.shutdown, "the simulator is stopping", asApple) { scene in
      scene.askWhileStopping()
    },
  ]

  @Test("answered with its status, its request id and nothing else", arguments: rows)
  private func caused(row: ReasonRow) async throws {
    try await ChannelScene.run(row.change) { scene in
      let answer = try #require(try await row.cause(scene))
      #expect(answer.body == #"{"reason":"\#(row.reason.rawValue)"}"#)
      #expect(answer.status == row.reason.status)
      #expect(answer.fields["apns-request-id"].map { UUIDText.isCanonical($0.utf8) } == true)
      #expect(answer.fields["apns-id"] == nil)
    }
  }

  @Test("Shutdown on the management port, over TLS: the notice, the answer to what came late, GOAWAY after it")
  func stopping() async throws {
    try await LiveScene.run { scene in
      let provider = try await scene.rawProvider(to: scene.simulator.manageEndpoint)
      _ = await provider.synchronize()
      async let stopped: Void = scene.stopSimulator()
      let notice = await provider.until { $0.kind == .ping }
      #expect(notice.contains { $0.kind == .goAway && $0.number(at: 0) == Int32.max })
      await provider.send(.request(1, path: "/1/apps/com.example.app/channels"))
      let answer = await provider.until { $0.endsStream && $0.stream == 1 }.filter { $0.stream == 1 }
      await provider.send(RawFrame(kind: .ping, flags: RawFrame.acknowledge, payload: notice.last?.payload ?? []))
      let rest = await provider.until { _ in false }
      await stopped
      #expect(answer.map(\.kind) == [.headers, .data])
      #expect(answer.last.map { String(decoding: $0.payload, as: UTF8.self) } == #"{"reason":"Shutdown"}"#)
      let goodbye = rest.filter { $0.kind == .goAway }
      #expect(goodbye.map { $0.number(at: 0) } == [1])
      #expect(
        goodbye.first.map { String(decoding: $0.payload.dropFirst(8), as: UTF8.self) } == #"{"reason":"Shutdown"}"#)
    }
  }

  @Test("every reason of §13.3 has a row")
  func complete() {
    #expect(Set(Self.rows.map(\.reason)) == Set(RefusalReason.allCases.filter(\.isOfChannels)))
  }
}

extension ChannelScene {
  func byCertificate(_ identity: TLSIdentity) async throws -> Answer? {
    let provider = try await scene.provider(to: scene.simulator.manageEndpoint, identity: identity)
    defer { Task { await provider.close() } }
    return try await send(.create, by: provider, "")
  }

  /// What a request meets that arrives between the decision to stop and the end of its connection.
  fileprivate func askWhileStopping() -> Answer? {
    let core = SimulatorCore(
      configuration: APNSSimulator.Configuration(), seed: 1, state: ServiceState(rules: .init(), seed: 1), keys: [],
      keeper: nil)
    var trust = ConnectionTrust()
    var dice = Dice(seed: 1)
    let answer = ChannelDesk(core: core).management(
      ChannelRequest(fields: HTTP2FieldList(), body: []), isStopping: true, trust: &trust, environment: .sandbox,
      dice: &dice)
    let fields = answer.fields.map {
      (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
    }
    return Answer(
      status: answer.status, fields: Dictionary(uniqueKeysWithValues: fields),
      body: String(decoding: answer.body, as: UTF8.self))
  }
}
