import Audience
import PushPayload
import Transport

/// What a push certificate of Apple's says of itself (spec apns.md §7).
struct PushCertificate {
  /// UID of the subject: the bundle id.
  let userID: String?
  let topics: [String]
  let environments: Set<APNSEnvironment>
  let isVoIPOnly: Bool

  init(_ certificate: Certificate) {
    userID = certificate.userID
    let marks = CertificateMarks(certificate.extensions)
    var environments: Set<APNSEnvironment> = []
    if marks.isForSandbox { environments.insert(.sandbox) }
    if marks.isForProduction { environments.insert(.production) }
    self.environments = environments
    topics = marks.topics.isEmpty ? [certificate.userID].compactMap { $0 } : marks.topics
    isVoIPOnly = !topics.isEmpty && topics.allSatisfy { $0.hasSuffix(".voip") }
  }
}
