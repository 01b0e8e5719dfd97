/// A notification content extension in an app's bundle: what the user sees when a notification of its categories is
/// expanded (D-258), and what becomes of the actions there (D-149).
public struct ContentExtension: Hashable, Sendable {
  /// `UNNotificationExtensionCategory`; compared letter by letter. Of two extensions for one category the first counts.
  public var categories: [String]
  /// What `didReceive(_:completionHandler:)` answers to an action; nil: it is not implemented, the app gets the action.
  public var response: Response?
  /// `UNNotificationExtensionDefaultContentHidden`: only its own view shows, not the text of the notification.
  public var hidesDefaultContent = false
  /// `UNNotificationExtensionOverridesDefaultTitle`: its view's title in place of the app's name.
  public var title: String?
  /// `UNNotificationExtensionUserInteractionEnabled`: controls in it can be used, iOS 12 and later.
  public var isInteractive = false

  public init(categories: [String], response: Response? = nil) {
    self.categories = categories
    self.response = response
  }

  /// `UNNotificationContentExtensionResponseOption`, in Apple's names.
  public enum Response: String, CaseIterable, Sendable { case doNotDismiss, dismiss, dismissAndForwardAction }
}

extension Phone {
  mutating func expand(_ app: Int, id: String?) {
    record(.notModelled("the long look of a notification"), app, "D-258")
  }

  mutating func collapse(_ app: Int) { record(.notModelled("the long look of a notification"), app, "D-258") }
}
