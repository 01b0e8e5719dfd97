import APNSClient
import Basics
import Delivery
import Testing
import Transport

@Suite("Credentials that are handed over")
struct CredentialFilesTests {
  static let now = Instant(seconds: 1_796_000_000)
  private let bundle = "com.example.app"

  private func read(_ upload: CredentialUpload) throws(CredentialFault) -> ReadCredential {
    try CredentialFiles().read(upload, bundleID: bundle, at: Self.now)
  }

  private func refusal(of upload: CredentialUpload) -> CredentialFault? {
    do throws(CredentialFault) {
      _ = try read(upload)
      return nil
    } catch {
      return error
    }
  }

  private func key(
    _ bytes: [UInt8], keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ", name: String = "key.p8"
  ) -> CredentialUpload {
    CredentialUpload(.key(bytes, keyID: keyID, teamID: teamID), name: name)
  }

  @Test("C26 a key is kept as Apple hands it out, whatever an editor, a shell or a mail made of it; that is told")
  func disguises() throws {
    let original = try P256PrivateKey.generate()
    let text = String(decoding: original.pem, as: UTF8.self)
    let rows: [(String, warning: String?)] = [
      (text, nil), ("\u{FEFF}" + text, "byte order mark"), (text.replacing("\n", with: "\r\n"), "CRLF"),
      (text.replacing("\n", with: "\\n"), "\\n"),
    ]
    for (form, warning) in rows {
      let credential = try read(key(Array(form.utf8)))
      #expect(credential.secret == original.pem)
      #expect(credential.facts.fingerprint == original.publicKey.fingerprint)
      #expect(credential.facts.keyID == "ABC123DEFG" && credential.facts.teamID == "DEF123GHIJ")
      #expect(credential.facts.isForSandbox && credential.facts.isForProduction && credential.facts.notAfter == nil)
      #expect(credential.warnings.count == (warning == nil ? 0 : 1))
      if let warning { #expect(credential.warnings.first?.contains(warning) == true) }
    }
  }

  @Test("C26 what is no key for provider tokens is refused by its kind; ids that are swapped or no ids are named")
  func noKeys() throws {
    let pem = try P256PrivateKey.generate().pem
    let rows: [(CredentialUpload, String)] = [
      (key(pem, keyID: "abc"), "the key id 'abc' is not 10 capital letters and digits"),
      (key(pem, teamID: "com.exampl"), "the team id 'com.exampl' is not"),
      (key(pem, keyID: "DEF123GHIJ", teamID: "ABC123DEFG", name: "AuthKey_ABC123DEFG.p8"), "are swapped"),
    ]
    for (upload, words) in rows + ProviderKeyTests.wrong.map({ (key($0.1), $0.2) }) {
      let fault = try #require(refusal(of: upload))
      #expect(fault.found.contains(words), "\(fault)")
    }
    let other = try read(key(pem, name: "AuthKey_XYZ123XYZ1.p8"))
    #expect(other.warnings.first?.contains("XYZ123XYZ1") == true)
  }

  private func certificate(
    topics: [String]? = nil, userID: String? = "com.example.app",
    marks: [CertificateExtension] = [.appleSandboxPush, .appleProductionPush],
    from: Instant = now - .days(30), to: Instant = now + .days(335)
  ) throws -> TLSIdentity {
    let authority = try CertificateAuthority.create(
      commonName: "Test CA", notBefore: Self.now - .days(90), notAfter: Self.now + .days(3650))
    return try authority.issueClient(
      commonName: "Apple Push Services: \(bundle)", userID: userID, extensions: marks, notBefore: from, notAfter: to)
  }

  private func upload(_ bytes: [UInt8], _ password: String = "") -> CredentialUpload {
    CredentialUpload(.certificate(bytes, password: password), name: "push.p12")
  }

  @Test("C28 a .p12 of any age, with or without password, and PEM text are the same credential; the password goes")
  func certificates() throws {
    let identity = try certificate()
    let forms = [
      upload(try identity.pkcs12(password: "secret"), "secret"),
      upload(try identity.pkcs12(password: "secret", encryption: .legacy), "secret"),
      upload(try identity.pkcs12(password: "")), upload(identity.pem),
    ]
    for form in forms {
      let credential = try read(form)
      #expect(credential.facts.fingerprint == identity.certificate.fingerprint)
      #expect(credential.facts.topics == [bundle] && !credential.facts.isKey)
      #expect(credential.facts.isForSandbox && credential.facts.isForProduction)
      #expect(credential.facts.notAfter == Self.now + .days(335))
      #expect(try TLSIdentity(pem: credential.secret).certificate == identity.certificate)
    }
    let sandbox = try read(upload(try certificate(marks: [.appleSandboxPush]).pem)).facts
    #expect(sandbox.isForSandbox && !sandbox.isForProduction)
  }

  @Test("C28 a wrong password, another file, another app's, a VoIP one and one whose time is not now are each told")
  func refusals() throws {
    let good = try certificate()
    let voip = CertificateExtension(oid: "1.2.840.113635.100.6.3.4", der: Self.topicList("com.example.app.voip"))
    let rows: [(CredentialUpload, String)] = [
      (upload(try good.pkcs12(password: "secret"), "Secret"), "The password does not open the .p12 file"),
      (upload(Array("hello".utf8)), "This is no PKCS#12"), (upload(good.certificate.pem), "no private key"),
      (
        upload(try certificate(userID: "com.example.other").pem), "it is for com.example.other, not for com.example.app"
      ),
      (upload(try certificate(userID: nil).pem), "no UID"),
      (upload(try certificate(marks: []).pem), "neither sandbox nor production"),
      (upload(try certificate(marks: [.appleProductionPush, voip]).pem), "a VoIP certificate"),
      (upload(try certificate(to: Self.now - .days(1)).pem), "it ended at"),
      (upload(try certificate(from: Self.now + .days(1)).pem), "on only"),
    ]
    for (upload, words) in rows {
      let fault = try #require(refusal(of: upload))
      #expect(fault.found.contains(words), "\(fault)")
      #expect(fault.name == "push.p12" && !fault.remedy.isEmpty)
    }
  }

  /// As extension .4 and .6 have topics: a SEQUENCE of pairs of name and kind.
  private static func topicList(_ topic: String) -> [UInt8] {
    let (name, kind) = (ProviderKeyTests.der(0x0C, Array(topic.utf8)), ProviderKeyTests.der(0x0C, Array("voip".utf8)))
    return ProviderKeyTests.der(0x30, name + ProviderKeyTests.der(0x30, kind))
  }
}
