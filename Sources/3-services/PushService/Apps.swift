import Basics
import Store

extension PushService {
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
