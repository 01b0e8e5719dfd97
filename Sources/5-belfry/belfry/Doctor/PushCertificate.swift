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
    let arc = "1.2.840.113635.100.6.3."
    var environments: Set<APNSEnvironment> = []
    if certificate.extensions[arc + "1"] != nil { environments.insert(.sandbox) }
    if certificate.extensions[arc + "2"] != nil { environments.insert(.production) }
    self.environments = environments
    let list = certificate.extensions[arc + "6"] ?? certificate.extensions[arc + "4"]
    let listed = list.map(CertificateTopics.topics) ?? []
    topics = listed.isEmpty ? [certificate.userID].compactMap { $0 } : listed
    isVoIPOnly = !topics.isEmpty && topics.allSatisfy { $0.hasSuffix(".voip") }
  }
}
