import Basics

/// When how many bytes may pass, at so many a second on the average. A value; times are milliseconds of any clock that
/// nobody sets. After a pause at most a tenth of a second's worth passes at once, a byte at least.
struct BytePacer {
  let bytesPerSecond: Int64
  /// Thousandths of bytes that may pass; below 0 when more has passed than was due.
  private var level: Int64
  private var lastTime: Int64

  /// At least one byte a second.
  init(bytesPerSecond: Int, now: Int64) {
    self.bytesPerSecond = Int64(min(max(1, bytesPerSecond), 1 << 40))
    level = 0
    lastTime = now
    level = ceiling
  }

  private var ceiling: Int64 { max(1000, bytesPerSecond * 100) }

  /// How many bytes may pass at `now`.
  mutating func granted(at now: Int64) -> Int {
    let passed = min(max(0, now - lastTime), 1 << 20)
    lastTime = now
    level = min(ceiling, level + passed * bytesPerSecond)
    return Int(max(0, level / 1000))
  }

  /// So many have passed, also more than were granted.
  mutating func spend(_ count: Int) { level -= Int64(clamping: count) * 1000 }

  /// When the next bytes are due: a fiftieth of a second's worth of them, one at least. As of the last `granted`.
  var nextTime: Int64 {
    let missing = max(1000, bytesPerSecond * 20) - level
    return missing <= 0 ? lastTime : lastTime + (missing + bytesPerSecond - 1) / bytesPerSecond
  }
}
