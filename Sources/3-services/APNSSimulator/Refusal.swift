public import Basics
public import PushPayload

/// A push that was not taken: Apple's word for the caller, and ours for the person who looks for the cause.
public struct Refusal: Error, Hashable, Sendable {
  public let reason: RefusalReason
  /// Only with 410: since when the token is dead.
  public let since: Instant?
  /// What was found and what to do; never leaves by the APNs port, `GET /refusals` and the log tell it.
  public let explanation: String

  public init(_ reason: RefusalReason, since: Instant? = nil, _ explanation: String) {
    self.reason = reason
    self.since = since
    self.explanation = explanation
  }

  /// `{"reason":"…"}`, with `timestamp` in whole milliseconds on 410: under 1,024 bytes, for one DATA frame.
  public func body(spelling: KeyEnvironmentSpelling = .wire) -> [UInt8] {
    let word =
      switch (reason, spelling) {
      case (.badEnvironmentKeyInToken, .documented): RefusalReason.badEnvironmentKeyIDInToken.rawValue
      case (_, .wire), (_, .documented): reason.rawValue
      }
    guard let since else { return Array("{\"reason\":\"\(word)\"}".utf8) }
    return Array("{\"reason\":\"\(word)\",\"timestamp\":\(since.milliseconds)}".utf8)
  }
}

/// The two spellings of one reason: Apple's page and Apple's servers disagree.
public enum KeyEnvironmentSpelling: Sendable {
  /// `BadEnvironmentKeyInToken`, as deployments report it.
  case wire
  /// `BadEnvironmentKeyIdInToken`, as Apple's page prints it.
  case documented
}
