public import Basics

/// A credential for APNs as somebody hands it over. Secret.
public struct CredentialUpload: Sendable {
  public enum Proof: Sendable {
    /// A `.p8` file's text.
    case key([UInt8], keyID: String, teamID: String)
    /// A `.p12` file, or PEM text with certificate and key.
    case certificate([UInt8], password: String)
  }

  public var proof: Proof
  /// The file's name, for messages.
  public var name: String

  public init(_ proof: Proof, name: String) {
    self.proof = proof
    self.name = name
  }
}

/// What anybody may know of a credential.
public struct CredentialFacts: Sendable, Hashable {
  /// Of a key.
  public var keyID: String?
  public var teamID: String?
  /// Of a certificate: the topics that it may push to; `[]` for a key, which may push to all of its team.
  public var topics: [String] = []
  public var isForSandbox = true
  public var isForProduction = true
  /// Of a certificate; a key has no end.
  public var notBefore: Instant?
  public var notAfter: Instant?
  /// SHA-256: of a certificate over its DER form, of a key over its public half (SubjectPublicKeyInfo).
  public var fingerprint: String

  public var isKey: Bool { keyID != nil }

  public init(fingerprint: String) { self.fingerprint = fingerprint }
}

/// A credential that was read and found good.
public struct ReadCredential: Sendable {
  public var facts: CredentialFacts
  /// PEM text of the key, or of certificate, chain and key; needs no password. Secret.
  public var secret: [UInt8]
  /// What is not as usual, but no reason to refuse it.
  public var warnings: [String]

  public init(_ facts: CredentialFacts, secret: [UInt8], warnings: [String]) {
    self.facts = facts
    self.secret = secret
    self.warnings = warnings
  }
}

/// Reads credentials: whoever speaks to APNs knows how.
public protocol CredentialReader: Sendable {
  /// Checks all that can be known before APNs is asked: the form, the ids, and of a certificate whether it is for the app and
  /// good at `now` (cases C26, C28).
  func read(_ upload: CredentialUpload, bundleID: String, at now: Instant) throws(CredentialFault) -> ReadCredential
}
