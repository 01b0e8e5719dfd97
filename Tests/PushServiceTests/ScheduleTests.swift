import Audience
import Basics
import BelfryTesting
import Bus
import PushPayload
import PushService
import Schedule
import Store
import StoreSQLite
import Testing
import Transport

extension ServiceBench {
  static let scheduling = Scheduling(
    zone: { try? ZoneDatabase.usual.zone(named: $0).rules },
    order: { request throws(RequestFault) in
      if request == Array("broken".utf8) {
        throw RequestFault(.unknownKey, at: "push.x", found: "a key of the past", remedy: "Leave it out.")
      }
      let isMarked: Bool? = request == Array("unmarked".utf8) ? false : nil
      return PushOrder(audience: .everyone, alert: "早", isScheduled: isMarked, original: request)
    })

  /// 09:00 of Shanghai each day, from the day after the clock's on, for five days.
  func daily(push: String = "push") throws -> ScheduleOrder {
    let rules = try ZoneDatabase.usual.zone(named: "Asia/Shanghai").effectiveRules
    let today = rules.local(at: clock.now)
    let start = LocalTime(today.year, today.month, today.day).adding(days: 1)
    let recurrence = try Recurrence(
      start: start, end: start.adding(days: 5), time: #require(TimeOfDay(9, 0)), days: .daily)
    return ScheduleOrder(
      name: "早", trigger: .periodical(recurrence),
      push: PushOrder(audience: .everyone, alert: "早", original: Array(push.utf8)))
  }

  /// Moves the clock by seconds until so many pushes were made.
  func run(until count: Int, by step: Instant.Span = .minutes(10), limit: Int = 2000) async throws {
    for _ in 0..<limit where events.accepted < count {
      clock.advance(by: step)
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(events.accepted == count)
  }

  /// Lets whoever is due do it, without moving the clock on.
  func settle() async throws {
    for _ in 0..<40 {
      clock.advance(by: .milliseconds(100))
      try await Task.sleep(for: .milliseconds(2))
    }
  }
}

extension Recorder<ServiceEvent> {
  var accepted: Int { values.count { if case .accepted = $0 { true } else { false } } }
}

@Suite("Schedules", .timeLimit(.minutes(1)))
struct ScheduleTests {
  private func begin(
    _ folder: TemporaryFolder = TemporaryFolder(), missed: MissedFirings = .catchUp
  ) async throws -> (ServiceBench, AppRecord) {
    var scheduling = ServiceBench.scheduling
    scheduling.settings.missed = missed
    let bench = try await ServiceBench(folder, scheduling: scheduling)
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    return (bench, app)
  }

  @Test("each due time makes one push, at its minute, marked as the scheduled one; then the schedule is over")
  func daily() async throws {
    let (bench, app) = try await begin()
    try await bench.service.start()
    let schedule = try await bench.service.createSchedule(app, bench.daily())
    #expect(schedule.timeZone == "Asia/Shanghai")
    try await bench.run(until: 5)
    try await bench.settle()
    let firings = try await bench.service.firings(app, schedule: schedule.id)
    #expect(firings.count == 5 && Set(firings.map(\.push)).count == 5)
    for firing in firings {
      #expect(firing.wall.description.hasSuffix("09:00:00"))
      let report = try await bench.service.report(app, messageID: #require(firing.push))
      #expect(report?.acceptedAt == firing.at)
      #expect(try await bench.store.progress(app: app.id, push: #require(firing.push))?.push.isScheduled == true)
    }
    #expect(try await bench.service.schedule(app, id: schedule.id).nextAt == nil)
    #expect(try await bench.service.schedules(app, onlyLive: true, limit: 9).total == 0)
    await bench.service.stop()
  }

  @Test("D-333 who wants only the scheduled push gets what a schedule made, unless its caller says it is not that")
  func preference() async throws {
    let (bench, app) = try await begin()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.changeDevice(app, registrationID: id, DeviceChange(onlyScheduled: true))
    try await bench.service.start()
    _ = try await bench.service.createSchedule(app, bench.daily())
    _ = try await bench.service.createSchedule(app, bench.daily(push: "unmarked"))
    try await bench.run(until: 2)
    for _ in 0..<200 where bench.outcomes.values.reduce(0, +) < 2 { try await Task.sleep(for: .milliseconds(2)) }
    #expect(bench.outcomes == ["accepted": 1, "skipped_by_preference": 1])
    await bench.service.stop()
  }

  @Test("C34 killed before, between and after due times: each makes one push still")
  func killed() async throws {
    let (first, app) = try await begin()
    try await first.service.start()
    let schedule = try await first.service.createSchedule(app, first.daily())
    var bench = first
    for day in 1...5 {
      try await bench.run(until: 1)
      let firings = try await bench.service.firings(app, schedule: schedule.id)
      #expect(firings.count == day)
      let next = try await bench.afterCrash()
      await bench.service.stop()
      bench = next
      try await bench.service.start()
    }
    try await bench.settle()
    #expect(bench.events.accepted == 0)
    #expect(try await bench.service.firings(app, schedule: schedule.id).count == 5)
    await bench.service.stop()
  }

  @Test("C34 two services on one store make each push once")
  func two() async throws {
    let (bench, app) = try await begin()
    let beside = try await ServiceBench(
      bench.folder, store: bench.store, bus: bench.bus, clock: bench.clock, sender: bench.sender, seed: 9,
      scheduling: ServiceBench.scheduling)
    let schedule = try await bench.service.createSchedule(app, bench.daily())
    try await bench.service.start()
    try await beside.service.start()
    for _ in 0..<1200 where bench.events.accepted + beside.events.accepted < 5 {
      bench.clock.advance(by: .minutes(10))
      try await Task.sleep(for: .milliseconds(2))
    }
    try await bench.settle()
    #expect(bench.events.accepted + beside.events.accepted == 5)
    #expect(try await bench.service.firings(app, schedule: schedule.id).count == 5)
    await beside.service.stop()
    await bench.service.stop()
  }

  @Test("C34 down over due times: the last is caught up once, or none, as set", arguments: MissedFirings.allCases)
  func down(missed: MissedFirings) async throws {
    let (bench, app) = try await begin(missed: missed)
    let schedule = try await bench.service.createSchedule(app, bench.daily())
    bench.clock.advance(by: .days(3) + .hours(2))
    try await bench.service.start()
    // what was missed is told once the step is taken, with its push or without
    await bench.events.wait { $0.contains { if case .scheduleTrouble = $0 { true } else { false } } }
    let caughtUp = missed == .catchUp ? 1 : 0
    #expect(bench.events.accepted == caughtUp)
    let next = try #require(try await bench.service.schedule(app, id: schedule.id).nextAt)
    #expect(next > bench.clock.now && next < bench.clock.now + .days(1))
    let told = bench.events.values.compactMap { if case .scheduleTrouble(_, let words) = $0 { words } else { nil } }
    #expect(told == ["\(3 - caughtUp) due times passed while nobody was there"])
    try await bench.run(until: caughtUp + 1)
    await bench.service.stop()
  }

  @Test("C34 the clock set back makes nothing twice; set forward it is as if the service had been down")
  func clockSet() async throws {
    let (bench, app) = try await begin()
    try await bench.service.start()
    let schedule = try await bench.service.createSchedule(app, bench.daily())
    try await bench.run(until: 1)
    bench.clock.set(to: bench.clock.now - .hours(3))
    for _ in 0..<12 {
      bench.clock.advance(by: .minutes(30))
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(bench.events.accepted == 1)
    bench.clock.set(to: bench.clock.now + .days(2))
    try await bench.run(until: 2, by: .milliseconds(100))
    try await bench.settle()
    #expect(bench.events.accepted == 2)
    #expect(try await bench.service.firings(app, schedule: schedule.id).count == 2)
    await bench.service.stop()
  }

  @Test("a disabled schedule's times pass; enabled again it goes on from then, and catches nothing up")
  func disabled() async throws {
    let (bench, app) = try await begin()
    try await bench.service.start()
    let schedule = try await bench.service.createSchedule(app, bench.daily())
    _ = try await bench.service.changeSchedule(app, id: schedule.id, ScheduleChange(isEnabled: false))
    for _ in 0..<70 {
      bench.clock.advance(by: .hours(1))
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(bench.events.accepted == 0)
    _ = try await bench.service.changeSchedule(app, id: schedule.id, ScheduleChange(isEnabled: true))
    try await bench.settle()
    #expect(bench.events.accepted == 0)
    try await bench.run(until: 1)
    await bench.service.stop()
  }

  @Test("a push that cannot be made is told with its reason, and the next time is tried again")
  func refused() async throws {
    let bench = try await ServiceBench(scheduling: ServiceBench.scheduling)
    let app = try await bench.app()
    try await bench.service.start()
    let schedule = try await bench.service.createSchedule(app, bench.daily())
    let broken = try await bench.service.createSchedule(app, bench.daily(push: "broken"))
    for _ in 0..<300 where try await bench.service.firings(app, schedule: broken.id).isEmpty {
      bench.clock.advance(by: .minutes(10))
      try await Task.sleep(for: .milliseconds(1))
    }
    let nobody = try await bench.service.firings(app, schedule: schedule.id)
    #expect(nobody.map(\.code) == [1011] && nobody[0].push == nil, "the app has no device yet")
    #expect(nobody[0].words.contains("no device yet"))
    #expect(try await bench.service.firings(app, schedule: broken.id).map(\.code) == [1009])
    _ = try await bench.devices(1, of: app)
    try await bench.run(until: 1)
    await bench.service.stop()
  }

  @Test("what can never be made, or lies in the past, is refused at once, and says where")
  func invalid() async throws {
    let (bench, app) = try await begin()
    var order = try bench.daily()
    order.push.sound = nil
    order.push.alert = nil
    let shanghai = try ZoneDatabase.usual.zone(named: "Asia/Shanghai").effectiveRules
    let now = shanghai.local(at: bench.clock.now)
    var rows: [(ScheduleOrder, String)] = [(order, "push.notification.ios")]
    order = try bench.daily()
    order.name = "no-hyphens"
    rows.append((order, "name"))
    order = try bench.daily()
    order.isEnabled = false
    rows.append((order, "enabled"))
    order = try bench.daily()
    order.timeZone = "Asia/Shangai"
    rows.append((order, "timeZone"))
    order.timeZone = nil
    order.trigger = .single(now)
    rows.append((order, "trigger"))
    order.trigger = .single(now.adding(months: 12).adding(days: 1))
    rows.append((order, "trigger.single.time"))
    for (order, place) in rows {
      let fault = try await fault { () throws(RequestFault) in try await bench.service.createSchedule(app, order) }
      #expect(fault.code == .scheduleInvalid && fault.place == place, "\(fault)")
    }
    #expect(try await bench.service.schedules(app, onlyLive: false, limit: 9).total == 0)
  }

  @Test("single and periodical do not become each other, and what is over is not changed")
  func unchangeable() async throws {
    let (bench, app) = try await begin()
    let shanghai = try ZoneDatabase.usual.zone(named: "Asia/Shanghai").effectiveRules
    let periodical = try await bench.service.createSchedule(app, bench.daily())
    var order = try bench.daily()
    order.trigger = .single(shanghai.local(at: bench.clock.now + .minutes(1)))
    let single = try await bench.service.createSchedule(app, order)
    for (id, trigger) in [(periodical.id, order.trigger), (single.id, periodical.trigger)] {
      let fault = try await fault { () throws(RequestFault) in
        try await bench.service.changeSchedule(app, id: id, ScheduleChange(trigger: trigger))
      }
      #expect(fault.code == .scheduleInvalid && fault.place == "trigger")
    }
    try await bench.service.start()
    try await bench.run(until: 1, by: .seconds(10))
    for _ in 0..<200 where try await bench.service.schedule(app, id: single.id).nextAt != nil {
      try await Task.sleep(for: .milliseconds(2))
    }
    let fault = try await fault { () throws(RequestFault) in
      try await bench.service.changeSchedule(app, id: single.id, ScheduleChange(name: "later"))
    }
    #expect(fault.code == .scheduleInvalid && fault.found.contains("over"))
    await bench.service.stop()
  }

  @Test("a deleted schedule makes nothing more; its push goes on")
  func deleted() async throws {
    let (bench, app) = try await begin()
    try await bench.service.start()
    let schedule = try await bench.service.createSchedule(app, bench.daily())
    try await bench.run(until: 1)
    try await bench.service.deleteSchedule(app, id: schedule.id)
    for _ in 0..<50 {
      bench.clock.advance(by: .hours(1))
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(bench.events.accepted == 1)
    let fault = try await fault { () throws(RequestFault) in
      try await bench.service.deleteSchedule(app, id: schedule.id)
    }
    #expect(fault.code == .noSuchSchedule)
    await bench.service.stop()
  }
}
