import Audience
import Basics
import Store

/// What webhooks hear of spikes and of pushes with a callback, and when events go untold.
enum StoreWebhookEndCases {
  private static let noon = StoreSamples.noon
  private typealias Cases = StoreWebhookCases

  private static func sweep(_ store: any Store, _ ages: Forgetting = Forgetting()) async throws {
    var pieces = 0
    while try await store.forget(ages) {
      pieces += 1
      try expect(pieces < 100, is: true, "it comes to an end")
    }
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("too many failures within the window are told once, and anew after they were over") { store in
      let app = try await store.sampleApp(devices: 10)
      let webhook = try await Cases.made(Cases.hook(app, [.failuresSpiked]), in: store)
      var spike = FailureSpike()
      (spike.minutes, spike.devices, spike.percent) = (10, 3, 30)
      func told() async throws -> [OutboxEvent] { try await store.outbox(webhook: webhook.id, limit: 9) }
      func push(_ id: Int64, _ kinds: [OutcomeKind], at now: Instant) async throws {
        try await store.acceptSample(StoreSamples.push(id, of: app))
        try await Cases.end(id, kinds + Array(repeating: .accepted, count: 10 - kinds.count), in: store, at: now)
        try await store.tellSpikes(spike, at: now)
      }
      try await push(1, [.expired, .refused("BadTopic")], at: noon)
      try expect(try await told(), is: [], "two are too few")
      try await push(2, [.unanswered, .refused("Unregistered"), .skipped], at: noon + .minutes(1))
      try expect(try await told(), is: [], "three of nineteen")
      try await push(3, [.unanswered, .unanswered, .unanswered, .expired, .expired, .expired], at: noon + .minutes(9))
      let event = try require(try await told().first)
      try expect(
        event.counts,
        is: [
          .accepted: 19, .expired: 4, .refused("BadTopic"): 1, .refused("Unregistered"): 1, .unanswered: 4, .skipped: 1,
        ])
      try expect(event.at, is: noon + .minutes(9))
      try await store.tellSpikes(spike, at: noon + .minutes(12))
      try await push(4, [.expired, .expired, .expired, .expired], at: noon + .minutes(13))
      try expect(try await told().count, is: 1, "it goes on")
      try await push(5, [], at: noon + .minutes(40))
      try expect(try await told().count, is: 1, "it is over")
      try await push(6, Array(repeating: .expired, count: 10), at: noon + .minutes(41))
      try expect(try await told().map(\.at), is: [noon + .minutes(9), noon + .minutes(41)])
    },
    ConformanceCase("a push's callback goes to its address, with its params, and what it does not ask for does not") {
      store in
      let app = try await store.sampleApp(devices: 2)
      let webhook = try await Cases.made(Cases.hook(app, [.pushFinished]), in: store)
      let params = Array(#"{"order":7}"#.utf8)
      for id in 1...2 as ClosedRange<Int64> {
        var push = StoreSamples.push(id, of: app)
        push.callback = PushCallback(
          url: "https://receipts.example/", events: id == 1 ? [.sent, .undelivered] : [.clicked], params: params)
        try await store.acceptSample(push)
        try expect(try await store.progress(app: app, push: id)?.push.callback, is: push.callback)
        try await Cases.end(id, [.accepted, .expired], in: store)
        let click = DeviceReport(push: id, kind: .clicked, at: noon)
        _ = try await store.keep([click], app: app, registrationID: "r\(app)x0")
      }
      try expect(try await store.webhooks(app: app, after: 0, limit: 9).map(\.id), is: [webhook.id])
      let taken = try await Cases.take(store, at: noon)
      let callback = try require(taken.first { $0.id != webhook.id })
      try expect(taken.count, is: 2, "one address, kept once")
      try expect(callback.url, is: "https://receipts.example/")
      try expect(callback.secret, is: webhook.secret)
      let events = try await store.outbox(webhook: callback.id, limit: 9)
      try expect(events.map(\.kind), is: [.sent, .undelivered, .clicked])
      try expect(events.map(\.push), is: [1, 1, 2])
      try expect(events.map(\.params), is: [params, params, params])
      try expect(
        try await store.outbox(webhook: webhook.id, limit: 9).map(\.params), is: [params, params], "they come with all")
      // with the last push that names it the address goes too
      try await store.acceptSample(StoreSamples.push(3, of: app))
      try await sweep(store, Forgetting(pushesBefore: noon + .days(1)))
      try expect(try await store.outbox(webhook: callback.id, limit: 9), is: [])
      try expect(try await store.outbox(webhook: webhook.id, limit: 9).map(\.params), is: [nil, nil])
    },
    ConformanceCase("a callback of an app without a webhook has no secret, and so goes nowhere") { store in
      let app = try await store.sampleApp(devices: 1)
      var push = StoreSamples.push(1, of: app)
      push.callback = PushCallback(url: "https://receipts.example/", events: [.sent], params: nil)
      try await store.acceptSample(push)
      try await Cases.end(1, [.accepted], in: store)
      try expect(try await store.nextWebhookDue(), is: nil)
    },
    ConformanceCase("events go that nobody took for long, also those of a webhook that is off, or is gone with its app")
    {
      store in
      let (app, other) = (try await store.sampleApp(devices: 1), try await store.sampleApp("other", devices: 1))
      let webhook = try await Cases.made(Cases.hook(app, [.pushFinished]), in: store)
      let strange = try await Cases.made(Cases.hook(other, [.pushFinished]), in: store)
      for (id, app, days) in [(1, app, 0), (2, app, 3), (3, other, 3)] as [(Int64, Int64, Int64)] {
        try await store.acceptSample(StoreSamples.push(id, of: app, at: noon + .days(days)))
        try await Cases.end(id, [.accepted], in: store, at: noon + .days(days))
      }
      var off = webhook
      off.isEnabled = false
      _ = try await store.changeWebhook(webhook, to: off, at: noon)
      let gone = noon + .days(4)
      try expect(
        try await store.dropEvents(before: noon + .days(2), at: gone),
        is: [DroppedEvents(app: app, webhook: webhook.id, count: 1)])
      try expect(try await store.dropEvents(before: noon + .days(2), at: gone), is: [], "each is told once")
      let record = try require(try await store.webhook(app: app, id: webhook.id))
      try expect([record.dropped, Int(record.droppedAt == gone ? 1 : 0)], is: [1, 1])
      try expect(try await store.outbox(webhook: webhook.id, limit: 9).map(\.push), is: [2])
      let old = try require(try await store.webhook(app: app, id: webhook.id))
      _ = try await store.changeWebhook(old, to: webhook, at: noon + .days(3))
      let taken = try await Cases.take(store, at: noon + .days(3))
      try expect(taken.count, is: 2)
      _ = try await store.dropEvents(before: noon + .days(9), at: noon + .days(9))
      for webhook in taken { try await store.release(webhook, at: noon + .days(3)) }
      try expect(try await store.nextWebhookDue(), is: nil, "there is nothing left to tell")
      try await store.acceptSample(StoreSamples.push(5, of: other))
      try await Cases.end(5, [.accepted], in: store)
      try await store.deleteApp(other, at: noon)
      try expect(try await store.nextWebhookDue(), is: nil)
      try await store.acceptSample(StoreSamples.push(4, of: app))
      try await Cases.end(4, [.accepted], in: store)
      try expect(try await store.deleteWebhook(app: app, id: webhook.id), is: true)
      try await sweep(store)
      for none in [webhook, strange] { try expect(try await store.outbox(webhook: none.id, limit: 9), is: []) }
    },
    ConformanceCase("another secret, and for a while the one before: of the webhook, and of what pushes bring along") {
      store in
      let app = try await store.sampleApp(devices: 1)
      let old = try await Cases.made(Cases.hook(app, [.pushFinished]), in: store)
      var push = StoreSamples.push(1, of: app)
      push.callback = PushCallback(url: "https://receipts.example/", events: [.sent], params: nil)
      try await store.acceptSample(push)
      var new = old
      new.secret = Array("another".utf8)
      new.former = .init(old.secret, until: noon + .days(1))
      try expect(try await store.changeWebhook(old, to: new, at: noon), is: true)
      let kept = try require(try await store.webhook(app: app, id: old.id))
      try expect(kept.secret, is: new.secret)
      try expect(kept.former, is: new.former)
      try expect(kept.version, is: old.version + 1)
      try await Cases.end(1, [.accepted], in: store)
      let taken = try await Cases.take(store, at: noon + .hours(1))
      try expect(taken.map(\.secret), is: [new.secret, new.secret])
      try expect(taken.map(\.former), is: [new.former, new.former])
      _ = try await store.reseal(audit: AuditNote(.sealingKeyRenewed, at: noon, doer: AuditDoer(.command))) {
        secret, bytes in
        if case .formerOfWebhook = secret { Array("resealed".utf8) } else { bytes }
      }
      try expect(
        try await store.webhook(app: app, id: old.id)?.former?.secret, is: Array("resealed".utf8))
    },
  ]
}
