import Basics

extension ScheduleTrigger {
  /// One line, as stores keep it: `2027-03-01 09:00:00`, or
  /// `week 2 MON,FRI at 09:00:00 from 2027-03-01 00:00:00 to 2027-06-01 00:00:00`.
  public var text: String {
    switch self {
    case .single(let wall): return wall.description
    case .periodical(let recurrence):
      let words: [String] =
        switch recurrence.days {
        case .daily: ["day", "\(recurrence.frequency)"]
        case .weekly: ["week", "\(recurrence.frequency)", recurrence.points.joined(separator: ",")]
        case .monthly: ["month", "\(recurrence.frequency)", recurrence.points.joined(separator: ",")]
        }
      return (words + ["at \(recurrence.time) from \(recurrence.start) to \(recurrence.end)"]).joined(separator: " ")
    }
  }

  /// Reads what `text` writes; nil for anything else.
  public init?(text: String) {
    if let wall = LocalTime(text) {
      self = .single(wall)
      return
    }
    let words = text.split(separator: " ").map(String.init)
    guard words.count >= 9, words[words.count - 3] == "to", words[words.count - 6] == "from",
      let end = LocalTime("\(words[words.count - 2]) \(words[words.count - 1])"),
      let start = LocalTime("\(words[words.count - 5]) \(words[words.count - 4])"),
      let time = TimeOfDay(words[words.count - 7]), let frequency = Int(words[1])
    else { return nil }
    let points = words[2].split(separator: ",").map(String.init)
    let days: Recurrence.Days
    switch words[0] {
    case "day": days = .daily
    case "week": days = .weekly(Set(points.compactMap(Weekday.init(rawValue:))))
    case "month": days = .monthly(Set(points.compactMap { Int($0) }))
    default: return nil
    }
    guard let recurrence = try? Recurrence(start: start, end: end, time: time, days: days, frequency: frequency)
    else { return nil }
    self = .periodical(recurrence)
  }
}

extension Recurrence {
  /// As JPush writes the days of a period, in their order: `MON`, `WED`; `01`, `31`; none for every day.
  public var points: [String] {
    switch days {
    case .daily: []
    case .weekly(let weekdays): weekdays.sorted { $0.daysAfterMonday < $1.daysAfterMonday }.map(\.rawValue)
    case .monthly(let numbers): numbers.sorted().map { $0 < 10 ? "0\($0)" : "\($0)" }
    }
  }
}
