import Audience
import Basics
import Store

enum StoreWebhookCases {
  private static let noon = StoreSamples.noon
  private static let all8 = Set(WebhookEventKind.allCases)

  static func hook(
    _ app: Int64, _ events: Set<WebhookEventKind> = all8, url: String = "https://a.example/", enabled: Bool = true,
    clientID: String? = nil
  ) -> StoredWebhook {
    StoredWebhook(
      app: app, url: url, events: events, isEnabled: enabled, secret: [1, 2, 3], clientID: clientID,
      request: Array(url.utf8), createdAt: noon)
  }

  static func made(_ hook: StoredWebhook, in store: any Store) async throws -> StoredWebhook {
    let answer = try await store.createWebhook(hook, limit: 20, clientIDsSince: noon - .days(1))
    guard case .created(let made) = answer else { throw ConformanceFailure(description: "\(answer)") }
    return made
  }

  /// Ends the push's devices, in the order of their numbers.
  static func end(
    _ push: Int64, _ kinds: [OutcomeKind], in store: any Store, at now: Instant = noon
  ) async throws {
    let start = try await store.begin(push: push, shard: 0, holder: 1, claiming: 99, at: now)
    guard case .begun(let shard) = start else { throw ConformanceFailure(description: "\(start)") }
    let outcomes = zip(shard.claimed, kinds).map { DeviceOutcome(ordinal: $0.ordinal, kind: $1) }
    _ = try await store.advance(shard.hold, outcomes: outcomes, claiming: [], at: now)
    await store.release(shard.hold)
  }

  static func take(_ store: any Store, at now: Instant, limit: Int = 9) async throws -> [StoredWebhook] {
    try await store.takeWebhooks(at: now, until: now + .seconds(30), horizon: now + .hours(1), limit: limit)
  }

