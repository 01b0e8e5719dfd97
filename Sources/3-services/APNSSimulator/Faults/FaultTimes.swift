internal import Basics

extension Instant.Span {
  /// `250ms`, `2s`, `1.5s`, `10m`, `2h`, `1d`; nil for anything else, a sign among it.
  init?(faultText text: String) {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit: Double
    switch text.dropFirst(number.count) {
    case "ms": unit = 1
    case "s": unit = 1000
    case "m": unit = 60_000
    case "h": unit = 3_600_000
    case "d": unit = 86_400_000
    default: return nil
    }
    guard number.first?.isNumber == true, let count = Double(number), count * unit <= 1e13 else { return nil }
    self.init(milliseconds: Int64((count * unit).rounded()))
  }

  /// In the largest unit that leaves no fraction.
  var faultText: String {
    for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)] as [(String, Int64)]
    where milliseconds != 0 && milliseconds % size == 0 {
      return "\(milliseconds / size)\(unit)"
    }
    return "\(milliseconds)ms"
  }
}
