import Basics
import Schedule

/// How fast a caller wants its push to leave.
public enum PushRate: Sendable, Hashable {
  /// All of it evenly over so many minutes (`options.big_push_duration`).
  case over(minutes: Int)
  /// Devices a second.
  case perSecond(Int)

  /// JPush's longest.
  public static let mostMinutes = 1400
  /// JPush's most at once for an app; another is 1012.
  static let mostAtOnce = 20

  func pace(for devices: Int) -> SendPace {
    switch self {
    case .over(let minutes): SendPace(devices: Int64(devices), per: .minutes(Int64(minutes)))
    case .perSecond(let count): SendPace(devices: Int64(count), per: .seconds(1))
    }
  }

  /// How long it takes, which comes on top of the time to live: what leaves last lives as long as what leaves first.
  func length(for devices: Int) -> Instant.Span {
    switch self {
    case .over(let minutes): .minutes(Int64(minutes))
    case .perSecond(let count): .seconds(Int64(devices / max(1, count)))
    }
  }
}
