internal import Basics
internal import PushPayload

/// A push that was taken and has not ended yet: it waits somewhere on its way to the phone, or is on the wire.
struct WaitingPush: Hashable, Sendable {
  /// Why it has not left. (Apple, "Sending notification requests to APNs" and "Viewing the status of push notifications
  /// using Metrics and APNs")
  enum Place: Hashable, Sendable {
    /// In the store, which has one place for each app on a device.
    case stored(StoredCause)
    /// Of low priority, waits for others to leave with them in one burst.
    case grouped
    /// A background push over the budget: one for each app, the newest.
    case throttled
    /// Behind the one that is in flight.
    case queued
    /// With the courier, not acknowledged.
    case inFlight
  }

  /// Its number in the log of notifications.
  var number: UInt64
  var push: DeliveredPush
  var place: Place
  /// When it came to that place.
  var since: Instant
  /// When it may leave its place though nothing else happens; its expiration aside.
  var due: Instant?
  /// It has waited long enough for power and for others.
  var isRipe = false
  /// Its app is not on the phone any more: once it gets there, that is noticed.
  var isGone = false
  /// It was counted against the budget of background pushes when it left for the first time.
  var isPaid = false

  var app: InstalledApp { InstalledApp(bundleID: push.bundleID, environment: push.environment) }

  /// Whether its time is over. One that was due for one attempt only lives while that attempt lasts.
  func isOver(at now: Instant) -> Bool {
    guard push.storedUntil <= now else { return false }
    switch place {
    case .queued, .inFlight: return !push.isOneAttempt
    case .stored, .grouped, .throttled: return true
    }
  }

  /// When something happens to it by time alone; nil when its time is over already, and only the attempt counts.
  var nextDue: Instant? {
    let end: Instant? = push.isOneAttempt ? nil : push.storedUntil
    guard let due, let end else { return due ?? end }
    return min(due, end)
  }

  var fate: LoggedNotification.Fate {
    switch place {
    case .stored(let cause): .stored(since, cause)
    case .grouped: .grouped(since, until: due ?? since)
    case .throttled: .throttled(since, until: due ?? since)
    case .queued: .queued(since)
    case .inFlight: .sent(since)
    }
  }
}

/// An app on a device, in one environment.
struct InstalledApp: Hashable, Sendable {
  var bundleID: String
  var environment: SimulatedEnvironment
}

extension DeliveredPush {
  /// Its expiration was past when it came, 0 among them: it is tried once, and not stored.
  var isOneAttempt: Bool { storedUntil <= receivedAt }
}
