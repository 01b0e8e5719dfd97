import Basics
import PushPayload

/// The icon's number and what the notification centre keeps (spec section I1).
extension Phone {
  /// Sets the number on the icon; 0 also empties the app's part of the centre (D-230).
  mutating func setBadge(_ number: Int, of app: Int, _ rule: Rule) {
    let number = max(0, number)
    let old = apps[app].badge
    if number == 0, old == 0, settings.zeroMustChange {
      return record(.system("badge 0 on an icon without a badge: nothing happens"), app, "D-232")
    }
    if number != old {
      apps[app].badge = number
      record(.badge(from: old, to: number), app, rule)
    }
    if number == 0, settings.zeroClears {
      apps[app].collected = []
      removeAll(of: app, "badge 0 removes all of the app's notifications", "D-230")
    }
  }

  /// −1 hides the number and keeps the entries: by a local notification, and by the app's own call, which to iOS 10 is
  /// reported to clear (radar 32972838 of 2017; Tencent's push documentation says that from iOS 11 on it keeps; D-233).
  private mutating func hideBadge(of app: Int) {
    if settings.minusOneRemoves { return setBadge(0, of: app, "D-233") }
    let old = apps[app].badge
    apps[app].badge = 0
    if old != 0 { record(.badge(from: old, to: 0), app, "D-233") }
  }

  /// iOS 16 and later: the handler tells of failure. Apple names the errors, not when they come: we answer
  /// `badgeInputInvalid` for a negative number and `notificationsNotAllowed` without permission for badges (D-238).
  mutating func setBadgeCount(_ number: Int, of app: Int) {
    record(.app("calls setBadgeCount(\(number))"), app, "D-238")
    let bundleID = apps[app].description.bundleID
    func answer(_ arguments: Callback.Arguments) -> DeferredAnswer {
      .handler(bundleID, .badgeCountAnswer, arguments, "D-238")
    }
    func failure(_ error: NotificationError, _ why: String) -> DeferredAnswer {
      answer(.failure(domain: NotificationError.domain, code: error.rawValue, text: "\(error.name): \(why)"))
    }
    guard number >= 0 else { return later.append(failure(.badgeInputInvalid, "\(number) is no count")) }
    guard apps[app].permission.badge else {
      return later.append(failure(.notificationsNotAllowed, "no permission for badges"))
    }
    setBadge(number, of: app, number == 0 ? "D-230" : "D-231")
    later.append(answer(.none))
  }

  mutating func setBadgeByApp(_ number: Int, of app: Int) {
    record(.app("sets the badge to \(number)"), app, "D-229")
    if number < 0 { return hideBadge(of: app) }
    if number > 0, !apps[app].permission.badge, settings.iosVersion.major >= 8 {
      return record(.system("no permission for badges: no effect"), app, "D-238")
    }
    setBadge(number, of: app, number == 0 ? "D-230" : "D-231")
  }

  /// Removing entries never changes the badge (D-234).
  mutating func removeAll(of app: Int, _ reason: String, _ rule: Rule) {
    guard !apps[app].entries.isEmpty else { return }
    let ids = apps[app].entries.map(\.id)
    apps[app].entries = []
    record(.removed(ids: ids, reason: reason), app, rule)
  }

  // MARK: the app's calls

  mutating func removeDelivered(_ ids: [String]?, of app: Int) {
    guard settings.iosVersion.major >= 10 else {
      return record(
        .fault("iOS \(settings.iosVersion) cannot remove single notifications; badge 0 removes all"), app, "D-236")
    }
    later.append(.removal(apps[app].description.bundleID, ids))
  }

  /// Outside of a push's callback, or for a push that names none, there is nothing to remove.
  mutating func removeWithdrawn(_ userInfo: JSONObject?, of app: Int) {
    guard let withdrawn = userInfo?["_j_withdraw"]?.number else { return }
    let shown = apps[app].entries.filter { $0.argument.userInfo["_j_msgid"]?.number == withdrawn }
    if !shown.isEmpty { removeDelivered(shown.map(\.id), of: app) }
  }

  /// All that delivered notifications are asked for is done in the order of asking, after the call (D-236). What still
  /// waits for a summary counts as delivered here.
  mutating func removeNow(_ ids: [String]?, of app: Int) {
    apps[app].collected.removeAll { ids?.contains($0.id) ?? true }
    guard let ids else { return removeAll(of: app, "removed by the app", "D-236") }
    remove(ids, of: app, "removed by the app", "D-236")
  }

  mutating func getDelivered(of app: Int) {
    guard settings.iosVersion.major >= 10 else {
      return record(.fault("iOS \(settings.iosVersion) cannot list notifications"), app, "D-236")
    }
    later.append(.delivered(apps[app].description.bundleID))
  }

  /// Those of them that are there leave the screen, the lock screen and the centre; the badge stays (D-234).
  mutating func remove(_ ids: [String], of app: Int, _ reason: String, _ rule: Rule) {
    let present = apps[app].entries.map(\.id).filter { ids.contains($0) }
    guard !present.isEmpty else { return }
    apps[app].entries.removeAll { ids.contains($0.id) }
    record(.removed(ids: present, reason: reason), app, rule)
  }
}
