public import Basics
import Delivery
import PushPayload
public import Transport

/// What APNs knows a provider by.
public enum Credential: Sendable {
  /// A provider token, made and renewed from the key.
  case token(ProviderKey)
  /// A client certificate, read from `.p12` or `.pem`.
  case certificate(TLSIdentity, name: String)

  var isToken: Bool {
    switch self {
    case .token: true
    case .certificate: false
    }
  }

  /// For messages.
  var name: String {
    switch self {
    case .token(let key): key.description
    case .certificate(_, let name): "the certificate \(name)"
    }
  }

  /// What an operator should know of a certificate's dates: its end from 30 days ahead on (`certificateEnding`), and that
  /// it cannot be used (`certificateUnusable`); nil when all is well, and for keys, which have no end.
  public func notice(at now: Instant) -> APNSClientEvent? {
    guard case .certificate(_, let name) = self, let term = term(at: now), let words = term.words(for: name) else {
      return nil
    }
    return term.isValid ? .certificateEnding(words) : .certificateUnusable(words)
  }

  fileprivate func term(at now: Instant) -> CertificateTerm? {
    switch self {
    case .token: nil
    case .certificate(let identity, _):
      CertificateTerm(
        notBefore: identity.certificate.notBefore, notAfter: identity.certificate.notAfter, at: now)
    }
  }
}

/// Lets pushes pass as long as the credential is believed to be good.
struct CredentialGate {
  let credential: Credential
  private var standing = CredentialStanding()
  /// The generation last reported as accepted, so that it is reported once.
  private var proven: ProviderTokenLife.Generation?
  /// What was last told of a certificate's dates, by its stage.
  private var told: CertificateTerm?

  init(_ credential: Credential) { self.credential = credential }

  /// The one generation of a certificate.
  private static let only = ProviderTokenLife.Generation(rawValue: 0)

  mutating func warrant(at moment: Moment) -> Warrant {
    switch credential {
    case .token(let key):
      for case .hold(let reason) in standing.handle(.wanted, at: moment) { return .hold(words(reason)) }
      return key.warrant(at: moment)
    case .certificate(_, let name):
      if let term = credential.term(at: moment.wall), !term.isValid { return .hold(term.words(for: name) ?? "") }
      for case .hold(let reason) in standing.handle(.wanted, at: moment) { return .hold(words(reason)) }
      return .send(authorization: nil, Self.only)
    }
  }

  /// What is to be told of a certificate's dates now; each once.
  mutating func notice(at moment: Moment) -> APNSClientEvent? {
    guard let term = credential.term(at: moment.wall), term != told else { return nil }
    told = term
    return credential.notice(at: moment.wall)
  }

  mutating func accepted(_ generation: ProviderTokenLife.Generation, at moment: Moment) {
    guard proven != generation else { return }
    proven = generation
    _ = standing.handle(.accepted, at: moment)
    switch credential {
    case .token(let key): key.accepted(generation, at: moment)
    case .certificate: break
    }
  }

  /// APNs refused the credential with a reason of class `credential` or `newToken`.
  mutating func refused(
    _ generation: ProviderTokenLife.Generation, _ reason: RefusalReason, theirDate: Instant?, at moment: Moment
  ) -> (warrant: Warrant, alarm: String?) {
    proven = nil
    // a key that is limited to the other environment is good there: only this client stops
    if case .token(let key) = credential, !reason.concernsEnvironment {
      return key.refused(generation, reason, theirDate: theirDate, at: moment)
    }
    var alarm: String?
    for case .alarm(let reason) in standing.handle(.refused(reason), at: moment) { alarm = words(reason) }
    return (.hold(words(reason)), alarm)
  }

  mutating func resume(at moment: Moment) {
    _ = standing.handle(.resumed, at: moment)
    switch credential {
    case .token(let key): key.resume()
    case .certificate: break
    }
  }

  func report(_ status: inout CredentialStatus, at moment: Moment) {
    switch credential {
    case .token(let key):
      status.tokenAge = key.tokenAge(at: moment)
      if key.isHeld { status.standing = .held }
    case .certificate(let identity, _):
      status.certificateEnd = identity.certificate.notAfter
      if let term = credential.term(at: moment.wall), !term.isValid { status.standing = .held }
    }
    if standing.isHeld { status.standing = .held }
  }

  /// What is told when another credential does not take over from this one.
  func stays(insteadOf next: CredentialGate, _ words: String) -> APNSClientEvent {
    .alarm("\(next.credential.name) does not take over, \(credential.name) goes on: \(words)")
  }

  private func words(_ reason: RefusalReason) -> String {
    "APNs refuses \(credential.name): \(reason.rawValue). \(reason.remedy)"
  }
}

extension RefusalReason {
  /// For messages, where nothing more is known.
  var words: String { "APNs says \(rawValue). \(remedy)" }
}
