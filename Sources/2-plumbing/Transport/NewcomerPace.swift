import Basics

/// When how many newcomers may enter, at so many a second; after a pause a second's worth at once. A value; times are
/// milliseconds of any clock that nobody sets.
struct NewcomerPace {
  private let perSecond: Double
  private var places: Double
  private var lastTime: Int64

  /// At least one a second.
  init(perSecond: Int, now: Int64) {
    self.perSecond = Double(max(1, perSecond))
    places = self.perSecond
    lastTime = now
  }

  /// How long the next one waits; nil: not at all, and then it has entered.
  mutating func wait(at now: Int64) -> Instant.Span? {
    places = min(perSecond, places + Double(max(0, now - lastTime)) * perSecond / 1000)
    lastTime = now
    guard places < 1 else {
      places -= 1
      return nil
    }
    return .milliseconds(max(1, Int64(((1 - places) * 1000 / perSecond).rounded(.up))))
  }
}
