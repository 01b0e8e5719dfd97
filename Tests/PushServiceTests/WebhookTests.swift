import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing

@Suite("Webhooks", .timeLimit(.minutes(1)))
struct WebhookTests {
  /// A receiver that answers what it is told to, and keeps what came.
  private final class Receiver: Sendable {
    let requests = Recorder<Webhooking.Request>()
    let answer = Locked<Webhooking.Answer>(.success(200))

    var webhooking: Webhooking {
      Webhooking { [requests, answer] _, request, _ in
        requests.record(request)
        return answer.withLock { $0 }
      }
    }

    /// The events of all requests, in the order in which they came.
    var events: [JSONObject] { requests.values.flatMap(Self.events) }

    static func events(_ request: Webhooking.Request) -> [JSONObject] {
      let body = (try? JSONReader.read(request.body).value.object) ?? [:]
      return (body["events"]?.array ?? []).compactMap(\.object)
    }
  }

  private let key = SealingKey.random()

  private func service(
    _ bench: ServiceBench, _ webhooking: Webhooking, store: (any Store)? = nil, retention: Retention? = nil
  ) -> PushService {
    PushService(
      store: store ?? bench.store, bus: InProcessBus(clock: bench.clock), clock: bench.clock, seed: 3,
      retention: retention, senders: { _, _ in bench.sender }, sealing: key, webhooking: webhooking,
      onEvent: { bench.events.record($0) })
  }

  /// Lets the clock run until it is so.
  private func advance(
    _ clock: VirtualClock, by step: Instant.Span = .seconds(1), until isSo: () async throws -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for _ in 0..<10_000 {
      if try await isSo() { return }
      clock.advance(by: step)
      try await Task.sleep(for: .milliseconds(1))
    }
    Issue.record("it never comes to that", sourceLocation: sourceLocation)
  }

  @Test("down at first, then killed: the event comes later under the same id, signed anew")
  func again() async throws {
    let bench = try await ServiceBench()
    let receiver = Receiver()
    receiver.answer.withLock { $0 = .success(500) }
    let first = service(bench, receiver.webhooking)
    let app = try await bench.app()
    _ = try await bench.devices(2, of: app)
    let made = try await first.createWebhook(
      app, WebhookOrder(url: "https://example.com/hook", events: [.pushFinished]))
    #expect(made.secret.utf8.count == 64 && made.webhook.events == [.pushFinished])
    try await first.start()
    let receipt = try await first.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    try await advance(bench.clock) { !receiver.requests.values.isEmpty }
    try await advance(bench.clock) { try await !first.deliveries(app, webhook: made.webhook.id).isEmpty }
    await first.stop()
    let failed = try #require(try await first.deliveries(app, webhook: made.webhook.id).last)
    #expect(failed.status == 500 && failed.fault == "not taken")
    #expect(failed.firstEvent == receiver.events[0]["id"]?.string)
    let trouble = ServiceEvent.webhookTrouble(appKey: app.key, webhookID: made.webhook.id, words: "not taken")
    #expect(bench.events.values.count { $0 == trouble } == 1, "told once")

    let crashed = try await ServiceBench(bench.folder.snapshot(), clock: bench.clock)
    let after = Receiver()
    let second = service(crashed, after.webhooking)
    try await second.start()
    try await advance(bench.clock) { !after.requests.values.isEmpty }
    await second.stop()
    #expect(Receiver.events(receiver.requests.values[0]) == after.events && after.events.count == 1)
    let event = after.events[0]
    #expect(event["type"] == "push.finished" && event["msg_id"]?.string == String(receipt.messageID))
    #expect(event["devices"]?.object?["accepted"] == 2)
    let signatures = [receiver.requests.values[0], after.requests.values[0]].map { $0.headers["Belfry-Signature"] }
    #expect(signatures[0] != signatures[1] && signatures[0]?.hasPrefix("t=") == true)
    #expect(try await second.deliveries(app, webhook: made.webhook.id).first?.fault == nil)
  }

