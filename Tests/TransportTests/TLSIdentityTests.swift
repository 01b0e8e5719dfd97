import Basics
import Testing

@testable import Transport

@Suite("Certificates and keys")
struct TLSIdentityTests {
  static let now = Instant(seconds: 1_796_000_000)

  func authority() throws -> CertificateAuthority {
    try .create(commonName: "Test CA", notBefore: Self.now - .days(1), notAfter: Self.now + .days(3650))
  }

  func pushIdentity() throws -> TLSIdentity {
    try authority().issueClient(
      commonName: "Apple Push Services: com.example.app", userID: "com.example.app",
      extensions: [
        .appleSandboxPush, .appleProductionPush,
        CertificateExtension(oid: "1.2.840.113635.100.6.3.6", der: [0x30, 0x03, 0x0C, 0x01, 0x61]),
      ], notBefore: Self.now - .days(30), notAfter: Self.now + .days(335))
  }

  @Test("a push certificate tells its topic, dates and Apple's extensions")
  func facts() throws {
    let certificate = try pushIdentity().certificate
    #expect(certificate.userID == "com.example.app")
    #expect(certificate.commonName == "Apple Push Services: com.example.app")
    #expect(certificate.subject == "UID=com.example.app, CN=Apple Push Services: com.example.app")
    #expect(certificate.issuer == "CN=Test CA")
    #expect(certificate.notBefore == Self.now - .days(30))
    #expect(certificate.notAfter == Self.now + .days(335))
    #expect(certificate.extensions["1.2.840.113635.100.6.3.1"] == [5, 0])
    #expect(certificate.extensions["1.2.840.113635.100.6.3.2"] == [5, 0])
    #expect(certificate.extensions["1.2.840.113635.100.6.3.6"] == [0x30, 0x03, 0x0C, 0x01, 0x61])
    #expect(certificate.extensions["1.2.840.113635.100.6.3.4"] == nil)
    #expect(certificate.fingerprint.split(separator: ":").count == 32)
    #expect(try Certificate(der: certificate.der) == certificate)
    #expect(try Certificate(pem: certificate.pem) == certificate)
  }

  @Test("a server certificate lists names and addresses; what is neither is refused with its text")
  func serverNames() throws {
    let authority = try authority()
    let names = ["api.example.com", "*.push.example.com", "127.0.0.1", "::1"]
    let identity = try authority.issueServer(names: names, notBefore: Self.now, notAfter: Self.now + .days(1))
    #expect(identity.certificate.names == names)
    for bad in ["", "a,b", "DNS:x", "a b", "bücher.example"] {
      #expect(throws: TLSFault.self) {
        try authority.issueServer(names: [bad], notBefore: Self.now, notAfter: Self.now + .days(1))
      }
    }
  }

  @Test("an authority survives being kept as text")
  func authorityRoundTrip() throws {
    let authority = try authority()
    let again = try CertificateAuthority(pem: authority.identity.pem)
    #expect(again.fingerprint == authority.fingerprint)
    let issued = try again.issueServer(names: ["localhost"], notBefore: Self.now, notAfter: Self.now + .days(1))
    #expect(issued.certificate.issuer == "CN=Test CA")
  }

  @Test(
    "C28 a .p12 of a new tool and of an older Mac opens with its password, the empty one too",
    arguments: [TLSIdentity.PKCS12Encryption.aes256, .legacy], ["secret", "", "pässwörd"])
  func opensPKCS12(encryption: TLSIdentity.PKCS12Encryption, password: String) throws {
    let identity = try pushIdentity()
    let file = try identity.pkcs12(password: password, encryption: encryption)
    let read = try TLSIdentity(pkcs12: file, password: password)
    #expect(read.certificate == identity.certificate)
    #expect(read.privateKey == identity.privateKey)
  }

  @Test(
    "C28 a wrong password is told as such, whatever the encryption",
    arguments: [TLSIdentity.PKCS12Encryption.aes256, .legacy], [("secret", "Secret"), ("secret", ""), ("", "x")])
  func wrongPassword(encryption: TLSIdentity.PKCS12Encryption, passwords: (String, String)) throws {
    let file = try pushIdentity().pkcs12(password: passwords.0, encryption: encryption)
    let fault = #expect(throws: TLSFault.self) { try TLSIdentity(pkcs12: file, password: passwords.1) }
    #expect(fault?.kind == .wrongPassword)
  }

  @Test("C28 an encryption that OpenSSL lacks names the conversion")
  func unsupportedEncryption() throws {
    let file = try pushIdentity().pkcs12(password: "secret", encryption: .legacy)
    let fault = #expect(throws: TLSFault.self) {
      try TLSIdentity(pkcs12: file, password: "secret", library: LegacyLibrary(hasLegacy: false))
    }
    #expect(fault?.kind == .unsupportedEncryption)
    #expect(fault?.remedy.contains("openssl pkcs12") == true)
  }

  @Test("C28 damaged files fault, whatever byte is cut or changed, and never trap")
  func damaged() throws {
    let file = try pushIdentity().pkcs12(password: "secret")
    #expect(throws: TLSFault.self) { try TLSIdentity(pkcs12: [], password: "secret") }
    #expect(throws: TLSFault.self) { try TLSIdentity(pkcs12: Array("not a file".utf8), password: "secret") }
    for length in stride(from: 1, to: file.count, by: 97) {
      let fault = #expect(throws: TLSFault.self) { try TLSIdentity(pkcs12: Array(file[..<length]), password: "secret") }
      #expect(fault?.kind == .malformed)
    }
    var dice = Dice(seed: 28)
    for _ in 0..<50 {
      var damaged = file
      damaged[Int.random(in: 0..<file.count, using: &dice)] ^= UInt8.random(in: 1...255, using: &dice)
      _ = try? TLSIdentity(pkcs12: damaged, password: "secret")
    }
  }

  @Test("PEM text gives certificate, key and chain in any order")
  func pem() throws {
    let identity = try pushIdentity()
    let authority = try authority()
    let read = try TLSIdentity(pem: authority.pem + identity.pem)
    #expect(read.certificate == identity.certificate)
    #expect(read.chain == [authority.certificate.der])
  }

  @Test("PEM text that lacks a part says which")
  func incompletePEM() throws {
    let identity = try pushIdentity()
    let other = try pushIdentity()
    let keyOnly = Array(identity.pem.dropFirst(identity.certificate.pem.count))
    let rows: [([UInt8], TLSFault.Kind)] = [
      ([], .certificateMissing), (Array("hello".utf8), .certificateMissing), (keyOnly, .certificateMissing),
      (identity.certificate.pem, .keyMissing), (other.certificate.pem + keyOnly, .keyMismatch),
    ]
    for (text, kind) in rows {
      let fault = #expect(throws: TLSFault.self) { try TLSIdentity(pem: text) }
      #expect(fault?.kind == kind)
    }
  }
}
