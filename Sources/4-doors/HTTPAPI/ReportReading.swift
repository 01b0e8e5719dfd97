internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

/// Reads what JPush's report calls ask for (jpush.md §8).
enum ReportReading {
  /// An id as the caller wrote it, and the number it is; nil for one that no push can have.
  struct MessageID: Equatable {
    var text: String
    var number: Int64?
  }

  /// `msg_ids=1,2,3`.
  static func messageIDs(_ query: Fields, _ key: String, most: Int) throws(RequestFault) -> [MessageID] {
    guard let field = query[key] else {
      throw query.missing(key, "Give up to \(most) message ids with commas between them.")
    }
    let texts = try field.string().split(separator: ",", omittingEmptySubsequences: false)
    guard texts.count <= most else {
      throw field.wrong("it has \(texts.count) ids", "At most \(most) are allowed in one call.")
    }
    for text in texts where text.isEmpty || !text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
      throw field.wrong("\(quoted(String(text))) is no message id", "Ids are digits, with commas between them.")
    }
    return texts.map { MessageID(text: String($0), number: Int64($0)) }
  }

  // MARK: users

  struct Users: Equatable {
    var period: UsagePeriod
    /// As it was given.
    var startText: String
    var start: LocalTime
    var count: Int
  }

  /// Units, how their starts are written, and the most of them: sixty days in all, hours of one day.
  static func users(_ query: Fields, mostDays: Int = 60) throws(RequestFault) -> Users {
    guard let unitField = query["time_unit"] else { throw query.missing("time_unit", "Give HOUR, DAY or MONTH.") }
    guard let startField = query["start"] else { throw query.missing("start", "Give when to begin.") }
    guard let durationField = query["duration"] else { throw query.missing("duration", "Give how many units.") }
    let word = try unitField.word(outOf: ["HOUR", "DAY", "MONTH"])
    let period: UsagePeriod = word == "HOUR" ? .hour : word == "DAY" ? .day : .month
    let text = try startField.string()
    guard let start = period.start(text) else {
      throw RequestFault(
        .reportUnitMismatch, at: "start", found: "\(quoted(text)) is no start for \(word)",
        remedy: "Write it as \(period.example).")
    }
    let duration = try durationField.string()
    guard duration.utf8.count <= 4, let count = Int(duration), count > 0 else {
      throw durationField.wrong("\(quoted(duration)) stands here", "It must be a whole number above 0.")
    }
    let most: Int =
      switch period {
      case .hour: 24 - start.hour
      case .day: mostDays
      case .month: max(1, mostDays / 30)
      }
    guard count <= most else {
      throw RequestFault(
        .reportSpanTooLong, at: "duration", found: "\(count) times \(word) from \(quoted(text))",
        remedy: "At most \(most) from there: \(period == .hour ? "hours are told of one day" : "\(mostDays) days").")
    }
    return Users(period: period, startText: text, start: start, count: count)
  }

  // MARK: status/message

  struct StatusQuestion: Equatable {
    var message: MessageID
    var registrationIDs: [String]
  }

  /// `{"msg_id", "registration_ids", "date"}`. Other keys are let be: PHP's client writes the date under `data`.
  static func status(_ body: [UInt8]) throws(RequestFault) -> StatusQuestion {
    let fields = try RequestBody.object(body, codes: .report)
    guard let message = fields["msg_id"] else { throw fields.missing("msg_id", "Give the id that the push answered.") }
    guard let list = fields["registration_ids"] else {
      throw fields.missing("registration_ids", "Give an array of registration ids.")
    }
    let elements = try list.array()
    guard 1...1000 ~= elements.count else {
      throw list.wrong("it has \(elements.count) entries", "Give 1 to 1000 in one call.")
    }
    var ids: [String] = []
    for element in elements { ids.append(try element.string()) }
    if let date = fields["date"] {
      let text = try date.string()
      guard UsagePeriod.day.start(text) != nil else {
        throw date.wrong("\(quoted(text)) is no day", "Write it as \(UsagePeriod.day.example).")
      }
    }
    let number = try message.messageID()
    return StatusQuestion(message: MessageID(text: String(number), number: number), registrationIDs: ids)
  }
}

extension UsagePeriod {
  /// As `start` is written: `2026-11-30 09`, `2026-11-30`, `2026-11`.
  func start(_ text: String) -> LocalTime? {
    switch self {
    case .hour: text.utf8.count == 13 ? LocalTime(text + ":00:00") : nil
    case .day: text.utf8.count == 10 ? LocalTime(text + " 00:00:00") : nil
    case .month: text.utf8.count == 7 ? LocalTime(text + "-01 00:00:00") : nil
    }
  }

  var example: String {
    switch self {
    case .hour: "2026-11-30 09"
    case .day: "2026-11-30"
    case .month: "2026-11"
    }
  }

  func text(_ start: LocalTime) -> String { String(start.description.prefix(example.count)) }
}
