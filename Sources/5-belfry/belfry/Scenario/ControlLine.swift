import APNSClient
import APNSSimulator
import Basics
import Delivery
import HTTPClient
import Phone
import PhoneLab
import PushPayload
import Transport

/// A running `belfry apns`, by its control API: registers tokens, takes phones on and off the network, brings what comes for
/// them, and pushes as a provider with a key of its own.
final class ControlLine: Sendable {
  struct Owner: Hashable, Sendable {
    var device: String
    var bundleID: String
    var environment: SimulatedEnvironment
    var kind: TokenKind
    /// Of a push-to-start token.
    var attributesType: String?
  }

  private struct Listening: Hashable {
    var device: String
    var bundleID: String
    var channel: String
  }

  private struct State {
    var tokens: [[UInt8]: Owner] = [:]
    var stays: [String: WebSocket] = [:]
    var isOnline: [String: Bool] = [:]
    /// Ids of pushes that came to a phone.
    var arrived: Set<String> = []
    var tokenMaker: LocalAPNS?
    var listening: Set<Listening> = []
    var deliver: @Sendable (String, DeliveredPayload) async -> Void = { _, _ in }
  }

  private let url: String
  private let client = HTTPClient()
  private let loop = EventLoop(name: "scenario")
  private let providers: [SimulatedEnvironment: APNSClient]
  private let channels: ChannelLine
  private let state = Locked(State())
  private let clock = SystemClock()

  init(_ given: String) async throws {
    url = given.hasSuffix("/") ? String(given.dropLast()) : given
    let wrong = CommandFault("--apns: \(given) is no control API of a running belfry apns, as http://127.0.0.1:2198")
    guard url.hasPrefix("http://") else { throw wrong }
    guard let index = try? await Self.call(client, "GET", "\(url)/"),
      let listening = index.json.object?["listening"]?.object,
      let key = try? await Self.call(client, "POST", "\(url)/keys", [:]).json.object,
      let p8 = key["p8"]?.string, let keyID = key["keyId"]?.string, let teamID = key["teamId"]?.string,
      let authority = try? await client.call("GET", "\(url)/ca.pem").body
    else { throw wrong }
    let credential = Credential.token(
      try ProviderKey(p8: Array(p8.utf8), keyID: keyID, teamID: teamID, name: "its key"))
    var providers: [SimulatedEnvironment: APNSClient] = [:]
    var channelServers: [SimulatedEnvironment: BroadcastServer] = [:]
    for (environment, name, manage) in [
      (SimulatedEnvironment.sandbox, "apns", "manage"), (.production, "production", "productionManage"),
    ] {
      guard let place = listening[name]?.string else { continue }
      let server = try APNSServer(place)
      var configuration = APNSClient.Configuration(server: server, credential: credential)
      configuration.trust = .pem(authority)
      providers[environment] = try APNSClient(configuration, clock: clock, loop: loop)
      if let manage = listening[manage]?.string {
        channelServers[environment] = BroadcastServer(manage: try APNSServer(manage), send: server)
      }
    }
    self.providers = providers
    channels = ChannelLine(
      servers: channelServers, credential: credential, trust: .pem(authority), clock: clock, loop: loop)
  }

  private struct Reply {
    var status: Int
    var json: JSONValue
  }

  private static func call(
    _ client: HTTPClient, _ method: String, _ url: String, _ body: JSONValue? = nil
  ) async throws -> Reply {
    let answer = try await client.call(
      method, url, headers: body == nil ? [:] : ["Content-Type": "application/json"], body: body?.encoded())
    return Reply(status: answer.status, json: (try? JSONReader.read(answer.body).value) ?? .null)
  }

  /// A lab whose phones get tokens that nobody has had, and what the simulator's courier brings for them. One for a line.
  func lab(clock: any WallClock, register: @escaping PhoneLab.Registrar) -> PhoneLab {
    lab(clock: clock) { PhoneLab(courier: $0, clock: clock, register: register) }
  }

  func lab(clock: any WallClock, service: any PhoneService) -> PhoneLab {
    lab(clock: clock) { PhoneLab(courier: $0, clock: clock, service: service) }
  }

