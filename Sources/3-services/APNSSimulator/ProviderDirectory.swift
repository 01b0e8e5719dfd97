internal import Basics
internal import PushPayload
internal import Synchronization

/// What Apple's side knows of providers: keys, teams, revoked certificates. Shared by all connections; each question is
/// a lock of nanoseconds, or none.
final class ProviderDirectory: Sendable {
  private struct Shared: Sendable {
    var keys: [String: ProviderKey]
    var suspendedTeams: Set<String> = []
    var revokedCertificates: Set<String> = []
  }

  private let shared: Locked<Shared>
  /// The team that push certificates were issued to.
  let certificateTeam: String?
  private let hasSuspendedTeams = Atomic<Bool>(false)

  init(keys: [ProviderKey], certificateTeam: String? = nil) {
    self.certificateTeam = certificateTeam
    shared = Locked(Shared(keys: Dictionary(keys.map { ($0.keyID, $0) }) { _, last in last }))
  }

  // MARK: Keys

  func key(_ id: String) -> ProviderKey? { shared.withLock { $0.keys[id] } }

  func add(_ key: ProviderKey) { shared.withLock { $0.keys[key.keyID] = key } }

  /// False for a key that was not there. Connections that used it go on until they close, as with Apple.
  func revokeKey(_ id: String) -> Bool { shared.withLock { $0.keys.removeValue(forKey: id) != nil } }

  // MARK: Teams

  /// Whether the team's membership has lapsed: `Forbidden` for all it sends, on open connections too.
  func isSuspended(team: String) -> Bool {
    hasSuspendedTeams.load(ordering: .relaxed) && shared.withLock { $0.suspendedTeams.contains(team) }
  }

  func setSuspended(team: String, _ isSuspended: Bool) {
    shared.withLock { shared in
      if isSuspended { shared.suspendedTeams.insert(team) } else { shared.suspendedTeams.remove(team) }
      hasSuspendedTeams.store(!shared.suspendedTeams.isEmpty, ordering: .relaxed)
    }
  }

  // MARK: Certificates

  func isRevoked(certificate fingerprint: String) -> Bool {
    shared.withLock { $0.revokedCertificates.contains(fingerprint) }
  }

  /// New connections are refused; open ones go on, as with keys.
  func revoke(certificate fingerprint: String) {
    _ = shared.withLock { $0.revokedCertificates.insert(fingerprint) }
  }
}
