/// Where an app is in its life, as the system sees it (spec section A).
///
///     notRunning ──launch──▶ inactive ──▶ active ◀──▶ inactive ──leave──▶ background ──▶ suspended
///         ▲  ▲                                                                │   ▲          │
///         │  └────────────── ended by the system ─────────────────────────────┘   └──event───┘
///     forceQuit ◀── swiped away by the user, from any state; left by opening the app or restarting the phone
public enum AppState: String, CaseIterable, Hashable, Sendable {
  /// Never started, or ended by the system: a background push may start it (D-107).
  case notRunning
  /// Swiped away by the user: no background push starts it (D-110, D-163).
  case forceQuit
  /// In memory, executes nothing.
  case suspended
  /// Executes, not on the screen.
  case background
  /// On the screen without events: a prompt or the centre lies over it, or it is in transit (D-124, D-160).
  case inactive
  case active

  /// On the screen: the foreground rows of the matrix hold (D-124).
  public var isFront: Bool {
    switch self {
    case .active, .inactive: true
    case .notRunning, .forceQuit, .suspended, .background: false
    }
  }

  /// A process exists.
  public var isAlive: Bool {
    switch self {
    case .active, .inactive, .background, .suspended: true
    case .notRunning, .forceQuit: false
    }
  }

  /// Its code runs now.
  public var isExecuting: Bool { isAlive && self != .suspended }
}
