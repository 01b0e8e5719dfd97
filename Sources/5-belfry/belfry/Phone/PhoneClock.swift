import Basics

/// The machine's clock, set forward by as much as somebody asked for: how a day passes on a phone in no time.
final class PhoneClock: WallClock {
  private let base: any WallClock
  private let ahead = Locked(Instant.Span.seconds(0))

  init(_ base: any WallClock) { self.base = base }

  var now: Instant { base.now + ahead.withLock { $0 } }
  var uptime: Instant.Span { base.uptime }
  func sleep(for span: Instant.Span) async throws { try await base.sleep(for: span) }

  /// What the phone's clock shows more than the machine's.
  var offset: Instant.Span { ahead.withLock { $0 } }

  func forward(_ span: Instant.Span) {
    ahead.withLock { $0 = .milliseconds(min($0.milliseconds, .max / 4) + min(max(0, span.milliseconds), .max / 4)) }
  }
}
