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
  ]
}
