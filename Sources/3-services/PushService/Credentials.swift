import Basics
import Dispatch
import Store

/// Who may push: app keys with their master secrets, and the secrets of devices.
///
/// What was read of apps is kept for `freshness`, so that a secret that another process renewed, or an app that it deleted,
/// is refused here within that time; one that this process renewed or deleted at once.
final class Credentials: Sendable {
  private let store: any Store
  private let clock: any WallClock
  private let state = Locked(State())
  /// Password hashes are slow on purpose and take 19 MiB: one at a time, on no thread of Swift's pool.
  private let queue = DispatchQueue(label: "belfry.credentials", qos: .userInitiated)
  /// New in each process, so that what is remembered is worth nothing elsewhere.
  private let processKey = Sodium.randomBytes(32)
  /// What an unknown app key is checked against, so that it takes as long as a wrong secret.
  private let decoy: String

  private static let freshness = Instant.Span.seconds(2)

  /// More checks waiting than this are answered 1030.
  private static let waitingLimit = 256

  private struct State {
    var appsByKey: [String: (app: StoredApp, readAt: Instant.Span)] = [:]
    var appsByID: [Int64: StoredApp] = [:]
    /// Of those that were verified: keyed hash of key and secret, and the kept hash that it was verified against.
    var verified: [String: (proof: [UInt8], hash: String)] = [:]
    var waiting = 0
    /// How often this process changed an app: what was read before a change is not kept after it.
    var changes = 0
  }

  init(store: any Store, clock: any WallClock) {
    self.store = store
    self.clock = clock
    decoy = Sodium.passwordHash(Sodium.randomHex(digits: 24)) ?? ""
  }

  /// - Parameter key: must be no app's.
  func createApp(
    key: String, bundleID: String, name: String?, at now: Instant
  ) async throws(RequestFault) -> NewApp {
    let (secret, hash) = try await newSecret()
    let app = StoredApp(id: 0, key: key, bundleID: bundleID, name: name, secretHash: hash, createdAt: now)
    let note = AuditNote(.appMade, at: now, subject: app.key, words: bundleID)
    let made = try await faulting(as: .push, await store.createApp(app, audit: note))
    state.withLock { remember(made, readAt: clock.uptime, in: &$0) }
    return NewApp(app: AppRecord(made), masterSecret: secret)
  }

  /// From the answer on the old secret is refused. nil without such an app.
  func renewSecret(appKey: String) async throws(RequestFault) -> NewApp? {
    guard let app = try await app(key: appKey) else { return nil }
    let (secret, hash) = try await newSecret()
    let audit = AuditNote(.secretRenewed, of: AppRecord(app), at: clock.now, subject: app.key)
    guard try await faulting(as: .push, await store.renewSecret(app: app.id, hash: hash, audit: audit)) else {
      return nil
    }
    forget(key: appKey)
    return NewApp(app: AppRecord(app), masterSecret: secret)
  }

  /// 24 lower-case hex digits, what SDKs demand of keys and secrets (jpush.md §2).
  static func newKey() -> String { Sodium.randomHex(digits: 24) }

  /// The same for the same words, and no other words'.
  static func key(for words: String) -> String { String(Sodium.hash(Array(words.utf8)).hex.prefix(24)) }

  /// As keys are, and its hash.
  private func newSecret() async throws(RequestFault) -> (secret: String, hash: String) {
    let secret = Self.newKey()
    guard let hash = await slowly({ Sodium.passwordHash(secret) }) else {
      throw RequestFault(.temporarilyUnavailable, found: "no memory to hash a secret", remedy: "Try again.")
    }
    return (secret, hash)
  }

  // MARK: Accounts

  func createAccount(
    _ kind: StoredAccount.Kind, name: String?, at now: Instant
  ) async throws(RequestFault) -> (account: StoredAccount, secret: String) {
    let (secret, hash) = try await newSecret()
    let account = StoredAccount(
      id: 0, kind: kind, key: Self.newKey(), name: name, secretHash: hash, createdAt: now)
    let note = AuditNote(kind.making, at: now, subject: account.key, words: name)
    return (try await faulting(as: .push, await store.createAccount(account, audit: note)), secret)
  }

  /// nil for an unknown key and a wrong secret alike.
  func account(_ kind: StoredAccount.Kind, key: String, secret: String) async throws(RequestFault) -> StoredAccount? {
    let account = try await faulting(as: .push, await store.account(kind, key: key))
    return try await isRight(secret, of: key, hash: account?.secretHash) ? account : nil
  }

