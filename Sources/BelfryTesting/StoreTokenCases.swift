import Audience
import Basics
import Store

enum StoreTokenCases {
  /// 10:00 registered, 10:06 sent, 10:07 answered, as in C16.
  static let ten = StoreSamples.noon - .hours(2)
  static let answered = ten + .minutes(7)

  static func evidence(_ kind: TokenEvidence.Kind, token: Int = 0) -> TokenEvidence {
    TokenEvidence(
      kind: kind, reason: kind == .unknownToken ? "BadDeviceToken" : "Unregistered",
      token: StoreSamples.token(token), environment: .production, answeredAt: answered)
  }

  struct Row {
    var name: String
    /// Registered again at.
    var again: Instant?
    var environment = APNSEnvironment.production
    var evidence: TokenEvidence
    var retired: Bool
    var words: String
  }

  static let gone = ten + .minutes(5)

  static let rows = [
    Row(
      name: "C16 410 older than the registration", again: ten + .seconds(390), evidence: evidence(.gone(since: gone)),
      retired: false, words: "410 older than registration, kept"),
    Row(
      name: "C16 no registration since", evidence: evidence(.gone(since: gone)), retired: true,
      words: "Unregistered, since \(gone); registered \(ten); retired \(answered)"),
    Row(
      name: "C16 410 without a time", evidence: evidence(.gone(since: nil)), retired: true,
      words: "Unregistered, no time given; registered \(ten); retired \(answered)"),
    Row(
      name: "C16 registered at the very same millisecond", again: gone, evidence: evidence(.gone(since: gone)),
      retired: false, words: "410 older than registration, kept"),
    Row(
      name: "registered a millisecond before", again: gone - .milliseconds(1), evidence: evidence(.gone(since: gone)),
      retired: true,
      words: "Unregistered, since \(gone); registered \(gone - .milliseconds(1)); retired \(answered)"),
    Row(
      name: "BadDeviceToken of the right environment", evidence: evidence(.unknownToken), retired: true,
      words: "BadDeviceToken, no time given; registered \(ten); retired \(answered)"),
    Row(
      name: "C37 BadDeviceToken of the environment it has left", again: ten + .minutes(6), environment: .sandbox,
      evidence: evidence(.unknownToken), retired: false, words: "answer of the other environment, kept"),
    Row(
      name: "an answer for a token that it no longer has", evidence: evidence(.unknownToken, token: 99),
      retired: false, words: "answer for a former token, kept"),
  ]

  static let all: [ConformanceCase<any Store>] =
    rows.map { row in
      ConformanceCase("tokens die by evidence: \(row.name)") { store in
        let app = try await store.createApp(StoreSamples.app("a")).id
        _ = try await store.register(StoreSamples.device(0, of: app, at: ten))
        _ = try await store.register(StoreSamples.device(1, of: app, at: ten))
        try await store.acceptSample(StoreSamples.push(1, of: app))
        let (hold, _, _) = try await store.hold(1, claiming: 2)
        if let again = row.again {
          _ = try await store.register(StoreSamples.device(0, of: app, row.environment, at: again))
        }
        let step = try await store.advanced(
          hold,
          [
            .init(ordinal: 0, kind: .refused(row.evidence.reason), status: 410, evidence: row.evidence),
            .init(ordinal: 1, kind: .refused("DeviceTokenNotForTopic"), status: 400),
          ], at: answered)
        let notice = ShardAdvance.TokenNotice(registrationID: "r\(app)x0", words: row.words)
        try expect(step.retired, is: row.retired ? [notice] : [])
        try expect(step.kept, is: row.retired ? [] : [notice])
        let device = try require(try await store.device(app: app, registrationID: "r\(app)x0"))
        try expect(device.death?.reason, is: row.retired ? row.evidence.reason : nil)
        try expect(try await store.device(app: app, registrationID: "r\(app)x1")?.death, is: nil, "C37 wrong topic")
        let reach = try await store.reach(app: app, .everyone, row.environment)
        try expect(reach.dead, is: row.retired ? 1 : 0)
        let trace = try await store.trace(app: app, push: 1, registrationID: "r\(app)x0")
        guard case .found(let found) = trace, case .ended(let outcome, at: answered) = found.state else {
          throw ConformanceFailure(description: "\(trace)")
        }
        try expect(outcome.note, is: row.words)
        // A device that registers again lives.
        _ = try await store.register(StoreSamples.device(0, of: app, at: answered + .minutes(1)))
        try expect(try await store.device(app: app, registrationID: "r\(app)x0")?.death, is: nil)
        try expect(try await store.reach(app: app, .everyone, .production).count, is: 2)
      }
    } + [
      ConformanceCase("who died or moved between acceptance and sending is not sent to") { store in
        let app = try await store.sampleApp(devices: 4)
        for push in 1...2 as ClosedRange<Int64> { try await store.acceptSample(StoreSamples.push(push, of: app)) }
        let (first, claimed, _) = try await store.hold(1, claiming: 1)
        try expect(claimed.count, is: 1)
        let evidence = TokenEvidence(
          kind: .unknownToken, reason: "BadDeviceToken", token: StoreSamples.token(0), environment: .production,
          answeredAt: StoreSamples.noon)
        _ = try await store.advanced(
          first, [.init(ordinal: 0, kind: .refused("BadDeviceToken"), status: 400, evidence: evidence)])
        _ = try await store.register(StoreSamples.device(1, of: app, .sandbox))
        let (second, rest, pending) = try await store.hold(2, claiming: 3)
        try expect(rest.map(\.ordinal), is: [2])
        try expect(pending, is: [2, 3])
        _ = try await store.advanced(second, rest.map { .init(ordinal: $0.ordinal, kind: .accepted) })
        let progress = try require(try await store.progress(app: app, push: 2))
        try expect(progress.counts, is: [.skipped: 2, .accepted: 1])
      }
    ]
}
