/// What was said about a push under way.
public enum PushControl: UInt8, Sendable {
  case running
  /// Nothing leaves until it runs again or its time is up.
  case paused
  /// What has not left never will.
  case withdrawn
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
