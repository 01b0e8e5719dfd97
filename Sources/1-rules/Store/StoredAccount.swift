public import Basics

/// Who calls beside an app.
public struct StoredAccount: Sendable, Hashable {
  /// The numbers are kept in stores.
  public enum Kind: UInt8, Sendable {
    /// Pushes to several apps at once.
    case group = 1
    /// Makes apps.
    case developer = 2
  }

  /// Grows by creation.
  public var id: Int64
  public var kind: Kind
  public var key: String
  public var name: String?
  /// In the form of the password hash used; the secret itself is nowhere.
  public var secretHash: String
  public var createdAt: Instant

  public init(id: Int64, kind: Kind, key: String, name: String?, secretHash: String, createdAt: Instant) {
    self.id = id
    self.kind = kind
    self.key = key
    self.name = name
    self.secretHash = secretHash
    self.createdAt = createdAt
  }
}

/// A push that an app accepted as its part of one to a group.
public struct GroupPart: Sendable, Equatable {
  public var app: Int64
  public var push: Int64

  public init(app: Int64, push: Int64) {
    self.app = app
    self.push = push
  }
}