  @Test("a pause of 5 s, doubled up to an hour, and 5 s again once it was taken; an edit ends the wait")
  func backOff() async throws {
    let bench = try await ServiceBench()
    let receiver = Receiver()
    receiver.answer.withLock { $0 = .failure(.init("no answer")) }
    let service = service(bench, receiver.webhooking)
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    let id = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/")).webhook.id
    try await service.start()
    _ = try await service.push(app, PushOrder(audience: .everyone, alert: "a"))
    let seconds: [Int64] = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600]
    var failures = 0
    for round in 0..<30_000 where failures < 12 {
      if round % 100 == 0 { bench.clock.advance(by: .seconds(1)) }
      try await Task.sleep(for: .milliseconds(1))
      // as often failed as taken: nobody is at it now
      guard let kept = try await bench.store.webhook(app: app.id, id: id), kept.failures > failures,
        kept.turn == kept.failures, let next = kept.dueAt
      else { continue }
      let attempts = try await service.deliveries(app, webhook: id)
      guard attempts.count == kept.failures else { continue }
      failures = kept.failures
      let pause = next - (attempts[0].at + attempts[0].took)
      #expect(pause == .seconds(seconds[min(failures, seconds.count) - 1]), "after \(failures)")
      bench.clock.advance(by: max(next - bench.clock.now, .milliseconds(0)))
    }
    #expect(failures >= 12)
    let edited = try await service.changeWebhook(
      app, id: id, WebhookChange(url: "https://example.com/other"), ifVersion: 1)
    #expect(edited.failures == 0 && edited.nextAt == nil)
    receiver.answer.withLock { $0 = .success(204) }
    try await advance(bench.clock) { try await bench.store.nextWebhookDue() == nil }
    #expect(receiver.requests.values.last?.url == "https://example.com/other")
    await service.stop()
    #expect(try await service.webhook(app, id: id).failures == 0)
  }

  @Test("two processes on one store tell each event once; when one dies in a post, the other tells it again")
  func twoProcesses() async throws {
    let bench = try await ServiceBench()
    let beside = try await StoreSQLite.openBeside(folder: bench.folder.path)
    let receiver = Receiver()
    let hangs = Locked(false)
    let services = [bench.store, beside].map { store in
      service(
        bench,
        Webhooking { [requests = receiver.requests] _, request, _ in
          requests.record(request)
          if hangs.withLock({ $0 }) { try? await Task.sleep(for: .seconds(600)) }
          return .success(200)
        }, store: store)
    }
    let app = try await bench.app()
    let devices = try await bench.devices(3, of: app)
    _ = try await services[0].createWebhook(app, WebhookOrder(url: "https://example.com/", events: [.clicked]))
    for service in services { try await service.start() }
    let receipt = try await services[0].push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    for device in devices[..<2] {
      _ = try await services[0].note(
        app, registrationID: device, [PushSaying(messageID: receipt.messageID, kind: .clicked)])
      bench.clock.advance(by: .seconds(1))
      try await Task.sleep(for: .milliseconds(5))
    }
    try await advance(bench.clock) { receiver.events.count >= 2 }
    for _ in 0..<50 {
      bench.clock.advance(by: .seconds(1))
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(receiver.events.compactMap { $0["registrationId"]?.string } == Array(devices[..<2]))
    hangs.withLock { $0 = true }
    _ = try await services[0].note(
      app, registrationID: devices[2], [PushSaying(messageID: receipt.messageID, kind: .clicked)])
    try await advance(bench.clock) { receiver.events.count >= 3 }
    hangs.withLock { $0 = false }
    try await advance(bench.clock) { receiver.events.count >= 4 }
    #expect(receiver.events[2] == receiver.events[3], "under the same id")
    await services[0].stop()
    await services[1].stop()
    await beside.close()
  }

  @Test("each receiver by itself: one that is slow delays nobody; what comes meanwhile comes in one post, in order")
  func slow() async throws {
    let bench = try await ServiceBench()
    let (slow, fast) = (Receiver(), Receiver())
    let gate = Locked(true)
    let service = service(
      bench,
      Webhooking { [slowRequests = slow.requests, fastRequests = fast.requests] _, request, _ in
        guard request.url.contains("slow") else {
          fastRequests.record(request)
          return .success(200)
        }
        slowRequests.record(request)
        while gate.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(1)) }
        return .success(200)
      })
    let app = try await bench.app()
    let devices = try await bench.devices(150, of: app)
    for name in ["slow", "fast"] {
      _ = try await service.createWebhook(app, WebhookOrder(url: "https://\(name).example/", events: [.clicked]))
    }
    try await service.start()
    let receipt = try await service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    let saying = PushSaying(messageID: receipt.messageID, kind: .clicked)
    _ = try await service.note(app, registrationID: devices[0], [saying])
    try await advance(bench.clock, by: .milliseconds(100)) { slow.events.count == 1 && fast.events.count == 1 }
    for device in devices[1...] { _ = try await service.note(app, registrationID: device, [saying]) }
    try await advance(bench.clock, by: .milliseconds(10)) { fast.events.count == 150 }
    #expect(slow.requests.values.count == 1)
    gate.withLock { $0 = false }
    try await advance(bench.clock, by: .milliseconds(10)) { slow.events.count == 150 }
    #expect(slow.requests.values.map { Receiver.events($0).count } == [1, 100, 49])
    #expect(slow.events.compactMap { $0["registrationId"]?.string } == devices)
    await service.stop()
  }

  @Test(
    "whatever the receiver answers and whenever a process ends, each event comes, always under its id", arguments: 1...6
  )
  func chance(seed: UInt64) async throws {
    var dice = Dice(seed: seed)
    let receiver = Receiver()
    var bench = try await ServiceBench()
    var service = service(bench, receiver.webhooking)
    let app = try await bench.app()
    let devices = try await bench.devices(8, of: app)
    _ = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/", events: [.clicked]))
    try await service.start()
    let receipt = try await service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    for device in devices {
      receiver.answer.withLock {
        $0 = [.success(200), .success(500), .failure(.init("lost"))].randomElement(using: &dice)!
      }
      _ = try await service.note(
        app, registrationID: device, [PushSaying(messageID: receipt.messageID, kind: .clicked)])
      for _ in 0..<Int.random(in: 0...8, using: &dice) {
        bench.clock.advance(by: .seconds(Int64.random(in: 1...20, using: &dice)))
        try await Task.sleep(for: .milliseconds(Int64.random(in: 0...4, using: &dice)))
      }
      guard Bool.random(using: &dice) else { continue }
      let left = try bench.folder.snapshot()
      await service.stop()  // what it still does is nothing to the file that was left
      bench = try await ServiceBench(left, clock: bench.clock)
      service = self.service(bench, receiver.webhooking)
      try await service.start()
    }
    receiver.answer.withLock { $0 = .success(200) }
    let before = receiver.requests.values.count
    try await advance(bench.clock, by: .seconds(30)) {
      try await bench.store.nextWebhookDue() == nil && receiver.requests.values.count >= before
    }
    await service.stop()
    var ids: [String: Set<String>] = [:]
    for event in receiver.events {
      ids[event["registrationId"]?.string ?? "", default: []].insert(event["id"]?.string ?? "")
    }
    #expect(Set(ids.keys) == Set(devices))
    #expect(ids.values.allSatisfy { $0.count == 1 }, "\(ids)")
    #expect(Set(ids.values.flatMap(\.self)).count == devices.count)
  }

  @Test("a store that is taken back in time gives no id that was given since")
  func restored() async throws {
    let receiver = Receiver()
    let bench = try await ServiceBench()
    let first = service(bench, receiver.webhooking)
    let app = try await bench.app()
    let devices = try await bench.devices(2, of: app)
    _ = try await first.createWebhook(app, WebhookOrder(url: "https://example.com/", events: [.clicked]))
    try await first.start()
    let receipt = try await first.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    let backup = try bench.folder.snapshot()
    let saying = PushSaying(messageID: receipt.messageID, kind: .clicked)
    _ = try await first.note(app, registrationID: devices[0], [saying])
    try await advance(bench.clock) { receiver.events.count == 1 }
    await first.stop()
    let later = try await ServiceBench(backup, clock: bench.clock)
    let second = service(later, receiver.webhooking)
    try await second.start()
    _ = try await second.note(app, registrationID: devices[1], [saying])
    try await advance(bench.clock) { receiver.events.count == 2 }
    await second.stop()
    #expect(receiver.events[0]["id"] != receiver.events[1]["id"])
  }

  @Test("what is much leaves post after post, without a pause between")
  func much() async throws {
    let bench = try await ServiceBench()
    let receiver = Receiver()
    let service = service(bench, receiver.webhooking)
    let app = try await bench.app()
    _ = try await bench.devices(2_500, of: app)
    _ = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/", events: [.sent]))
    await bench.finish(try await push(everyoneOf: app, by: service))
    try await advance(bench.clock) { !receiver.requests.values.isEmpty }
    _ = await receiver.requests.wait { $0.count >= 25 }
    #expect(receiver.requests.values.map { Receiver.events($0).count } == Array(repeating: 100, count: 25))
    #expect(Set(receiver.events.compactMap { $0["registrationId"]?.string }).count == 2_500)
    await service.stop()
  }

  /// Starts the service, with the courier asleep until the clock moves.
  private func push(everyoneOf app: AppRecord, by service: PushService) async throws -> PushReceipt {
    try await service.start()
    return try await service.push(app, PushOrder(audience: .everyone, alert: "a"))
  }

  @Test("a spike of failures is told with its figures, by a clock that is moved")
  func spike() async throws {
    let bench = try await ServiceBench()
    let receiver = Receiver()
    let service = service(bench, receiver.webhooking)
    let app = try await bench.app()
    _ = try await bench.devices(30, of: app)
    _ = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/", events: [.failuresSpiked]))
    try await service.start()
    await bench.finish(try await service.push(app, PushOrder(audience: .everyone, alert: "good")))
    bench.sender.answer { _ in .refused(.init(status: 400, reason: "PayloadEmpty", since: nil)) }
    await bench.finish(try await service.push(app, PushOrder(audience: .everyone, alert: "bad")))
    try await advance(bench.clock, by: .seconds(5)) { !receiver.events.isEmpty }
    let event = receiver.events[0]
    #expect(event["type"] == "failures.spiked" && event["failed"] == 30 && event["ended"] == 60)
    #expect(
      event["devices"]?.object?["refused"] == [["reason": "PayloadEmpty", "count": 30]] as JSONValue)
    await service.stop()
  }

  @Test("the test button posts at once, also to one that is off, and says what came of it")
  func button() async throws {
    let bench = try await ServiceBench()
    let receiver = Receiver()
    let service = service(bench, receiver.webhooking)
    let app = try await bench.app()
    let made = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/", isEnabled: false))
    let id = made.webhook.id
    let taken = try await service.testWebhook(app, id: id)
    #expect(taken.status == 200 && taken.fault == nil && taken.firstEvent == nil)
    #expect(receiver.events.first?["type"] == "test")
    receiver.answer.withLock { $0 = .success(302) }
    #expect(try await service.testWebhook(app, id: id).fault == "a redirect, which is not followed")
    receiver.answer.withLock { $0 = .failure(.init("no answer")) }
    #expect(try await service.testWebhook(app, id: id).fault == "no answer")
    #expect(try await service.deliveries(app, webhook: id).isEmpty, "tests are no deliveries")
    let other = PushService(
      store: bench.store, bus: bench.bus, clock: bench.clock, seed: 1, senders: { _, _ in nil }, sealing: .random(),
      webhooking: receiver.webhooking)
    #expect(
      try await other.testWebhook(app, id: id).fault == "its secret cannot be read: it was sealed under another key")
  }

  @Test("the secret is in the answer that makes the webhook, and neither in another nor in the file")
  func secret() async throws {
    let bench = try await ServiceBench()
    let service = service(bench, Receiver().webhooking)
    let app = try await bench.app()
    let order = WebhookOrder(url: "https://example.com/", clientID: "key:1", original: [1])
    let made = try await service.createWebhook(app, order)
    let again = try await service.createWebhook(app, order)
    #expect(again.isRepeated && again.secret == made.secret && again.webhook == made.webhook)
    var other = order
    other.original = [2]
    #expect(
      try await fault { () throws(RequestFault) in try await service.createWebhook(app, other) }.code == .conflict)
    let kept = try #require(try await bench.store.webhook(app: app.id, id: made.webhook.id))
    #expect(!String(decoding: kept.secret, as: UTF8.self).contains(made.secret.prefix(8)))
    for number in 1..<PushService.webhooksPerApp {
      _ = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/\(number)"))
    }
    let full = try await fault { () throws(RequestFault) in
      try await service.createWebhook(app, WebhookOrder(url: "https://example.com/"))
    }
    #expect(full.code == .overLimit)
  }

  @Test("a push's callback is signed with the secret of the app's webhook; without one it is told and left out")
  func callback() async throws {
    let bench = try await ServiceBench()
    let receiver = Receiver()
    let service = service(bench, receiver.webhooking)
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    try await service.start()
    var order = PushOrder(audience: .everyone, alert: "a")
    order.callback = CallbackOrder(url: "https://receipts.example/", events: [.sent], params: ["order": 7])
    let untold = try await service.push(app, order)
    #expect(untold.warnings.contains { $0.hasPrefix("callback.url is ignored: the app has no webhook") })
    _ = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/", isEnabled: false))
    let told = try await service.push(app, order)
    #expect(told.warnings.isEmpty)
    await bench.finish(told)
    try await advance(bench.clock) { !receiver.events.isEmpty }
    await service.stop()
    #expect(receiver.events.count == 1 && receiver.requests.values[0].url == "https://receipts.example/")
    let event = receiver.events[0]
    #expect(event["type"] == "push.sent" && event["msg_id"]?.string == String(told.messageID))
    #expect(event["params"]?.object?["order"] == 7)
  }

  @Test(
    "an address is http or https, of ASCII, without password and fragment",
    arguments: [
      "", "example.com", "ftp://example.com/", "https://", "https:///path", "https://:80/", "https://a:/",
      "https://a:0/", "https://a:65536/", "https://a:8x/", "https://[::1/", "https://[]/", "https://[::1]x/",
      "https://[::1]:/", "https://[::1]:99999/", "https://[1.2.3.4]/", "https://[fe80::1%25eth0]/", "https://::1/",
      "https://a b/",
      "https://user@example.com/", "https://user:pw@example.com/", "https://example.com/#x", "https://bücher.example/",
      "https://" + String(repeating: "a", count: 2000), "HTTPS://example.com",
    ])
  func addresses(url: String) async throws {
    let bench = try await ServiceBench()
    let service = service(bench, Receiver().webhooking)
    let app = try await bench.app()
    let fault = try await fault { () throws(RequestFault) in
      try await service.createWebhook(app, WebhookOrder(url: url))
    }
    #expect(fault.code == .invalidParameter && fault.place == "url")
  }

  @Test(
    "addresses of IPv6 stand in brackets; where they may lead is judged when they are called",
    arguments: [
      "https://[2606:4700:4700::1111]/hook", "http://[::1]:8080/", "https://[::ffff:10.0.0.1]", "http://10.0.0.1/",
    ])
  func literals(url: String) async throws {
    let bench = try await ServiceBench()
    let made = try await service(bench, Receiver().webhooking).createWebhook(
      try await bench.app(), WebhookOrder(url: url))
    #expect(made.webhook.url == url)
  }

  @Test("another secret: posts are signed with both until the overlap is over, then with the new one alone")
  func rotation() async throws {
    let bench = try await ServiceBench()
    let receiver = Receiver()
    let service = service(bench, receiver.webhooking)
    let app = try await bench.app()
    let made = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/"))
    let renewed = try await service.renewWebhookSecret(app, id: made.webhook.id, overlap: .hours(2))
    #expect(renewed.secret != made.secret && renewed.webhook.version == made.webhook.version + 1)
    #expect(renewed.webhook.formerSecretUntil == bench.clock.now + .hours(2))
    func signatures() async throws -> [Substring] {
      _ = try await service.testWebhook(app, id: made.webhook.id)
      let request = try #require(receiver.requests.values.last)
      return try #require(request.headers["Belfry-Signature"]).split(separator: ",").dropFirst().map { $0 }
    }
    let both = try await signatures()
    #expect(both.count == 2 && both[0] != both[1] && both.allSatisfy { $0.hasPrefix("v1=") })
    bench.clock.advance(by: .hours(2))
    #expect(try await signatures().count == 1)
    #expect(try await service.webhook(app, id: made.webhook.id).formerSecretUntil == nil)
    let leaked = try await service.renewWebhookSecret(app, id: made.webhook.id, overlap: .seconds(0))
    #expect(leaked.webhook.formerSecretUntil == nil)
    #expect(try await signatures().count == 1)
    let stale = try await fault { () throws(RequestFault) in
      try await service.changeWebhook(app, id: made.webhook.id, WebhookChange(isEnabled: false), ifVersion: 1)
    }
    #expect(stale.code == .changedMeanwhile)
  }

  @Test("what nobody took for three days is told: to whoever watches, and in the webhook's record")
  func dropped() async throws {
    let bench = try await ServiceBench()
    let receiver = Receiver()
    receiver.answer.withLock { $0 = .success(503) }
    let service = service(bench, receiver.webhooking, retention: Retention())
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    let made = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/"))
    try await service.start()
    await bench.finish(try await service.push(app, PushOrder(audience: .everyone, alert: "a")))
    let lost = ServiceEvent.webhookEventsDropped(appKey: app.key, webhookID: made.webhook.id, count: 1)
    try await advance(bench.clock, by: .minutes(20)) { bench.events.values.contains(lost) }
    let webhook = try await service.webhook(app, id: made.webhook.id)
    #expect(webhook.dropped == 1 && webhook.droppedAt != nil)
    #expect(service.metrics().first { $0.name == "belfry_webhook_events_dropped_total" }?.value == 1)
    await service.stop()
  }

  @Test("a service that ends breaks a post off: it is due at once, under its id, and no failure")
  func brokenOff() async throws {
    let bench = try await ServiceBench()
    let posts = Recorder<Webhooking.Request>()
    let slow = Webhooking { _, request, _ in
      posts.record(request)
      try? await Task.sleep(for: .seconds(30))
      return .failure(.init("it was broken off"))
    }
    let service = service(bench, slow)
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    let made = try await service.createWebhook(app, WebhookOrder(url: "https://example.com/"))
    try await service.start()
    await bench.finish(try await service.push(app, PushOrder(audience: .everyone, alert: "a")))
    try await advance(bench.clock) { !posts.values.isEmpty }
    let start = ContinuousClock.now
    await service.stop()
    #expect(ContinuousClock.now - start < .seconds(5))
    let webhook = try #require(try await bench.store.webhook(app: app.id, id: made.webhook.id))
    #expect(webhook.failures == 0 && webhook.dueAt == bench.clock.now)
    #expect(try await service.deliveries(app, webhook: made.webhook.id).isEmpty)
  }
}
