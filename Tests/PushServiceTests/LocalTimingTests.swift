import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Schedule
import Store
import Testing
import Transport

@Suite("Pushes by the clocks of each device's place", .timeLimit(.minutes(1)))
struct LocalTimingTests {
  static let zones: [String?] = ["Asia/Shanghai", "Europe/Berlin", "America/New_York", nil]

  /// A service at noon of UTC, 2027-03-01, with a device in each of the zones.
  private func begin(quiet: String? = nil) async throws -> (ServiceBench, AppRecord, [String]) {
    var scheduling = ServiceBench.scheduling
    scheduling.settings.quietHours = try quiet.map { ["*": try #require(QuietHours($0))] } ?? [:]
    let clock = VirtualClock(now: try #require(Instant(rfc3339: "2027-03-01T12:00:00Z")))
    let bench = try await ServiceBench(clock: clock, scheduling: scheduling)
    let app = try await bench.app()
    var ids: [String] = []
    for (number, zone) in Self.zones.enumerated() {
      let registration = DeviceRegistration(
        token: StoreSamples.token(number).hex, environment: .production, facts: DeviceDescription(timeZone: zone))
      ids.append(try await bench.service.register(appKey: app.key, registration).registrationID)
    }
    try await bench.service.start()
    return (bench, app, ids)
  }

  /// What was sent when, in hours from noon, until so many were.
  private func sent(_ bench: ServiceBench, _ count: Int) async throws -> [Int: Set<Int>] {
    let start = bench.clock.now
    var sent: [Int: Set<Int>] = [:]
    var known = 0
    for _ in 0..<400 where known < count {
      for _ in 0..<10 { try await Task.sleep(for: .milliseconds(1)) }
      let pushes = bench.sender.pushes.values
      let hours = Int((bench.clock.now - start).milliseconds / 3_600_000)
      for push in pushes.dropFirst(known) {
        sent[hours, default: []].insert(try #require((0..<9).first { StoreSamples.token($0) == push.token }))
      }
      known = pushes.count
      bench.clock.advance(by: .minutes(30))
    }
    return sent
  }

  @Test("quiet hours: where it is quiet it waits for their end, elsewhere it is sent at once; `explain` says so")
  func quiet() async throws {
    let (bench, app, ids) = try await begin(quiet: "19:00-08:00")  // Shanghai 20:00, Berlin 13:00, New York 07:00
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    _ = await bench.sender.received(1)
    let explained = try #require(
      try await bench.service.explain(app, messageID: receipt.messageID, registrationID: ids[2]))
    #expect(
      explained.decisions.last?.words == "waits until 2027-03-01 08:00:00 of America/New_York, when the quiet hours end"
    )
    #expect(try await sent(bench, 4) == [0: [1], 1: [2], 12: [0, 3]], "who told no zone is where the app is")
    await bench.finish(receipt)
    await bench.service.stop()
  }

  @Test("a push passes quiet hours, or is dropped where it is quiet, as it says; what is silent passes")
  func choices() async throws {
    let (bench, app, ids) = try await begin(quiet: "19:00-08:00")
    for order in [
      PushOrder(audience: .everyone, alert: "a", inQuietHours: .pass),
      PushOrder(audience: .everyone, contentAvailable: true),
    ] {
      let receipt = try await bench.service.push(app, order)
      await bench.finish(receipt)
      #expect(try await bench.service.report(app, messageID: receipt.messageID)?.accepted == 4)
    }
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", inQuietHours: .drop))
    await bench.finish(receipt)
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 1 && report.skipped == 3)
    let explained = try await bench.service.explain(app, messageID: receipt.messageID, registrationID: ids[0])
    #expect(explained?.decisions.last?.words == "not sent: quiet hours where it is")
    await bench.service.stop()
  }

  @Test(
    "a user's own quiet hours count in the place of the app's, by the clocks of the device's place; `explain` says so",
    arguments: [nil, "19:00-08:00"])
  func usersOwn(ofApp: String?) async throws {
    // noon of UTC: Shanghai 20:00, Berlin 13:00, New York 07:00, and who told no zone is where the app is
    let (bench, app, ids) = try await begin(quiet: ofApp)
    let choices = ["08:00-09:00", "12:00-15:30", "06:00-06:30", "20:00-21:00"]
    for (id, hours) in zip(ids, choices) {
      try await bench.service.changeDevice(
        app, registrationID: id, change { $0.quietHours = .set(try #require(QuietHours(hours))) })
    }
    #expect(try await bench.service.device(app, registrationID: ids[0]).quietHours == QuietHours("08:00-09:00"))
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    _ = await bench.sender.received(2)
    let explained = try #require(
      try await bench.service.explain(app, messageID: receipt.messageID, registrationID: ids[1]))
    #expect(
      explained.decisions.last?.words == "waits until 2027-03-01 15:30:00 of Europe/Berlin, when the quiet hours end")
    #expect(try await sent(bench, 4) == [0: [0, 2], 1: [3], 2: [1]])
    await bench.finish(receipt)
    await bench.service.stop()
  }

  @Test(
    "who takes his own hours back has the app's again; a push passes users' hours, or is dropped in them, as it says")
  func usersTakenBack() async throws {
    let (bench, app, ids) = try await begin()
    let all = try #require(QuietHours("00:00-23:59"))
    for id in ids.prefix(2) {
      try await bench.service.changeDevice(app, registrationID: id, change { $0.quietHours = .set(all) })
    }
    try await bench.service.changeDevice(app, registrationID: ids[1], change { $0.quietHours = .clear })
    for (choice, accepted) in [(QuietChoice.pass, 4), (.drop, 3)] {
      let receipt = try await bench.service.push(
        app, PushOrder(audience: .everyone, alert: "a", inQuietHours: choice))
      await bench.finish(receipt)
      let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
      #expect(report.accepted == accepted && report.skipped == 4 - accepted)
    }
    let silent = try await bench.service.push(app, PushOrder(audience: .everyone, contentAvailable: true))
    await bench.finish(silent)
    #expect(try await bench.service.report(app, messageID: silent.messageID)?.accepted == 4)
    await bench.service.stop()
  }

  private func change(_ body: (inout DeviceChange) throws -> Void) rethrows -> DeviceChange {
    var change = DeviceChange()
    try body(&change)
    return change
  }

  @Test("a push that waits for the end of quiet hours is over when its time is")
  func expires() async throws {
    let (bench, app, _) = try await begin(quiet: "19:00-08:00")
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", timeToLive: 7200))
    try await bench.finish(receipt, advancing: .minutes(10))
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 2 && report.expired == 2)
    await bench.service.stop()
  }

  @Test("a schedule by each device's clocks: one push, due zone by zone, also after a crash")
  func schedule() async throws {
    let (first, app, _) = try await begin()
    let trigger = ScheduleTrigger.single(try #require(LocalTime("2027-03-02 17:00:00")))
    let schedule = try await first.service.createSchedule(
      app,
      ScheduleOrder(
        name: "local", trigger: trigger, timeZone: Scheduling.ofEachDevice,
        push: PushOrder(audience: .everyone, alert: "a", original: Array("push".utf8))))
    #expect(schedule.nextAt == Instant(rfc3339: "2027-03-02T03:00:00Z"), "the first place on Earth")
    for _ in 0..<100 where try await first.service.firings(app, schedule: schedule.id).isEmpty {
      first.clock.advance(by: .minutes(30))
      try await Task.sleep(for: .milliseconds(5))
    }
    first.clock.set(to: try #require(Instant(rfc3339: "2027-03-02T03:00:00Z")))
    let bench = try await first.afterCrash()
    await first.service.stop()
    #expect(first.sender.pushes.values.isEmpty)
    try await bench.service.start()
    // 17:00 is 09:00Z in Shanghai, 16:00Z in Berlin, 22:00Z in New York.
    #expect(try await sent(bench, 4) == [6: [0, 3], 13: [1], 19: [2]])
    #expect(try await bench.service.firings(app, schedule: schedule.id).count == 1)
    await bench.service.stop()
  }
}
