public import Basics

/// What one X.509 certificate says.
public struct Certificate: Hashable, Sendable {
  public let der: [UInt8]
  public let notBefore: Instant
  public let notAfter: Instant
  public let commonName: String?
  /// The subject's UID (0.9.2342.19200300.100.1.1): the bundle id in Apple's push certificates.
  public let userID: String?
  /// The whole subject, `CN=…, UID=…`.
  public let subject: String
  public let issuer: String
  /// Values of extensions by dotted OID: the DER inside the octet string.
  public let extensions: [String: [UInt8]]
  /// DNS names and addresses that it is for.
  public let names: [String]
  /// SHA-256 over `der`, `AB:CD:…`.
  public let fingerprint: String

  public init(der: [UInt8]) throws(TLSFault) { fatalError("coming") }
  /// The first certificate in PEM text.
  public init(pem: [UInt8]) throws(TLSFault) { fatalError("coming") }

  public var pem: [UInt8] { fatalError("coming") }
}
