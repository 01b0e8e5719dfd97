import Delivery
public import Transport

/// Another credential takes over without a gap, one request first.
extension APNSChannels {
  /// A credential, with the connections that were opened by it.
  struct Party {
    let epoch: Int
    var gate: CredentialGate
    let manager: ExchangeLine
    let sender: ExchangeLine

    func line(to host: Host) -> ExchangeLine {
      switch host {
      case .manage: manager
      case .send: sender
      }
    }

    func drop() {
      manager.drop()
      sender.drop()
    }
  }

  static func party(
    _ epoch: Int, _ credential: Credential, _ settings: Configuration, _ dialers: (manage: Dialer, send: Dialer),
    _ loop: EventLoop
  ) throws(TLSFault) -> Party {
    func exchangeLine(_ server: APNSServer, _ dialer: Dialer) throws(TLSFault) -> ExchangeLine {
      ExchangeLine(
        server: server, tls: try APNSClient.tls(server: server, credential: credential, trust: settings.trust),
        loop: loop, dialer: dialer, idle: settings.idle, pingTimeout: settings.pingTimeout)
    }
    return Party(
      epoch: epoch, gate: CredentialGate(credential),
      manager: try exchangeLine(settings.server.manage, dialers.manage),
      sender: try exchangeLine(settings.server.send, dialers.send))
  }

  /// Goes over to `credential` without a gap, as `APNSClient.rotate` does: the next request tries it, on a connection of
  /// its own. Once APNs has looked past it, it is used for all; if APNs refuses it, that request goes again by the old one,
  /// which is kept, and an alarm says so. When the current one is refused anyway, the new one takes its place at once.
  ///
  /// Throws when the certificate cannot be used by TLS; then nothing has changed.
  public func rotate(to credential: Credential) throws(TLSFault) {
    guard !isClosed else { return }
    lastEpoch += 1
    let next = try Self.party(lastEpoch, credential, settings, dialers, loop)
    successor?.drop()
    successor = next
    isTrying = false
    if case .hold = current.gate.warrant(at: Moment(any: clock)) { takeOver() }
  }

  func takeOver() {
    guard let next = successor else { return }
    current.drop()
    current = next
    successor = nil
    settings.onEvent(.credentialRotated(next.gate.credential.name))
  }

  func abandonSuccessor(_ words: String) {
    guard let abandoned = successor else { return }
    abandoned.drop()
    successor = nil
    settings.onEvent(current.gate.stays(insteadOf: abandoned.gate, words))
  }

  /// Changes the party of that number, if it is still one.
  func change<Result>(_ epoch: Int, _ body: (inout Party) -> Result) -> Result? {
    if current.epoch == epoch { return body(&current) }
    guard var next = successor, next.epoch == epoch else { return nil }
    defer { successor = next }
    return body(&next)
  }
}
