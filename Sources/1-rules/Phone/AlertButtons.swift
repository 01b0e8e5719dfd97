import PushPayload

/// The buttons of a modal alert (D-127, D-209).
extension Content {
  /// False: the alert has only Close, since `action-loc-key` is null or `show-view` is false.
  var hasViewButton: Bool {
    guard let alert = userInfo["aps"]?.object?["alert"]?.object else { return true }
    return alert["action-loc-key"] != .null && alert["show-view"] != .bool(false)
  }
}

extension Phone {
  /// All there is of the entry is a modal alert, or a lock-screen alert of iOS 3 and 4, with no button but Close.
  func hasCloseOnly(_ entry: CentreEntry) -> Bool {
    (entry.overlay == .modal || !settings.iosVersion.hasCentre) && !entry.inCentre
      && !entry.notice.content.hasViewButton
  }

  /// What stands on the buttons of an app's modal alert, left to right: Close, then View or the text that the push
  /// names by `action-loc-key`. Empty: no such notification.
  public func alertButtons(of bundleID: String, id: String?) -> [String] {
    guard let app = index(of: bundleID), let entry = entry(id, of: app) else { return [] }
    return alertButtons(of: entry.notice.content, app)
  }

  /// `action-loc-key` is looked up in the app's strings for the phone's language; without such a string it stands itself.
  func alertButtons(of content: Content, _ app: Int) -> [String] {
    guard content.hasViewButton else { return ["Close"] }
    let alert = content.payload.alert
    let word = alert?.actionLocKey.map { apps[app].description.strings(for: settings.language)[$0] ?? $0 }
    return ["Close", word ?? alert?.action ?? "View"]
  }
}
