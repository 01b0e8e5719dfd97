import PushPayload

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

/// A notification whose long look is open.
struct LongLook: Hashable, Sendable {
  var bundleID: String
  var id: String
}

/// The long look: the whole text, the actions, and the content extension that shows it (spec section I4).
extension Phone {
  mutating func expand(_ app: Int, id: String?) {
    guard let entry = entry(id, of: app) else {
      return record(.user("finds no notification of the app to expand"), app, "D-151")
    }
    guard settings.iosVersion.major >= 8 else {
      return record(.user("finds no way to expand a notification on iOS \(settings.iosVersion)"), app, "D-258")
    }
    guard !(isLocked && previewsAreHidden(of: app)) else {
      return record(.user("presses the notification \(entry.id); the phone asks who it is"), app, "D-126")
    }
    longLook = LongLook(bundleID: apps[app].description.bundleID, id: entry.id)
    record(.user("expands the notification \(entry.id)"), app, "D-204")
    guard let view = contentExtension(for: entry.notice, app) else {
      return record(.system("the whole text and the actions show"), app, "D-204")
    }
    show(entry, in: view, app)
  }

  mutating func collapse(_ app: Int) {
    guard longLook?.bundleID == apps[app].description.bundleID else { return }
    longLook = nil
    record(.user("closes the notification"), app, "D-258")
  }

  /// The first extension for the notification's category, which the app must have registered (D-150, D-258).
  private func contentExtension(for notice: Notice, _ app: Int) -> ContentExtension? {
    guard settings.iosVersion.major >= 10, let category = category(of: notice, app) else { return nil }
    return apps[app].description.contentExtensions.first { $0.categories.contains(category.id) }
  }

  private mutating func show(_ entry: CentreEntry, in view: ContentExtension, _ app: Int) {
    recordCall(.contentExtensionDidReceive, of: app, .notification(entry.argument), "D-258")
    record(.system(view.words(settings.iosVersion)), app, "D-258")
  }

  /// A newer notification came while the long look of one of its thread is open in the same extension: it gets that too
  /// (Apple, `UNNotificationContentExtension.didReceive(_:)`).
  mutating func showInOpenExtension(_ entry: CentreEntry, _ app: Int) {
    guard let shown = openEntry(of: app), let view = contentExtension(for: shown.notice, app),
      contentExtension(for: entry.notice, app) == view,
      (shown.notice.content.payload.threadID ?? "") == (entry.notice.content.payload.threadID ?? "")
    else { return }
    longLook?.id = entry.id
    show(entry, in: view, app)
  }

  /// The entry in the open long look, as long as it is there.
  private func openEntry(of app: Int) -> CentreEntry? {
    guard let longLook, longLook.bundleID == apps[app].description.bundleID else { return nil }
    return apps[app].entries.last { $0.id == longLook.id }
  }

  /// What becomes of a button that the user pressed (D-149).
  enum ActionPassage {
    /// The app gets it.
    case toApp
    /// The content extension has dealt with it, and the notification goes.
    case dismissed
    /// The content extension has dealt with it and stays open.
    case keptOpen
  }

  /// Asks the content extension that shows the entry about a button, before the app hears of it; without one, or one
  /// without that method, the app gets it straight (D-149).
  mutating func askContentExtension(_ action: String, text: String?, on entry: CentreEntry, of app: Int)
    -> ActionPassage
  {
    guard let shown = openEntry(of: app), shown.id == entry.id, let view = contentExtension(for: entry.notice, app)
    else { return .toApp }
    guard let response = view.response else {
      longLook = nil
      return .toApp
    }
    let argument = ResponseArgument(action, to: entry.argument, userText: text)
    recordCall(.contentExtensionResponse, of: app, .response(argument), "D-149")
    record(.app("its content extension answers \(response.rawValue)"), app, "D-149")
    if response != .doNotDismiss { longLook = nil }
    switch response {
    case .doNotDismiss: return .keptOpen
    case .dismiss: return .dismissed
    case .dismissAndForwardAction: return .toApp
    }
  }
}

extension ContentExtension {
  fileprivate func words(_ version: IOSVersion) -> String {
    var words = "its content extension shows it"
    if let title { words += ", headed “\(title)”" }
    if hidesDefaultContent { words += ", without the notification's own text" }
    if isInteractive { words += version.major >= 12 ? ", with controls" : ", its controls dead before iOS 12" }
    return words
  }
}
