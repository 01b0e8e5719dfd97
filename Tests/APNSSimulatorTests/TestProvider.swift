import Basics
import Transport

@testable import APNSSimulator

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
    let signed = base64URL(Array(header.utf8)) + "." + base64URL(Array(claims.utf8))
    let message = Array(signed.utf8)
    let signature =
      switch form {
      case .raw: privateKey.signature(of: message)
      case .der: privateKey.derSignature(of: message)
      }
    return signed + "." + base64URL(signature ?? [])
  }

  func token(issuedAt: Instant, form: SignatureForm = .raw) -> String {
    token(
      header: #"{"alg":"ES256","kid":"\#(key.keyID)"}"#,
      claims: #"{"iss":"\#(key.teamID)","iat":\#(issuedAt.seconds)}"#, form: form)
  }
}

/// Without padding (RFC 7515 §2).
func base64URL(_ bytes: [UInt8]) -> String {
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  var text: [UInt8] = []
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let group = bytes[start..<min(start + 3, bytes.count)]
    let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
    for place in 0...group.count { text.append(alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)]) }
  }
  return String(decoding: text, as: UTF8.self)
}
