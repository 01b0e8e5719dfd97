import Audience
import Basics
import Store

enum StoreReportCases {
  private static let nine = StoreSamples.noon + .hours(9)

  private static func id(_ number: Int, _ app: Int64) -> String { "r\(app)x\(number)" }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("what a device says of a push counts once, however often it is said") { store in
      let app = try await store.sampleApp(devices: 3)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      let clicked = DeviceReport(push: 1, kind: .clicked, at: nine)
      let received = DeviceReport(push: 1, kind: .received, at: nine)
      try expect(
        try await store.keep([received, clicked, clicked], app: app, registrationID: id(0, app)),
        is: [.counted, .counted, .repeated])
      try expect(try await store.keep([clicked], app: app, registrationID: id(0, app)), is: [.repeated])
      try expect(try await store.keep([clicked], app: app, registrationID: id(1, app)), is: [.counted])
      let progress = try require(try await store.progress(app: app, push: 1))
      try expect(progress.reports, is: [.received: 1, .clicked: 2])
      try expect(progress.counts, is: [:], "reports are no outcomes")
    },
    ConformanceCase("whether a device had a push is what it said") { store in
      let app = try await store.sampleApp(devices: 3)
      try await store.acceptSample(
        StoreSamples.push(1, of: app), to: .any([.registrationID(id(0, app)), .registrationID(id(1, app))]))
      _ = try await store.keep([DeviceReport(push: 1, kind: .shown, at: nine)], app: app, registrationID: id(0, app))
      let ids = [id(2, app), id(1, app), "ghost", id(0, app)]
      try expect(
        try await store.reportStandings(app: app, push: 1, registrationIDs: ids),
        is: [.notTargeted, .silent, .noSuchDevice, .reported])
      try expect(
        try await store.reportStandings(app: app, push: 2, registrationIDs: ids),
        is: [.notTargeted, .notTargeted, .noSuchDevice, .notTargeted])
    },
    ConformanceCase("many saying the same at once are counted once") { store in
      let app = try await store.sampleApp(devices: 1)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      let counted = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<50 {
          group.addTask {
            let report = DeviceReport(push: 1, kind: .shown, at: nine)
            let answers = try await store.keep([report], app: app, registrationID: id(0, app))
            return answers == [.counted] ? 1 : 0
          }
        }
        return try await group.reduce(0, +)
      }
      try expect(counted, is: 1)
      try expect(try require(try await store.progress(app: app, push: 1)).reports, is: [.shown: 1])
    },
    ConformanceCase("who was not meant says nothing that counts") { store in
      let app = try await store.sampleApp(devices: 2)
      let other = try await store.sampleApp("other", devices: 1)
      try await store.acceptSample(StoreSamples.push(1, of: app), to: .registrationID(id(0, app)))
      let report = DeviceReport(push: 1, kind: .shown, at: nine)
      let unknown = DeviceReport(push: 2, kind: .shown, at: nine)
      try expect(
        try await store.keep([report, unknown], app: app, registrationID: id(1, app)), is: [.notMeant, .notMeant])
      try expect(try await store.keep([report], app: other, registrationID: id(0, other)), is: [.notMeant])
      try expect(try await store.keep([report], app: app, registrationID: "ghost"), is: [.notMeant])
      try expect(try require(try await store.progress(app: app, push: 1)).reports, is: [:])
    },
    ConformanceCase("counts are kept by the hour and by app version, and sum up to the totals") { store in
      let app = try await store.sampleApp(devices: 4)
      for (number, version) in [(0, "1.0"), (1, "2.0"), (2, "2.0")] {
        var edit = DeviceEdit()
        edit.facts = DeviceFacts(appVersion: version)
        _ = try await store.changeDevice(app: app, registrationID: id(number, app), edit, limits: DeviceLimits())
      }
      try await store.acceptSample(StoreSamples.push(1, of: app))
      guard
        case .begun(let shard) = try await store.begin(
          push: 1, shard: 0, holder: 1, claiming: 9, at: StoreSamples.noon + .minutes(59))
      else { throw ConformanceFailure(description: "not begun") }
      try expect(shard.claimed.map(\.appVersion), is: ["1.0", "2.0", "2.0", nil])
      func outcome(_ number: Int, _ kind: OutcomeKind) -> DeviceOutcome {
        DeviceOutcome(ordinal: UInt32(number), kind: kind, appVersion: shard.claimed[number].appVersion)
      }
      _ = try await store.advance(
        shard.hold, outcomes: [outcome(0, .accepted), outcome(1, .accepted)], claiming: [],
        at: StoreSamples.noon + .minutes(59))
      let expired = DeviceOutcome(ordinal: 2, kind: .expired)
      _ = try await store.advance(
        shard.hold, outcomes: [outcome(1, .expired), expired, outcome(3, .refused("BadTopic"))], claiming: [],
        at: StoreSamples.noon + .minutes(60))
      let early = DeviceReport(push: 1, kind: .received, at: StoreSamples.noon - .hours(5))
      let late = DeviceReport(push: 1, kind: .clicked, at: StoreSamples.noon + .hours(30))
      _ = try await store.keep([early, late], app: app, registrationID: id(0, app))
      _ = try await store.keep([early], app: app, registrationID: id(3, app))
      let breakdown = try require(try await store.breakdown(app: app, push: 1))
      try expect(
        breakdown.hours,
        is: [
          StoreSamples.noon: PushTally(outcomes: [.accepted: 2], reports: [.received: 2]),
          StoreSamples.noon + .hours(1): PushTally(outcomes: [.expired: 1, .refused("BadTopic"): 1]),
          StoreSamples.noon + .hours(30): PushTally(reports: [.clicked: 1]),
        ])
      try expect(
        breakdown.appVersions,
        is: [
          "1.0": PushTally(outcomes: [.accepted: 1], reports: [.received: 1, .clicked: 1]),
          "2.0": PushTally(outcomes: [.accepted: 1, .expired: 1]),
          "": PushTally(outcomes: [.refused("BadTopic"): 1], reports: [.received: 1]),
        ])
      let progress = try require(try await store.progress(app: app, push: 1))
      try expect(progress.counts, is: [.accepted: 2, .expired: 1, .refused("BadTopic"): 1])
      try expect(try await store.breakdown(app: app + 1, push: 1) == nil, is: true, "another app's push")
    },
  ]
}
