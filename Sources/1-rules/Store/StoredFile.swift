public import Basics

/// A file of aliases or registration ids, kept to be an audience (jpush.md §5.5).
public struct StoredFile: Sendable, Hashable {
  /// The numbers are kept in stores.
  public enum Kind: UInt8, Sendable {
    case alias = 1
    case registrationID = 2
  }

  public var id: String
  /// nil: a developer's, for every app.
  public var app: Int64?
  public var kind: Kind
  public var name: String
  public var createdAt: Instant
  /// From here on it is as if it were not there.
  public var expiresAt: Instant

  public init(id: String, app: Int64?, kind: Kind, name: String, createdAt: Instant, expiresAt: Instant) {
    self.id = id
    self.app = app
    self.kind = kind
    self.name = name
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }
}
