internal import Basics
internal import PushPayload
internal import Transport

extension ConnectionTrust.Identity {
  /// What the handshake says of a client that showed a certificate.
  init(_ peer: PeerCertificate, directory: ProviderDirectory, now: Instant) {
    guard let facts = try? Certificate(der: peer.der) else {
      self = .bad(Refusal(.badCertificate, "the client certificate cannot be read"))
      return
    }
    if directory.isRevoked(certificate: facts.fingerprint) {
      self = .bad(Refusal(.badCertificate, "the client certificate is revoked (DELETE /certificates/{fingerprint})"))
    } else if now >= facts.notAfter {
      self = .bad(Refusal(.badCertificate, "the client certificate expired at \(facts.notAfter)"))
    } else if let error = peer.verifyError {
      self = .bad(
        Refusal(.badCertificate, "the client certificate is not of this simulator's authority: \(error)"))
    } else {
      self = .certificate(ProviderCertificate(facts, teamID: directory.certificateTeam))
    }
  }

  /// Why a connection to `environment` is no use from the start, if so.
  func refusal(in environment: SimulatedEnvironment, now: Instant) -> Refusal? {
    switch self {
    case .none: nil
    case .bad(let refusal): refusal
    case .certificate(let certificate): certificate.refusal(in: environment, now: now)
    }
  }
}

extension ProviderCertificate {
  init(_ certificate: Certificate, teamID: String?) {
    let marks = CertificateMarks(certificate.extensions)
    var environments: Set<SimulatedEnvironment> = []
    if marks.isForSandbox { environments.insert(.sandbox) }
    if marks.isForProduction { environments.insert(.production) }
    self.init(
      userID: certificate.userID ?? "", environments: environments, topics: marks.topics,
      notBefore: certificate.notBefore, notAfter: certificate.notAfter, teamID: teamID)
  }
}
