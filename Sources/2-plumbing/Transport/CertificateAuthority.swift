public import Basics

/// A certificate authority of our own: for the simulator and for tests. Keys are P-256.
public struct CertificateAuthority: Sendable {
  public let identity: TLSIdentity
  public var certificate: Certificate { identity.certificate }
  /// The certificate alone, PEM.
  public var pem: [UInt8] { certificate.pem }
  public var fingerprint: String { certificate.fingerprint }

  /// Takes up an authority that was kept as PEM text with its key.
  public init(pem: [UInt8]) throws(TLSFault) { fatalError("coming") }

  public static func create(
    commonName: String, notBefore: Instant, notAfter: Instant
  ) throws(TLSFault) -> CertificateAuthority { fatalError("coming") }

  /// A certificate for a TLS server; names are DNS names or IP addresses.
  public func issueServer(names: [String], notBefore: Instant, notAfter: Instant) throws(TLSFault) -> TLSIdentity {
    fatalError("coming")
  }

  /// A certificate for a TLS client.
  public func issueClient(
    commonName: String, userID: String?, extensions: [CertificateExtension] = [], notBefore: Instant, notAfter: Instant
  ) throws(TLSFault) -> TLSIdentity { fatalError("coming") }
}

/// An extension by its OID; `der` is the value inside the octet string (`05 00` for NULL).
public struct CertificateExtension: Hashable, Sendable {
  public var oid: String
  public var der: [UInt8]
  public init(oid: String, der: [UInt8]) {
    self.oid = oid
    self.der = der
  }

  /// Apple's push certificates (spec/apns.md §7).
  public static var appleSandboxPush: CertificateExtension { .init(oid: "1.2.840.113635.100.6.3.1", der: [5, 0]) }
  public static var appleProductionPush: CertificateExtension { .init(oid: "1.2.840.113635.100.6.3.2", der: [5, 0]) }
}

extension TLSIdentity {
  public enum PKCS12Encryption: Hashable, Sendable {
    case aes256
    /// RC2-40 for certificates, 3DES for the key: what Keychain Access of older Macs wrote. For tests.
    case legacy
  }

  /// A .p12 file. Secret.
  public func pkcs12(password: String, encryption: PKCS12Encryption = .aes256) throws(TLSFault) -> [UInt8] {
    fatalError("coming")
  }
}
