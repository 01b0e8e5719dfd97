public import Basics
internal import PushPayload
public import Transport

/// What a provider needs to speak to the simulator, made at the first start and kept in the data folder.
public struct SimulatorCredentials: Sendable {
  /// Signs the server's certificate and the providers'; trust it instead of Apple's root.
  public let authority: CertificateAuthority
  /// The .p8 key. Secret.
  public let signingKey: P256PrivateKey
  public let keyID: String
  public let teamID: String
  /// A push certificate for `bundleID`, both environments, with the topics of VoIP and complications.
  public let certificate: TLSIdentity
  public let bundleID: String
  /// The same as a .p12 file. Secret, as is its password.
  public let pkcs12: [UInt8]
  public let pkcs12Password: String
  /// Where it all lies; nil when it is in memory only.
  public let files: Files?

  /// Paths; all are of mode 0600.
  public struct Files: Sendable {
    public let authority: String
    public let signingKey: String
    public let pkcs12: String
    /// Certificate and key in one PEM file, for libraries that want it so.
    public let pem: String
  }

  public var providerKey: ProviderKey {
    ProviderKey(keyID: keyID, teamID: teamID, publicKey: signingKey.publicKey)
  }

  /// Takes up what lies in `folder` and makes what is missing.
  static func load(
    folder: PrivateFolder?, store: SimulatorStore?, bundleID: String, now: Instant
  ) throws -> SimulatorCredentials {
    func fact(_ name: String, length: Int) throws -> String {
      if let kept = try store?.fact(name) { return kept }
      let made = identifier(length: length)
      try store?.set(fact: name, made)
      return made
    }
    let keyID = try fact("key id", length: 10)
    let teamID = try fact("team id", length: 10)
    let password = try fact("p12 password", length: 16)

    let authority: CertificateAuthority
    if let kept = try folder?.read("ca-with-key.pem") {
      authority = try CertificateAuthority(pem: kept)
    } else {
      authority = try .create(
        commonName: "Belfry APNs Simulator CA \(identifier(length: 6))", notBefore: now - .days(1),
        notAfter: now + .days(3650))
      try folder?.write(authority.identity.pem, to: "ca-with-key.pem")
    }
    try folder?.write(authority.pem, to: "ca.pem")

    let keyName = "AuthKey_\(keyID).p8"
    let signingKey: P256PrivateKey
    if let kept = try folder?.read(keyName) {
      signingKey = try P256PrivateKey(pem: kept)
    } else {
      signingKey = try .generate()
      try folder?.write(signingKey.pem, to: keyName)
    }

    let name = bundleID.filter { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" }
    let identity: TLSIdentity
    let pkcs12: [UInt8]
    if let pem = try folder?.read("\(name).pem"), let kept = try folder?.read("\(name).p12"),
      let read = try? TLSIdentity(pem: pem), read.certificate.notAfter > now + .days(30)
    {
      identity = read
      pkcs12 = kept
    } else {
      identity = try authority.issuePushCertificate(bundleID: bundleID, now: now)
      pkcs12 = try identity.pkcs12(password: password)
      try folder?.write(identity.pem, to: "\(name).pem")
      try folder?.write(pkcs12, to: "\(name).p12")
    }
    return SimulatorCredentials(
      authority: authority, signingKey: signingKey, keyID: keyID, teamID: teamID, certificate: identity,
      bundleID: bundleID, pkcs12: pkcs12, pkcs12Password: password,
      files: folder.map {
        Files(
          authority: $0.path(of: "ca.pem"), signingKey: $0.path(of: keyName), pkcs12: $0.path(of: "\(name).p12"),
          pem: $0.path(of: "\(name).pem"))
      })
  }

  /// Capitals and digits, as Apple's key and team ids.
  static func identifier(length: Int) -> String {
    let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
    return String((0..<length).map { _ in letters.randomElement() ?? "A" })
  }
}

extension CertificateAuthority {
  /// A universal push certificate as Apple's portal makes it, valid for a year from yesterday.
  public func issuePushCertificate(
    bundleID: String, environments: Set<SimulatedEnvironment> = [.sandbox, .production], topics: [String]? = nil,
    now: Instant
  ) throws(TLSFault) -> TLSIdentity {
    var extensions: [CertificateExtension] = []
    if environments.contains(.sandbox) { extensions.append(.appleSandboxPush) }
    if environments.contains(.production) { extensions.append(.appleProductionPush) }
    let listed =
      topics.map { $0.map { (topic: $0, kinds: ["app"]) } }
      ?? [
        (bundleID, ["app"]), ("\(bundleID).voip", ["voip"]), ("\(bundleID).complication", ["complication"]),
        ("\(bundleID).voip-ptt", ["pushtotalk"]), ("\(bundleID).pushkit.fileprovider", ["fileprovider"]),
      ]
    extensions.append(
      CertificateExtension(oid: "1.2.840.113635.100.6.3.6", der: CertificateTopics.encoded(listed)))
    return try issueClient(
      commonName: "Apple Push Services: \(bundleID)", userID: bundleID, extensions: extensions,
      notBefore: now - .days(1), notAfter: now + .days(365))
  }
}
