import Basics
import Transport

@testable import APNSSimulator

extension CertificateAuthority {
  /// One that nobody trusts.
  static func stranger(at now: Instant = SystemClock().now) throws -> CertificateAuthority {
    try create(commonName: "Stranger", notBefore: now - .days(1), notAfter: now + .days(1))
  }
}

/// A provider's side for tests: a key, and tokens signed with it in every form that real libraries send.
struct TestProvider: Sendable {
  let privateKey: P256PrivateKey
  let key: ProviderKey

  init(keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ", scope: ProviderKey.Scope = .team(only: nil)) throws
  {
    privateKey = try P256PrivateKey.generate()
    key = ProviderKey(keyID: keyID, teamID: teamID, publicKey: privateKey.publicKey, scope: scope)
  }

  enum SignatureForm: CaseIterable { case raw, der }

  /// `header` and `claims` are JSON texts.
  func token(header: String, claims: String, form: SignatureForm = .raw) -> String {
    let signed = header.utf8.base64URL + "." + claims.utf8.base64URL
    let message = Array(signed.utf8)
    let signature =
      switch form {
      case .raw: privateKey.signature(of: message)
      case .der: privateKey.derSignature(of: message)
      }
    return signed + "." + (signature ?? []).base64URL
  }

  func token(issuedAt: Instant, form: SignatureForm = .raw) -> String {
    token(
      header: #"{"alg":"ES256","kid":"\#(key.keyID)"}"#,
      claims: #"{"iss":"\#(key.teamID)","iat":\#(issuedAt.seconds)}"#, form: form)
  }
}
