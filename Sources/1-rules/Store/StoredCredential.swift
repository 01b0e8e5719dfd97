public import Audience
public import Basics

/// What an app's pushes authenticate to APNs with, in one environment or both.
public struct StoredCredential: Sendable, Equatable {
  /// Given by the store; never again.
  public var id: Int64
  public var app: Int64
  public var environments: Set<APNSEnvironment>
  /// What its file was called.
  public var name: String
  /// Of a key; nil for a certificate.
  public var keyID: String?
  public var teamID: String?
  /// Of a certificate.
  public var topics: [String]
  public var notBefore: Instant?
  public var notAfter: Instant?
  public var fingerprint: String
  /// Sealed by whoever keeps it.
  public var secret: [UInt8]
  public var createdAt: Instant
  /// When this secret came.
  public var uploadedAt: Instant
  /// Grows by each rotation, from 1.
  public var version: Int64

  public init(
    id: Int64 = 0, app: Int64, environments: Set<APNSEnvironment>, name: String, keyID: String? = nil,
    teamID: String? = nil, topics: [String] = [], notBefore: Instant? = nil, notAfter: Instant? = nil,
    fingerprint: String, secret: [UInt8], createdAt: Instant, uploadedAt: Instant, version: Int64 = 1
  ) {
    self.id = id
    self.app = app
    self.environments = environments
    self.name = name
    self.keyID = keyID
    self.teamID = teamID
    self.topics = topics
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.fingerprint = fingerprint
    self.secret = secret
    self.createdAt = createdAt
    self.uploadedAt = uploadedAt
    self.version = version
  }
}

public enum CredentialAnswer: Sendable, Equatable {
  /// As it is kept now.
  case kept(StoredCredential)
  /// The app has another one for one of the environments; nothing was done.
  case occupied(by: StoredCredential)
  /// There is none of that id, or not of that version; nothing was done.
  case changedMeanwhile
}

/// What a secret belongs to that a store keeps sealed.
public enum SealedSecret: Sendable, Equatable {
  case credential(Int64)
  case webhook(Int64)
  /// The one before (`StoredWebhook.former`).
  case formerOfWebhook(Int64)
}
