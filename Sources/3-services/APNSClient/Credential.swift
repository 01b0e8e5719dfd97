import Basics
import Delivery
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
}

/// Lets pushes pass as long as the credential is believed to be good.
struct CredentialGate {
  let credential: Credential
  private var certificate = CertificateStanding()
  /// The generation last reported as accepted, so that it is reported once.
  private var proven: ProviderTokenLife.Generation?

  init(_ credential: Credential) { self.credential = credential }

  /// The one generation of a certificate.
  private static let only = ProviderTokenLife.Generation(rawValue: 0)

  mutating func warrant(at moment: Moment) -> Warrant {
    switch credential {
    case .token(let key):
      return key.warrant(at: moment)
    case .certificate(_, let name):
      for case .hold(let reason) in certificate.handle(.wanted, at: moment) { return .hold(words(name, reason)) }
      return .send(authorization: nil, Self.only)
    }
  }

  mutating func accepted(_ generation: ProviderTokenLife.Generation, at moment: Moment) {
    guard proven != generation else { return }
    proven = generation
    switch credential {
    case .token(let key): key.accepted(generation, at: moment)
    case .certificate: _ = certificate.handle(.accepted, at: moment)
    }
  }

  /// APNs refused the credential with a reason of class `credential` or `newToken`.
  mutating func refused(
    _ generation: ProviderTokenLife.Generation, _ reason: RefusalReason, theirDate: Instant?, at moment: Moment
  ) -> (warrant: Warrant, alarm: String?) {
    proven = nil
    switch credential {
    case .token(let key):
      return key.refused(generation, reason, theirDate: theirDate, at: moment)
    case .certificate(_, let name):
      var alarm: String?
      for case .alarm(let reason) in certificate.handle(.refused(reason), at: moment) { alarm = words(name, reason) }
      return (.hold(words(name, reason)), alarm)
    }
  }

  mutating func resume(at moment: Moment) {
    switch credential {
    case .token(let key): key.resume()
    case .certificate: _ = certificate.handle(.resumed, at: moment)
    }
  }

  private func words(_ name: String, _ reason: RefusalReason) -> String {
    "APNs refuses the certificate \(name): \(reason.rawValue). \(reason.remedy)"
  }
}
