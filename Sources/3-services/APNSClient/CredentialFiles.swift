public import Basics
public import Delivery
import PushPayload
import Transport

/// Reads keys and certificates as `serve` uses them, and refuses what APNs is certain to refuse.
public struct CredentialFiles: CredentialReader {
  public init() {}

  public func read(
    _ upload: CredentialUpload, bundleID: String, at now: Instant
  ) throws(CredentialFault) -> ReadCredential {
    switch upload.proof {
    case .key(let bytes, let keyID, let teamID):
      try key(bytes, keyID: keyID, teamID: teamID, upload.name)
    case .certificate(let bytes, let password):
      try certificate(bytes, password: password, upload.name, bundleID: bundleID, at: now)
    }
  }

  private func key(
    _ bytes: [UInt8], keyID: String, teamID: String, _ name: String
  ) throws(CredentialFault) -> ReadCredential {
    let file = KeyFile(bytes, path: name)
    var warnings: [String] = []
    if let told = file.keyIDInName, told != keyID {
      guard told != teamID else {
        throw CredentialFault(
          name: name, found: "key id and team id are swapped: the file is of key \(told), which is given as team id",
          remedy: "Exchange the two.")
      }
      warnings.append("the file's name says key \(told), \(keyID.prefix(10)) was given as key id")
    }
    let key = try ProviderKey(p8: bytes, keyID: keyID, teamID: teamID, name: name)
    if let disguise = file.disguise { warnings.append("the file \(disguise); it was understood and is kept without") }
    var facts = CredentialFacts(fingerprint: key.fingerprint)
    facts.keyID = keyID
    facts.teamID = teamID
    return ReadCredential(facts, secret: key.pem, warnings: warnings)
  }

  private func certificate(
    _ bytes: [UInt8], password: String, _ name: String, bundleID: String, at now: Instant
  ) throws(CredentialFault) -> ReadCredential {
    let identity: TLSIdentity
    do throws(TLSFault) { identity = try TLSIdentity(file: bytes, password: password) } catch {
      throw CredentialFault(name: name, found: error.what, remedy: error.remedy)
    }
    let certificate = identity.certificate
    let push = PushCertificate(certificate)
    if let flaw = push.flaw(for: bundleID) { throw CredentialFault(name: name, found: flaw.found, remedy: flaw.remedy) }
    guard push.isForSandbox || push.isForProduction else {
      throw CredentialFault(
        name: name, found: "it is for neither sandbox nor production",
        remedy: "Make a certificate of the kind Apple Push Notification service SSL (Sandbox & Production).")
    }
    switch CertificateTerm(notBefore: certificate.notBefore, notAfter: certificate.notAfter, at: now) {
    case .good, .ending: break
    case .ended(let end):
      throw CredentialFault(
        name: name, found: "it ended at \(end)", remedy: "Make a new one in Apple's developer portal.")
    case .notBegun(let start):
      throw CredentialFault(
        name: name, found: "it is good from \(start) on only", remedy: "Check this machine's clock, or wait.")
    }
    var facts = CredentialFacts(fingerprint: certificate.fingerprint)
    facts.topics = push.topics
    facts.isForSandbox = push.isForSandbox
    facts.isForProduction = push.isForProduction
    facts.notBefore = certificate.notBefore
    facts.notAfter = certificate.notAfter
    return ReadCredential(facts, secret: identity.pem, warnings: [])
  }
}
