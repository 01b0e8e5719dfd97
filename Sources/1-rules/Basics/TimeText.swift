extension Instant {
  /// Reads RFC 3339 §5.6: `2026-11-30T09:00:00Z`, with any fraction (what is below a millisecond is cut) and any offset;
  /// `t`, `z` and a space for the `T` are taken as well. A leap second is the second after it. nil for anything else, and
  /// for days that no calendar has.
  public init?(rfc3339 text: String) {
    var rest = Array(text.utf8)[...]
    func digits(_ count: Int, then separators: String = "") -> Int64? {
      guard rest.count >= count else { return nil }
      var number: Int64 = 0
      for character in rest.prefix(count) {
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= character else { return nil }
        number = number * 10 + Int64(character - UInt8(ascii: "0"))
      }
      rest = rest.dropFirst(count)
      guard !separators.isEmpty else { return number }
      guard let next = rest.popFirst(), separators.utf8.contains(next) else { return nil }
      return number
    }
    guard
      let year = digits(4, then: "-"), let month = digits(2, then: "-"), let day = digits(2, then: "Tt "),
      let hour = digits(2, then: ":"), let minute = digits(2, then: ":"), let second = digits(2),
      1...12 ~= month, 1...CivilCalendar.days(inMonth: month, of: year) ~= day, hour < 24, minute < 60, second <= 60
    else { return nil }
    var millis: Int64 = 0
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      let fraction = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      guard !fraction.isEmpty else { return nil }
      for place in 0..<3 {
        let digit = fraction.dropFirst(place).first.map { Int64($0 - UInt8(ascii: "0")) } ?? 0
        millis = millis * 10 + digit
      }
      rest = rest.dropFirst(fraction.count)
    }
    var offset: Int64 = 0
    switch rest.popFirst() {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): break
    case .some(let sign) where sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"):
      guard let hours = digits(2, then: ":"), let minutes = digits(2), hours < 24, minutes < 60 else { return nil }
      offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    default: return nil
    }
    guard rest.isEmpty else { return nil }
    let days = CivilCalendar.days(year: year, month: month, day: day)
    self.init(milliseconds: ((days * 24 + hour) * 3600 + minute * 60 + second - offset) * 1000 + millis)
  }
}

extension LocalTime {
  /// Reads what `description` writes, all digits there: `2027-03-28 02:30:00`. nil for anything else, and for days and
  /// times that no calendar and no clock has.
  public init?(_ text: String) {
    guard let instant = Instant(rfc3339: text + "Z") else { return nil }
    self.init(seconds: instant.seconds)
    guard description == text else { return nil }
  }
}

extension Instant.Span {
  private static let units: [(name: String, length: Instant.Span)] = [
    ("d", .days(1)), ("h", .hours(1)), ("m", .minutes(1)), ("s", .seconds(1)), ("ms", .milliseconds(1)),
  ]

  /// Reads a length of time as people write it: digits, with a fraction if wanted, and a unit: `250ms`, `1.5s`, `2m`,
  /// `1h`, `30d`; rounded to whole milliseconds, and at the most what they can count. nil for anything else, a number
  /// without unit among it: nobody knows whether it means seconds.
  public init?(_ text: String) {
    var rest = text.utf8[...]
    func digits() -> String {
      let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      rest = rest.dropFirst(digits.count)
      return String(decoding: digits, as: UTF8.self)
    }
    guard let whole = Int64(digits()) else { return nil }
    var fraction = 0.0
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      let places = digits()
      guard !places.isEmpty, let part = Double("0." + places) else { return nil }
      fraction = part
    }
    let name = String(decoding: rest, as: UTF8.self)
    guard let unit = Self.units.first(where: { $0.name == name })?.length.milliseconds else { return nil }
    let part = Int64((fraction * Double(unit)).rounded())
    milliseconds = whole.multipliedClamped(by: unit).addedClamped(part)
  }

  /// As `init` reads it, in the largest unit that leaves no fraction.
  public var text: String {
    let unit = Self.units.first { milliseconds != 0 && milliseconds % $0.length.milliseconds == 0 }
    guard let unit else { return "0ms" }
    return "\(milliseconds / unit.length.milliseconds)\(unit.name)"
  }
}
