import Basics

/// The time in a `date` header (RFC 9110 §5.6.7, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`); nil for anything else.
func instant(fromHTTPDate text: some Sequence<UInt8>) -> Instant? {
  let parts = String(decoding: Array(text), as: UTF8.self).split(separator: " ")
  guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), let year = Int64(parts[3]) else { return nil }
  let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  guard let month = months.firstIndex(of: String(parts[2])) else { return nil }
  let time = parts[4].split(separator: ":").compactMap { Int64($0) }
  guard time.count == 3, (0..<24).contains(time[0]), (0..<60).contains(time[1]), (0...60).contains(time[2]),
    (1...31).contains(day), (1970...9999).contains(year)
  else { return nil }
  let days = CivilCalendar.days(year: year, month: Int64(month + 1), day: day)
  return Instant(seconds: days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2])
}
