public import Basics

public struct StoredApp: Sendable, Hashable {
  /// Grows by creation, below 2^31.
  public var id: Int64
  public var key: String
  public var bundleID: String
  public var name: String?
  /// In the form of the password hash used; the secret itself is nowhere.
  public var secretHash: String
  public var createdAt: Instant
  /// nil while it is there.
  public var deletedAt: Instant?

  public init(id: Int64, key: String, bundleID: String, name: String?, secretHash: String, createdAt: Instant) {
    self.id = id
    self.key = key
    self.bundleID = bundleID
    self.name = name
    self.secretHash = secretHash
    self.createdAt = createdAt
  }

  /// Changes with whatever may be edited, and with nothing else.
  public var fingerprint: UInt64 {
    var print = Fingerprint()
    print.add(name)
    return print.value
  }
}
