public import Audience
public import Basics

/// When and why a token was found dead.
public struct TokenDeath: Sendable, Hashable {
  public var notedAt: Instant
  /// Apple's time of death; nil when no time was given.
  public var since: Instant?
  /// Apple's word.
  public var reason: String

  public init(notedAt: Instant, since: Instant?, reason: String) {
    self.notedAt = notedAt
    self.since = since
    self.reason = reason
  }
}

/// An answer of APNs that speaks against a token, with what was sent. (DESIGN §5: tokens die by evidence)
public struct TokenEvidence: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// 410: dead since the time given, which is late by design.
    case gone(since: Instant?)
    /// 400 BadDeviceToken: never valid where it was sent.
    case unknownToken
  }

  public var kind: Kind
  public var reason: String
  public var token: [UInt8]
  public var environment: APNSEnvironment
  public var answeredAt: Instant

  public init(kind: Kind, reason: String, token: [UInt8], environment: APNSEnvironment, answeredAt: Instant) {
    self.kind = kind
    self.reason = reason
    self.token = token
    self.environment = environment
    self.answeredAt = answeredAt
  }

  public enum Verdict: Sendable, Equatable {
    case retire(TokenDeath)
    /// The evidence is against something that the device no longer is.
    case keep(String)
  }

  /// What follows for a device as it is registered now. A registration at the very same millisecond keeps the token;
  /// a 410 without a time counts from when it came (case C16).
  public func verdict(token: [UInt8], environment: APNSEnvironment, registeredAt: Instant) -> Verdict {
    guard token == self.token else { return .keep("answer for a former token, kept") }
    guard environment == self.environment else { return .keep("answer of the other environment, kept") }
    switch kind {
    case .gone(let since):
      guard registeredAt < since ?? answeredAt else { return .keep("410 older than registration, kept") }
      return .retire(TokenDeath(notedAt: answeredAt, since: since, reason: reason))
    case .unknownToken: return .retire(TokenDeath(notedAt: answeredAt, since: nil, reason: reason))
    }
  }
}

extension TokenDeath {
  /// With both times, for an operator and for `explain`.
  public func words(registeredAt: Instant) -> String {
    let since = since.map { "since \($0)" } ?? "no time given"
    return "\(reason), \(since); registered \(registeredAt); retired \(notedAt)"
  }
}