  private func lab(clock: any WallClock, _ make: (Courier) -> PhoneLab) -> PhoneLab {
    var configuration = APNSSimulator.Configuration()
    configuration.seed = UInt64.random(in: 0...UInt64.max)
    let tokenMaker = LocalAPNS(clock: clock, configuration)
    let lab = make(tokenMaker.courier)
    state.withLock { state in
      state.tokenMaker = tokenMaker
      state.deliver = { device, push in await lab.perform(.push(push), on: device) }
    }
    return lab
  }

  // MARK: tokens and networks

  /// Tells the simulator of a token, once.
  func know(_ token: [UInt8], _ owner: Owner) async {
    guard state.withLock({ $0.tokens.updateValue(owner, forKey: token) }) == nil else { return }
    await come(for: owner.device)
    var body: JSONObject = [
      "device": .string(owner.device), "bundle": .string(owner.bundleID),
      "environment": .string(owner.environment.rawValue), "kind": .string(owner.kind.rawValue),
      "token": .string(token.hex),
    ]
    body["attributesType"] = owner.attributesType.map(JSONValue.string)
    _ = try? await Self.call(client, "POST", "\(url)/devices", .object(body))
  }

  /// Tells of a phone's network, and of the tokens that it has no more, as far as they are news.
  func settle(_ phone: Phone, named name: String) async {
    await setOnline(phone.isOnline, device: name)
    await keep(device: name) { phone.token(of: $0) }
  }

  /// The tokens that apps of the device have no more are dead.
  private func keep(device: String, present: (String) -> [UInt8]?) async {
    let dead = state.withLock { state in
      let dead = state.tokens.filter { token, owner in
        owner.device == device && owner.kind == .app && present(owner.bundleID) != token
      }.map(\.key)
      for token in dead { state.tokens[token] = nil }
      return dead
    }
    for token in dead { _ = try? await Self.call(client, "DELETE", "\(url)/devices/\(token.hex)") }
  }

  private func setOnline(_ isOnline: Bool, device: String) async {
    let isNews = state.withLock { state in
      guard state.stays[device] != nil else { return false }
      return state.isOnline.updateValue(isOnline, forKey: device) ?? true != isOnline
    }
    guard isNews else { return }
    let name = device.addingPercentEncoding
    _ = try? await Self.call(client, "PUT", "\(url)/devices/\(name)/online", .bool(isOnline))
  }

  // MARK: channels

  /// Makes a channel there, and has the phones' own side know it.
  func createChannel(
    of bundleID: String, in environment: SimulatedEnvironment, keepsNewest: Bool
  ) async -> ScenarioAnswer {
    let answer = await channels.create(of: bundleID, in: environment, keepsNewest: keepsNewest)
    if let id = answer.id {
      state.withLock { $0.tokenMaker }?.adoptChannel(id, of: bundleID, environment: environment)
    }
    return answer
  }

  /// Has the device listen to the channels of its app's Live Activities, and to no other.
  func listen(_ phone: Phone, device: String, to bundleID: String, in environment: SimulatedEnvironment) async {
    let wanted = Set(
      phone.liveActivities(of: bundleID).compactMap(\.activity.channel).map {
        Listening(device: device, bundleID: bundleID, channel: $0)
      })
    let former = state.withLock { state in
      let former = state.listening.filter { $0.device == device && $0.bundleID == bundleID }
      state.listening.formUnion(wanted)
      state.listening.subtract(former.subtracting(wanted))
      return former
    }
    for one in wanted.symmetricDifference(former) {
      let place = "\(url)/devices/\(device.addingPercentEncoding)/channels/\(one.channel.addingPercentEncoding)"
      let query = "?bundle=\(bundleID.addingPercentEncoding)&environment=\(environment.rawValue)"
      _ = try? await Self.call(client, wanted.contains(one) ? "PUT" : "DELETE", place + query)
    }
  }

  // MARK: the courier

