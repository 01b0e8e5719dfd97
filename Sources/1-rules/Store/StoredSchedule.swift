public import Basics
public import Schedule

/// A push that is to be made at times to come.
public struct StoredSchedule: Sendable, Equatable {
  /// Grows by creation; given by the store.
  public var number: Int64
  /// A UUID in lower case; nobody else's.
  public var id: String
  public var app: Int64
  public var name: String
  /// Its times pass without a push while it is not.
  public var isEnabled: Bool
  public var trigger: ScheduleTrigger
  /// Whose clocks the trigger is read by: a name of the tz database.
  public var timeZone: String
  /// JSON of the push, as given.
  public var request: [UInt8]
  /// `cid`.
  public var clientID: String?
  public var createdAt: Instant
  /// Grows with every change, not with firings.
  public var version: Int64
  /// Every time on the wall up to here is dealt with.
  public var last: LocalTime?
  /// When it is to be looked at next; nil: it is over.
  public var dueAt: Instant?

  public init(
    number: Int64 = 0, id: String, app: Int64, name: String, isEnabled: Bool, trigger: ScheduleTrigger,
    timeZone: String, request: [UInt8], clientID: String?, createdAt: Instant, version: Int64 = 1, last: LocalTime?,
    dueAt: Instant?
  ) {
    self.number = number
    self.id = id
    self.app = app
    self.name = name
    self.isEnabled = isEnabled
    self.trigger = trigger
    self.timeZone = timeZone
    self.request = request
    self.clientID = clientID
    self.createdAt = createdAt
    self.version = version
    self.last = last
    self.dueAt = dueAt
  }
}

public enum ScheduleCreation: Sendable, Equatable {
  /// With its number.
  case created(StoredSchedule)
  /// The same `cid` made this one within the window.
  case repeated(StoredSchedule)
  /// The app has that many that are not over; nothing was kept.
  case tooMany(Int)
}

/// Some of an app's schedules, oldest first.
public struct SchedulePage: Sendable, Equatable {
  public var schedules: [StoredSchedule]
  /// Of all that were asked for, on whatever page.
  public var total: Int

  public init(schedules: [StoredSchedule], total: Int) {
    self.schedules = schedules
    self.total = total
  }
}

/// What came of a due time.
public struct ScheduleFiring: Sendable, Equatable {
  /// The time on the wall that it was for.
  public var wall: LocalTime
  public var at: Instant
  /// The push that was made; nil when none was.
  public var push: Int64?
  /// Why none was made: a fault's code and words. 0 and empty with a push.
  public var code: Int
  public var words: String

  public init(wall: LocalTime, at: Instant, push: Int64?, code: Int = 0, words: String = "") {
    self.wall = wall
    self.at = at
    self.push = push
    self.code = code
    self.words = words
  }
}

/// A step of a schedule: its due times up to `last` are dealt with.
public struct ScheduleStep: Sendable {
  /// As it was read; if anything of it has changed since, the step is not taken.
  public var schedule: StoredSchedule
  public var last: LocalTime?
  public var dueAt: Instant?
  /// nil when the due times passed without a word.
  public var firing: ScheduleFiring?

  public init(_ schedule: StoredSchedule, last: LocalTime?, dueAt: Instant?, firing: ScheduleFiring?) {
    self.schedule = schedule
    self.last = last
    self.dueAt = dueAt
    self.firing = firing
  }
}
