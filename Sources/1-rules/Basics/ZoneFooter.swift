/// The footer of a TZif file: a POSIX TZ string with the extension of RFC 9636 §3.3.2, which tells what goes on after the
/// last transition.
struct ZoneFooter: Hashable, Sendable {
  var standard: TimeZoneRules.Offset
  var daylight: Daylight?

  struct Daylight: Hashable, Sendable {
    var offset: TimeZoneRules.Offset
    var start: Change
    var end: Change
  }

  /// A day of every year, and the local time of that day in seconds after midnight, −167 h … 167 h.
  struct Change: Hashable, Sendable {
    var day: Day
    var time: Int64

    enum Day: Hashable, Sendable {
      /// `Jn`: 1 … 365, 29 February never counted.
      case julian(Int64)
      /// `n`: 0 … 365, 29 February counted.
      case ordinal(Int64)
      /// `Mm.w.d`: weekday 0 Sunday … 6, of week 1 … 5 (5: the last) of month 1 … 12.
      case weekday(month: Int64, week: Int64, weekday: Int64)
    }

    /// Seconds since 1970 as if local time were UTC.
    func seconds(in year: Int64) -> Int64 {
      let newYear = CivilCalendar.days(year: year, month: 1, day: 1)
      let days: Int64
      switch day {
      case .julian(let number):
        days = newYear + number - 1 + (number >= 60 && CivilCalendar.isLeap(year) ? 1 : 0)
      case .ordinal(let number): days = newYear + number
      case .weekday(let month, let week, let weekday):
        let first = CivilCalendar.days(year: year, month: month, day: 1)
        let ahead = (weekday + 1 - CivilCalendar.weekday(first) + 7) % 7
        var day = 1 + ahead + (week - 1) * 7
        if day > CivilCalendar.days(inMonth: month, of: year) { day -= 7 }
        days = first + day - 1
      }
      return days * 86_400 + time
    }
  }

  /// `start` nil: the table before ends without a change into this one.
  func stretch(at seconds: Int64, notBefore first: Int64?) -> TimeZoneRules.Stretch {
    guard let daylight else { return TimeZoneRules.Stretch(offset: standard, start: first) }
    let year = CivilCalendar.day(seconds.flooredDividing(by: 86_400)).year
    var stretch = TimeZoneRules.Stretch(offset: standard, start: nil)
    for change in changes(around: year, daylight) {
      if change.at <= seconds {
        stretch.offset = change.offset
        stretch.start = change.at
      } else if stretch.end == nil, change.offset != stretch.offset {
        stretch.end = change.at
      }
    }
    if let first, stretch.start.map({ $0 < first }) ?? true { stretch.start = first }
    return stretch
  }

  /// The changes of three years, in their order. Where daylight time never ends, its end and the next start are one
  /// instant, and the start counts.
  private func changes(
    around year: Int64, _ daylight: Daylight
  ) -> [(at: Int64, offset: TimeZoneRules.Offset)] {
    var changes: [(at: Int64, offset: TimeZoneRules.Offset, isStart: Bool)] = []
    for year in year - 1...year + 1 {
      changes.append(
        (daylight.end.seconds(in: year) - Int64(daylight.offset.seconds), standard, false))
      changes.append(
        (daylight.start.seconds(in: year) - Int64(standard.seconds), daylight.offset, true))
    }
    changes.sort { ($0.at, $0.isStart ? 1 : 0) < ($1.at, $1.isStart ? 1 : 0) }
    return changes.map { ($0.at, $0.offset) }
  }
}

extension ZoneFooter {
  /// Reads `CET-1CEST,M3.5.0,M10.5.0/3`; nil for what is no such string. A zone with daylight time must say when.
  init?(_ text: some Sequence<UInt8>) {
    var reader = Reader(rest: Array(text)[...])
    guard let standard = reader.name(), let west = reader.time(mostHours: 24) else { return nil }
    self.standard = TimeZoneRules.Offset(seconds: Int(-west), abbreviation: standard)
    guard !reader.rest.isEmpty else { return }
    guard let name = reader.name() else { return nil }
    var seconds = -west + 3600
    if reader.rest.first != UInt8(ascii: ",") {
      guard let west = reader.time(mostHours: 24) else { return nil }
      seconds = -west
    }
    guard reader.take(","), let start = reader.change(), reader.take(","), let end = reader.change(),
      reader.rest.isEmpty
    else { return nil }
    daylight = Daylight(
      offset: TimeZoneRules.Offset(seconds: Int(seconds), isDaylight: true, abbreviation: name), start: start,
      end: end)
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest = rest.dropFirst()
      return true
    }

    /// Letters, or anything of letters, digits and signs in angle brackets.
    mutating func name() -> String? {
      let quoted = take("<")
      let name = rest.prefix { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): quoted
        default: false
        }
      }
      rest = rest.dropFirst(name.count)
      guard name.count >= 3, name.count <= 16, !quoted || take(">") else { return nil }
      return String(decoding: name, as: UTF8.self)
    }

    mutating func number(_ range: ClosedRange<Int64>) -> Int64? {
      let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.prefix(4)
      guard let number = Int64(String(decoding: digits, as: UTF8.self)), range.contains(number) else { return nil }
      rest = rest.dropFirst(digits.count)
      return number
    }

    /// `[+-]hh[:mm[:ss]]`, in seconds.
    mutating func time(mostHours: Int64) -> Int64? {
      let negative = take("-")
      if !negative { _ = take("+") }
      guard let hours = number(0...mostHours) else { return nil }
      var seconds = hours * 3600
      if take(":") {
        guard let minutes = number(0...59) else { return nil }
        seconds += minutes * 60
        if take(":") {
          guard let more = number(0...59) else { return nil }
          seconds += more
        }
      }
      return negative ? -seconds : seconds
    }

    /// `Mm.w.d`, `Jn` or `n`, and `/time`; 02:00 without.
    mutating func change() -> Change? {
      let day: Change.Day
      if take("M") {
        guard let month = number(1...12), take("."), let week = number(1...5), take("."), let weekday = number(0...6)
        else { return nil }
        day = .weekday(month: month, week: week, weekday: weekday)
      } else if take("J") {
        guard let number = number(1...365) else { return nil }
        day = .julian(number)
      } else {
        guard let number = number(0...365) else { return nil }
        day = .ordinal(number)
      }
      guard take("/") else { return Change(day: day, time: 7200) }
      guard let time = time(mostHours: 167) else { return nil }
      return Change(day: day, time: time)
    }
  }
}
