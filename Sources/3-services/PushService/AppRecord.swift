/// An app that pushes, as far as anybody outside needs to know; holds no secret.
public struct AppRecord: Sendable, Hashable {
  public var id: Int64
  /// 24 lower-case hex digits.
  public var key: String
  public var bundleID: String
  public var name: String?

  public init(id: Int64, key: String, bundleID: String, name: String?) {
    self.id = id
    self.key = key
    self.bundleID = bundleID
    self.name = name
  }
}

/// A new app with its secret, which can be told this once only.
public struct NewApp: Sendable, Hashable {
  public var app: AppRecord
  public var appKey: String { app.key }
  /// 24 lower-case hex digits; only its Argon2id hash is kept.
  public var masterSecret: String
}
