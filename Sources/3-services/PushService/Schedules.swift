import Basics
import Schedule
public import Store

extension PushService {
  /// Returns once the schedule is durable. Its push is checked but for its audience, which is that of each firing.
  public func createSchedule(_ app: AppRecord, _ order: ScheduleOrder) async throws(RequestFault) -> ScheduleView {
    let scheduling = try needScheduling()
    try NameRule.schedule.check(order.name, .scheduleInvalid, at: "name")
    guard order.isEnabled else {
      throw RequestFault(
        .scheduleInvalid, at: "enabled", found: "false", remedy: "A new schedule is enabled; disable it later.")
    }
    let now = clock.now
    try Self.check(order.push, at: now)
    let zone = order.timeZone ?? scheduling.settings.timeZone(of: app)
    let next = try scheduling.first(of: order.trigger, in: zone, after: now)
    let limit = scheduling.settings.perApp
    let new = StoredSchedule(
      id: Sodium.randomUUID(), app: app.id, name: order.name, isEnabled: true, trigger: order.trigger,
      timeZone: zone, request: order.push.original, clientID: order.clientID, createdAt: now,
      last: next.passed, dueAt: next.due.instant)
    let answer = try await faulting(
      as: .schedule,
      await store.createSchedule(
        new, limit: limit, clientIDsSince: now - Self.clientIDWindow,
        audit: note(.scheduleMade, app, new.id, order.name)))
    switch answer {
    case .created(let schedule): return ScheduleView(schedule)
    case .repeated(let schedule):
      guard !order.isKeyed || order.mayHaveMade(schedule) else {
        throw RequestFault(
          .conflict, at: "Idempotency-Key", found: "another schedule was made under this key",
          remedy: "Give each request a key of its own.")
      }
      var view = ScheduleView(schedule)
      view.isRepeated = true
      return view
    case .tooMany(let count):
      throw RequestFault(
        .scheduleInvalid, found: "the app has \(count) schedules that are not over",
        remedy: "At most \(limit) are allowed: delete one.")
    }
  }

  public func schedule(_ app: AppRecord, id: String) async throws(RequestFault) -> ScheduleView {
    ScheduleView(try await stored(app, id))
  }

  /// Those with a number above `after`; with `onlyLive` only those that are not over.
  public func schedules(
    _ app: AppRecord, onlyLive: Bool, after: Int64 = 0, skipping: Int = 0, limit: Int
  ) async throws(RequestFault) -> ScheduleList {
    let page = try await faulting(
      as: .schedule,
      await store.schedules(app: app.id, onlyLive: onlyLive, after: after, skipping: skipping, limit: limit))
    return ScheduleList(schedules: page.schedules.map(ScheduleView.init), total: page.total)
  }

  /// What came of its due times, oldest first; at most the last 1,000.
  public func firings(_ app: AppRecord, schedule id: String) async throws(RequestFault) -> [ScheduleFiring] {
    _ = try await stored(app, id)
    return try await faulting(as: .schedule, await store.firings(app: app.id, schedule: id))
  }

  /// Applied whole or not at all. With another trigger, or made new by `isEnabled`, only times from now on count. `version`:
  /// nil for whatever it is now; else a schedule of another version is not changed and `changedMeanwhile` is thrown.
  public func changeSchedule(
    _ app: AppRecord, id: String, _ change: ScheduleChange, version: Int64? = nil
  ) async throws(RequestFault) -> ScheduleView {
    let scheduling = try needScheduling()
    let now = clock.now
    if let name = change.name { try NameRule.schedule.check(name, .scheduleInvalid, at: "name") }
    if let push = change.push { try Self.check(push, at: now) }
    while true {
      let old = try await stored(app, id)
      if let version, old.version != version {
        throw RequestFault(
          .changedMeanwhile, found: "the schedule has changed since it was read",
          remedy: "Read it again, and send its ETag in If-Match.")
      }
      let new = try scheduling.changed(old, change, at: now)
      // A firing may have come between; then what is next must be reckoned anew.
      let note = note(.scheduleChanged, app, id, new.name)
      guard try await faulting(as: .schedule, await store.changeSchedule(old, to: new, audit: note)) else { continue }
      return try await schedule(app, id: id)
    }
  }

