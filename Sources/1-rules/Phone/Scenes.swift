/// One instance of an app's user interface: the `UISceneSession` that lives on when its scene is disconnected (D-137).
public struct SceneID: Hashable, Sendable, CustomStringConvertible {
  /// From 1 on, never used again while the app is installed.
  public var number: Int

  public init(_ number: Int) { self.number = number }

  public var description: String { "scene \(number)" }
}

/// `UIScene.ActivationState`.
public enum ScenePhase: String, CaseIterable, Hashable, Sendable {
  /// Not connected: there is a session, but no scene in memory.
  case unattached
  case background
  case foregroundInactive
  case foregroundActive
}