  /// Takes the place of the device's courier, once.
  private func come(for device: String) async {
    guard state.withLock({ $0.stays[device] == nil }),
      let socket = try? await WebSocket.connect("ws://\(url.dropFirst("http://".count))/courier", on: loop)
    else { return }
    state.withLock { $0.stays[device] = socket }
    let hello: JSONValue = [
      "type": "hello", "device": .string(device), "keepsBudget": true, "keepsActivities": true,
    ]
    try? await socket.send(hello.text)
    Task { [weak self] in
      for await message in socket.messages {
        guard case .text(let text) = message, let object = try? JSONReader.read(Array(text.utf8)).value.object,
          object["type"]?.string == "push", let number = object["number"]
        else { continue }
        if let push = Self.push(object) { await self?.deliver(push, to: device) }
        try? await socket.send(JSONValue.object(["type": "ack", "number": number]).text)
      }
    }
  }

  private func deliver(_ push: DeliveredPayload, to device: String) async {
    await state.withLock { $0.deliver }(device, push)
    state.withLock { _ = $0.arrived.insert(push.id) }
  }

  private static func push(_ object: JSONObject) -> DeliveredPayload? {
    guard let id = object["id"]?.string, let bundleID = object["bundle"]?.string else { return nil }
    let text = object["payload"]?.string.map { Array($0.utf8) }
    let token = object["token"]?.string.flatMap { bytes(fromHex: $0.utf8) }
    return DeliveredPayload(
      id: id, bundleID: bundleID,
      pushType: object["pushType"]?.string.flatMap(PushType.init(rawValue:)) ?? .alert,
      priority: object["priority"]?.number?.int64.flatMap { UInt8(exactly: $0) }.flatMap(PushPriority.init(rawValue:))
        ?? .immediate,
      collapseID: object["collapseId"]?.string,
      expiration: object["expiration"]?.number?.int64.map { Instant(seconds: $0) },
      acceptedAt: object["receivedAt"]?.number?.int64.map { Instant(milliseconds: $0) }, token: token,
      channel: object["channel"]?.string,
      bytes: text ?? object["payloadBase64"]?.string.flatMap { bytes(fromBase64: $0.utf8) } ?? [])
  }

  // MARK: pushing

  /// By TLS and HTTP/2 to the simulator's own port.
  func push(_ push: ProviderPush) async -> ScenarioAnswer {
    func header(_ name: String) -> String? { push.headers.first { $0.name == name }?.value }
    if push.channel != nil { return await channels.broadcast(push) }
    guard let provider = providers[push.environment] else {
      return ScenarioAnswer(status: 0, reason: "there is no such way to the running simulator")
    }
    guard let priority = (header("apns-priority").flatMap { UInt8($0) }).flatMap(PushPriority.init(rawValue:)) else {
      return ScenarioAnswer(status: 0, reason: "a client that sends to a running server knows no such priority")
    }
    let id = header("apns-id").flatMap { $0.hasPrefix("00000000-") ? nil : $0 } ?? Self.newID()
    let outcome = await provider.send(
      OutgoingPush(
        id: id, token: push.token, topic: header("apns-topic") ?? push.bundleID, pushType: push.pushType,
        priority: priority, expiration: header("apns-expiration").flatMap { Int64($0) },
        collapseID: header("apns-collapse-id"), payload: push.payload))
    switch outcome {
    case .accepted:
      await waitForArrival(of: id, at: push.phone)
      return ScenarioAnswer(status: 200, id: id)
    case .refused(let refusal):
      return ScenarioAnswer(
        status: refusal.status, reason: refusal.reason, explanation: refusal.explanation, id: id)
    case .unanswered(let cause): return ScenarioAnswer(status: 0, reason: "no answer: \(cause)", id: id)
    }
  }

  /// So that the next step finds it there. Half a second at most: some are held back.
  private func waitForArrival(of id: String, at device: String?) async {
    guard let device, state.withLock({ $0.isOnline[device] ?? true }) else { return }
    let limit = clock.uptime + .milliseconds(500)
    while clock.uptime < limit, !state.withLock({ $0.arrived.contains(id) }) {
      try? await clock.sleep(for: .milliseconds(2))
    }
  }

  /// A running simulator has seen the numbers that a scenario of virtual time counts.
  private static func newID() -> String {
    String(
      decoding: UUIDText.version4(UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)), as: UTF8.self)
  }

  func close() async {
    for socket in state.withLock({ Array($0.stays.values) }) { await socket.close() }
    for provider in providers.values { await provider.close(grace: .seconds(1)) }
    await channels.close()
    await loop.stop()
  }
}

extension String {
  /// For a path segment (RFC 3986 §2.3).
  fileprivate var addingPercentEncoding: String {
    utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        String(UnicodeScalar(byte))
      default: "%" + CollectionOfOne(byte).hex.uppercased()
      }
    }.joined()
  }
}
