public import Audience
public import Basics

/// A saved audience.
public struct StoredSegment: Sendable, Equatable {
  public var id: String
  /// JSON as it was given.
  public var document: [UInt8]
  public var audience: AudienceExpression
  public var updatedAt: Instant
  /// Grows by each change, from 1.
  public var version: Int64

  public init(id: String, document: [UInt8], audience: AudienceExpression, updatedAt: Instant, version: Int64 = 0) {
    self.id = id
    self.document = document
    self.audience = audience
    self.updatedAt = updatedAt
    self.version = version
  }
}

/// An A/B test: parts of all devices that different things are tried on. What a variant's devices are never changes.
public struct StoredABTest: Sendable, Equatable {
  public var id: String
  public var variants: [AudienceShare]
  public var createdAt: Instant

  public init(id: String, variants: [AudienceShare], createdAt: Instant) {
    self.id = id
    self.variants = variants
    self.createdAt = createdAt
  }
}

/// A push that went to a variant.
public struct VariantPush: Sendable, Hashable {
  public var variant: String
  public var push: Int64

  public init(variant: String, push: Int64) {
    self.variant = variant
    self.push = push
  }
}
