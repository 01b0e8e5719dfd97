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

@Suite("The user's preference “only the scheduled push”", .timeLimit(.minutes(1)))
struct PreferenceTests {
  /// A service with two devices, of which the second wants only the scheduled push.
  private func begin() async throws -> (bench: ServiceBench, app: AppRecord, ids: [String]) {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(2, of: app)
    try await bench.service.changeDevice(app, registrationID: ids[1], DeviceChange(onlyScheduled: true))
    try await bench.service.start()
    return (bench, app, ids)
  }

  @Test("D-331 it is off by default, and kept over a new registration of the same token")
  func isOff() async throws {
    let (bench, app, ids) = try await begin()
    #expect(try await bench.service.device(app, registrationID: ids[0]).onlyScheduled == false)
    #expect(try await bench.devices(2, of: app) == ids)
    #expect(try await bench.service.device(app, registrationID: ids[1]).onlyScheduled)
    await bench.service.stop()
  }

  @Test("D-332 a change that was answered outlives a crash right after")
  func isDurable() async throws {
    let (bench, app, ids) = try await begin()
    for wanted in [false, true] {
      try await bench.service.changeDevice(app, registrationID: ids[1], DeviceChange(onlyScheduled: wanted))
      let after = try await bench.afterCrash()
      #expect(try await after.service.device(app, registrationID: ids[1]).onlyScheduled == wanted)
      await after.store.close()
    }
    await bench.service.stop()
  }

  @Test("D-332 a change that cannot be kept is refused, and the value stays")
  func isRefused() async throws {
    let (bench, app, ids) = try await begin()
    await bench.service.stop()
    await bench.store.close()
    let fault = try await fault { () throws(RequestFault) in
      try await bench.service.changeDevice(app, registrationID: ids[1], DeviceChange(onlyScheduled: false))
    }
    #expect(fault.code == .deviceTemporarilyUnavailable)
    let after = try await bench.afterCrash()
    #expect(try await after.service.device(app, registrationID: ids[1]).onlyScheduled)
    await after.store.close()
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let rule: String
    let order: PushOrder
    /// Whether it reaches the user who wants only the scheduled push.
    let passes: Bool
    var testDescription: String { rule }
  }

  static let rows = [
    Row(rule: "D-333 a notification", order: PushOrder(audience: .everyone, alert: "a"), passes: false),
    Row(
      rule: "D-333 the scheduled notification", order: PushOrder(audience: .everyone, alert: "a", isScheduled: true),
      passes: true),
    Row(
      rule: "D-333 a number on the icon alone is seen", order: PushOrder(audience: .everyone, badge: .set(1)),
      passes: false),
    Row(rule: "D-333 a sound alone is heard", order: PushOrder(audience: .everyone, sound: "default"), passes: false),
    Row(
      rule: "D-333 content-available beside an alert makes it no silent push",
      order: PushOrder(audience: .everyone, alert: "a", contentAvailable: true), passes: false),
    Row(
      rule: "D-334 a silent push", order: PushOrder(audience: .everyone, contentAvailable: true), passes: true),
  ]

