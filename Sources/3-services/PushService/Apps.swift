public import Basics
import Store

/// An app as those who manage it see it.
public struct AppView: Sendable, Equatable {
  /// Grows by creation.
  public var id: Int64
  /// 24 lower-case hex digits.
  public var key: String
  public var bundleID: String
  public var name: String?
  public var createdAt: Instant
  /// Another whenever it was edited.
  public var version: UInt64

  init(_ app: StoredApp) {
    id = app.id
    key = app.key
    bundleID = app.bundleID
    name = app.name
    createdAt = app.createdAt
    version = app.fingerprint
  }
}

extension PushService {
  /// A new app under a key of its own.
  public func createApp(bundleID: String, name: String?) async throws(RequestFault) -> NewApp {
    try Self.checkBundleID(bundleID)
    try Self.checkName(name)
    return try await credentials.createApp(
      key: Credentials.newKey(), bundleID: bundleID, name: name, at: clock.now)
  }

  /// A new app, or the one that the developer made before by the same request: then without its secret, which is told once.
  ///
  /// - Parameter clientID: by which the request is known again, whenever it comes; nil: it is a new one.
  public func createApp(
    bundleID: String, name: String?, by developer: DeveloperRecord, clientID: String?
  ) async throws(RequestFault) -> (app: AppView, secret: String?) {
    try Self.checkBundleID(bundleID)
    try Self.checkName(name)
    let key = clientID.map { Credentials.key(for: "\(developer.key):\($0)") } ?? Credentials.newKey()
    if let known = try await faulting(as: .push, await store.app(key: key)) {
      guard known.deletedAt == nil, known.bundleID == bundleID, known.name == name else {
        throw RequestFault(
          .conflict, at: "Idempotency-Key",
          found: known.deletedAt == nil
            ? "the app that was made under this key has another bundle id or name"
            : "the app that was made under this key was deleted",
          remedy: "Use a new key for another app.")
      }
      return (AppView(known), nil)
    }
    let made = try await credentials.createApp(key: key, bundleID: bundleID, name: name, at: clock.now)
    return (try await view(key: made.appKey), made.masterSecret)
  }

  private static func checkBundleID(_ bundleID: String) throws(RequestFault) {
    let allowed = bundleID.utf8.allSatisfy {
      $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
    }
    guard allowed, 1...155 ~= bundleID.utf8.count, bundleID.first != ".", bundleID.last != "." else {
      throw RequestFault(
        .invalidParameter, at: "bundleId", found: "“\(bundleID.prefix(60))”",
        remedy: "Give the app's bundle id: letters, digits, hyphens and dots, like com.example.app.")
    }
  }

  /// All apps, oldest first.
  public func apps() async throws(RequestFault) -> [AppRecord] {
    try await faulting(as: .push, await store.apps().filter { $0.deletedAt == nil }.map(AppRecord.init))
  }

  /// Those above an id, oldest first.
  public func apps(after id: Int64, limit: Int) async throws(RequestFault) -> [AppView] {
    let apps = try await faulting(as: .push, await store.apps())
    return apps.lazy.filter { $0.deletedAt == nil && $0.id > id }.prefix(limit).map(AppView.init)
  }

  public func view(key: String) async throws(RequestFault) -> AppView { AppView(try await kept(key)) }

  private func kept(_ key: String) async throws(RequestFault) -> StoredApp {
    guard let app = try await faulting(as: .push, await store.app(key: key)), app.deletedAt == nil else {
      throw Self.noSuchApp(key)
    }
    return app
  }

  /// - Parameter version: of the app that was read; nil: whatever it is now.
  public func renameApp(key: String, name: String?, ifVersion version: UInt64?) async throws(RequestFault) -> AppView {
    try Self.checkName(name)
    let app = try await kept(key)
    let audit = note(.appRenamed, AppRecord(app), key, name)
    guard
      try await faulting(
        as: .push, await store.renameApp(app.id, name: name, ifFingerprint: version, audit: audit))
    else { throw Self.changedMeanwhile("the app") }
    credentials.forget(key: key)
    return try await view(key: key)
  }

  public static func noSuchApp(_ key: String) -> RequestFault {
    RequestFault(
      .noSuchResource, at: "appKey", found: "there is no app \(quoted(key)) for these credentials",
      remedy: "Give the app's own key, or call as a developer.")
  }

  /// An app of the bundle id, made when there is none. `secret` is nil for one that was there: it can be told once only.
  public func appForBundle(
    _ bundleID: String, name: String
  ) async throws(RequestFault) -> (app: AppRecord, secret: String?) {
    if let known = try await apps().last(where: { $0.bundleID == bundleID }) { return (known, nil) }
    let made = try await createApp(bundleID: bundleID, name: name)
    return (made.app, made.masterSecret)
  }

  /// A new master secret for the app, told this once. From the answer on the old one is refused: by this process at once, by
  /// others on the same store within two seconds. nil when there is no such app.
  public func renewSecret(key: String) async throws(RequestFault) -> NewApp? {
    try await credentials.renewSecret(appKey: key)
  }

  /// nil without such an app, and for one that was deleted.
  public func app(key: String) async throws(RequestFault) -> AppRecord? {
    try await credentials.app(key: key).map(AppRecord.init)
  }

  /// From the answer on its key is nobody's: what has not left of its pushes never leaves, and its devices call in vain.
  /// false when there is no such app.
  public func deleteApp(key: String) async throws(RequestFault) -> Bool {
    guard let app = try await credentials.app(key: key) else { return false }
    let note = note(.appDeleted, AppRecord(app), key, app.bundleID)
    try await faulting(as: .push, await store.deleteApp(app.id, at: clock.now, audit: note))
    credentials.forget(key: key)
    return true
  }
}