  /// Its firings go with it; pushes that it made go on.
  public func deleteSchedule(_ app: AppRecord, id: String) async throws(RequestFault) {
    let note = note(.scheduleDeleted, app, id)
    let isGone = try await faulting(as: .schedule, await store.deleteSchedule(app: app.id, id: id, audit: note))
    guard isGone else { throw Self.noSuchSchedule(id) }
  }

  // MARK: Parts

  private func needScheduling() throws(RequestFault) -> Scheduling {
    guard let scheduling else {
      throw RequestFault(
        .scheduleInvalid, found: "this process keeps no schedules", remedy: "Ask one that runs the service.")
    }
    return scheduling
  }

  private func stored(_ app: AppRecord, _ id: String) async throws(RequestFault) -> StoredSchedule {
    guard let schedule = try await faulting(as: .schedule, await store.schedule(app: app.id, id: id)) else {
      throw Self.noSuchSchedule(id)
    }
    return schedule
  }

  private static func noSuchSchedule(_ id: String) -> RequestFault {
    RequestFault(
      .noSuchSchedule, found: "this app has no schedule \(quoted(id))", remedy: "GET /v3/schedules lists them.")
  }

  /// All that a push can be refused for, but who is there when it is made.
  private static func check(_ push: PushOrder, at now: Instant) throws(RequestFault) {
    do throws(RequestFault) { _ = try PushDraft(push, at: now) } catch {
      throw RequestFault(
        .scheduleInvalid, at: error.place.map { "push.\($0)" } ?? "push", found: error.found, remedy: error.remedy)
    }
  }
}

extension Scheduling {
  /// What is next for a trigger that counts from now on, and what of it is over.
  func first(
    of trigger: ScheduleTrigger, in zone: String, after now: Instant
  ) throws(RequestFault) -> (passed: LocalTime, due: ScheduleTrigger.Due) {
    guard let rules = rules(of: zone) else {
      throw RequestFault(
        .scheduleInvalid, at: "timeZone", found: "\(quoted(zone)) is no time zone here",
        remedy: "Give a name of the tz database, such as Asia/Shanghai.")
    }
    let wall = rules.local(at: now)
    guard let due = trigger.next(after: wall, in: rules) else {
      throw RequestFault(
        .scheduleInvalid, at: "trigger", found: "all its times are over; in \(zone) it is \(wall)",
        remedy: "Give times to come.")
    }
    if case .single(let single) = trigger, single > wall.adding(months: 12) {
      throw RequestFault(
        .scheduleInvalid, at: "trigger.single.time", found: "\(single) is more than a year ahead",
        remedy: "Give a time within a year.")
    }
    return (wall, due)
  }

  /// jpush.md §6: whole sections, no change between single and periodical, and none of what is over.
  func changed(
    _ old: StoredSchedule, _ change: ScheduleChange, at now: Instant
  ) throws(RequestFault) -> StoredSchedule {
    guard old.dueAt != nil else {
      throw RequestFault(
        .scheduleInvalid, found: "the schedule is over", remedy: "Make a new one; what is over cannot be changed.")
    }
    var new = old
    new.name = change.name ?? old.name
    new.request = change.push?.original ?? old.request
    new.isEnabled = change.isEnabled ?? old.isEnabled
    new.timeZone = change.timeZone ?? old.timeZone
    if let trigger = change.trigger {
      guard trigger.isSingle == old.trigger.isSingle else {
        throw RequestFault(
          .scheduleInvalid, at: "trigger", found: "a change between single and periodical",
          remedy: "Delete the schedule and make a new one.")
      }
      new.trigger = trigger
    }
    if new.trigger != old.trigger || new.timeZone != old.timeZone || (new.isEnabled && !old.isEnabled) {
      let next = try first(of: new.trigger, in: new.timeZone, after: now)
      new.last = next.passed
      new.dueAt = next.due.instant
    }
    return new
  }
}
