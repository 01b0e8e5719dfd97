public import Basics
public import Schedule
import Store

/// A schedule that a caller asks for, checked for shape by the door that took it.
public struct ScheduleOrder: Sendable, Equatable {
  public var name: String
  public var isEnabled: Bool
  public var trigger: ScheduleTrigger
  /// nil: the app's.
  public var timeZone: String?
  /// As it was read from `PushOrder.original`, which is what is kept.
  public var push: PushOrder
  /// `cid`: the same within a day answers the first schedule again.
  public var clientID: String?
  /// Whether the client id may only come with the same request again; another one is refused (9409).
  public var isKeyed = false

  public init(
    name: String, isEnabled: Bool = true, trigger: ScheduleTrigger, timeZone: String? = nil, push: PushOrder,
    clientID: String? = nil
  ) {
    self.name = name
    self.isEnabled = isEnabled
    self.trigger = trigger
    self.timeZone = timeZone
    self.push = push
    self.clientID = clientID
  }

  /// Whether this order may be the one that made `schedule`; one that was changed since tells nothing.
  func mayHaveMade(_ schedule: StoredSchedule) -> Bool {
    schedule.version > 1
      || name == schedule.name && trigger == schedule.trigger && push.original == schedule.request
        && (timeZone ?? schedule.timeZone) == schedule.timeZone
  }
}

/// What is to be another of a schedule; nil stays.
public struct ScheduleChange: Sendable, Equatable {
  public var name: String?
  public var isEnabled: Bool?
  public var trigger: ScheduleTrigger?
  public var timeZone: String?
  public var push: PushOrder?

  public init(
    name: String? = nil, isEnabled: Bool? = nil, trigger: ScheduleTrigger? = nil, timeZone: String? = nil,
    push: PushOrder? = nil
  ) {
    self.name = name
    self.isEnabled = isEnabled
    self.trigger = trigger
    self.timeZone = timeZone
    self.push = push
  }
}

/// A schedule as its app's server sees it.
public struct ScheduleView: Sendable, Equatable {
  public var id: String
  /// Grows by creation: where a list goes on.
  public var number: Int64
  public var name: String
  public var isEnabled: Bool
  public var trigger: ScheduleTrigger
  public var timeZone: String
  /// JSON, as given.
  public var push: [UInt8]
  public var createdAt: Instant
  /// Grows with every change.
  public var version: Int64
  /// nil: it is over.
  public var nextAt: Instant?
  /// The client id was used before; this is what it made then.
  public var isRepeated = false

  init(_ schedule: StoredSchedule) {
    id = schedule.id
    number = schedule.number
    name = schedule.name
    isEnabled = schedule.isEnabled
    trigger = schedule.trigger
    timeZone = schedule.timeZone
    push = schedule.request
    createdAt = schedule.createdAt
    version = schedule.version
    nextAt = schedule.dueAt
  }
}

/// Schedules of an app, oldest first.
public struct ScheduleList: Sendable, Equatable {
  public var schedules: [ScheduleView]
  /// On all pages.
  public var total: Int
}
