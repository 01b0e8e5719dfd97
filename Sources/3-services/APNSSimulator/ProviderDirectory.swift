internal import Basics
internal import PushPayload
internal import Synchronization

/// What Apple's side knows of providers: keys, teams, revoked certificates. Shared by all connections; each question is
/// a lock of nanoseconds, or none.
final class ProviderDirectory: Sendable {
  /// What outlives a restart.
  struct Kept: Sendable {
    /// Made or added while the simulator ran.
    var keys: [ProviderKey] = []
    /// Revoked is for good: also for a key that each start brings along.
    var revokedKeys: Set<String> = []
    var suspendedTeams: Set<String> = []
    /// SHA-256 fingerprints, as `Certificate.fingerprint` writes them.
    var revokedCertificates: Set<String> = []
  }

  private struct Shared: Sendable {
    var keys: [String: ProviderKey]
    var kept: Kept
    /// A store has to write `kept`.
    var isChanged = false
  }

  private let shared: Locked<Shared>
  /// The team that push certificates were issued to.
  let certificateTeam: String?
  private let hasSuspendedTeams: Atomic<Bool>

  init(keys: [ProviderKey], certificateTeam: String? = nil, kept: Kept = Kept()) {
    self.certificateTeam = certificateTeam
    var known = Dictionary((kept.keys + keys).map { ($0.keyID, $0) }) { _, last in last }
    for id in kept.revokedKeys { known[id] = nil }
    shared = Locked(Shared(keys: known, kept: kept))
    hasSuspendedTeams = Atomic(!kept.suspendedTeams.isEmpty)
  }

  // MARK: Keys

  func key(_ id: String) -> ProviderKey? { shared.withLock { $0.keys[id] } }

  func add(_ key: ProviderKey) {
    change { shared in
      shared.keys[key.keyID] = key
      shared.kept.keys.removeAll { $0.keyID == key.keyID }
      shared.kept.keys.append(key)
      shared.kept.revokedKeys.remove(key.keyID)
    }
  }

  /// False for a key that was not there. Connections that used it go on until they close, as with Apple.
  func revokeKey(_ id: String) -> Bool {
    change { shared in
      guard shared.keys.removeValue(forKey: id) != nil else { return false }
      shared.kept.keys.removeAll { $0.keyID == id }
      shared.kept.revokedKeys.insert(id)
      return true
    }
  }

  // MARK: Teams

  /// Whether the team's membership has lapsed: `Forbidden` for all it sends, on open connections too.
  func isSuspended(team: String) -> Bool {
    hasSuspendedTeams.load(ordering: .relaxed) && shared.withLock { $0.kept.suspendedTeams.contains(team) }
  }

  func setSuspended(team: String, _ isSuspended: Bool) {
    change { shared in
      if isSuspended { shared.kept.suspendedTeams.insert(team) } else { shared.kept.suspendedTeams.remove(team) }
      hasSuspendedTeams.store(!shared.kept.suspendedTeams.isEmpty, ordering: .relaxed)
    }
  }

  // MARK: Certificates

  func isRevoked(certificate fingerprint: String) -> Bool {
    shared.withLock { $0.kept.revokedCertificates.contains(fingerprint) }
  }

  /// New connections are refused; open ones go on, as with keys.
  func revoke(certificate fingerprint: String) {
    change { shared in _ = shared.kept.revokedCertificates.insert(fingerprint) }
  }

  // MARK: What is kept beyond a restart

  private func change<Result: Sendable>(_ body: (inout Shared) -> Result) -> Result {
    shared.withLock { shared in
      shared.isChanged = true
      return body(&shared)
    }
  }

  /// All that is to be kept, if anything of it has changed since the last call.
  func takeChanges() -> Kept? {
    shared.withLock { shared in
      guard shared.isChanged else { return nil }
      shared.isChanged = false
      return shared.kept
    }
  }

  /// They could not be written: they are still to do.
  func giveBack() { change { _ in } }
}
