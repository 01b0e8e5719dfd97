public import Basics

/// One simulated iPhone: what its user sees and hears, and which code of which app runs with what.
///
/// A value: no clock, no socket, no chance. The same events at the same times give the same timeline. A driver feeds
/// `handle` in order, performs the effects in order, and sends `.timePassed` when `due` has come. Nothing that a
/// peer, a user or an app does traps; an event from before the last one counts as of now.
///
/// Every entry of the timeline names its rule of the device specification; what this phone does not know yet it calls
/// "not modelled" and leaves alone (docs/iphone.md lists both).
public struct Phone: Sendable {
  public internal(set) var settings: PhoneSettings
  public internal(set) var isLocked: Bool
  public internal(set) var isOnline: Bool
  /// All that happened since the start or since `takeTimeline`.
  public internal(set) var timeline: [TimelineEntry] = []

  var now: Instant = Instant(milliseconds: .min)

  public init(_ settings: PhoneSettings = PhoneSettings()) {
    self.settings = settings
    isLocked = settings.locked
    isOnline = settings.online
  }

  /// Takes one event and answers what to do outside, first effect first.
  public mutating func handle(_ event: Event, at time: Instant) -> [Effect] { [] }

  /// When the next thing happens by itself; nil: nothing waits.
  public var due: Instant? { nil }

  /// The timeline so far, which then starts anew: what a host of many phones calls.
  public mutating func takeTimeline() -> [TimelineEntry] {
    defer { timeline = [] }
    return timeline
  }
}
