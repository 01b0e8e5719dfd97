public import Basics

/// How fast the devices of one push may be sent to: so many in so much time, evenly.
public struct SendPace: Hashable, Sendable {
  /// At least 1.
  public let devices: Int64
  /// A millisecond to a century.
  public let per: Instant.Span

  public init(devices: Int64, per: Instant.Span) {
    self.devices = max(1, devices)
    self.per = min(max(.milliseconds(1), per), .days(36_525))
  }

  /// How far a push has come at its pace. Kept with the push, so that it goes on after a restart.
  public struct Progress: Hashable, Sendable {
    /// From here on devices were let go, one at this instant.
    public var anchor: Instant
    /// Since then.
    public var released: Int64

    public init(anchor: Instant, released: Int64 = 0) {
      self.anchor = anchor
      self.released = released
    }
  }

  /// What could not leave in time (a pause, a service that was down) is not made up for beyond this, so that it never
  /// comes as a flood.
  public static let slack = Instant.Span.seconds(10)

  /// How many may leave now. Counts anew when more than `slack` was missed, or the clock was set back.
  public func allowance(_ progress: inout Progress, at now: Instant) -> Int64 {
    let lead = next(progress) - now
    if lead < .milliseconds(-Self.slack.milliseconds) {
      progress = Progress(anchor: now - Self.slack)
    } else if lead > .milliseconds(per.milliseconds / devices + 1) {
      progress = Progress(anchor: now)
    }
    return max(0, dueCount(at: now - progress.anchor) - progress.released)
  }

  /// When the next may leave.
  public func next(_ progress: Progress) -> Instant { due(progress.released, after: progress.anchor) }

  /// How many are due in so much time, the first at its beginning.
  private func dueCount(at elapsed: Instant.Span) -> Int64 {
    guard elapsed.milliseconds >= 0 else { return 0 }
    let (product, overflow) = elapsed.milliseconds.multipliedReportingOverflow(by: devices)
    return overflow ? .max / 2 : min(product / per.milliseconds, .max / 2) + 1
  }

  /// The first millisecond at which one more than `count` are due.
  private func due(_ count: Int64, after anchor: Instant) -> Instant {
    let (product, overflow) = count.multipliedReportingOverflow(by: per.milliseconds)
    guard !overflow else { return Instant(milliseconds: .max) }
    return anchor + .milliseconds(product / devices + (product % devices > 0 ? 1 : 0))
  }
}
