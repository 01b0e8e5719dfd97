import APNSClient
import Basics
import Delivery
import PushPayload
import Synchronization
import Transport

/// A client on a loop of its own, with what it told the operator.
struct ClientFixture {
  let client: APNSClient
  let loop: EventLoop
  let events: Locked<[APNSClientEvent]>

  static let keyID = "ABC123DEFG"
  static let teamID = "DEF123GHIJ"

  static func key(_ text: P256PrivateKey? = nil) throws -> ProviderKey {
    let key = try text ?? P256PrivateKey.generate()
    return try ProviderKey(p8: key.pem, keyID: keyID, teamID: teamID, name: "AuthKey_test.p8")
  }

  init(
    _ peer: ScriptedPeer, port: UInt16? = nil, credential: Credential? = nil, clock: any WallClock = SystemClock(),
    adjust: (inout APNSClient.Configuration) -> Void = { _ in }
  ) throws {
    var endpoint = peer.endpoint
    if let port { endpoint.port = port }
    try self.init(
      endpoint: endpoint, authority: peer.authority, credential: credential, clock: clock, adjust: adjust)
  }

  init(
    endpoint: Endpoint, authority: CertificateAuthority, credential: Credential? = nil,
    clock: any WallClock = SystemClock(), adjust: (inout APNSClient.Configuration) -> Void = { _ in }
  ) throws {
    var configuration = APNSClient.Configuration(
      server: APNSServer(endpoint), credential: try credential ?? .token(Self.key()))
    configuration.trust = .pem(authority.pem)
    configuration.seed = 1
    let events = Locked([APNSClientEvent]())
    configuration.onEvent = { event in events.withLock { $0.append(event) } }
    adjust(&configuration)
    self.events = events
    loop = EventLoop(name: "client")
    client = try APNSClient(configuration, clock: clock, loop: loop)
  }

  func stop() async {
    await client.close(grace: .seconds(0))
    await loop.stop()
  }

  var alarms: [String] {
    events.withLock { events in
      events.compactMap { event in
        switch event {
        case .alarm(let words), .certificateUnusable(let words): words
        default: nil
        }
      }
    }
  }
}

/// Pushes with ids that count.
func pushes(
  _ numbers: Range<Int>, topic: String = "com.example.app", pushType: PushType = .alert, expiration: Int64? = nil,
  payload: String = #"{"aps":{"alert":"Hello"}}"#
) -> [OutgoingPush] {
  numbers.map { number in
    OutgoingPush(
      id: apnsID(number), token: [UInt8](repeating: 0, count: 28) + bigEndian(UInt32(number)), topic: topic,
      pushType: pushType, priority: pushType == .background ? .considerate : .immediate, expiration: expiration,
      collapseID: nil, payload: Array(payload.utf8))
  }
}

func apnsID(_ number: Int) -> String {
  let digits = bigEndian(UInt32(number)).hex
  return "00000000-0000-4000-8000-0000\(digits)"
}

private func bigEndian(_ number: UInt32) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
}

extension [PushOutcome] {
  var accepted: Int {
    count { outcome in if case .accepted = outcome { true } else { false } }
  }
}
