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

extension PushOutcome {
  static func no(_ status: Int, _ reason: String, since: Instant? = nil) -> PushOutcome {
    .refused(Refusal(status: status, reason: reason, since: since))
  }
}

extension Recorder where Value == ServiceEvent {
  var alarms: [ServiceEvent] {
    values.filter {
      switch $0 {
      case .alarm, .alarmOver: true
      case .accepted, .finished, .tokenRetired, .tokenKept, .credentialChanged, .scheduleTrouble, .webhookTrouble,
        .webhookEventsDropped, .storeTrouble:
        false
      }
    }
  }
}

@Suite("When APNs says no", .timeLimit(.minutes(1)))
struct TroubleTests {
  @Test("C26 a refused credential keeps the push waiting, with one alarm, and burns nobody")
  func suspended() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(300, of: app)
    bench.sender.answer { _ in .unanswered(.suspended("check key id and team id")) }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", badge: .add(1)))
    // the alarm names the push that met the fault first, which is either of two that leave side by side
    await bench.events.wait { $0.contains { if case .alarm = $0 { true } else { false } } }
    let second = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "b"))
    for _ in 0..<30 {
      bench.clock.advance(by: .seconds(60))
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(
      bench.events.alarms == [
        .alarm(appKey: app.key, messageID: receipt.messageID, reason: "check key id and team id")
      ])
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.state == .waiting(reason: "check key id and team id"))
    #expect(report.pending == 300 && report.ended == 0)
    bench.sender.answer { _ in .accepted(uniqueID: nil) }
    try await bench.finish(receipt, advancing: .minutes(1))
    try await bench.finish(second, advancing: .minutes(1))
    #expect(bench.events.alarms.last == .alarmOver(appKey: app.key))
    let accepted = bench.sender.pushes.values.suffix(600)
    #expect(Set(accepted.map(\.token)).count == 300)
    let done = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(done.accepted == 300 && done.deadTokens == 0)
    let badges = try await bench.service.device(app, registrationID: try await bench.devices(1, of: app)[0]).badge
    #expect(badges == 1, "counted once, however often it was tried")
    await bench.service.stop()
  }

  @Test("C26 resumed by an operator: what waits goes at once, without the clock, and the end of the alarm is told")
  func resumed() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(100, of: app)
    bench.sender.answer { _ in .unanswered(.suspended("check key id and team id")) }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.events.wait { $0.contains { if case .alarm = $0 { true } else { false } } }
    // what waits has been put off for minutes by now
    for _ in 0..<30 {
      bench.clock.advance(by: .seconds(60))
      try await Task.sleep(for: .milliseconds(2))
    }
    bench.sender.answer { _ in .accepted(uniqueID: nil) }
    try await bench.finish(receipt, resuming: true)
    #expect(bench.events.alarms.count == 2 && bench.events.alarms.last == .alarmOver(appKey: app.key))
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 100)
    await bench.service.stop()
  }

  @Test("without a credential a push waits, and expires if none comes")
  func noCredential() async throws {
    let has = Recorder<Bool>()
    let bench = try await ServiceBench(hasCredential: { !has.values.isEmpty })
    let app = try await bench.app()
    _ = try await bench.devices(2, of: app)
    try await bench.service.start()
    let late = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", timeToLive: 864_000))
    let soon = try await bench.service.push(
      app, PushOrder(audience: .everyone, alert: "b", badge: .add(1), timeToLive: 0))
    try await bench.finish(soon, advancing: .seconds(30))
    let expired = try #require(try await bench.service.report(app, messageID: soon.messageID))
    #expect(expired.expired == 2 && expired.accepted == 0)
    has.record(true)
    try await bench.finish(late, advancing: .seconds(30))
    #expect(bench.sender.pushes.values.count == 2)
    #expect(bench.events.alarms.count == 2)
    await bench.service.stop()
  }

  @Test("C37 a wrong topic for a thousand devices retires nobody, stops with one alarm, and waits")
  func wrongTopic() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(1000, of: app)
    bench.sender.answer { _ in .no(400, "DeviceTokenNotForTopic") }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.events.wait { $0.contains { if case .alarm = $0 { true } else { false } } }
    #expect(bench.sender.pushes.values.count <= 64, "a few answers are enough")
    #expect(bench.events.alarms.count == 1)
    for id in ids.prefix(64) {
      #expect(try await bench.service.device(app, registrationID: id).deadReason == nil)
    }
    bench.sender.answer { _ in .accepted(uniqueID: nil) }
    try await bench.finish(receipt, advancing: .seconds(10))
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 1000, "nobody was burnt by it")
    await bench.service.stop()
  }

  @Test("C37 single devices of another topic are refused and stop nobody else")
  func singleWrongTopics() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(200, of: app)
    bench.sender.answer { $0.token[0] % 10 == 0 ? .no(400, "DeviceTokenNotForTopic") : .accepted(uniqueID: nil) }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 180)
    #expect(report.refused.map(\.reason) == ["DeviceTokenNotForTopic"] && report.refused.map(\.count) == [20])
    #expect(bench.events.alarms.isEmpty)
    await bench.service.stop()
  }

  @Test("C16 a 410 that comes after a new registration keeps the token and says why")
  func lateAnswer() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let gone = bench.clock.now + .minutes(5)
    let id = try await bench.devices(1, of: app)[0]
    bench.clock.advance(by: .minutes(6))
    bench.sender.hold()
    bench.sender.answer { _ in .no(410, "Unregistered", since: gone) }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.sender.pushes.wait { $0.count == 1 }
    bench.clock.advance(by: .seconds(30))
    #expect(try await bench.devices(1, of: app) == [id])
    bench.sender.release()
    await bench.finish(receipt)
    #expect(try await bench.service.device(app, registrationID: id).deadReason == nil)
    let told = try #require(
      try await bench.service.explain(app, messageID: receipt.messageID, registrationID: id))
    #expect(told.outcome == .refused)
    #expect(
      told.decisions.last?.words.hasPrefix("APNs refused it: 410 Unregistered: 410 older than registration, kept")
        == true)
    // The second run: no registration since.
    bench.sender.answer { _ in .no(410, "Unregistered", since: gone + .hours(1)) }
    await bench.finish(try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a")))
    let second = try #require(try await bench.service.device(app, registrationID: id).deadReason)
    #expect(second.hasPrefix("Unregistered, since \(gone + .hours(1)); registered "))
    // The third: no time given.
    #expect(try await bench.devices(1, of: app) == [id])
    #expect(try await bench.service.device(app, registrationID: id).deadReason == nil)
    bench.clock.advance(by: .seconds(1))
    bench.sender.answer { _ in .no(410, "Unregistered") }
    await bench.finish(try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a")))
    let third = try #require(try await bench.service.device(app, registrationID: id).deadReason)
    #expect(third.hasPrefix("Unregistered, no time given; registered "))
    await bench.service.stop()
  }

  @Test("a dead token is told, and nobody is sent to it any more")
  func deadToken() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(2, of: app)
    let since = bench.clock.now + .minutes(1)
    bench.clock.advance(by: .hours(1))
    bench.sender.answer {
      $0.token == StoreSamples.token(0) ? .no(410, "Unregistered", since: since) : .accepted(uniqueID: nil)
    }
    try await bench.service.start()
    await bench.finish(try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a")))
    let reason = try #require(try await bench.service.device(app, registrationID: ids[0]).deadReason)
    #expect(reason.hasPrefix("Unregistered, since \(since); registered "))
    let second = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "b"))
    #expect(second.targeted == 1)
    #expect(second.warnings == ["1 devices were left out: their token is dead"])
    await bench.finish(second)
    let report = try #require(try await bench.service.report(app, messageID: second.messageID))
    #expect(report.deadTokens == 1 && report.targeted == 1)
    let told = try #require(
      try await bench.service.explain(app, messageID: second.messageID, registrationID: ids[0]))
    #expect(told.outcome == .notTargeted)
    #expect(told.decisions.contains { $0.words.hasPrefix("left out: its token was dead, Unregistered") })
    #expect(told.decisions.contains { $0.words.hasPrefix("token dead: Unregistered") })
    let only = try await fault { () throws(RequestFault) in
      try await bench.service.push(app, PushOrder(audience: .registrationID(ids[0]), alert: "c"))
    }
    #expect(only.code == .audienceEmpty && only.found.contains("dead"))
    await bench.service.stop()
  }

  @Test("what APNs never answered is told apart from what it refused")
  func unanswered() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(4, of: app)
    bench.sender.answer {
      switch $0.token[0] {
      case 0: .unanswered(.retriesExhausted("503 three times"))
      case 1: .unanswered(.expired)
      case 2: .no(413, "PayloadTooLarge")
      default: .accepted(uniqueID: "u")
      }
    }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 1 && report.expired == 1 && report.unanswered == 1)
    #expect(report.refused == report.refused.filter { $0.reason == "PayloadTooLarge" && $0.count == 1 })
    await bench.service.stop()
  }

  @Test("a sender that ends leaves its devices for the next")
  func closing() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(10, of: app)
    bench.sender.answer { _ in .unanswered(.closed) }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.sender.pushes.wait { $0.count >= 10 }
    bench.sender.answer { _ in .accepted(uniqueID: nil) }
    try await bench.finish(receipt, advancing: .milliseconds(500))
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 10)
    await bench.service.stop()
  }
}