  // MARK: Apps and devices

  func authenticate(appKey: String, masterSecret: String) async throws(RequestFault) -> AppRecord {
    let app = try await app(key: appKey)
    guard try await isRight(masterSecret, of: appKey, hash: app?.secretHash), let app else {
      throw RequestFault(
        .authenticationFailed, found: "the app key is unknown or the master secret is wrong",
        remedy: "Send the app key as user and its master secret as password; `belfry app create` shows both.")
    }
    return AppRecord(app)
  }

  /// Whether a secret is the one that was hashed; without a hash it never is, in the same time.
  private func isRight(_ secret: String, of key: String, hash: String?) async throws(RequestFault) -> Bool {
    let proof = Sodium.hash(Array("\(key):\(secret)".utf8), key: processKey)
    if let known = state.withLock({ $0.verified[key] }), known.hash == hash, Sodium.areEqual(known.proof, proof) {
      return true
    }
    let isFree = state.withLock { state in
      guard state.waiting < Self.waitingLimit else { return false }
      state.waiting += 1
      return true
    }
    guard isFree else {
      throw RequestFault(
        .temporarilyUnavailable, found: "too many credentials are being checked", remedy: "Try again in a second.")
    }
    let expected = hash ?? decoy
    let isRight = await slowly { Sodium.verify(secret, against: expected) }
    state.withLock { $0.waiting -= 1 }
    guard let hash, isRight else { return false }
    state.withLock { $0.verified[key] = (proof, hash) }
    return true
  }

  func authenticateDevice(
    appKey: String, registrationID: String, secret: String
  ) async throws(RequestFault) -> (app: AppRecord, device: StoredDevice) {
    guard let app = try await app(key: appKey) else { throw Self.wrongDevice }
    let device = try await faulting(as: .device, await store.device(app: app.id, registrationID: registrationID))
    let hash = Self.hash(deviceSecret: secret)
    guard Sodium.areEqual(hash, device?.secretHash ?? Sodium.hash([])), let device else { throw Self.wrongDevice }
    return (AppRecord(app), device)
  }

  private static var wrongDevice: RequestFault {
    RequestFault(
      .deviceAuthenticationFailed, found: "the app key, registration id or device secret is wrong",
      remedy: "Register the device again and keep the secret that is answered.")
  }

  /// A device secret has 256 random bits, so a fast hash keeps it.
  static func hash(deviceSecret: String) -> [UInt8] { Sodium.hash(Array(deviceSecret.utf8)) }

  // MARK: Apps

  func app(key: String) async throws(RequestFault) -> StoredApp? {
    let now = clock.uptime
    let (known, changes) = state.withLock { ($0.appsByKey[key], $0.changes) }
    if let known, now.milliseconds - known.readAt.milliseconds < Self.freshness.milliseconds { return known.app }
    let app = try await faulting(as: .push, await store.app(key: key))
    state.withLock { state in
      if state.changes == changes, let app { remember(app, readAt: now, in: &state) }
    }
    return app?.deletedAt == nil ? app : nil
  }

  func app(id: Int64) async throws(StoreFault) -> AppRecord? {
    let now = clock.uptime
    let (known, changes) = state.withLock { ($0.appsByID[id], $0.changes) }
    if let known { return AppRecord(known) }
    let apps = try await store.apps()
    state.withLock { state in
      if state.changes == changes { for app in apps { remember(app, readAt: now, in: &state) } }
    }
    return apps.first { $0.id == id }.map(AppRecord.init)
  }

  /// This process changed the app.
  func forget(key: String) {
    state.withLock { state in
      state.changes += 1
      if let known = state.appsByKey.removeValue(forKey: key) { state.appsByID[known.app.id] = nil }
      state.verified[key] = nil
    }
  }

  private func remember(_ app: StoredApp, readAt: Instant.Span, in state: inout State) {
    state.appsByKey[app.key] = app.deletedAt == nil ? (app, readAt) : nil
    state.appsByID[app.id] = app
  }

  private func slowly<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }
}

extension AppRecord {
  init(_ app: StoredApp) { self.init(id: app.id, key: app.key, bundleID: app.bundleID, name: app.name) }
}

extension StoredAccount.Kind {
  fileprivate var making: AuditKind {
    switch self {
    case .group: .groupMade
    case .developer: .developerMade
    }
  }
}
