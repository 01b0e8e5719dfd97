import Delivery
import PushPayload
public import Transport

/// Another credential takes over without a gap: both are good for a while. The next connection uses the new one, first
/// with one push alone; once APNs has looked past it, the old connections end with what they owe and every new one uses
/// the new credential. If APNs refuses it, the old one is kept and an alarm says so.
///
///     current ──rotate──▶ current + successor ──successor's push answered──▶ successor is current
///                                 └──successor refused──▶ current, and an alarm
///
/// A new connection in any case: a key that is not related to a connection's first is refused there (spec apns.md §6),
/// and a certificate belongs to the handshake.
extension APNSClient {
  /// The credential that waits for its first answer.
  struct Successor {
    var epoch: Int
    var gate: CredentialGate
    var blocks: HeaderBlocks
    var tls: TLSClientContext?
    /// The connection that tries it; nil until one is opened, and again when that one ended without an answer.
    var link: ConnectionID?
  }

  /// Goes over to `credential`: another key, the same key's next file, a certificate or its renewal. Returns at once; what
  /// came of it is told as `credentialRotated` or `alarm`, and in `metrics`. A credential that waits still is forgotten for
  /// this one. When the current one is held anyway, the new one takes its place at once.
  ///
  /// Throws when the certificate cannot be used by TLS; then nothing has changed.
  public func rotate(to credential: Credential) throws(TLSFault) {
    guard !isClosed else { return }
    let tls = try Self.tls(server: server, credential: credential, trust: trust)
    let moment = Moment(any: clock)
    lastEpoch += 1
    let next = Successor(
      epoch: lastEpoch, gate: CredentialGate(credential), blocks: HeaderBlocks(server: server), tls: tls)
    if let waiting = successor?.link { follow(.retired(waiting), moment) }
    successor = next
    if isHeld {
      takeOver(keeping: nil, moment)
      admit(moment)
    } else {
      trySuccessor(moment)
    }
    handle(.tick, moment)
  }

  static func tls(
    server: APNSServer, credential: Credential, trust: TLSClientContext.Trust
  ) throws(TLSFault) -> TLSClientContext? {
    guard server.isEncrypted else { return nil }
    switch credential {
    case .token: return try TLSClientContext(trust: trust)
    case .certificate(let identity, _): return try TLSClientContext(trust: trust, identity: identity)
    }
  }

  /// Asks for a connection that tries the successor, if none does.
  func trySuccessor(_ moment: Moment) {
    guard let successor, successor.link == nil else { return }
    follow(.renewed, moment)
  }

  /// APNs looked past the credential of that connection.
  func proved(_ id: ConnectionID, _ moment: Moment) {
    guard let successor, successor.link == id else { return }
    takeOver(keeping: id, moment)
  }

  private func takeOver(keeping id: ConnectionID?, _ moment: Moment) {
    guard let successor else { return }
    gate = successor.gate
    blocks = successor.blocks
    tls = successor.tls
    epoch = successor.epoch
    self.successor = nil
    warrant = nil
    meter.rotated()
    onEvent(.credentialRotated(gate.credential.name))
    pending.append(.replaced(keeping: id, firstAlone: gate.credential.isToken))
  }

  /// APNs refused the successor, or it may not be used: the old one goes on.
  func abandonSuccessor(_ words: String, _ moment: Moment) {
    guard let abandoned = successor else { return }
    successor = nil
    meter.rotationRefused()
    onEvent(gate.stays(insteadOf: abandoned.gate, words))
    if let id = abandoned.link { pending.append(.retired(id)) }
  }

  /// 403 or GOAWAY on a connection that does not use the current credential; whether it was such a one.
  func isRefusedElsewhere(
    _ id: ConnectionID, _ reason: RefusalReason, _ generation: ProviderTokenLife.Generation, _ date: [UInt8]?,
    _ moment: Moment
  ) -> Bool {
    guard let link = links[id], link.epoch != epoch else { return false }
    // not the successor's either: of the credential before, which may be revoked by now
    guard var candidate = successor, candidate.link == id else { return true }
    let (_, alarm) = candidate.gate.refused(
      generation, reason, theirDate: date.flatMap { instant(fromHTTPDate: $0) }, at: moment)
    successor = candidate
    abandonSuccessor(alarm ?? reason.words, moment)
    return true
  }

  /// The connection that tried the successor is gone.
  func successorLost(_ id: ConnectionID, _ fault: TransportFault?, _ moment: Moment) {
    guard successor?.link == id else { return }
    successor?.link = nil
    guard let fault, fault.kind == .certificateRefused else { return }  // else the next connection tries again
    abandonSuccessor("\(fault)", moment)
  }
}
