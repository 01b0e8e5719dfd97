import Basics

/// When how many newcomers may enter, at so many a second; after a pause a second's worth at once. A value; times are
/// milliseconds of any clock that nobody sets.
struct NewcomerPace {
  private let perSecond: Int64
  /// Free places in thousandths, so that every millisecond adds a whole number of them.
  private var thousandths: Int64
  private var lastTime: Int64

  /// At least one a second.
  init(perSecond: Int, now: Int64) {
    self.perSecond = Int64(max(1, min(perSecond, 1_000_000)))
    thousandths = self.perSecond * 1000
    lastTime = now
  }

  /// How long the next one waits; nil: not at all, and then it has entered.
  mutating func wait(at now: Int64) -> Instant.Span? {
    let passed = min(max(0, now - lastTime), 1000)
    thousandths = min(perSecond * 1000, thousandths + passed * perSecond)
    lastTime = now
    guard thousandths < 1000 else {
      thousandths -= 1000
      return nil
    }
    return .milliseconds((1000 - thousandths + perSecond - 1) / perSecond)
  }
}
