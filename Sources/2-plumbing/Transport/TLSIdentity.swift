/// A certificate with its chain and private key.
public struct TLSIdentity: Sendable {
  public let certificate: Certificate
  /// Intermediate certificates, DER, in the order to send.
  public let chain: [[UInt8]]
  /// PKCS#8, DER. Secret.
  let privateKey: [UInt8]

  init(certificate: Certificate, chain: [[UInt8]], privateKey: [UInt8]) {
    self.certificate = certificate
    self.chain = chain
    self.privateKey = privateKey
  }

  /// Reads PEM text that holds the certificate, its private key and maybe a chain, in any order.
  public init(pem: [UInt8], password: String? = nil) throws(TLSFault) { fatalError("coming") }

  /// Reads a .p12 file, also the RC2-40 and 3DES ones of older Macs.
  public init(pkcs12: [UInt8], password: String) throws(TLSFault) { fatalError("coming") }

  /// Certificate, chain and unencrypted key as PEM text. Secret.
  public var pem: [UInt8] { fatalError("coming") }
}
