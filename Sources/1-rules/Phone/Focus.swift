/// A Focus that the user has turned on (iOS 15 and later, D-264). Before, Do Not Disturb: it has no name and lets no app
/// through (D-268).
public struct Focus: Hashable, Sendable, CustomStringConvertible {
  public var name: String
  /// Bundle ids of the apps that the user lets through; iOS 15 and later.
  public var allowedApps: Set<String>
  /// Time-sensitive notifications of all apps come through (D-262).
  public var allowsTimeSensitive: Bool
  /// "Silence: Always" of iOS 7–14; else Do Not Disturb silences a locked phone only.
  public var silencesUnlocked: Bool

  public init(
    _ name: String = "Do Not Disturb", allowedApps: Set<String> = [], allowsTimeSensitive: Bool = true,
    silencesUnlocked: Bool = false
  ) {
    self.name = name
    self.allowedApps = allowedApps
    self.allowsTimeSensitive = allowsTimeSensitive
    self.silencesUnlocked = silencesUnlocked
  }

  /// The same for equal values, whatever the order of hashing.
  public var description: String {
    var text = "“\(name)”"
    if !allowedApps.isEmpty { text += " allowing \(allowedApps.sorted().joined(separator: "+"))" }
    if !allowsTimeSensitive { text += " without time-sensitive" }
    if silencesUnlocked { text += " always" }
    return text
  }
}
