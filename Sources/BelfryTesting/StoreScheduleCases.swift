import Audience
public import Basics
import Schedule
public import Store

extension StoreSamples {
  /// Each day at 09:00 by UTC from noon's day on, for ten days.
  public static func schedule(
    _ id: String, of app: Int64, clientID: String? = nil, at: Instant = noon, dueAt: Instant? = noon + .hours(21)
  ) throws -> StoredSchedule {
    let start = TimeZoneRules.utc.local(at: noon)
    let recurrence = try Recurrence(
      start: start, end: start.adding(days: 10), time: try require(TimeOfDay(9, 0)), days: .daily)
    return StoredSchedule(
      id: id, app: app, name: "早", isEnabled: true, trigger: .periodical(recurrence), timeZone: "UTC",
      request: Array(#"{"platform":"all"}"#.utf8), clientID: clientID, createdAt: at, last: start, dueAt: dueAt)
  }
}

/// Schedules: kept, changed, and taken step by step.
enum StoreScheduleCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("a schedule is kept as it was given, told to its app alone, and gone once deleted") { store in
      let (app, other) = (try await store.sampleApp(), try await store.sampleApp("other"))
      let wanted = try StoreSamples.schedule("s1", of: app)
      guard case .created(let made) = try await store.create(wanted) else {
        throw ConformanceFailure(description: "not created")
      }
      var numbered = wanted
      numbered.number = made.number
      try expect(made, is: numbered)
      try expect(try await store.schedule(app: app, id: "s1"), is: made)
      try expect(try await store.schedule(app: other, id: "s1"), is: nil)
      try expect(try await store.deleteSchedule(app: other, id: "s1"), is: false)
      try expect(try await store.deleteSchedule(app: app, id: "s1"), is: true)
      try expect(try await store.deleteSchedule(app: app, id: "s1"), is: false)
      try expect(try await store.schedule(app: app, id: "s1"), is: nil)
    },
    ConformanceCase("every trigger comes back as it was") { store in
      let app = try await store.sampleApp()
      let start = TimeZoneRules.utc.local(at: StoreSamples.noon)
      let time = try require(TimeOfDay(23, 59, 1))
      let all: [ScheduleTrigger] = [
        .single(start),
        .periodical(try Recurrence(start: start, end: start.adding(days: 30), time: time, days: .daily, frequency: 7)),
        .periodical(
          try Recurrence(
            start: start, end: start.adding(days: 30), time: time, days: .weekly([.sunday, .monday]), frequency: 2)),
        .periodical(
          try Recurrence(start: start, end: start.adding(months: 12), time: time, days: .monthly([1, 15, 31]))),
      ]
      for (index, trigger) in all.enumerated() {
        var schedule = try StoreSamples.schedule("s\(index)", of: app)
        schedule.trigger = trigger
        _ = try await store.create(schedule)
        try expect(try await store.schedule(app: app, id: "s\(index)")?.trigger, is: trigger)
      }
    },
    ConformanceCase("the same cid answers the first schedule within its window, per app") { store in
      let (app, other) = (try await store.sampleApp(), try await store.sampleApp("other"))
      let first = try StoreSamples.schedule("s1", of: app, clientID: "c")
      _ = try await store.create(first)
      guard case .repeated(let known) = try await store.create(StoreSamples.schedule("s2", of: app, clientID: "c"))
      else { throw ConformanceFailure(description: "made twice") }
      try expect(known.id, is: "s1")
      _ = try await store.create(StoreSamples.schedule("s3", of: other, clientID: "c"))
      _ = try await store.create(StoreSamples.schedule("s4", of: app, clientID: "c", at: StoreSamples.noon + .days(2)))
      try expect(try await store.ids(app), is: ["s1", "s4"])
      try expect(try await store.ids(other), is: ["s3"])
    },
    ConformanceCase("no more than the limit that are not over; the others do not count") { store in
      let app = try await store.sampleApp()
      _ = try await store.create(StoreSamples.schedule("over", of: app, dueAt: nil))
      for id in ["s1", "s2"] { _ = try await store.create(StoreSamples.schedule(id, of: app), limit: 2) }
      try expect(
        try await store.create(StoreSamples.schedule("s3", of: app), limit: 2), is: .tooMany(2))
      try expect(try await store.ids(app), is: ["s1", "s2"])
      try expect(try await store.schedules(app: app, onlyLive: false, after: 0, skipping: 0, limit: 9).total, is: 3)
    },
    ConformanceCase("pages are in the order of creation, by place and by number") { store in
      let app = try await store.sampleApp()
      for number in 1...5 { _ = try await store.create(StoreSamples.schedule("s\(number)", of: app)) }
      let second = try await store.schedules(app: app, onlyLive: true, after: 0, skipping: 2, limit: 2)
      try expect(second.schedules.map(\.id), is: ["s3", "s4"])
      try expect(second.total, is: 5)
      let rest = try await store.schedules(
        app: app, onlyLive: true, after: second.schedules[1].number, skipping: 0, limit: 2)
      try expect(rest.schedules.map(\.id), is: ["s5"])
      try expect(
        try await store.schedules(app: app, onlyLive: true, after: 0, skipping: 9, limit: 2).schedules, is: [])
    },
    ConformanceCase("a change is whole, counts its version, and is not done over one that came between") { store in
      let app = try await store.sampleApp()
      _ = try await store.create(StoreSamples.schedule("s1", of: app))
      let old = try require(try await store.schedule(app: app, id: "s1"))
      var new = old
      new.name = "晚"
      new.isEnabled = false
      new.trigger = .single(TimeZoneRules.utc.local(at: StoreSamples.noon))
      new.timeZone = "Asia/Shanghai"
      new.request = Array("{}".utf8)
      new.last = nil
      new.dueAt = StoreSamples.noon
      try expect(try await store.changeSchedule(old, to: new), is: true)
      try expect(try await store.changeSchedule(old, to: old), is: false)
      new.version = 2
      try expect(try await store.schedule(app: app, id: "s1"), is: new)
    },
    ConformanceCase("what is due is told, longest overdue first, and when the next is") { store in
      let (app, other) = (try await store.sampleApp(), try await store.sampleApp("other"))
      try expect(try await store.nextScheduleDue(), is: nil)
      for (id, app, due) in [("a", app, 30), ("b", other, 10), ("c", app, 20)] as [(String, Int64, Int64)] {
        _ = try await store.create(
          StoreSamples.schedule(id, of: app, dueAt: StoreSamples.noon + .minutes(due)))
      }
      _ = try await store.create(StoreSamples.schedule("over", of: app, dueAt: nil))
      try expect(try await store.nextScheduleDue(), is: StoreSamples.noon + .minutes(10))
      let due = try await store.dueSchedules(at: StoreSamples.noon + .minutes(20), limit: 9)
      try expect(due.map(\.id), is: ["b", "c"])
      try expect(try await store.dueSchedules(at: StoreSamples.noon + .hours(1), limit: 1).map(\.id), is: ["b"])
    },
    ConformanceCase("a step is taken once, with its push and its firing, or nothing of it is there") { store in
      let app = try await store.sampleApp(devices: 2)
      _ = try await store.create(StoreSamples.schedule("s1", of: app))
      let read = try require(try await store.schedule(app: app, id: "s1"))
      let step = try StoreSamples.step(read, push: 5)
      let push = StoreSamples.push(5, of: app, isScheduled: true)
      let reach = try await store.reach(app: app, .everyone, .production)
      // Two at it at once.
      let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
        for id in [5, 6] as [Int64] {
          group.addTask {
            var (step, push) = (step, push)
            step.firing?.push = id
            push.id = id
            return try await store.take(step, push: push, audience: reach.targets)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try expect(taken.filter { $0 }.count, is: 1)
      let firings = try await store.firings(app: app, schedule: "s1")
      try expect(firings.count, is: 1)
      let id = try require(firings[0].push)
      try expect(try await store.unfinished(after: nil, limit: 9).map(\.push), is: [id])
      try expect(try require(try await store.progress(app: app, push: id)).push.isScheduled, is: true)
      let after = try require(try await store.schedule(app: app, id: "s1"))
      try expect(after.last, is: step.last)
      try expect(after.dueAt, is: step.dueAt)
      try expect(after.version, is: read.version, "a firing is no change")
    },
    ConformanceCase("a step reckoned from what has changed, or is gone, is not taken") { store in
      let app = try await store.sampleApp(devices: 1)
      _ = try await store.create(StoreSamples.schedule("s1", of: app))
      let read = try require(try await store.schedule(app: app, id: "s1"))
      try expect(try await store.changeSchedule(read, to: read), is: true)
      let push = StoreSamples.push(5, of: app)
      try expect(try await store.take(try StoreSamples.step(read, push: 5), push: push, audience: []), is: false)
      let again = try require(try await store.schedule(app: app, id: "s1"))
      try expect(try await store.deleteSchedule(app: app, id: "s1"), is: true)
      try expect(try await store.take(try StoreSamples.step(again, push: 5), push: push, audience: []), is: false)
      try expect(try await store.progress(app: app, push: 5), is: nil)
      try expect(try await store.lastPushID(), is: 0)
    },
    ConformanceCase("a message id that is there already leaves the step to be taken") { store in
      let app = try await store.sampleApp(devices: 1)
      try await store.acceptSample(StoreSamples.push(5, of: app))
      _ = try await store.create(StoreSamples.schedule("s1", of: app))
      let read = try require(try await store.schedule(app: app, id: "s1"))
      let step = try StoreSamples.step(read, push: 5)
      guard
        case .taken = try await fault(of: { () throws(StoreFault) in
          try await store.take(step, push: StoreSamples.push(5, of: app), audience: [])
        })
      else { throw ConformanceFailure(description: "another fault") }
      try expect(try await store.schedule(app: app, id: "s1"), is: read)
      try expect(try await store.firings(app: app, schedule: "s1"), is: [])
    },
    ConformanceCase("what made no push says why; firings are told oldest first, to their app alone") { store in
      let (app, other) = (try await store.sampleApp(), try await store.sampleApp("other"))
      _ = try await store.create(StoreSamples.schedule("s1", of: app))
      var wanted: [ScheduleFiring] = []
      for number in 1...3 {
        let read = try require(try await store.schedule(app: app, id: "s1"))
        var step = try StoreSamples.step(read, push: nil)
        step.firing?.code = 1011
        step.firing?.words = "nobody \(number)"
        wanted.append(try require(step.firing))
        try expect(try await store.take(step, push: nil, audience: []), is: true)
      }
      try expect(try await store.firings(app: app, schedule: "s1"), is: wanted)
      try expect(try await store.firings(app: other, schedule: "s1"), is: [])
    },
  ]
}

extension StoreSamples {
  /// The next of a sample's due times.
  fileprivate static func step(_ schedule: StoredSchedule, push: Int64?) throws -> ScheduleStep {
    let due = try require(schedule.trigger.next(after: schedule.last, in: .utc))
    let next = schedule.trigger.next(after: due.wall, in: .utc)
    return ScheduleStep(
      schedule, last: due.wall, dueAt: next?.instant,
      firing: ScheduleFiring(wall: due.wall, at: due.instant, push: push))
  }
}

extension Store {
  fileprivate func create(_ schedule: StoredSchedule, limit: Int = 100) async throws(StoreFault) -> ScheduleCreation {
    try await createSchedule(schedule, limit: limit, clientIDsSince: schedule.createdAt - .days(1))
  }

  fileprivate func ids(_ app: Int64) async throws -> [String] {
    try await schedules(app: app, onlyLive: true, after: 0, skipping: 0, limit: 99).schedules.map(\.id)
  }
}
