public import Basics

/// A time that a clock on the wall shows once a day, to the second.
public struct TimeOfDay: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Since midnight, 0 ..< 86,400.
  public let second: Int

  /// nil for what no clock shows.
  public init?(_ hour: Int, _ minute: Int, _ second: Int = 0) {
    guard 0..<24 ~= hour, 0..<60 ~= minute, 0..<60 ~= second else { return nil }
    self.second = (hour * 60 + minute) * 60 + second
  }

  /// Reads `HH:MM:SS`, all digits there.
  public init?(_ text: String) {
    guard let local = LocalTime("2000-01-01 " + text) else { return nil }
    self.init(of: local)
  }

  public init(of local: LocalTime) {
    second = (local.hour * 60 + local.minute) * 60 + local.second
  }

  public var description: String { String(LocalTime(seconds: Int64(second)).description.suffix(8)) }

  public static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.second < right.second }

  /// On a day, counted from 1970-01-01.
  func onDay(_ day: Int64) -> LocalTime { LocalTime(seconds: day * 86_400 + Int64(second)) }
}