  static func attempt(at now: Instant, _ fault: String? = nil) -> WebhookAttempt {
    WebhookAttempt(
      at: now, firstEvent: 1, events: 1, status: fault == nil ? 200 : nil, fault: fault, took: .milliseconds(7))
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("webhooks are made, listed, edited by version and deleted; each app has its own, and so many") {
      store in
      let (app, other) = (try await store.sampleApp(), try await store.sampleApp("other"))
      let first = try await made(hook(app, [.clicked], clientID: "k"), in: store)
      try expect(
        try await store.createWebhook(hook(app, clientID: "k"), limit: 20, clientIDsSince: noon - .days(1)),
        is: .repeated(first))
      let second = try await made(hook(app, url: "https://b.example/"), in: store)
      _ = try await made(hook(other), in: store)
      try expect(
        try await store.createWebhook(hook(app), limit: 2, clientIDsSince: noon - .days(1)), is: WebhookCreation.full)
      try expect(try await store.webhooks(app: app, after: 0, limit: 9), is: [first, second])
      try expect(try await store.webhooks(app: app, after: first.id, limit: 9), is: [second])
      try expect(try await store.webhooks(app: app, after: 0, limit: 1), is: [first])
      try expect(try await store.webhook(app: other, id: first.id), is: nil)
      var new = first
      (new.url, new.events, new.isEnabled) = ("https://c.example/", [.pushFinished], false)
      try expect(try await store.changeWebhook(first, to: new, at: noon), is: true)
      try expect(try await store.changeWebhook(first, to: new, at: noon), is: false, "it has another version by now")
      let read = try require(try await store.webhook(app: app, id: first.id))
      try expect(read.url, is: "https://c.example/")
      try expect(read.events, is: [.pushFinished])
      try expect(read.isEnabled, is: false)
      try expect(read.version, is: 2)
      try expect(read.secret, is: first.secret)
      try expect(try await store.deleteWebhook(app: other, id: first.id), is: false)
      try expect(try await store.deleteWebhook(app: app, id: first.id), is: true)
      try expect(try await store.deleteWebhook(app: app, id: first.id), is: false)
      try expect(try await store.webhooks(app: app, after: 0, limit: 9), is: [second])
    },
    ConformanceCase("what happens is in the outbox of each webhook that wants it, in order, and of no other") { store in
      let app = try await store.sampleApp(devices: 3)
      let other = try await store.sampleApp("other")
      let whole = try await made(hook(app), in: store)
      let clicks = try await made(hook(app, [.clicked]), in: store)
      let off = try await made(hook(app, enabled: false), in: store)
      let strange = try await made(hook(other), in: store)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try expect(try await store.nextWebhookDue(), is: nil)
      try await store.setWaiting(push: 1, "no credential", at: noon)
      try await store.setWaiting(push: 1, nil, at: noon)
      let start = try await store.begin(push: 1, shard: 0, holder: 1, claiming: 9, at: noon)
      guard case .begun(let shard) = start else { throw ConformanceFailure(description: "\(start)") }
      let evidence = TokenEvidence(
        kind: .unknownToken, reason: "BadDeviceToken", token: StoreSamples.token(1), environment: .production,
        answeredAt: noon)
      _ = try await store.advance(
        shard.hold,
        outcomes: [
          DeviceOutcome(ordinal: 0, kind: .accepted),
          DeviceOutcome(ordinal: 1, kind: .refused("BadDeviceToken"), status: 400, evidence: evidence),
          DeviceOutcome(ordinal: 2, kind: .expired),
        ], claiming: [], at: noon + .seconds(1))
      let clicked = noon + .seconds(3)
      let reports = [
        DeviceReport(push: 1, kind: .shown, at: noon - .days(1)), DeviceReport(push: 1, kind: .received, at: noon),
        DeviceReport(push: 1, kind: .clicked, at: clicked), DeviceReport(push: 1, kind: .clicked, at: clicked),
      ]
      _ = try await store.keep(reports, app: app, registrationID: "r\(app)x0", at: noon + .days(9))
      let events = try await store.outbox(webhook: whole.id, limit: 99)
      try expect(
        events.map(\.kind),
        is: [.sendingHeldBack, .sent, .undelivered, .tokenRetired, .undelivered, .pushFinished, .delivered, .clicked])
      try expect(events.map(\.push), is: Array(repeating: 1, count: 8))
      try expect(
        events.map(\.registrationID).map { $0.map { String($0.suffix(2)) } },
        is: [nil, "x0", "x1", "x1", "x2", nil, "x0", "x0"])
      try expect(events.map(\.outcome), is: [nil, nil, .refused("BadDeviceToken"), nil, .expired, nil, nil, nil])
      try expect(events[0].words, is: "no credential")
      try expect(events[3].words?.isEmpty, is: false)
      try expect(events[5].counts, is: [.accepted: 1, .refused("BadDeviceToken"): 1, .expired: 1])
      try expect(events[7].at, is: clicked, "told late, but of its own time")
      try expect(events[6].at, is: noon, "by a clock that is slow: not before the push")
      try expect(Set(events.map(\.id)).count, is: 8)
      try expect(try await store.outbox(webhook: whole.id, limit: 2), is: Array(events[..<2]))
      try expect(try await store.outbox(webhook: clicks.id, limit: 9).map(\.kind), is: [.clicked])
      for none in [off, strange] { try expect(try await store.outbox(webhook: none.id, limit: 9), is: []) }
      try expect(
        try await take(store, at: noon + .days(9)).map(\.id), is: [whole.id, clicks.id], "the longest due first")
    },
    ConformanceCase("an app's sending is held back once, however many of its pushes wait") { store in
      let app = try await store.sampleApp(devices: 1)
      let webhook = try await made(hook(app, [.sendingHeldBack]), in: store)
      for id in 1...3 as ClosedRange<Int64> {
        try await store.acceptSample(StoreSamples.push(id, of: app))
        try await store.setWaiting(push: id, "InvalidProviderToken", at: noon)
        try await store.setWaiting(push: id, "InvalidProviderToken", at: noon)
      }
      try expect(try await store.outbox(webhook: webhook.id, limit: 9).map(\.push), is: [1])
      for id in 1...3 as ClosedRange<Int64> { try await store.setWaiting(push: id, nil, at: noon) }
      try await store.setWaiting(push: 2, "TopicDisallowed", at: noon)
      try expect(try await store.outbox(webhook: webhook.id, limit: 9).map(\.push), is: [1, 2])
    },
    ConformanceCase("a webhook is one taker's at a time, and another's when that one is not heard of") { store in
      let app = try await store.sampleApp(devices: 1)
      let webhook = try await made(hook(app, [.clicked, .pushFinished]), in: store)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try await end(1, [.accepted], in: store)
      try expect(try await store.nextWebhookDue(), is: noon)
      try expect(try await take(store, at: noon - .seconds(1)).isEmpty, is: true, "not before")
      let together = try await withThrowingTaskGroup(of: [StoredWebhook].self) { group in
        for _ in 0..<8 { group.addTask { try await take(store, at: noon) } }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      try expect(together.map(\.id), is: [webhook.id])
      let second = try require(try await take(store, at: noon + .seconds(30)).first)
      let last = try require(try await store.outbox(webhook: webhook.id, limit: 9).last).id
      // the first comes back, and has nothing to say any more
      try expect(
        try await store.note(attempt(at: noon), of: together[0], taken: last, next: noon + .days(1)), is: false)
      try await store.release(together[0], at: noon)
      try expect(try await store.outbox(webhook: webhook.id, limit: 9).count, is: 1)
      try expect(try await store.nextWebhookDue(), is: noon + .seconds(60))
      _ = try await store.keep(
        [DeviceReport(push: 1, kind: .clicked, at: noon)], app: app, registrationID: "r\(app)x0")
      try expect(try await store.nextWebhookDue(), is: noon + .seconds(60), "news wakes nobody while one is at it")
      let next = noon + .seconds(70)
      try expect(try await store.note(attempt(at: noon), of: second, taken: last, next: next), is: true, "the click")
      try expect(try await store.nextWebhookDue(), is: next)
      let click = try require(try await store.outbox(webhook: webhook.id, limit: 9).last)
      try expect(click.kind, is: .clicked)
      try expect(try await store.note(attempt(at: noon), of: second, taken: click.id, next: next), is: false)
      try expect(try await store.nextWebhookDue(), is: nil)
      try expect(try await store.attempts(webhook: webhook.id).count, is: 2)
    },
    ConformanceCase("what was not taken waits for its time, or for an edit; a clock set back stops nobody") { store in
      let app = try await store.sampleApp(devices: 1)
      let webhook = try await made(hook(app, [.pushFinished]), in: store)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try await end(1, [.accepted], in: store)
      for (round, pause) in [5, 10].enumerated() {
        let now = noon + .minutes(Int64(round))
        let taken = try require(try await take(store, at: now).first)
        try expect(taken.failures, is: round)
        _ = try await store.note(
          attempt(at: now, "not taken"), of: taken, taken: nil, next: now + .seconds(Int64(pause)))
        try expect(try await take(store, at: now + .seconds(Int64(pause - 1))).isEmpty, is: true)
      }
      try expect(try await take(store, at: noon - .days(1)).count, is: 1, "the clock was set back by a day")
      let read = try require(try await store.webhook(app: app, id: webhook.id))
      try expect(read.failures, is: 2)
      try expect(try await store.changeWebhook(read, to: read, at: noon + .hours(1)), is: true)
      let mended = try require(try await take(store, at: noon + .hours(1)).first)
      try expect(mended.failures, is: 0)
      try expect(try await store.outbox(webhook: webhook.id, limit: 9).count, is: 1)
      var off = try require(try await store.webhook(app: app, id: webhook.id))
      off.isEnabled = false
      _ = try await store.changeWebhook(off, to: off, at: noon + .hours(1))
      try expect(try await store.nextWebhookDue(), is: nil)
      for round in 0..<105 {
        _ = try await store.note(
          attempt(at: noon + .seconds(Int64(round))), of: mended, taken: nil, next: noon)
      }
      try expect(try await store.attempts(webhook: webhook.id).count, is: 2, "those of before the edit are not its own")
    },
    ConformanceCase("the last hundred attempts stay, newest first") { store in
      let app = try await store.sampleApp(devices: 1)
      let webhook = try await made(hook(app, [.pushFinished]), in: store)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try await end(1, [.accepted], in: store)
      let taken = try require(try await take(store, at: noon).first)
      for round in 0..<105 {
        _ = try await store.note(
          attempt(at: noon + .seconds(Int64(round)), "down"), of: taken, taken: nil, next: noon)
      }
      let attempts = try await store.attempts(webhook: webhook.id)
      try expect(attempts.count, is: 100)
      try expect(attempts.first, is: attempt(at: noon + .seconds(104), "down"))
      try expect(attempts.last?.at, is: noon + .seconds(5))
    },
  ]
}
