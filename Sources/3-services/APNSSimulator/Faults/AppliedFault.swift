public import Basics

/// A fault that happened, for whoever wonders why.
public struct AppliedFault: Hashable, Sendable, CustomStringConvertible {
  /// Grows by one with each.
  public internal(set) var number: UInt64 = 0
  public var at: Instant
  /// The id of its rule.
  public var rule: String
  /// What was done, in words.
  public var what: String
  public var environment: SimulatedEnvironment
  /// Counts the simulator's connections from 1; 0 before the handshake.
  public var connection: UInt64
  /// 0 when no request was meant.
  public var stream: Int32 = 0
  /// `apns-id` of the request, `apns-request-id` of a broadcast or about channels; empty without.
  public var id = ""
  public var token: [UInt8] = []
  /// The bundle id of a broadcast or of channel management.
  public var topic = ""
  public var channel: String?

  public var description: String {
    var text = "\(at) fault \"\(rule)\": \(what), connection \(connection)"
    if stream != 0 { text += ", stream \(stream)" }
    if !token.isEmpty { text += ", token \(token.prefix(4).hex)…" }
    if let channel { text += ", channel \(channel.shortened)" }
    return text
  }
}

/// How often a rule in force has applied.
public struct FaultStanding: Hashable, Sendable {
  public var rule: FaultRule
  /// Requests (or connections) that its conditions named.
  public var matched: Int
  public var applied: Int
  public var lastApplied: Instant?
}

extension LoggedRefusal {
  /// A fault refused it, not a rule of Apple's; `refusal.explanation` names it.
  public var isByFault: Bool { refusal.explanation.hasPrefix("fault \"") }
}

/// What a fault leaves in the log of the pushes.
struct FaultMark: Sendable {
  var words: String
  /// The phone never gets the push.
  var isLost = false
}
