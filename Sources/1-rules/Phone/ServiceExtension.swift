public import PushPayload

/// The notification service extension in an app's bundle, as a script: what it makes of a push, when, and how it fails
/// (D-250 … D-255). It runs in a process of its own, whatever the app's state.
public struct ServiceExtension: Hashable, Sendable {
  /// What `didReceive` changes before it calls the content handler, in order (D-251).
  public var edits: [ContentEdit]
  /// When it calls the content handler, from `didReceive` on (D-252).
  public var answer = AppDescription.Answer.atOnce
  /// What `serviceExtensionTimeWillExpire` makes of the original before it calls the handler; nil: it does not call it.
  public var expiryEdits: [ContentEdit]?
  /// Ends by a fault of its own when it would have answered; at once if it never would (D-255).
  public var crashes = false
  /// The most memory it takes; above `PhoneSettings.extensionMemoryMegabytes` the system ends it at once (D-255).
  public var memoryMegabytes = 8

  public init(edits: [ContentEdit] = []) { self.edits = edits }
}

/// One change that a service extension makes to `UNMutableNotificationContent` (D-251).
public enum ContentEdit: Hashable, Sendable {
  case title(EditedText)
  case subtitle(EditedText)
  case body(EditedText)
  /// nil: the number stays as it is.
  case badge(Int64?)
  case sound(Payload.Sound?)
  case category(String?)
  case thread(String?)
  case level(Payload.InterruptionLevel)
  case relevance(Double?)
  case targetContent(String?)
  case filterCriteria(String?)
  case attach(Attachment)
  /// Sets a member of `userInfo`; nil takes it away.
  case userInfo(key: String, JSONValue?)
  /// Answers a new, empty content: no text, sound, badge, attachment, `userInfo` (D-254).
  case empty
}

/// What a text is changed to.
public enum EditedText: Hashable, Sendable, ExpressibleByStringLiteral {
  case text(String)
  /// The string under this key beside `aps`, as if decrypted from there; without one the edit changes nothing.
  case custom(key: String)

  public init(stringLiteral text: String) { self = .text(text) }
}
