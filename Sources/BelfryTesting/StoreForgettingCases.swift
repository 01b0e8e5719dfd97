import Audience
import Basics
import Store

enum StoreForgettingCases {
  private static let noon = StoreSamples.noon

  /// Ends every device of the push at its time of acceptance and an hour.
  private static func finish(_ push: StoredPush, _ kind: OutcomeKind, in store: any Store) async throws {
    let end = push.acceptedAt + .hours(1)
    let start = try await store.begin(push: push.id, shard: 0, holder: 1, claiming: 99, at: end)
    guard case .begun(let shard) = start else { throw ConformanceFailure(description: "\(start)") }
    let outcomes = shard.claimed.map { DeviceOutcome(ordinal: $0.ordinal, kind: kind, note: "why") }
    _ = try await store.advance(shard.hold, outcomes: outcomes, claiming: [], at: end)
  }

  private static func forgetAll(_ ages: Forgetting, in store: any Store) async throws -> Int {
    var pieces = 0
    while try await store.forget(ages) {
      pieces += 1
      try expect(pieces < 1000, is: true, "it comes to an end")
    }
    return pieces
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("old pushes go whole; those that owe, those that are young, and the last stay") { store in
      let app = try await store.sampleApp(devices: 3)
      for (id, days, isFinished) in [(1, 100, true), (2, 100, false), (3, 80, true), (4, 100, true)]
        as [(Int64, Int64, Bool)]
      {
        let push = StoreSamples.push(id, of: app, clientID: "c\(id)", at: noon - .days(days))
        try await store.acceptSample(push)
        if isFinished { try await finish(push, .refused("Unregistered"), in: store) }
      }
      let report = DeviceReport(push: 1, kind: .clicked, at: noon - .days(99))
      _ = try await store.keep([report], app: app, registrationID: "r\(app)x0")
      let ages = Forgetting(pushesBefore: noon - .days(90))
      try expect(try await forgetAll(ages, in: store) > 0, is: true)
      for (id, isThere) in [(1, false), (2, true), (3, true), (4, true)] as [(Int64, Bool)] {
        try expect(try await store.progress(app: app, push: id) != nil, is: isThere, "push \(id)")
      }
      try expect(try await store.trace(app: app, push: 1, registrationID: "r\(app)x0"), is: .noSuchPush)
      try expect(try await store.keep([report], app: app, registrationID: "r\(app)x1"), is: [.notMeant])
      try expect(try await store.unfinished(after: nil, limit: 9).map(\.push), is: [2])
      try expect(try await store.lastPushID(), is: 4)
      // its id may come again only in a test; nothing of the former push is then found
      try await store.acceptSample(StoreSamples.push(1, of: app, at: noon))
      try expect(try await store.progress(app: app, push: 1)?.counts, is: [:])
      try expect(try await store.progress(app: app, push: 1)?.reports, is: [:])
      try expect(try await forgetAll(ages, in: store), is: 0)
    },
    ConformanceCase("devices go when their token is dead for so long") { store in
      let app = try await store.sampleApp(devices: 3)
      for (number, days) in [(0, 400), (1, 300)] as [(Int, Int64)] {
        let push = StoreSamples.push(Int64(number + 1), of: app, at: noon - .days(days))
        try await store.acceptSample(push, to: .registrationID("r\(app)x\(number)"))
        let end = noon - .days(days)
        let start = try await store.begin(push: push.id, shard: 0, holder: 1, claiming: 9, at: end)
        guard case .begun(let shard) = start else { throw ConformanceFailure(description: "\(start)") }
        let evidence = TokenEvidence(
          kind: .unknownToken, reason: "BadDeviceToken", token: StoreSamples.token(number), environment: .production,
          answeredAt: end)
        _ = try await store.advance(
          shard.hold,
          outcomes: [
            DeviceOutcome(
              ordinal: DeviceOrdinal(number), kind: .refused("BadDeviceToken"), status: 400, evidence: evidence)
          ], claiming: [], at: end)
      }
      _ = try await forgetAll(Forgetting(deadBefore: noon - .days(365)), in: store)
      try expect(try await store.device(app: app, registrationID: "r\(app)x0"), is: nil)
      try expect(try await store.device(app: app, registrationID: "r\(app)x1")?.death != nil, is: true)
      try expect(try await store.device(app: app, registrationID: "r\(app)x2")?.death, is: nil)
      try expect(try await store.reach(app: app, .everyone, .production).dead, is: 1)
    },
    ConformanceCase("a deleted app leaves nothing behind; its neighbours keep all that is theirs") { store in
      let app = try await store.sampleApp(devices: 3)
      let other = try await store.sampleApp("other", devices: 2)
      for (number, id) in [app, other].enumerated() {
        var edit = DeviceEdit()
        edit.addTags = ["vip"]
        _ = try await store.changeDevice(app: id, registrationID: "r\(id)x0", edit, limits: DeviceLimits())
        let push = StoreSamples.push(Int64(number + 1), of: id, clientID: "c", at: noon)
        try await store.acceptSample(push)
        try await finish(push, .accepted, in: store)
        let message = MessageDraft(
          body: Array("{}".utf8), expiresAt: nil,
          audience: try await store.reach(app: id, .everyone, .production).meant,
          aliases: [])
        _ = try await store.accept(
          StoreSamples.push(Int64(number + 11), of: id), audience: [], companion: nil, message: message,
          clientIDsSince: noon - .days(1))
        let file = StoredFile(
          id: "f\(id)", app: id, kind: .registrationID, name: "ids", createdAt: noon, expiresAt: noon + .days(9))
        _ = try await store.keepFile(file, parts: [Array("r\(id)x1\n".utf8)], limit: 9)
      }
      try await store.deleteApp(app, at: noon + .hours(2))
      try expect(try await forgetAll(Forgetting(), in: store) > 0, is: true)
      try expect(try await store.device(app: app, registrationID: "r\(app)x0"), is: nil)
      try expect(try await store.progress(app: app, push: 1) == nil, is: true)
      try expect(try await store.tags(app: app, after: nil, limit: 9), is: [])
      try expect(try await store.messages(app: app, before: .max, limit: 9).map(\.id), is: [])
      try expect(try await store.messages(app: other, before: .max, limit: 9).map(\.id), is: [12])
      try expect(try await store.files(app: app, at: noon), is: [])
      try expect(try await store.reach(app: app, .everyone, .production).targets.isEmpty, is: true)
      try expect(try await store.apps().map(\.id), is: [app, other])
      try expect(try await store.device(app: other, registrationID: "r\(other)x0")?.tags, is: ["vip"])
      try expect(try await store.progress(app: other, push: 2)?.counts, is: [.accepted: 2])
      try expect(try await store.reach(app: other, .tag("vip"), .production).targets.map(\.devices.count), is: [1])
      try expect(try await store.files(app: other, at: noon).map(\.id), is: ["f\(other)"])
      try expect(try await forgetAll(Forgetting(), in: store), is: 0)
    },
    ConformanceCase("files go once they expired") { store in
      let app = try await store.sampleApp(devices: 1)
      for (name, hours) in [("a", 1), ("b", 3)] as [(String, Int64)] {
        let file = StoredFile(
          id: name, app: app, kind: .alias, name: name, createdAt: noon, expiresAt: noon + .hours(hours))
        _ = try await store.keepFile(file, parts: [Array("lin\n".utf8)], limit: 9)
      }
      try expect(try await forgetAll(Forgetting(filesExpiredBy: noon + .hours(2)), in: store), is: 1)
      try expect(try await store.files(app: app, at: noon).map(\.id), is: ["b"])
    },
  ]
}
