import Basics
import Store

enum StoreUsageCases {
  /// 2026-11-30 00:30 in China, the day before in UTC.
  private static let start = Instant(seconds: 1_795_969_800)

  private static func counts(
    _ store: any Store, _ app: Int64, _ unit: UsageUnit
  ) async throws -> [Instant: UsageCount] {
    try await store.usage(app: app, unit, from: start - .days(60), before: start + .days(60))
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("users are counted once an hour, a day and a month, in China's days") { store in
      let app = try await store.sampleApp()
      let other = try await store.sampleApp("other")
      for number in 0..<3 {
        _ = try await store.register(StoreSamples.device(number, of: app, at: start + .minutes(Int64(number * 20))))
      }
      let id = "r\(app)x0"
      for later in [.seconds(30), .minutes(5), .minutes(29), .minutes(30), .minutes(31), .hours(23), .hours(24)]
        as [Instant.Span]
      {
        try await store.noteSeen(app: app, registrationID: id, at: start + later)
      }
      _ = try await store.register(StoreSamples.device(1, of: app, at: start + .hours(24)))
      let hour = UsageUnit.hour.start(of: start)
      try expect(
        try await counts(store, app, .hour),
        is: [
          hour: UsageCount(new: 2, active: 2), hour + .hours(1): UsageCount(new: 1, active: 2),
          hour + .hours(23): UsageCount(new: 0, active: 1), hour + .hours(24): UsageCount(new: 0, active: 2),
        ])
      let day = start - .minutes(30)
      try expect(
        try await counts(store, app, .day),
        is: [day: UsageCount(new: 3, active: 3), day + .days(1): UsageCount(new: 0, active: 2)])
      try expect(
        try await counts(store, app, .month),
        is: [
          day - .days(29): UsageCount(new: 3, active: 3), day + .days(1): UsageCount(new: 0, active: 2),
        ])
      try expect(try await counts(store, other, .day), is: [:])
      try expect(
        try await store.usage(app: app, .day, from: day + .days(1), before: day + .days(2)).count, is: 1)
    },
    ConformanceCase("a clock that is set back counts nobody twice") { store in
      let app = try await store.sampleApp()
      _ = try await store.register(StoreSamples.device(0, of: app, at: start))
      try await store.noteSeen(app: app, registrationID: "r\(app)x0", at: start - .days(2))
      _ = try await store.register(StoreSamples.device(0, of: app, at: start - .days(3)))
      try await store.noteSeen(app: app, registrationID: "r\(app)x0", at: start + .minutes(1))
      try expect(try await counts(store, app, .day).values.map(\.active), is: [1])
    },
  ]
}
