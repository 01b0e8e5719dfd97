import Basics
import Schedule
import Store

/// The role that makes pushes of schedules when they are due. As many as like may be at it on one store: the store takes
/// each step once.
final class Scheduler: Sendable {
  private let scheduling: Scheduling
  private let store: any Store
  private let clock: any WallClock
  private let onEvent: @Sendable (ServiceEvent) -> Void
  /// Makes the push of an order for a step, in the step's transaction; false when another took the step.
  private let fire: @Sendable (PushOrder, ScheduleStep) async throws(RequestFault) -> Bool
  private let loop: RoleLoop

  /// Schedules that others add or change, and clocks that are set, are seen within this.
  private static let watch = Instant.Span.seconds(1)
  private static let page = 100

  init(
    _ scheduling: Scheduling, store: any Store, clock: any WallClock,
    onEvent: @escaping @Sendable (ServiceEvent) -> Void,
    fire: @escaping @Sendable (PushOrder, ScheduleStep) async throws(RequestFault) -> Bool
  ) {
    self.scheduling = scheduling
    self.store = store
    self.clock = clock
    self.onEvent = onEvent
    self.fire = fire
    loop = RoleLoop(clock: clock, onEvent: onEvent)
  }

  func start() {
    loop.start(pause: Self.watch) { [self] () throws(StoreFault) in
      try await takeDue()
      guard let next = try await store.nextScheduleDue() else { return Self.watch }
      return min(Self.watch, max(next - clock.now, .milliseconds(1)))
    }
  }

  /// Returns once the step under way is over.
  func stop() async { await loop.stop() }

  private func takeDue() async throws(StoreFault) {
    var page: [StoredSchedule]
    repeat {
      page = try await store.dueSchedules(at: clock.now, limit: Self.page)
      var isMoving = false
      for schedule in page where !Task.isCancelled {
        if try await take(schedule) { isMoving = true }
      }
      guard isMoving else { return }  // what nobody can take now is tried again after a pause
    } while page.count == Self.page && !Task.isCancelled
  }

  private func tell(_ verdict: ScheduleVerdict, _ step: ScheduleStep) {
    guard step.schedule.isEnabled else { return }
    var words: [String] = []
    if verdict.missed > 0 { words.append("\(verdict.missed) due times passed while nobody was there") }
    if let firing = step.firing, firing.code != 0 { words.append("no push for \(firing.wall): \(firing.words)") }
    guard !words.isEmpty else { return }
    onEvent(.scheduleTrouble(scheduleID: step.schedule.id, words: words.joined(separator: "; ")))
  }

  /// Whether the step was taken, by this scheduler or another.
  private func take(_ schedule: StoredSchedule) async throws(StoreFault) -> Bool {
    let now = clock.now
    let verdict = schedule.trigger.verdict(
      after: schedule.last, at: now, in: scheduling.rules(of: schedule.timeZone) ?? .utc,
      missed: scheduling.settings.missed)
    var step = ScheduleStep(schedule, last: verdict.last, dueAt: verdict.next?.instant, firing: nil)
    if schedule.isEnabled, let due = verdict.fires {
      do throws(RequestFault) {
        var order = try scheduling.order(schedule.request)
        order.isScheduled = order.isScheduled ?? true
        order.clientID = nil
        if schedule.timeZone == Scheduling.ofEachDevice { order.localDue = due.wall }
        step.firing = ScheduleFiring(wall: due.wall, at: now, push: nil)
        if try await fire(order, step) { tell(verdict, step) }
        return true
      } catch {
        if error.code.isTemporary { return false }
        step.firing = ScheduleFiring(
          wall: due.wall, at: now, push: nil, code: error.code.rawValue, words: error.description)
      }
    }
    if try await store.take(step, push: nil, audience: []) { tell(verdict, step) }
    return true
  }
}
