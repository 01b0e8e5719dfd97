import Audience
import Basics
import Store

enum StorePushCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("a push is kept as it was accepted") { store in
      let app = try await store.sampleApp(devices: 3)
      try expect(try await store.lastPushID(), is: 0)
      let push = StoreSamples.push(71, of: app, badge: .add(-2), isScheduled: true, clientID: "x")
      try await store.acceptSample(push)
      let progress = try require(try await store.progress(app: app, push: 71))
      try expect(progress.push, is: push)
      try expect(progress.targeted, is: 3)
      try expect(progress.counts, is: [:])
      try expect(progress.finishedAt, is: nil)
      try expect(try await store.lastPushID(), is: 71)
      try expect(try await store.progress(app: app, push: 72) == nil, is: true)
      try expect(try await store.progress(app: app + 1, push: 71) == nil, is: true, "another app's push")
    },
    ConformanceCase("pushes are listed from the newest, an app's own only") { store in
      let app = try await store.sampleApp(devices: 1)
      let other = try await store.sampleApp("other", devices: 1)
      for id: Int64 in [71, 72, 74] { try await store.acceptSample(StoreSamples.push(id, of: app)) }
      try await store.acceptSample(StoreSamples.push(73, of: other))
      try expect(try await store.pushes(app: app, before: .max, limit: 2).map(\.push.id), is: [74, 72])
      try expect(try await store.pushes(app: app, before: 72, limit: 2).map(\.push.id), is: [71])
      try expect(try await store.pushes(app: app, before: 71, limit: 2).map(\.push.id), is: [])
    },
    ConformanceCase("who is claimed for a push that differs by recipient is told with what is known of it") { store in
      let app = try await store.createApp(StoreSamples.app("personal")).id
      var draft = StoreSamples.device(0, of: app)
      draft.facts = DeviceFacts(osVersion: "18.1", appVersion: "2.1", language: "de", timeZone: "Europe/Vienna")
      _ = try await store.register(draft)
      var edit = DeviceEdit()
      edit.alias = .set("lin")
      _ = try await store.changeDevice(
        app: app, registrationID: draft.registrationID, edit, limits: DeviceLimits())
      var push = StoreSamples.push(71, of: app)
      push.personal = Array("{}".utf8)
      try await store.acceptSample(push)
      try expect(try require(try await store.progress(app: app, push: 71)).push.personal, is: push.personal)
      let (_, claimed, _) = try await store.hold(71, claiming: 1)
      try expect(
        claimed.map(\.recipient),
        is: [.init(registrationID: draft.registrationID, alias: "lin", facts: draft.facts)])
      try await store.acceptSample(StoreSamples.push(72, of: app))
      try expect(try await store.hold(72, claiming: 1).claimed.map(\.recipient), is: [nil])
    },
    ConformanceCase("a message id is used once") { store in
      let app = try await store.sampleApp(devices: 1)
      try await store.acceptSample(StoreSamples.push(71, of: app))
      let fault = try await fault { () throws(StoreFault) in
        try await store.accept(
          StoreSamples.push(71, of: app, .sandbox), audience: [], clientIDsSince: StoreSamples.noon)
      }
      guard case .taken = fault else { throw ConformanceFailure(description: "\(fault)") }
      try expect(try require(try await store.progress(app: app, push: 71)).push.environment, is: .production)
    },
    ConformanceCase("a cid within the window answers the first push and keeps nothing") { store in
      let app = try await store.sampleApp(devices: 2)
      let other = try await store.sampleApp("other", devices: 1)
      let first = StoreSamples.push(1, of: app, clientID: "c")
      try await store.acceptSample(first)
      func accept(_ push: StoredPush, window: Instant.Span) async throws -> Acceptance {
        let reach = try await store.reach(app: push.app, .everyone, .production)
        return try await store.accept(push, audience: reach.targets, clientIDsSince: push.acceptedAt - window)
      }
      let later = StoreSamples.noon + .hours(23)
      let again = StoreSamples.push(2, of: app, clientID: "c", at: later)
      try expect(try await accept(again, window: .days(1)), is: .repeated(first, targeted: 2))
      try expect(try await store.progress(app: app, push: 2) == nil, is: true)
      try expect(try await store.unfinished(after: nil, limit: 10).map(\.push), is: [1])
      let others = StoreSamples.push(3, of: other, clientID: "c", at: later)
      try expect(try await accept(others, window: .days(1)), is: .accepted, "a cid is its app's own")
      let nextDay = StoreSamples.push(4, of: app, clientID: "c", at: StoreSamples.noon + .hours(25))
      try expect(try await accept(nextDay, window: .days(1)), is: .accepted)
      let dayAfter = StoreSamples.push(5, of: app, clientID: "c", at: StoreSamples.noon + .hours(26))
      try expect(try await accept(dayAfter, window: .days(1)), is: .repeated(nextDay, targeted: 2))
    },
    ConformanceCase("a cid is taken once by many at the same time") { store in
      let app = try await store.sampleApp(devices: 1)
      let reach = try await store.reach(app: app, .everyone, .production)
      let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 1...50 as ClosedRange<Int64> {
          group.addTask {
            let push = StoreSamples.push(number, of: app, clientID: "same")
            let answer = try await store.accept(
              push, audience: reach.targets, clientIDsSince: StoreSamples.noon - .days(1))
            return answer == .accepted ? 1 : 0
          }
        }
        return try await group.reduce(0, +)
      }
      try expect(accepted, is: 1)
      try expect(try await store.unfinished(after: nil, limit: 100).count, is: 1)
    },
    ConformanceCase("what still owes is listed in pages") { store in
      let app = try await store.sampleApp(devices: 2)
      var wanted: [OpenShard] = []
      for push in 1...5 as ClosedRange<Int64> {
        let parts: [AudienceReach.ShardAudience] = [
          .init(shard: 0, devices: [0, 1]), .init(shard: 9, devices: [589_824]),
        ]
        _ = try await store.accept(
          StoreSamples.push(push, of: app), audience: parts, clientIDsSince: StoreSamples.noon)
        wanted += parts.map {
          OpenShard(app: app, push: push, shard: $0.shard, devices: UInt32($0.devices.count))
        }
      }
      var found: [OpenShard] = []
      while true {
        let page = try await store.unfinished(after: found.last, limit: 3)
        if page.isEmpty { break }
        try expect(page.count <= 3, is: true)
        found += page
      }
      try expect(found, is: wanted)
    },
    ConformanceCase("why a push waits is told until it goes on") { store in
      let app = try await store.sampleApp(devices: 1)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try await store.setWaiting(push: 1, "no credential", at: StoreSamples.noon)
      try expect(try require(try await store.progress(app: app, push: 1)).waiting, is: "no credential")
      try await store.setWaiting(push: 1, nil, at: StoreSamples.noon)
      try expect(try require(try await store.progress(app: app, push: 1)).waiting, is: nil)
    },
  ]
}
