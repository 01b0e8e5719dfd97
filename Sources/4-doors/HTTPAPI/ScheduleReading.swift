internal import Basics
internal import PushPayload
internal import PushService
internal import Schedule

/// Reads schedules as JPush's SDKs write them (jpush.md §6), and those of `/v1`, which may also name their time zone.
enum ScheduleReading {
  static func order(_ body: [UInt8], ours: Bool = false) throws(RequestFault) -> ScheduleOrder {
    let fields = try RequestBody.object(body, codes: .schedule)
    let isLegal = ["cid", "name", "enabled", "trigger", "push"] + (ours ? ["timeZone"] : [])
    try fields.refuseUnknown(besides: isLegal)
    guard let name = fields["name"] else { throw fields.missing("name", "Give the schedule a name.") }
    guard let trigger = fields["trigger"] else {
      throw fields.missing("trigger", "Say when: {\"single\": {\"time\": \"2027-01-31 09:00:00\"}}.")
    }
    guard let push = fields["push"] else { throw fields.missing("push", "Give the push as POST /v3/push takes it.") }
    return ScheduleOrder(
      name: try name.string(), isEnabled: try fields["enabled"]?.bool() ?? true, trigger: try self.trigger(trigger),
      timeZone: try fields["timeZone"]?.string(), push: try self.push(push),
      clientID: try fields["cid"].map(PushReading.clientID))
  }

  /// Sections that are not there stay as they are; one that is there must be whole.
  static func change(_ body: [UInt8], ours: Bool = false) throws(RequestFault) -> ScheduleChange {
    let fields = try RequestBody.object(body, codes: .schedule)
    // SDKs send back what they were given.
    let isLegal = ["name", "enabled", "trigger", "push"] + (ours ? ["timeZone"] : ["cid", "schedule_id"])
    try fields.refuseUnknown(besides: isLegal)
    return ScheduleChange(
      name: try fields["name"]?.string(), isEnabled: try fields["enabled"]?.bool(),
      trigger: try fields["trigger"].map(trigger), timeZone: try fields["timeZone"]?.string(),
      push: try fields["push"].map(push))
  }

  // MARK: the push

  /// Reads the push of a schedule that was kept.
  static func push(_ request: [UInt8]) throws(RequestFault) -> PushOrder {
    try push(
      Field(value: .object(try RequestBody.object(request, codes: .push).object), path: JSONPath("push"), codes: .push))
  }

  /// A `cid` in it means nothing, and a `message` without contents is none: JPush's own example has one.
  private static func push(_ field: Field) throws(RequestFault) -> PushOrder {
    let given = Field(value: field.value, path: field.path, codes: .push)
    var object = try given.object().object
    object["cid"] = nil
    if object["message"]?.object?.members.isEmpty == true { object["message"] = nil }
    return try PushReading.read(Fields(object: object, path: field.path, codes: .push), original: field.value.encoded())
  }

  // MARK: the trigger

  private static func trigger(_ field: Field) throws(RequestFault) -> ScheduleTrigger {
    let trigger = try field.object()
    try trigger.refuseUnknown(besides: ["single", "periodical"])
    switch (trigger["single"], trigger["periodical"]) {
    case (let single?, nil):
      let fields = try single.object()
      try fields.refuseUnknown(besides: ["time"])
      return .single(try time(fields))
    case (nil, let periodical?): return .periodical(try recurrence(periodical))
    case (nil, nil), (_?, _?):
      throw field.wrong("not exactly one of single and periodical stands here", "Give one of the two.")
    }
  }

  private static func time(_ fields: Fields, _ key: String = "time") throws(RequestFault) -> LocalTime {
    guard let field = fields[key] else { throw fields.missing(key, "Give it as YYYY-MM-DD HH:MM:SS.") }
    let text = try field.string()
    guard let time = LocalTime(text) else {
      throw field.wrong(
        "\(quoted(text)) is no time", "Give it as YYYY-MM-DD HH:MM:SS, with all digits: 2027-01-31 09:00:00.")
    }
    return time
  }

  private static func recurrence(_ field: Field) throws(RequestFault) -> Recurrence {
    let fields = try field.object()
    try fields.refuseUnknown(besides: ["start", "end", "time", "time_unit", "frequency", "point"])
    let (start, end) = (try time(fields, "start"), try time(fields, "end"))
    guard let timeField = fields["time"] else { throw fields.missing("time", "Give it as HH:MM:SS.") }
    let text = try timeField.string()
    guard let time = TimeOfDay(text) else {
      throw timeField.wrong("\(quoted(text)) is no time of day", "Give it as HH:MM:SS, with all digits: 09:00:00.")
    }
    guard let unitField = fields["time_unit"] else { throw fields.missing("time_unit", "Give day, week or month.") }
    let unit = try unitField.string().lowercased()
    guard ["day", "week", "month"].contains(unit) else {
      throw unitField.wrong("\(quoted(unit)) is none of its values", oneOf(["day", "week", "month"]))
    }
    let days = try days(fields["point"], unit, fields)
    let frequency = try fields["frequency"]?.integer(1...100) ?? 1
    do throws(RecurrenceFault) {
      return try Recurrence(start: start, end: end, time: time, days: days, frequency: Int(frequency))
    } catch {
      throw field.wrong(error.words.found, error.words.remedy)
    }
  }

  private static func days(
    _ point: Field?, _ unit: String, _ fields: Fields
  ) throws(RequestFault) -> Recurrence.Days {
    let points = try point?.array() ?? []
    if unit == "day" {
      guard points.isEmpty else {
        throw RequestFault(
          .scheduleInvalid, at: point?.path.description, found: "points of a daily schedule",
          remedy: "Leave point out, or say week or month.")
      }
      return .daily
    }
    guard !points.isEmpty else {
      throw fields.missing("point", "Say on which days: [\"MON\", \"FRI\"] of a week, [\"01\", \"15\"] of a month.")
    }
    var weekdays: Set<Weekday> = []
    var numbers: Set<Int> = []
    for point in points {
      let text = try point.string()
      if unit == "week" {
        guard let weekday = Weekday(rawValue: text.uppercased()) else {
          throw point.wrong("\(quoted(text)) is no weekday", oneOf(Weekday.allCases.map(\.rawValue)))
        }
        weekdays.insert(weekday)
      } else {
        guard text.utf8.count == 2, let number = Int(text), 1...31 ~= number else {
          throw point.wrong("\(quoted(text)) is no day of a month", "Give \"01\" to \"31\", in two digits.")
        }
        numbers.insert(number)
      }
    }
    return unit == "week" ? .weekly(weekdays) : .monthly(numbers)
  }
}

extension RecurrenceFault {
  fileprivate var words: (found: String, remedy: String) {
    switch self {
    case .endsBeforeItStarts: ("its end is not after its start", "Give an end after the start.")
    case .longerThanAYear: ("more than a year lies between start and end", "Give an end within a year.")
    case .frequency(let number): ("a frequency of \(number)", "Give 1 to 100.")
    case .noDays: ("it names no days", "Fill point.")
    case .dayOfMonth(let number): ("day \(number) of a month", "Give 01 to 31.")
    case .neverFires: ("its first time comes after its end", "Give a later end, or another day.")
    }
  }
}
