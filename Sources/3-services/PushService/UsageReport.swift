public import Basics
import Store

/// How a report of an app's users cuts up time.
public enum UsagePeriod: Sendable, CaseIterable {
  case hour
  case day
  case month
}

/// An app's users in one period.
public struct UsageRow: Sendable, Equatable {
  /// The period's beginning in UTC+8, whose days JPush's reports have.
  public var start: LocalTime
  /// Devices that registered for the first time.
  public var new: Int
  /// Devices that were heard of, each once.
  public var active: Int
}

extension PushService {
  /// `count` periods from the one that begins at `start`, each there, also without anybody.
  public func usage(
    _ app: AppRecord, _ period: UsagePeriod, from start: LocalTime, count: Int
  ) async throws(RequestFault) -> [UsageRow] {
    let unit = UsageUnit(period)
    let first = unit.start(of: UsageUnit.instant(start))
    let counts = try await faulting(
      as: .push, await store.usage(app: app.id, unit, from: first, before: unit.start(count, after: first)))
    return (0..<count).map { number in
      let start = unit.start(number, after: first)
      let count = counts[start] ?? UsageCount()
      return UsageRow(start: UsageUnit.zone.local(at: start), new: count.new, active: count.active)
    }
  }
}

extension UsageUnit {
  fileprivate init(_ period: UsagePeriod) {
    switch period {
    case .hour: self = .hour
    case .day: self = .day
    case .month: self = .month
    }
  }
}
