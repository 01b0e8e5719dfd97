import Audience
import Basics
import Schedule
import Store

/// Pushes that are paused, withdrawn, or sent slowly.
enum StoreControlCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("nobody is claimed for a push that is paused or withdrawn; one that goes on is as before") {
      store in
      let app = try await store.sampleApp(devices: 4)
      try await store.acceptSample(StoreSamples.push(1, of: app, badge: .add(1)))
      let (hold, claimed, _) = try await store.hold(1, claiming: 1)
      try expect(claimed.count, is: 1)
      try expect(try await store.control(app: app, push: 1, .paused, at: StoreSamples.noon), is: .done)
      let step = try await store.advanced(hold, [.init(ordinal: 0, kind: .accepted)], claiming: [1, 2])
      try expect(step.claimed.count, is: 0)
      try expect(step.control, is: .paused)
      await store.release(hold)
      let paused = try await store.begun(1)
      try expect(paused.claimed.count, is: 0)
      try expect([paused.control], is: [.paused])
      await store.release(paused.hold)
      try expect(try await store.progress(app: app, push: 1)?.control, is: .paused)
      try expect(try await store.control(app: app, push: 1, .paused, at: StoreSamples.noon), is: .done)
      try expect(try await store.control(app: app, push: 1, .running, at: StoreSamples.noon), is: .done)
      let going = try await store.begun(1)
      try expect(going.claimed.map(\.badge), is: [1, 1, 1])
      await store.release(going.hold)
      try expect(try await store.control(app: app, push: 1, .withdrawn, at: StoreSamples.noon), is: .done)
      let withdrawn = try await store.begun(1)
      try expect(withdrawn.claimed.count, is: 0)
      try expect([withdrawn.control], is: [.withdrawn])
      try expect(try await store.control(app: app, push: 1, .running, at: StoreSamples.noon), is: .withdrawn)
      let last = try await store.advanced(
        withdrawn.hold, [1, 2, 3].map { DeviceOutcome(ordinal: $0, kind: .withdrawn) })
      try expect(last.pushFinished, is: true)
      try expect(
        try require(try await store.progress(app: app, push: 1)).counts, is: [.accepted: 1, .withdrawn: 3])
    },
    ConformanceCase("only an app's own push that has not ended is told anything") { store in
      let app = try await store.sampleApp(devices: 1)
      let other = try await store.sampleApp("other")
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try expect(try await store.control(app: other, push: 1, .paused, at: StoreSamples.noon), is: .noSuchPush)
      try expect(try await store.control(app: app, push: 2, .paused, at: StoreSamples.noon), is: .noSuchPush)
      let (hold, _, _) = try await store.hold(1, claiming: 1)
      _ = try await store.advanced(hold, [.init(ordinal: 0, kind: .accepted)])
      for control in [PushControl.paused, .withdrawn] {
        try expect(try await store.control(app: app, push: 1, control, at: StoreSamples.noon), is: .finished)
      }
    },
    ConformanceCase("a pace lets so many be claimed as are due, over all shards, and says when the next may be") {
      store in
      let app = try await store.sampleApp(devices: 10)
      var push = StoreSamples.push(1, of: app)
      push.pace = SendPace(devices: 2, per: .seconds(1))
      try await store.acceptSample(push)
      try expect(try await store.pacedPushes(app: app), is: 1)
      let first = try await store.begun(1, at: StoreSamples.noon)
      try expect(first.claimed.map(\.ordinal), is: [0])
      try expect(first.nextAt, is: StoreSamples.noon + .milliseconds(500))
      let step = try await store.advanced(
        first.hold, [.init(ordinal: 0, kind: .accepted)], claiming: [1, 2, 3, 4],
        at: StoreSamples.noon + .seconds(1))
      try expect(step.claimed.map(\.ordinal), is: [1, 2])
      try expect(step.nextAt, is: StoreSamples.noon + .milliseconds(1500))
      await store.release(first.hold)
      // What was claimed may be claimed again, and counts once.
      let again = try await store.begun(1, at: StoreSamples.noon + .milliseconds(1499))
      try expect(again.claimed.map(\.ordinal), is: [1, 2])
      try expect(again.push.pace, is: push.pace)
    },
    ConformanceCase("by the clocks of its place a device waits, is dropped, or is claimed") { store in
      let app = try await store.sampleApp()
      for (number, zone) in ["A", "B", "C", nil].enumerated() {
        var draft = StoreSamples.device(number, of: app)
        draft.facts.timeZone = zone
        _ = try await store.register(draft)
      }
      // Noon by UTC: 20:00 in A, 04:00 in B; nobody knows C; the last told nothing.
      let zones: @Sendable (String) -> TimeZoneRules? = { name in
        ["A": 8, "B": -8, "UTC": 0][name].map { TimeZoneRules(fixed: $0 * 3600, abbreviation: name) }
      }
      let quiet = try require(QuietHours("19:00-05:00"))
      let rows: [(LocalTiming, claimed: [DeviceOrdinal], next: Instant?, skipped: Int?)] = [
        (LocalTiming(quiet: quiet, timeZone: "UTC"), [2, 3], StoreSamples.noon + .hours(1), nil),
        (LocalTiming(quiet: quiet, dropsInQuiet: true, timeZone: "UTC"), [2, 3], nil, 2),
        (LocalTiming(quiet: quiet, timeZone: "A"), [], StoreSamples.noon + .hours(1), nil),
        (
          LocalTiming(due: TimeZoneRules.utc.local(at: StoreSamples.noon), timeZone: "UTC"), [0, 2, 3],
          StoreSamples.noon + .hours(8), nil
        ),
      ]
      for (index, row) in rows.enumerated() {
        var push = StoreSamples.push(Int64(index + 1), of: app)
        push.timing = row.0
        try await store.acceptSample(push)
        let start = try await store.begin(
          push: push.id, shard: 0, holder: 1, claiming: 9, at: StoreSamples.noon, zones: zones)
        guard case .begun(let shard) = start else { throw ConformanceFailure(description: "not begun but \(start)") }
        try expect(shard.push.timing, is: row.0)
        try expect(shard.claimed.map(\.ordinal), is: row.claimed, "\(index)")
        try expect(Array(shard.pending.ordinals(limit: 9)), is: row.claimed, "\(index)")
        try expect(shard.nextAt, is: row.next, "\(index)")
        try expect(shard.ended[.skipped], is: row.skipped, "\(index)")
      }
    },
    ConformanceCase("a pace is that of the push, not of each shard; once finished it counts no more") { store in
      let app = try await store.sampleApp(devices: 2)
      var push = StoreSamples.push(1, of: app)
      push.pace = SendPace(devices: 1, per: .seconds(1))
      try await store.acceptSample(push)
      let (hold, claimed, _) = try await store.hold(1, claiming: 9)
      try expect(claimed.count, is: 2, "a minute later, both")
      let end = try await store.advanced(hold, claimed.map { .init(ordinal: $0.ordinal, kind: .accepted) })
      try expect(end.pushFinished, is: true)
      try expect(try await store.pacedPushes(app: app), is: 0)
    },
    ConformanceCase("with a push that takes the place of another the rest of that is withdrawn, in one transaction") {
      store in
      let (app, other) = (try await store.sampleApp(devices: 2), try await store.sampleApp("other", devices: 1))
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try await store.acceptSample(StoreSamples.push(2, of: other))
      func standing(_ id: Int64, _ app: Int64) async throws -> PushControl? {
        let progress = try await store.progress(app: app, push: id)
        return progress?.control
      }
      var later = StoreSamples.push(3, of: app, clientID: "c", at: StoreSamples.noon + .minutes(1))
      later.replaces = 2
      try await store.acceptSample(later)
      try expect(try await standing(2, other), is: .running, "it is another app's")
      (later.id, later.replaces) = (4, 1)
      try await store.acceptSample(later)
      try expect(try await standing(1, app), is: .running, "the same client id made a push before: nothing is done")
      later.clientID = nil
      try await store.acceptSample(later)
      try expect(try await standing(1, app), is: .withdrawn)
      try expect(try await standing(4, app), is: .running)
      let start = try await store.begin(push: 1, shard: 0, holder: 1, claiming: 9, at: StoreSamples.noon)
      guard case .begun(let shard) = start, shard.claimed.isEmpty, shard.control == .withdrawn else {
        throw ConformanceFailure(description: "nobody is claimed for what is withdrawn, but \(start)")
      }
    },
  ]
}

extension Store {
  fileprivate func begun(_ push: Int64, at now: Instant = StoreSamples.noon + .minutes(1)) async throws -> BegunShard {
    let start = try await begin(push: push, shard: 0, holder: 7, claiming: 9, at: now)
    guard case .begun(let shard) = start else { throw ConformanceFailure(description: "not begun but \(start)") }
    return shard
  }
}
