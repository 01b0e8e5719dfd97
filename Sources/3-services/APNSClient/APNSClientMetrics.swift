public import Basics
import Delivery

/// A client in numbers, at one moment. Counters count since the client was made and never go back.
public struct APNSClientMetrics: Sendable, Equatable {
  /// Pushes that left and have no answer yet.
  public var inFlight = 0
  /// Pushes that wait for a stream, for their next attempt, or for a device that APNs wants to hear less of.
  public var waiting = 0
  /// Connections that APNs has greeted, and those being opened.
  public var connections = 0
  public var connecting = 0
  /// Of the connections that APNs has greeted, by its last SETTINGS and our own ceiling; one that is going away allows
  /// what it still owes.
  public var streamsInUse = 0
  public var streamsAllowed = 0
  public var connectionsOpened: UInt64 = 0
  /// Connections that never came to be.
  public var connectionsFailed: UInt64 = 0
  public var goAways: UInt64 = 0

  /// Answers of 200.
  public var accepted: UInt64 = 0
  /// Every other answer of APNs, also those after which a push went again, by Apple's reason; `status 502` and the like for
  /// an answer without one. At most `reasonLimit` different ones, the rest under `other`: whoever answers chooses the words.
  public var refused: [String: UInt64] = [:]
  /// Pushes refused here because APNs was certain to, by Apple's reason.
  public var refusedUnsent: [String: UInt64] = [:]
  /// Pushes that ended without an answer, by why: `expired`, `retriesExhausted`, `closed`, `cancelled`, `suspended`.
  public var unanswered: [String: UInt64] = [:]

  /// From the last sending of a push to the answer that ended it.
  public var latency = LatencyHistogram()

  /// Device tokens that APNs answered TooManyRequests for, and that are spared still.
  public var pausedDevices = 0
  /// Topics under suspicion, or held (case C37).
  public var suspectedTopics = 0
  public var credential = CredentialStatus()

  public static let reasonLimit = 64

  public init() {}
}

/// What is known of the credential that a client sends by.
public struct CredentialStatus: Sendable, Equatable {
  /// The circuit breaker: closed (`good`), open (`held`), half open (`probing`).
  public enum Standing: String, CaseIterable, Sendable {
    /// Believed to be good: never refused, or accepted since.
    case good
    /// APNs refused it, or it is past its end: nothing is sent.
    case held
    /// After a while, or because an operator said so, one push at a time tries again.
    case probing
  }

  public var standing = Standing.good
  /// Since when the provider token in use is signed: its age by uptime; nil for certificates and before the first push.
  public var tokenAge: Instant.Span?
  /// When the certificate ends; nil for keys, which do not.
  public var certificateEnd: Instant?
  /// Another credential waits for its first answer (`APNSClient.rotate`).
  public var isRotating = false
  /// Rotations done, and those that APNs refused.
  public var rotations: UInt64 = 0
  public var rotationsRefused: UInt64 = 0

  public init() {}
}

/// What a client counts as it runs: touched on its loop only, no lock.
struct ClientMeter {
  private(set) var metrics = APNSClientMetrics()

  /// The push ended; `sentAt` is when it last left, if it ever did.
  @inline(__always)
  mutating func ended(_ outcome: PushOutcome, sentAt: Instant.Span?, at now: Instant.Span) {
    switch outcome {
    case .accepted:
      metrics.accepted &+= 1
      if let sentAt { metrics.latency.record(.milliseconds(now.milliseconds &- sentAt.milliseconds)) }
    case .refused:
      if let sentAt { metrics.latency.record(.milliseconds(now.milliseconds &- sentAt.milliseconds)) }
    case .unanswered(let cause):
      metrics.unanswered[cause.label, default: 0] &+= 1
    }
  }

  mutating func answered(_ refusal: PushOutcome.Refusal) {
    var label = refusal.reason.isEmpty ? "status \(refusal.status)" : String(refusal.reason.prefix(64))
    if metrics.refused.count >= APNSClientMetrics.reasonLimit, metrics.refused[label] == nil { label = "other" }
    metrics.refused[label, default: 0] &+= 1
  }

  mutating func refusedUnsent(_ reason: String) { metrics.refusedUnsent[reason, default: 0] &+= 1 }
  mutating func suspendedUnsent() { metrics.unanswered["suspended", default: 0] &+= 1 }
  mutating func cancelledUnsent() { metrics.unanswered["cancelled", default: 0] &+= 1 }
  mutating func connected() { metrics.connectionsOpened &+= 1 }
  mutating func connectFailed() { metrics.connectionsFailed &+= 1 }
  mutating func wentAway() { metrics.goAways &+= 1 }
  mutating func rotated() { metrics.credential.rotations &+= 1 }
  mutating func rotationRefused() { metrics.credential.rotationsRefused &+= 1 }
}

extension PushOutcome.Cause {
  /// One of few words, for a label.
  var label: String {
    switch self {
    case .expired: "expired"
    case .retriesExhausted: "retriesExhausted"
    case .closed: "closed"
    case .cancelled: "cancelled"
    case .suspended: "suspended"
    }
  }
}
