import Audience
import Basics
import Store

/// Tokens that a device has beside its own, and pushes to them.
enum StoreSpecialTokenCases {
  private static let purposes: [TokenPurpose] = [.voip, .activityStart(type: "Match"), .activity(id: "a1")]

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("each kind of token is told, found by audiences, and taken back") { store in
      let app = try await store.sampleApp(devices: 3)
      for (index, purpose) in purposes.enumerated() {
        try await store.tell(purpose, 100 + index, app, 1)
        try expect(try await store.reach(app: app, .holds(purpose), .production).targets.map(\.devices), is: [[1]])
        try expect(
          try await store.reach(app: app, .all([.holds(purpose), .registrationID("r\(app)x0")]), .production).count,
          is: 0)
      }
      let device = try require(try await store.device(app: app, registrationID: "r\(app)x1"))
      try expect(device.purposes, is: Set(purposes))
      try expect(device.subject.purposes, is: Set(purposes))
      for purpose in purposes {
        try await store.tell(purpose, nil, app, 1)
        let reach = try await store.reach(app: app, .holds(purpose), .production)
        try expect(reach.targets.isEmpty, is: true)
        try expect(reach.unmatched, is: [.holds(purpose)], "nobody is left")
      }
    },
    ConformanceCase("a push goes to the token of its address; who has none any more is skipped, and its badge stays") {
      store in
      let app = try await store.sampleApp(devices: 2)
      for number in 0..<2 { try await store.tell(.voip, 100 + number, app, number) }
      try await store.acceptSample(StoreSamples.push(1, of: app, to: .special(.voip), badge: .add(1)))
      try await store.tell(.voip, nil, app, 1)
      let (hold, claimed, _) = try await store.hold(1, claiming: 9)
      try expect(claimed.map(\.token), is: [StoreSamples.token(100)])
      let end = try await store.advanced(hold, [.init(ordinal: 0, kind: .accepted)])
      try expect(end.pushFinished, is: true)
      let progress = try require(try await store.progress(app: app, push: 1))
      try expect(progress.counts, is: [.accepted: 1, .skipped: 1])
      try expect(progress.push.address, is: .special(.voip))
      try expect(try require(try await store.device(app: app, registrationID: "r\(app)x1")).badge, is: 0)
    },
    ConformanceCase("a push to a channel has the channel as its one recipient; what APNs has later takes its place") {
      store in
      let app = try await store.sampleApp(devices: 1)
      func accept(_ id: Int64, to channel: String, _ environment: APNSEnvironment = .production) async throws {
        let push = StoreSamples.push(id, of: app, environment, to: .channel(channel), pushType: "liveactivity")
        let recipient = PushAddress.channelRecipient
        _ = try await store.accept(
          push, audience: [.init(shard: recipient.shard, devices: DeviceSet([recipient]))],
          clientIDsSince: push.acceptedAt)
        try expect(try await store.progress(app: app, push: id)?.push, is: push)
      }
      for id in Int64(1)...3 { try await accept(id, to: "QQ==") }
      try await accept(4, to: "Qg==")
      try await accept(5, to: "QQ==", .sandbox)
      func end(_ id: Int64, as kind: OutcomeKind) async throws {
        let (hold, claimed, _) = try await store.hold(id, PushAddress.channelRecipient.shard, claiming: 9)
        try expect(claimed.map(\.token), is: [Array("QQ==".utf8)])
        let end = try await store.advanced(hold, [.init(ordinal: PushAddress.channelRecipient, kind: kind)])
        try expect(end.pushFinished, is: true)
      }
      try await end(3, as: .refused("PayloadTooLarge"))
      try await end(2, as: .accepted)
      let start = try await store.begin(
        push: 1, shard: PushAddress.channelRecipient.shard, holder: 1, claiming: 9, at: StoreSamples.noon)
      guard case .finished(endedPush: true, ended: [.skipped: 1]) = start else {
        throw ConformanceFailure(description: "the second one is at APNs already, but \(start)")
      }
      try await end(5, as: .accepted)
      try expect(try await store.progress(app: app, push: 2)?.counts, is: [.accepted: 1])
      try expect(try await store.recipients(app: app, push: 2), is: [])
      _ = try await store.deleteDevice(app: app, registrationID: "r\(app)x0")
      try expect(try await store.reach(app: app, .everyone, .production).count, is: 0)
    },
    ConformanceCase("a token dies by evidence of its own: an older answer keeps it, and the device's own lives on") {
      store in
      let app = try await store.sampleApp(devices: 1)
      let purpose = TokenPurpose.activity(id: "a1")
      for (push, since, dies) in [
        (Int64(1), StoreSamples.noon - .hours(1), false), (2, StoreSamples.noon + .hours(1), true),
      ] {
        try await store.tell(purpose, 100, app, 0)
        try await store.acceptSample(StoreSamples.push(push, of: app, to: .special(purpose)))
        let (hold, _, _) = try await store.hold(push, claiming: 9)
        let evidence = TokenEvidence(
          kind: .gone(since: since), reason: "ExpiredToken", token: StoreSamples.token(100), environment: .production,
          answeredAt: StoreSamples.noon + .hours(2))
        let end = try await store.advanced(
          hold, [.init(ordinal: 0, kind: .refused("ExpiredToken"), status: 410, evidence: evidence)])
        try expect([end.retired.count, end.kept.count], is: dies ? [1, 0] : [0, 1])
        let device = try require(try await store.device(app: app, registrationID: "r\(app)x0"))
        try expect(device.purposes, is: dies ? [] : [purpose])
        try expect(device.death, is: nil)
      }
    },
    ConformanceCase("one installation has one token: told by another device it is the former's no more") { store in
      let app = try await store.sampleApp(devices: 2)
      try await store.tell(.voip, 100, app, 0)
      try await store.tell(.voip, 100, app, 1)
      try expect(try await store.reach(app: app, .holds(.voip), .production).targets.map(\.devices), is: [[1]])
    },
    ConformanceCase("a device of another environment, or a deleted one, has none of its former tokens") { store in
      let app = try await store.sampleApp(devices: 2)
      for number in 0..<2 { try await store.tell(.voip, 100 + number, app, number) }
      _ = try await store.register(StoreSamples.device(0, of: app, .sandbox))
      _ = try await store.deleteDevice(app: app, registrationID: "r\(app)x1")
      let reach = try await store.reach(app: app, .holds(.voip), .production)
      try expect(reach.unmatched, is: [.holds(.voip)])
    },
    ConformanceCase("update tokens of activities that must be over are forgotten; the others of the device stay") {
      store in
      let app = try await store.sampleApp(devices: 1)
      for (index, purpose) in purposes.enumerated() { try await store.tell(purpose, 100 + index, app, 0) }
      while try await store.forget(Forgetting(activitiesBefore: StoreSamples.noon)) {}
      try expect(try await store.device(app: app, registrationID: "r\(app)x0")?.purposes, is: Set(purposes))
      while try await store.forget(Forgetting(activitiesBefore: StoreSamples.noon + .days(1))) {}
      try expect(try await store.device(app: app, registrationID: "r\(app)x0")?.purposes, is: Set(purposes.prefix(2)))
      try expect(try await store.tokenNames(app: app, like: .activity(id: ""), after: nil, limit: 9), is: [])
    },
    ConformanceCase("running activities are listed by name with how many have each; the oldest of too many goes") {
      store in
      let app = try await store.sampleApp(devices: 2)
      for (number, id) in [(0, "b"), (0, "a"), (1, "a")] { try await store.tell(.activity(id: id), 7, app, number) }
      try await store.tell(.activity(id: "a"), 8, app, 0)
      try await store.tell(.activityStart(type: "c"), 9, app, 0)
      func names(_ after: String?, _ limit: Int) async throws -> [TokenName] {
        try await store.tokenNames(app: app, like: .activity(id: ""), after: after, limit: limit)
      }
      try expect(try await names(nil, 9), is: [TokenName("a", devices: 2), TokenName("b", devices: 1)])
      try expect(try await names("a", 1), is: [TokenName("b", devices: 1)])
      for number in 0..<DeviceLimits().activities {
        try await store.tell(.activity(id: "n\(number)"), 200 + number, app, 1, at: StoreSamples.noon + .minutes(1))
      }
      try expect(try await names(nil, 1), is: [TokenName("a", devices: 1)], "device 1 has twenty newer ones")
    },
    ConformanceCase("a push is kept with its companion or not at all, and each knows the other") { store in
      let app = try await store.sampleApp(devices: 2)
      try await store.tell(.voip, 100, app, 1)
      let main = StoreSamples.push(1, of: app)
      var call = StoreSamples.push(2, of: app, to: .special(.voip))
      call.companionOf = 1
      let all = try await store.reach(app: app, .everyone, .production).targets
      let callers = try await store.reach(app: app, .holds(.voip), .production).targets
      func accept() async throws(StoreFault) -> Acceptance {
        try await store.accept(
          main, audience: all, companion: PlannedPush(call, callers), clientIDsSince: StoreSamples.noon)
      }
      try await store.acceptSample(StoreSamples.push(2, of: app))
      guard case .taken = try await fault(of: accept) else { throw ConformanceFailure(description: "the id was free") }
      try expect(try await store.progress(app: app, push: 1), is: nil)
      call.id = 3
      try expect(try await accept(), is: .accepted)
      try expect(try require(try await store.progress(app: app, push: 1)).companion, is: 3)
      let companion = try require(try await store.progress(app: app, push: 3))
      try expect(companion.push.companionOf, is: 1)
      try expect(companion.targeted, is: 1)
    },
  ]
}

extension Store {
  func tell(
    _ purpose: TokenPurpose, _ token: Int?, _ app: Int64, _ number: Int, at: Instant = StoreSamples.noon
  ) async throws {
    var edit = DeviceEdit()
    edit.tokens = [TokenEdit(purpose, token.map(StoreSamples.token), at: at)]
    let answer = try await changeDevice(
      app: app, registrationID: "r\(app)x\(number)", edit, limits: DeviceLimits())
    try expect(answer, is: .done)
  }
}
