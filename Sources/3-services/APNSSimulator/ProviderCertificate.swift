public import Basics
internal import PushPayload

/// What a provider's TLS certificate says about pushes (Apple, "Establishing a certificate-based connection to APNs").
public struct ProviderCertificate: Hashable, Sendable {
  /// UID of the subject: the bundle id.
  public let userID: String
  /// By the marker extensions 1.2.840.113635.100.6.3.1 (sandbox) and .2 (production).
  public let environments: Set<SimulatedEnvironment>
  /// By the topic list 1.2.840.113635.100.6.3.6 (or .4 of VoIP certificates); the bundle id alone when there is none.
  public let topics: [String]
  public let notBefore: Instant
  public let notAfter: Instant
  /// The team that it was issued to, when that is known.
  public let teamID: String?

  public init(
    userID: String, environments: Set<SimulatedEnvironment>, topics: [String], notBefore: Instant, notAfter: Instant,
    teamID: String? = nil
  ) {
    self.userID = userID
    self.environments = environments
    self.topics = topics.isEmpty ? [userID] : topics
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.teamID = teamID
  }

  /// What is wrong with it for pushes to `environment`, if anything.
  func refusal(in environment: SimulatedEnvironment, now: Instant) -> Refusal? {
    if userID.isEmpty {
      return Refusal(.badCertificate, "the client certificate's subject has no UID, so it names no app")
    }
    if now < notBefore {
      return Refusal(.badCertificate, "the client certificate is not valid before \(notBefore)")
    }
    if now >= notAfter {
      return Refusal(.badCertificate, "the client certificate expired at \(notAfter)")
    }
    if !environments.contains(environment) {
      let named = environments.map(\.rawValue).sorted().joined(separator: ", ")
      return Refusal(
        .badCertificateEnvironment,
        "the client certificate is for \(named.isEmpty ? "no environment" : named), this is \(environment.rawValue)")
    }
    return nil
  }
}