  @Test("who wants only the scheduled push gets that and what is silent; the others get all", arguments: rows)
  func filters(row: Row) async throws {
    let (bench, app, ids) = try await begin()
    let receipt = try await bench.service.push(app, row.order)
    #expect(receipt.targeted == 2)
    await bench.finish(receipt)
    let tokens = Set(bench.sender.pushes.values.map(\.token))
    #expect(tokens == Set([StoreSamples.token(0)] + (row.passes ? [StoreSamples.token(1)] : [])))
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == (row.passes ? 2 : 1))
    #expect(report.skippedByPreference == (row.passes ? 0 : 1))
    #expect(report.skipped == 0 && report.pending == 0 && report.state == .finished)
    let said = report.warnings.contains { $0.contains("1 devices were skipped by the user's preference") }
    #expect(said != row.passes, "\(report.warnings)")
    let explained = try #require(
      try await bench.service.explain(app, messageID: receipt.messageID, registrationID: ids[1]))
    #expect(explained.outcome == (row.passes ? .accepted : .skippedByPreference))
    if !row.passes {
      #expect(
        explained.decisions.last?.words == "skipped by the user's preference: only the scheduled push is wanted")
    }
    await bench.service.stop()
  }

  @Test("D-333 a push that is kept from everybody is finished and told at once; no badge is counted for it")
  func nobody() async throws {
    let (bench, app, ids) = try await begin()
    let order = PushOrder(audience: .registrationID(ids[1]), alert: "a", badge: .add(1))
    let receipt = try await bench.service.push(app, order)
    await bench.finish(receipt)
    #expect(bench.sender.pushes.values.isEmpty)
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.state == .finished && report.skippedByPreference == 1)
    #expect(bench.outcomes == ["skipped_by_preference": 1])
    #expect(try await bench.service.device(app, registrationID: ids[1]).badge == 0)
    await bench.service.stop()
  }

  @Test("D-333 the value when it is sent counts: changed while a push waits, it is heeded")
  func whileWaiting() async throws {
    let mended = Locked(false)
    let bench = try await ServiceBench(hasCredential: { mended.withLock { $0 } })
    let app = try await bench.app()
    let ids = try await bench.devices(2, of: app)
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    #expect(await eventually { bench.events.alarms.count == 1 }, "it waits")
    try await bench.service.changeDevice(app, registrationID: ids[0], DeviceChange(onlyScheduled: true))
    mended.withLock { $0 = true }
    try await bench.finish(receipt, resuming: true)
    #expect(bench.sender.pushes.values.map(\.token) == [StoreSamples.token(1)])
    await bench.service.stop()
  }

  @Test("a user gets the channels he chose, and what is of none or silent; the others are counted and explained")
  func channels() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(3, of: app)
    for (id, channels) in [(ids[0], ["news", "团购"]), (ids[1], [])] {
      var change = DeviceChange()
      change.channels = .set(channels)
      try await bench.service.changeDevice(app, registrationID: id, change)
    }
    #expect(try await bench.service.device(app, registrationID: ids[0]).channels == ["news", "团购"])
    try await bench.service.start()
    let rows: [(channel: String?, silent: Bool, accepted: Int)] = [
      ("news", false, 2), ("团购", false, 2), ("sport", false, 1), (nil, false, 3), ("sport", true, 3),
    ]
    for row in rows {
      var order = PushOrder(audience: .everyone, alert: row.silent ? nil : "a", contentAvailable: row.silent)
      order.channel = row.channel
      let receipt = try await bench.service.push(app, order)
      await bench.finish(receipt)
      let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
      #expect(report.accepted == row.accepted && report.skippedByPreference == 3 - row.accepted, "\(row)")
      guard row.channel == "sport", !row.silent else { continue }
      #expect(report.warnings.last?.hasSuffix("or not the channel “sport”") == true, "\(report.warnings)")
      let explained = try await bench.service.explain(app, messageID: receipt.messageID, registrationID: ids[0])
      #expect(explained?.outcome == .skippedByPreference)
      #expect(
        explained?.decisions.last?.words
          == "skipped by the user's preference: the channel “sport” is none that is wanted")
    }
    var change = DeviceChange()
    change.channels = .clear
    try await bench.service.changeDevice(app, registrationID: ids[1], change)
    #expect(try await bench.service.device(app, registrationID: ids[1]).channels == nil, "all again")
    await bench.service.stop()
  }

  @Test("D-333 among many, each gets what its user wants, once")
  func many() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(600, of: app)
    for number in 0..<600 where number % 3 != 0 {
      try await bench.service.changeDevice(app, registrationID: ids[number], DeviceChange(onlyScheduled: true))
    }
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    await bench.finish(receipt)
    let tokens = bench.sender.pushes.values.map(\.token)
    #expect(tokens.count == 200 && Set(tokens).count == 200)
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 200 && report.skippedByPreference == 400)
    #expect(bench.outcomes == ["accepted": 200, "skipped_by_preference": 400], "/metrics counts them all, once")
    await bench.service.stop()
  }
}
