import Audience
import Basics
import Store

/// The user's preference "only the scheduled push" (rules D-331 to D-334).
enum StorePreferenceCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("D-331 D-332 the preference is off at first, set, kept by what does not name it, and taken back") {
      store in
      let app = try await store.sampleApp(devices: 2)
      func value(_ number: Int = 0) async throws -> Bool {
        let found = try await store.device(app: app, registrationID: "r\(app)x\(number)")
        let device = try require(found)
        return device.onlyScheduled
      }
      try expect(try await value(), is: false)
      try await store.prefer(true, app, 0)
      try expect([try await value(), try await value(1)], is: [true, false], "each device has its own")
      var edit = DeviceEdit()
      edit.badge = 3
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
      let again = try await store.register(StoreSamples.device(0, of: app, .sandbox))
      try expect([again.onlyScheduled, try await value()], is: [true, true], "the same token keeps it")
      try await store.prefer(false, app, 0)
      try expect(try await value(), is: false)
    },
    ConformanceCase("D-333 who wants only the scheduled push ends as skipped, uncounted and unclaimed") { store in
      let app = try await store.sampleApp(devices: 4)
      for number in [0, 2] { try await store.prefer(true, app, number) }
      try await store.acceptSample(StoreSamples.push(1, of: app, badge: .add(1)))
      let (hold, claimed, pending) = try await store.hold(1, claiming: 1)
      try expect(claimed.map(\.ordinal), is: [1], "the first that may be sent to")
      try expect(pending, is: [1, 2, 3])
      let step = try await store.advanced(hold, [.init(ordinal: 1, kind: .accepted)], claiming: [2, 3])
      try expect(step.claimed.map(\.ordinal), is: [3])
      try expect(step.ended, is: [.accepted: 1, .skippedByPreference: 1], "what it ended itself is told")
      let last = try await store.advanced(hold, [.init(ordinal: 3, kind: .accepted)])
      try expect([last.shardFinished, last.pushFinished], is: [true, true])
      try expect(
        try require(try await store.progress(app: app, push: 1)).counts, is: [.accepted: 2, .skippedByPreference: 2])
      let device = try require(try await store.device(app: app, registrationID: "r\(app)x2"))
      try expect(device.badge, is: 0)
      try expect(
        try await store.found(app: app, push: 1, registrationID: "r\(app)x2").state,
        is: .ended(DeviceOutcome(ordinal: 2, kind: .skippedByPreference), at: StoreSamples.noon + .minutes(2)))
    },
    ConformanceCase("D-333 a push that nobody wants ends at once, and says so once") { store in
      let app = try await store.sampleApp(devices: 3)
      for number in 0..<3 { try await store.prefer(true, app, number) }
      try await store.acceptSample(StoreSamples.push(1, of: app))
      for wanted in [true, false] {
        let start = try await store.begin(push: 1, shard: 0, holder: 1, claiming: 1, at: StoreSamples.noon)
        guard case .finished(let endedPush, let ended) = start else {
          throw ConformanceFailure(description: "\(start)")
        }
        try expect(endedPush, is: wanted)
        try expect(ended, is: wanted ? [.skippedByPreference: 3] : [:])
      }
      let progress = try require(try await store.progress(app: app, push: 1))
      try expect(progress.counts, is: [.skippedByPreference: 3])
      try expect(progress.finishedAt, is: StoreSamples.noon)
    },
    ConformanceCase("D-333 D-334 the scheduled push passes, and so does what is silent") { store in
      let app = try await store.sampleApp(devices: 2)
      try await store.prefer(true, app, 1)
      let rows: [(push: StoredPush, claimed: [DeviceOrdinal])] = [
        (StoreSamples.push(1, of: app), [0]), (StoreSamples.push(2, of: app, isScheduled: true), [0, 1]),
        (StoreSamples.push(3, of: app, pushType: "background"), [0, 1]),
      ]
      for row in rows {
        try await store.acceptSample(row.push)
        try expect(
          try await store.hold(row.push.id, claiming: 9).claimed.map(\.ordinal), is: row.claimed, "\(row.push.id)")
      }
    },
    ConformanceCase("D-333 what counts is the value when a device is claimed") { store in
      let app = try await store.sampleApp(devices: 2)
      try await store.prefer(true, app, 0)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try await store.prefer(false, app, 0)
      let (hold, claimed, _) = try await store.hold(1, claiming: 1)
      try expect(claimed.map(\.ordinal), is: [0])
      try await store.prefer(true, app, 1)
      let step = try await store.advanced(hold, [.init(ordinal: 0, kind: .accepted)], claiming: [1])
      try expect(step.claimed.isEmpty, is: true)
    },
  ]
}

extension Store {
  fileprivate func prefer(_ onlyScheduled: Bool, _ app: Int64, _ number: Int) async throws {
    var edit = DeviceEdit()
    edit.onlyScheduled = onlyScheduled
    let answer = try await changeDevice(
      app: app, registrationID: "r\(app)x\(number)", edit, limits: DeviceLimits())
    try expect(answer, is: .done)
  }
}
