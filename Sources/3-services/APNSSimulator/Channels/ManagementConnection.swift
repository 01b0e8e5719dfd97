internal import Basics
internal import PushPayload
internal import Transport

/// A provider's connection to a management host (spec apns.md §1, §13.1). On its loop only.
final class ManagementConnection: HTTP2ServerHandler {
  /// Apple's hosts of channel management, which have a port of their own in each environment.
  static let sandboxName = "api-manage-broadcast.sandbox.push.apple.com"
  static let productionName = "api-manage-broadcast.push.apple.com"

  static let streams: UInt32 = 100

  private let desk: ChannelDesk
  private let number: UInt64
  private let environment: SimulatedEnvironment
  private var connection: HTTP2ServerConnection?
  private let faults: ConnectionFaults
  private var trust = ConnectionTrust()
  private var dice: Dice
  private var isStopping = false

  init(_ connection: HTTP2ServerConnection, core: SimulatorCore, environment: SimulatedEnvironment, seed: UInt64) {
    self.connection = connection
    self.environment = environment
    number = core.nextConnectionNumber()
    desk = ChannelDesk(core: core)
    dice = Dice(seed: seed)
    faults = ConnectionFaults(
      connection, number: number, environment: environment, port: .manage, firstStreams: Self.streams,
      desk: core.faults)
    guard let peer = connection.peerCertificate else { return }
    trust = ConnectionTrust(ConnectionTrust.Identity(peer, directory: core.providers, now: core.clock.now))
  }

  func request(_ request: HTTP2Request, stream: Int32) {
    guard let connection else { return }
    let request = ChannelRequest(request)
    let natural = { [self] in
      desk.management(request, isStopping: isStopping, trust: &trust, environment: environment, dice: &dice)
    }
    let answer = { [self] (answer: ProviderAnswer) -> Void in
      self.connection?.respond(
        stream: stream, status: answer.status, fields: answer.fields, body: answer.body, dataSize: answer.dataSize)
    }
    guard desk.core.faults.isActive else {
      return desk.onceKept(natural(), request, on: connection.loop, then: answer)
    }
    let subject = desk.subject(
      of: request, stream: stream, connection: number, environment: environment, port: .manage)
    desk.enter(
      request, subject,
      ChannelExchange(
        loop: connection.loop, faults: faults, natural: { _ in natural() },
        prove: { [self] in _ = try? desk.authenticate(request, &trust, environment, desk.core.clock.now) },
        answerID: { [self] in desk.answerID(to: request, &dice) }, answer: answer))
  }

  func settingsAcknowledged() { _ = faults.acknowledged() }

  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode) {}

  func draining(_ reason: TransportFault) -> [UInt8] {
    if reason.kind == .timedOut(.idle) { return Refusal(.idleTimeout, "").body(spelling: desk.core.spelling) }
    isStopping = true
    return Refusal(.shutdown, "").body(spelling: desk.core.spelling)
  }

  func closed(_ fault: TransportFault) {
    connection = nil
    faults.closed()
  }
}
