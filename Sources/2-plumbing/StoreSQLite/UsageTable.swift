import Basics
import Store

/// Counts an app's users by hour, day and month while they are heard of, so that nothing is counted when it is asked for.
struct UsageTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// A device was heard of; `last` is the time before, nil for a new device.
  func note(app: Int64, at now: Instant, last: Instant?) throws(StoreFault) {
    for unit in UsageUnit.allCases {
      let start = unit.start(of: now)
      if let last, unit.start(of: last) >= start { continue }
      try database.run(
        """
        INSERT INTO usage VALUES (?1, ?2, ?3, ?4, 1)
          ON CONFLICT (app, unit, start) DO UPDATE SET new = new + ?4, active = active + 1
        """, .int(app), .int(unit.rawValue), .int(start.seconds), .int(last == nil ? 1 : 0))
    }
  }

  func counts(
    app: Int64, _ unit: UsageUnit, from: Instant, before: Instant
  ) throws(StoreFault) -> [Instant: UsageCount] {
    var counts: [Instant: UsageCount] = [:]
    try database.each(
      "SELECT start, new, active FROM usage WHERE app = ? AND unit = ? AND start >= ? AND start < ?", .int(app),
      .int(unit.rawValue), .int(from.seconds), .int(before.seconds)
    ) { counts[Instant(seconds: $0.int(0))] = UsageCount(new: Int($0.int(1)), active: Int($0.int(2))) }
    return counts
  }
}
