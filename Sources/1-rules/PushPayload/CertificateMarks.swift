/// What a push certificate says of itself in the extensions under Apple's arc 1.2.840.113635.100.6.3 (Apple, "Establishing
/// a certificate-based connection to APNs"; spec apns.md §7).
public struct CertificateMarks: Hashable, Sendable {
  /// By extension .1.
  public let isForSandbox: Bool
  /// By extension .2.
  public let isForProduction: Bool
  /// By extension .6, or .4 of VoIP certificates; `[]` when there is neither: then the bundle id alone counts.
  public let topics: [String]

  /// - Parameter extensions: their values (DER) by dotted OID.
  public init(_ extensions: [String: [UInt8]]) {
    let arc = "1.2.840.113635.100.6.3."
    isForSandbox = extensions[arc + "1"] != nil
    isForProduction = extensions[arc + "2"] != nil
    topics = (extensions[arc + "6"] ?? extensions[arc + "4"]).map(CertificateTopics.topics) ?? []
  }
}
