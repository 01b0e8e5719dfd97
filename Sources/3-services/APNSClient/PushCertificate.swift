import PushPayload
public import Transport

/// What a push certificate of Apple's says of itself (spec apns.md §7).
public struct PushCertificate: Sendable {
  /// UID of the subject: the bundle id.
  public let userID: String?
  public let topics: [String]
  public let isForSandbox: Bool
  public let isForProduction: Bool
  public let isVoIPOnly: Bool

  public init(_ certificate: Certificate) {
    userID = certificate.userID
    let marks = CertificateMarks(certificate.extensions)
    isForSandbox = marks.isForSandbox
    isForProduction = marks.isForProduction
    topics = marks.topics.isEmpty ? [certificate.userID].compactMap { $0 } : marks.topics
    isVoIPOnly = !topics.isEmpty && topics.allSatisfy { $0.hasSuffix(".voip") }
  }

  /// Why pushes of an app are refused under it.
  public enum Flaw: Sendable {
    case noPushCertificate
    case onlyVoIP
    case otherApp
  }

  /// nil when all is well for the app with that bundle id.
  public func flaw(for bundleID: String) -> (flaw: Flaw, found: String, remedy: String)? {
    guard userID != nil else {
      return (
        .noPushCertificate, "its subject has no UID, so it is no push certificate",
        "Make one in Apple's developer portal: Apple Push Notification service SSL."
      )
    }
    let topics = topics.joined(separator: ", ")
    if isVoIPOnly {
      return (
        .onlyVoIP, "a VoIP certificate: it is for \(topics) only, so alerts of \(bundleID) are refused",
        "Make a certificate of the kind Apple Push Notification service SSL (Sandbox & Production)."
      )
    }
    guard self.topics.contains(bundleID) else {
      return (
        .otherApp, "it is for \(topics), not for \(bundleID)",
        "Give the certificate of \(bundleID), or write the bundle id as the certificate has it."
      )
    }
    return nil
  }
}
