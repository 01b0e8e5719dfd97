/// What was said about a push under way.
public enum PushControl: UInt8, Sendable {
  case running
  /// Nothing leaves until it runs again or its time is up.
  case paused
  /// What has not left never will.
  case withdrawn
}

/// A push that phones are to show no more.
public struct PushToClear: Sendable, Hashable {
  public var app: Int64
  public var push: Int64
  public var isFinished: Bool

  public init(app: Int64, push: Int64, isFinished: Bool) {
    self.app = app
    self.push = push
    self.isFinished = isFinished
  }
}

public enum PushControlAnswer: Sendable, Equatable {
  /// It is as asked, also when it was before.
  case done
  case noSuchPush
  /// Every device of it has ended.
  case finished
  /// It was withdrawn, and so it stays.
  case withdrawn
}
