import Audience
import Basics
import Store

extension Store {
  /// Begins and expects to get the hold.
  func hold(
    _ push: Int64, _ shard: ShardIndex = 0, claiming: Int, holder: UInt64 = 1
  ) async throws -> (ShardHold, claimed: [ClaimedDevice], pending: DeviceSet) {
    let start = try await begin(
      push: push, shard: shard, holder: holder, claiming: claiming, at: StoreSamples.noon + .minutes(1))
    guard case .begun(let shard) = start else {
      throw ConformanceFailure(description: "not begun but \(start)")
    }
    return (shard.hold, shard.claimed, shard.pending)
  }

  func advanced(
    _ hold: ShardHold, _ outcomes: [DeviceOutcome], claiming: [DeviceOrdinal] = [],
    at now: Instant = StoreSamples.noon + .minutes(2)
  ) async throws -> ShardAdvance {
    try require(try await advance(hold, outcomes: outcomes, claiming: claiming, at: now), "valid hold")
  }
}

enum StoreShardCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("a shard is worked off in batches, and the push ends with its last shard") { store in
      let app = try await store.sampleApp(devices: 5)
      let far: DeviceOrdinal = 3 << 16
      let push = StoreSamples.push(1, of: app)
      _ = try await store.accept(
        push, audience: [.init(shard: 0, devices: [0, 1, 2, 4]), .init(shard: 3, devices: [far])],
        clientIDsSince: StoreSamples.noon)
      let (hold, claimed, pending) = try await store.hold(1, claiming: 2)
      try expect(pending, is: [0, 1, 2, 4])
      try expect(claimed.map(\.ordinal), is: [0, 1])
      try expect(claimed.map(\.token), is: [StoreSamples.token(0), StoreSamples.token(1)])
      var step = try await store.advanced(
        hold,
        [
          .init(ordinal: 0, kind: .accepted), .init(ordinal: 1, kind: .refused("BadTopic"), status: 400, note: nil),
        ], claiming: [2, 4])
      try expect(step.claimed.map(\.ordinal), is: [2, 4])
      try expect([step.shardFinished, step.pushFinished], is: [false, false])
      step = try await store.advanced(
        hold, [.init(ordinal: 2, kind: .expired), .init(ordinal: 4, kind: .unanswered)])
      try expect([step.shardFinished, step.pushFinished], is: [true, false])
      try expect(try await store.unfinished(after: nil, limit: 9).map(\.shard), is: [3])
      // The device of the other shard has no row: it ends as skipped, and with it the push.
      let last = try await store.begin(push: 1, shard: 3, holder: 2, claiming: 9, at: StoreSamples.noon)
      guard case .finished = last else { throw ConformanceFailure(description: "\(last)") }
      let progress = try require(try await store.progress(app: app, push: 1))
      try expect(
        progress.counts,
        is: [.accepted: 1, .refused("BadTopic"): 1, .expired: 1, .unanswered: 1, .skipped: 1])
      try expect(progress.finishedAt != nil, is: true)
      try expect(try await store.unfinished(after: nil, limit: 9), is: [])
    },
    ConformanceCase("one holder at a time; a hold that is not valid does nothing") { store in
      let app = try await store.sampleApp(devices: 2)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      let (hold, _, _) = try await store.hold(1, claiming: 1, holder: 1)
      let second = try await store.begin(push: 1, shard: 0, holder: 2, claiming: 1, at: StoreSamples.noon)
      guard case .busy = second else { throw ConformanceFailure(description: "\(second)") }
      await store.release(ShardHold(push: 1, shard: 0, holder: 2))
      await store.release(hold)
      let stale = try await store.advance(
        hold, outcomes: [.init(ordinal: 0, kind: .accepted)], claiming: [], at: StoreSamples.noon)
      try expect(stale == nil, is: true)
      let (_, _, pending) = try await store.hold(1, claiming: 1, holder: 3)
      try expect(pending, is: [0, 1])
      let unknown = try await store.begin(push: 2, shard: 0, holder: 4, claiming: 1, at: StoreSamples.noon)
      guard case .finished = unknown else { throw ConformanceFailure(description: "\(unknown)") }
    },
    ConformanceCase("an outcome counts once per device") { store in
      let app = try await store.sampleApp(devices: 3)
      try await store.acceptSample(StoreSamples.push(1, of: app), to: .not(.registrationID("r\(app)x2")))
      let (hold, _, _) = try await store.hold(1, claiming: 2)
      for _ in 0..<2 {
        _ = try await store.advanced(
          hold, [.init(ordinal: 0, kind: .accepted), .init(ordinal: 2, kind: .accepted)])
      }
      try expect(try require(try await store.progress(app: app, push: 1)).counts, is: [.accepted: 1])
      await store.release(hold)
      try expect(try await store.hold(1, claiming: 9, holder: 2).pending, is: [1])
    },
    ConformanceCase("C07 the badge counts on what the store keeps, once per device and push") { store in
      let app = try await store.sampleApp(devices: 2)
      var badges: [Int32] = []
      for push in 1...5 as ClosedRange<Int64> {
        try await store.acceptSample(StoreSamples.push(push, of: app, badge: .add(1)))
        // Claimed, given up, and claimed again, as after a crash.
        for holder in 1...3 as ClosedRange<UInt64> {
          let (hold, claimed, _) = try await store.hold(push, claiming: 1, holder: holder)
          if holder < 3 {
            await store.release(hold)
            continue
          }
          badges.append(claimed[0].badge)
          let step = try await store.advanced(hold, [.init(ordinal: 0, kind: .accepted)], claiming: [1])
          try expect(step.claimed.map(\.badge), is: [Int32(push)], "the other device counts for itself")
          _ = try await store.advanced(hold, [.init(ordinal: 1, kind: .accepted)])
        }
        if push == 3 {
          var edit = DeviceEdit()
          edit.badge = 0
          _ = try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
        }
      }
      try expect(badges, is: [1, 2, 3, 1, 2])
    },
    ConformanceCase("two pushes under way to one device show two numbers") { store in
      let app = try await store.sampleApp(devices: 1)
      for push in 1...2 as ClosedRange<Int64> {
        try await store.acceptSample(StoreSamples.push(push, of: app, badge: .add(1)))
        try expect(try await store.hold(push, claiming: 1).claimed[0].badge, is: Int32(push))
      }
    },
    ConformanceCase("a badge is set, counted down to no less than 0, and left alone") { store in
      let app = try await store.sampleApp(devices: 1)
      let rows: [(BadgeArithmetic, Int32)] = [
        (.set(5), 5), (.add(-2), 3), (.none, 3), (.add(-9), 0), (.add(.max), 99_999), (.add(.min), 0), (.set(0), 0),
      ]
      for (index, row) in rows.enumerated() {
        let push = Int64(index + 1)
        try await store.acceptSample(StoreSamples.push(push, of: app, badge: row.0))
        let (hold, claimed, _) = try await store.hold(push, claiming: 1)
        try expect(claimed.map(\.badge), is: [row.1], "\(row.0)")
        _ = try await store.advanced(hold, [.init(ordinal: 0, kind: .accepted)])
        try expect(try require(try await store.device(app: app, registrationID: "r\(app)x0")).badge, is: row.1)
      }
    },
    ConformanceCase("C04 many senders on one queue: each device once") { store in
      let app = try await store.sampleApp(devices: 200)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      let sent = try await withThrowingTaskGroup(of: [DeviceOrdinal].self) { group in
        for holder in 1...40 as ClosedRange<UInt64> {
          group.addTask {
            let start = try await store.begin(
              push: 1, shard: 0, holder: holder, claiming: 50, at: StoreSamples.noon)
            guard case .begun(let shard) = start else { return [] }
            let (hold, claimed) = (shard.hold, shard.claimed)
            let step = try await store.advance(
              hold, outcomes: claimed.map { .init(ordinal: $0.ordinal, kind: .accepted) }, claiming: [],
              at: StoreSamples.noon)
            await store.release(hold)
            return step == nil ? [] : claimed.map(\.ordinal)
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      try expect(Set(sent).count, is: sent.count)
    },
  ]
}
