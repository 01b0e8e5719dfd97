import APNSClient
import Audience
import Basics
import Delivery
import PushService
import Transport

/// What the files of a credential say, before anything is sent.
struct DoctorFiles {
  let now: Instant
  /// The environments that pushes will go to; nil for a server that is neither of Apple's.
  let environments: Set<APNSEnvironment>?

  /// The checks, and the credential when it can be tried.
  func check(_ given: ServeConfiguration.Credential) -> (checks: [DoctorCheck], credential: Credential?) {
    if let path = given.key { return key(given, path) }
    return certificate(given, given.certificate ?? "")
  }

  /// One that the service keeps, which was checked when it came: what time has changed since.
  func check(_ kept: KeptCredentials.Entry) -> [DoctorCheck] {
    let subject = "\(kept.app.bundleID), credential \(kept.id)"
    switch kept.credential {
    case .token(let key): return [.init(.ok, .key, subject, "\(key), kept by the service")]
    case .certificate(let identity, _):
      return facts(PushCertificate(identity.certificate), bundle: kept.app.bundleID, subject)
        + [term(identity.certificate, subject)]
    }
  }

  // MARK: Keys

  private func key(
    _ given: ServeConfiguration.Credential, _ path: String
  ) -> (checks: [DoctorCheck], credential: Credential?) {
    let (keyID, teamID) = (given.keyID ?? "", given.teamID ?? "")
    var (checks, bytes) = file(path)
    guard let bytes else { return (checks, nil) }
    let keyFile = KeyFile(bytes, path: path)
    if let disguise = keyFile.disguise {
      checks.append(
        .init(.warn, .key, path, "the file \(disguise); it is understood here, not by every tool", "Download it again.")
      )
    }
    checks += ids(path, told: keyFile.keyIDInName, keyID: keyID, teamID: teamID)
    do throws(CredentialFault) {
      let key = try ProviderKey(p8: bytes, keyID: keyID, teamID: teamID, name: path)
      checks.append(.init(.ok, .key, path, "an EC P-256 key, as provider tokens are signed with"))
      return (checks, .token(key))
    } catch {
      checks.append(.init(.fail, .key, path, error.found, error.remedy))
      return (checks, nil)
    }
  }

  /// Apple names the file `AuthKey_<key id>.p8`: that tells when ids were mixed up.
  private func ids(_ path: String, told: String?, keyID: String, teamID: String) -> [DoctorCheck] {
    guard let told, told != keyID else { return [] }
    if told == teamID {
      return [
        .init(
          .fail, .ids, path, "key id and team id are swapped: the file is of key \(told), which is given as team id",
          "Exchange keyID and teamID.")
      ]
    }
    return [
      .init(
        .warn, .ids, path, "the file's name says key \(told), the configuration says \(keyID)",
        "Give the key id under which Apple lists this key.")
    ]
  }

  // MARK: Certificates

  private func certificate(
    _ given: ServeConfiguration.Credential, _ path: String
  ) -> (checks: [DoctorCheck], credential: Credential?) {
    var (checks, bytes) = file(path)
    var password = ""
    if let passwordFile = given.passwordFile {
      let (more, text) = file(passwordFile)
      checks += more
      guard let text else { return (checks, nil) }
      password = Files.firstLine(of: text)
    }
    guard let bytes else { return (checks, nil) }
    let identity: TLSIdentity
    do throws(TLSFault) { identity = try TLSIdentity(bytes, ofFile: path, password: password) } catch {
      checks.append(.init(.fail, .certificate, path, error.what, error.remedy))
      return (checks, nil)
    }
    let facts = PushCertificate(identity.certificate)
    checks += self.facts(facts, bundle: given.bundle, path) + [term(identity.certificate, path)]
    return (checks, .certificate(identity, name: path))
  }

  private func facts(_ facts: PushCertificate, bundle: String, _ path: String) -> [DoctorCheck] {
    let wanted = bundle == "*" ? facts.userID ?? bundle : bundle
    var checks: [DoctorCheck] = []
    if let userID = facts.userID { checks.append(.init(.ok, .certificate, path, "a push certificate for \(userID)")) }
    if let (flaw, found, remedy) = facts.flaw(for: wanted) {
      switch flaw {
      case .noPushCertificate: return [.init(.fail, .certificate, path, found, remedy)]
      case .onlyVoIP, .otherApp: checks.append(.init(.fail, .topic, path, found, remedy))
      }
    } else {
      checks.append(.init(.ok, .topic, path, "topics: \(facts.topics.joined(separator: ", "))"))
    }
    for environment in (environments ?? []).sorted(by: { $0.rawValue < $1.rawValue })
    where !facts.environments.contains(environment) {
      let known = facts.environments.map { "\($0)" }.joined(separator: ", ")
      checks.append(
        .init(
          environments?.count == 1 ? .fail : .warn, .environment, path,
          "it is for \(known.isEmpty ? "no environment" : known), pushes to \(environment) are refused",
          "Make a certificate for Sandbox & Production."))
    }
    return checks
  }

  private func term(_ certificate: Certificate, _ path: String) -> DoctorCheck {
    let term = CertificateTerm(notBefore: certificate.notBefore, notAfter: certificate.notAfter, at: now)
    let remedy = "Make a new one in Apple's developer portal and put it in this one's place."
    switch term {
    case .good: return .init(.ok, .term, path, "good until \(certificate.notAfter)")
    case .ending(let end, let days):
      return .init(
        .warn, .term, path, "ends at \(end), in no more than \(days == 1 ? "a day" : "\(days) days")", remedy)
    case .ended(let end): return .init(.fail, .term, path, "ended at \(end)", remedy)
    case .notBegun(let start):
      return .init(.fail, .term, path, "is good from \(start) on only", "Check this machine's clock, or wait.")
    }
  }

  // MARK: Any file

  private func file(_ path: String) -> (checks: [DoctorCheck], bytes: [UInt8]?) {
    let bytes: [UInt8]
    do { bytes = try Files.read(path) } catch {
      return ([.init(.fail, .file, path, "cannot be read", "Check its name, and that this user may read it.")], nil)
    }
    var checks = [DoctorCheck(.ok, .file, path, "\(bytes.count) bytes")]
    if let mode = Files.permissions(path), mode & 0o077 != 0 {
      checks.append(
        .init(
          .warn, .permissions, path, "others than its owner may read it (mode \(String(mode & 0o777, radix: 8)))",
          "chmod 600 \(path)."))
    }
    return (checks, bytes)
  }
}

extension PushCertificate {
  fileprivate var environments: Set<APNSEnvironment> {
    Set((isForSandbox ? [.sandbox] : []) + (isForProduction ? [.production] : []))
  }
}
