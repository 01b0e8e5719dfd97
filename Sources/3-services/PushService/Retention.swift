public import Basics
import Store

/// How long the service keeps what is over; nil: for ever.
public struct Retention: Sendable, Equatable {
  /// Pushes from their end on, with what became of each of their devices. Default 90 days: longer than any answer about a
  /// push is asked for, and than any push may be held by APNs (30 days).
  public var pushes: Instant.Span? = .days(90)
  /// What came of due times of schedules. Default 90 days.
  public var firings: Instant.Span? = .days(90)
  /// Events that no webhook took. Default 3 days: a receiver may be down over a weekend.
  public var events: Instant.Span? = .days(3)
  /// Devices from when their token was found dead on, with their alias and tags. Default a year, since an app may come
  /// back to a phone.
  public var deadDevices: Instant.Span? = .days(365)
  /// Lines of the audit log. Default a year.
  public var audit: Instant.Span? = .days(365)
  /// In-app messages from their acceptance on. Default for ever: their history is whole (D-302).
  public var messages: Instant.Span?

  /// A Live Activity lasts eight hours at most, and stays on the Lock Screen for four more (Apple, "Displaying live data with
  /// Live Activities"). Each rotation of its update token is told anew.
  static let activities = Instant.Span.hours(12)

  public init() {}

  func ages(at now: Instant) -> Forgetting {
    Forgetting(
      pushesBefore: pushes.map { now - $0 }, firingsBefore: firings.map { now - $0 },
      activitiesBefore: now - Self.activities, deadBefore: deadDevices.map { now - $0 },
      messagesBefore: messages.map { now - $0 }, auditBefore: audit.map { now - $0 }, filesExpiredBy: now)
  }
}

/// The role that removes what is old, a piece at a time between what others write.
final class RetentionSweep: Sendable {
  private let retention: Retention
  private let store: any Store
  private let clock: any WallClock
  private let credentials: Credentials
  private let metrics: ServiceMetrics
  private let onEvent: @Sendable (ServiceEvent) -> Void
  private let loop: RoleLoop

  static let period = Instant.Span.hours(1)
  /// Between two pieces, so that most of the writer's time is for others.
  static let pause = Instant.Span.milliseconds(20)

  init(
    _ retention: Retention, store: any Store, clock: any WallClock, credentials: Credentials, metrics: ServiceMetrics,
    onEvent: @escaping @Sendable (ServiceEvent) -> Void
  ) {
    self.retention = retention
    self.store = store
    self.clock = clock
    self.credentials = credentials
    self.metrics = metrics
    self.onEvent = onEvent
    loop = RoleLoop(clock: clock, onEvent: onEvent)
  }

  func start() {
    loop.start(pause: Self.period) { [self] () throws(StoreFault) in
      let now = clock.now
      let isMore = try await dropEvents(at: now)
      return try await store.forget(retention.ages(at: now)) || isMore ? Self.pause : Self.period
    }
  }

  /// What is lost is told.
  private func dropEvents(at now: Instant) async throws(StoreFault) -> Bool {
    guard let age = retention.events else { return false }
    let dropped = try await store.dropEvents(before: now - age, at: now)
    for lost in dropped {
      metrics.change { $0.webhookEventsDropped += lost.count }
      guard let app = try await credentials.app(id: lost.app) else { continue }
      onEvent(.webhookEventsDropped(appKey: app.key, webhookID: lost.webhook, count: lost.count))
    }
    return !dropped.isEmpty
  }

  /// Returns once the piece under way is over.
  func stop() async { await loop.stop() }
}
