import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing

@Suite("Why a push arrived, or did not")
struct ExplainTests {
  private func told(
    _ bench: ServiceBench, _ app: AppRecord, _ receipt: PushReceipt, _ id: String
  ) async throws -> PushExplanation {
    try #require(try await bench.service.explain(app, messageID: receipt.messageID, registrationID: id))
  }

  private func words(_ told: PushExplanation) -> [String] { told.decisions.map(\.words) }

  @Test("a push that waited for a credential and went out: each decision with its time, also after a restart")
  func inOrder() async throws {
    let hasCredential = Locked(false)
    let bench = try await ServiceBench(hasCredential: { hasCredential.withLock { $0 } })
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.start()
    let start = bench.clock.now
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.events.wait { $0.contains { if case .alarm = $0 { true } else { false } } }
    while true {
      let told = try await told(bench, app, receipt, id)
      if words(told).last == "it waits: no credential for production" { break }
      try await Task.sleep(for: .milliseconds(1))
    }
    hasCredential.withLock { $0 = true }
    bench.clock.advance(by: .seconds(1))
    try await bench.finish(receipt, resuming: true)
    await bench.service.stop()
    let told = try await told(try await bench.afterCrash(), app, receipt, id)
    #expect(told.outcome == .accepted)
    #expect(
      words(told).filter { $0 != "the push goes on" } == [
        "the push was accepted, for 1 devices of production",
        "the device was in the audience: everyone; its token was alive and of production",
        "the push waits for an operator: no credential for production", "APNs accepted it",
      ])
    #expect(told.decisions.compactMap(\.at).count == told.decisions.count, "every decision has a time")
    #expect(told.decisions.first?.at == start && told.decisions.last?.at == start + .seconds(1))
  }

  struct Row: Sendable {
    var name: String
    var audience: AudienceExpression
    var before = DeviceChange()
    var after: DeviceChange?
    var says: String
  }

  static let rows = [
    Row(
      name: "a clause that still holds", audience: .all([.everyone, .tag("vip")]),
      says: "not in the audience: it has no tag “vip” (and[1])"),
    Row(
      name: "one who was left out", audience: .not(.tag("beta")), before: DeviceChange(addTags: ["beta"]),
      says: "not in the audience: it is among those left out: tag “beta” (not)"),
    Row(
      name: "changed since, and out still", audience: .tag("vip"), after: DeviceChange(addTags: ["new"]),
      says:
        "not in the audience, nor would it be as it is now: it has no tag “vip”. It has changed since; what it was then is not kept"
    ),
    Row(
      name: "changed since, and in now", audience: .tag("vip"), after: DeviceChange(addTags: ["vip"]),
      says:
        "not in the audience then, though it would be now: its tags, alias or what it tells of itself changed since"),
  ]

  @Test("a device that was not in the audience is told why, and what is not known any more", arguments: rows)
  func notTargeted(row: Row) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(2, of: app)
    try await bench.service.changeDevice(app, registrationID: ids[0], DeviceChange(addTags: ["vip"]))
    try await bench.service.changeDevice(app, registrationID: ids[1], row.before)
    try await bench.service.start()
    bench.clock.advance(by: .seconds(1))
    let receipt = try await bench.service.push(app, PushOrder(audience: row.audience, alert: "a"))
    bench.clock.advance(by: .seconds(1))
    if let after = row.after { try await bench.service.changeDevice(app, registrationID: ids[1], after) }
    let told = try await told(bench, app, receipt, ids[1])
    #expect(told.outcome == .notTargeted)
    #expect(words(told).last == row.says)
    await bench.service.stop()
  }

  @Test("who registered only later, and who is of the other environment")
  func laterAndElsewhere() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    let registration = DeviceRegistration(token: StoreSamples.token(7).hex, environment: .sandbox)
    let sandboxed = try await bench.service.register(appKey: app.key, registration).registrationID
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    bench.clock.advance(by: .minutes(1))
    let late = try await bench.service.register(
      appKey: app.key, DeviceRegistration(token: StoreSamples.token(8).hex, environment: .production)
    ).registrationID
    #expect(
      words(try await told(bench, app, receipt, sandboxed)).last
        == "left out: its token is of sandbox, the push is for production")
    #expect(
      words(try await told(bench, app, receipt, late)).last
        == "not in the audience: the device registered only after, at \(bench.clock.now)")
    let stranger = try await bench.service.explain(app, messageID: receipt.messageID, registrationID: "none")
    #expect(stranger == nil)
    let unknown = try await bench.service.explain(app, messageID: 1, registrationID: late)
    #expect(unknown == nil)
    await bench.service.stop()
  }

  @Test("a refusal comes with Apple's meaning and what to do")
  func refused() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    bench.sender.answer { _ in .no(400, "BadDeviceToken") }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    let told = try await told(bench, app, receipt, id)
    let refusal = try #require(told.decisions.first { $0.by == .apns })
    #expect(told.outcome == .refused && refusal.words.hasPrefix("APNs refused it: 400 BadDeviceToken"))
    #expect(refusal.words.contains(RefusalReason.badDeviceToken.meaning))
    await bench.service.stop()
  }

  @Test("C21 what expired unsent is told with its time; what a later push replaced, with that push")
  func expiredAndReplaced() async throws {
    let bench = try await ServiceBench(hasCredential: { false })
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", timeToLive: 45))
    try await bench.finish(receipt, advancing: .seconds(5))
    let told = try await told(bench, app, receipt, id)
    #expect(told.outcome == .expired && words(told).last == "expired unsent: its time to live had passed")
    await bench.service.stop()

    let other = try await ServiceBench()
    let second = try await other.app()
    let device = try await other.devices(1, of: second)[0]
    try await other.service.start()
    var receipts: [PushReceipt] = []
    for alert in ["1:0", "2:0"] {
      let order = PushOrder(audience: .everyone, alert: .string(alert), collapseID: "score")
      receipts.append(try await other.service.push(second, order))
      await other.finish(receipts[receipts.count - 1])
    }
    let replaced = try await self.told(other, second, receipts[0], device)
    #expect(words(replaced).last?.hasPrefix("push \(receipts[1].messageID) has the same collapse id \"score\"") == true)
    await other.service.stop()
  }
}
