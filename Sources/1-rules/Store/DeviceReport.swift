public import Basics

/// What a device can say became of a push on it; the numbers are kept in stores.
public enum ReportKind: UInt8, CaseIterable, Sendable {
  /// Its service extension had it (jpush.md §15.6).
  case received = 1
  /// Its user was shown it, or had it before them.
  case shown = 2
  case clicked = 3
}

public struct DeviceReport: Sendable, Hashable {
  /// The message id.
  public var push: Int64
  public var kind: ReportKind
  /// By the device's clock, no later than now by ours.
  public var at: Instant

  public init(push: Int64, kind: ReportKind, at: Instant) {
    self.push = push
    self.kind = kind
    self.at = at
  }
}

public enum ReportAnswer: Sendable, Equatable {
  case counted
  /// Said before; nothing was changed.
  case repeated
  /// The app has no such push, or it was not for this device; nothing was changed.
  case notMeant
}

/// Whether a device had a push, as far as it has said.
public enum ReportStanding: Sendable {
  /// It has said that it received, showed or opened it.
  case reported
  case silent
  /// The app has no such device.
  case noSuchDevice
  /// The app has no such push, or it was not for this device.
  case notTargeted
}

/// How many devices ended so and said so.
public struct PushTally: Sendable, Equatable {
  public var outcomes: [OutcomeKind: Int] = [:]
  public var reports: [ReportKind: Int] = [:]

  public init(outcomes: [OutcomeKind: Int] = [:], reports: [ReportKind: Int] = [:]) {
    self.outcomes = outcomes
    self.reports = reports
  }
}

/// A push's counts taken apart two ways; either way they sum up to those of its `PushProgress`.
public struct PushBreakdown: Sendable, Equatable {
  /// By the hour's beginning, in UTC: of an outcome when it was kept, of a report when the device says it was.
  public var hours: [Instant: PushTally] = [:]
  /// By the app version that the device told last before; "" where it told none.
  public var appVersions: [String: PushTally] = [:]

  public init(hours: [Instant: PushTally] = [:], appVersions: [String: PushTally] = [:]) {
    self.hours = hours
    self.appVersions = appVersions
  }
}
