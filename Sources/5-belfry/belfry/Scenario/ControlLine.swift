import APNSClient
import APNSSimulator
import Basics
import Delivery
import HTTPClient
import Phone
import PhoneLab
import PushPayload
import Transport

/// A running `belfry apns`, by its control API: registers tokens, takes phones on and off the network, and
/// pushes as a provider with a key of its own.
final class ControlLine: Sendable {
  private let url: String
  private let client = HTTPClient()
  private let loop = EventLoop(name: "scenario")
  private let providers: [SimulatedEnvironment: APNSClient]
  private let channels: ChannelLine
  private let clock = SystemClock()

  init(_ given: String) async throws {
    url = given.withoutSlashAtEnd
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

  /// A lab whose phones get tokens that nobody has had, the mirror that makes them known here, and what the phones' apps
  /// take for their push service: a token is known here before it hands it on to `service`.
  func lab(
    clock: any WallClock, _ service: (any ScenarioService)?, library: (any PhoneService)? = nil
  ) -> (lab: PhoneLab, mirror: PhoneMirror, service: ScenarioPhoneService) {
    var configuration = APNSSimulator.Configuration()
    configuration.seed = UInt64.random(in: 0...UInt64.max)
    let phones = LocalAPNS(clock: clock, configuration)
    let later = Locked(PhoneMirror?.none)
    let phoneService = ScenarioPhoneService(service, library: library) { await later.withLock { $0 }?.settle() }
    let lab = PhoneLab(courier: phones.courier, clock: clock, service: phoneService)
    let mirror = PhoneMirror(self, phones: phones, lab: lab)
    later.withLock { $0 = mirror }
    return (lab, mirror, phoneService)
  }

  // MARK: what phones hold

  func register(_ token: [UInt8], _ owner: PhoneHoldings.Token) async {
    var body: JSONObject = [
      "device": .string(owner.device), "bundle": .string(owner.bundleID),
      "environment": .string(owner.environment.rawValue), "kind": .string(owner.kind.rawValue),
      "token": .string(token.hex),
    ]
    if owner.kind == .liveActivityStart { body["attributesType"] = .string(owner.detail) }
    _ = try? await Self.call(client, "POST", "\(url)/devices", .object(body))
  }

  func end(_ token: [UInt8], _ reason: RefusalReason) async {
    _ = try? await Self.call(client, "DELETE", "\(url)/devices/\(token.hex)?reason=\(reason.rawValue)")
  }

  func setOnline(_ isOnline: Bool, device: String) async {
    _ = try? await Self.call(
      client, "PUT", "\(url)/devices/\(device.addingPercentEncoding)/online", .bool(isOnline))
  }

  /// Has a phone listen to a channel, or no more. Answers why it cannot.
  func listen(_ one: PhoneHoldings.Subscription, _ isOn: Bool) async -> String? {
    let place = "\(url)/devices/\(one.device.addingPercentEncoding)/channels/\(one.channel.addingPercentEncoding)"
    let query = "?bundle=\(one.bundleID.addingPercentEncoding)&environment=\(one.environment.rawValue)"
    let reply = try? await Self.call(client, isOn ? "PUT" : "DELETE", place + query)
    return reply?.status == 404 ? "APNs has no such channel of the app" : nil
  }

  var isThere: Bool {
    get async { (try? await Self.call(client, "GET", "\(url)/")) != nil }
  }

  /// A socket to the courier; nil when there is none.
  func courier() async -> WebSocket? {
    try? await WebSocket.connect("ws://\(url.dropFirst("http://".count))/courier", on: loop)
  }

  // MARK: channels

  func createChannel(
    of bundleID: String, in environment: SimulatedEnvironment, keepsNewest: Bool
  ) async -> ScenarioAnswer {
    await channels.create(of: bundleID, in: environment, keepsNewest: keepsNewest)
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
    case .accepted: return ScenarioAnswer(status: 200, id: id)
    case .refused(let refusal):
      return ScenarioAnswer(
        status: refusal.status, reason: refusal.reason, explanation: refusal.explanation, id: id)
    case .unanswered(let cause): return ScenarioAnswer(status: 0, reason: "no answer: \(cause)", id: id)
    }
  }

  /// A running simulator has seen the numbers that a scenario of virtual time counts.
  private static func newID() -> String {
    String(
      decoding: UUIDText.version4(UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)), as: UTF8.self)
  }

  func close() async {
    for provider in providers.values { await provider.close(grace: .seconds(1)) }
    await channels.close()
    await loop.stop()
  }
}

extension String {
  /// For a path segment (RFC 3986 §2.3).
  var addingPercentEncoding: String {
    utf8.map { byte in
      byte.isASCIILetterOrDigit || "-._".utf8.contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + CollectionOfOne(byte).hex.uppercased()
    }.joined()
  }
}
