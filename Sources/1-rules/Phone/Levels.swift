import Basics
import PushPayload

/// How far a notification may interrupt (spec section I5; Apple, `UNNotificationInterruptionLevel`).
extension Phone {
  typealias Level = Payload.InterruptionLevel

  /// The level that counts: what the push asks for, as far as this iOS knows it, the app is entitled to it and the user
  /// leaves it. What is missing is told.
  mutating func grantedLevel(of notice: Notice, at app: Int) -> Level {
    let payload = notice.content.payload
    let hasCriticalSound = payload.sound?.isCritical == true
    guard payload.interruptionLevel != nil || hasCriticalSound else { return .active }
    let version = settings.iosVersion.major
    if let level = payload.interruptionLevel, version < 15 {
      record(.system("iOS \(settings.iosVersion) ignores the level \(level.rawValue)"), app, "D-268")
    }
    if hasCriticalSound, version < 12 {
      record(.system("iOS \(settings.iosVersion) knows no critical sound: an ordinary one"), app, "D-224")
    }
    let level = version < 15 ? .active : payload.interruptionLevel ?? .active
    if level == .critical || (hasCriticalSound && version >= 12) {
      guard let reason = whyNotCritical(app) else { return .critical }
      record(.system("not critical, \(reason)"), app, level == .critical ? "D-263" : "D-224")
      return level == .critical ? .active : level
    }
    guard level == .timeSensitive else { return level }
    guard let reason = whyNotTimeSensitive(app) else { return .timeSensitive }
    record(.system("time-sensitive counts as active, \(reason)"), app, "D-262")
    return .active
  }

  private func whyNotCritical(_ app: Int) -> String? {
    guard apps[app].description.entitlements.contains(.criticalAlerts) else { return "the app is not entitled to it" }
    return apps[app].permission.critical ? nil : "the user has not allowed it"
  }

  private func whyNotTimeSensitive(_ app: Int) -> String? {
    guard apps[app].description.entitlements.contains(.timeSensitive) else { return "the app is not entitled to it" }
    return apps[app].permission.timeSensitive ? nil : "the user has turned it off"
  }

  /// Takes away what level, Focus and Do Not Disturb keep from the user. `isFront`: `willPresent` has decided, and only a
  /// Focus stands above it.
  mutating func quieten(
    _ parts: inout TimelineEntry.Shown.Parts, of notice: Notice, _ level: Level, at app: Int, isFront: Bool
  ) {
    if level == .passive, !isFront {
      drop(
        [.banner, .modal, .wakesScreen, .sound], from: &parts, notice, "passive: listed, nothing else", app, "D-260")
    }
    guard let focus = settings.focus else { return }
    if settings.iosVersion.major >= 15 {
      guard holds(focus, level, app) else { return }
      drop(
        [.banner, .modal, .lockScreen, .wakesScreen, .sound], from: &parts, notice,
        "held back by the Focus \(focus.name): to the centre, silently", app, "D-264")
    } else if silences(focus, level, isFront: isFront) {
      drop(
        [.banner, .modal, .wakesScreen, .sound], from: &parts, notice, "Do Not Disturb: listed, silently", app, "D-268")
    }
  }

  private mutating func drop(
    _ some: TimelineEntry.Shown.Parts, from parts: inout TimelineEntry.Shown.Parts, _ notice: Notice,
    _ reason: String, _ app: Int, _ rule: Rule
  ) {
    guard !parts.isDisjoint(with: some) else { return }
    parts.subtract(some)
    record(.withheld(pushID: notice.pushID, reason: reason), app, rule)
  }

  private func holds(_ focus: Focus, _ level: Level, _ app: Int) -> Bool {
    switch level {
    case .critical: false
    case .timeSensitive where focus.allowsTimeSensitive: false
    case .timeSensitive, .active, .passive: !focus.allowedApps.contains(apps[app].description.bundleID)
    }
  }

  /// iOS 6–14: a locked phone; by "Silence: Always" (iOS 7 on) an unlocked one too, but never the app in front.
  private func silences(_ focus: Focus, _ level: Level, isFront: Bool) -> Bool {
    guard settings.iosVersion.major >= 6, level != .critical, !isFront else { return false }
    return isLocked || (focus.silencesUnlocked && settings.iosVersion.major >= 7)
  }

  // MARK: the first time-sensitive one

  mutating func askAboutTimeSensitive(_ id: String, of app: Int) {
    guard apps[app].timeSensitiveQuestion == .notAsked else { return }
    apps[app].timeSensitiveQuestion = .asked(id)
    record(.system("its first time-sensitive one: asks whether to leave them on"), app, "D-266")
  }

  mutating func answerTimeSensitive(_ app: Int, keep: Bool) {
    guard !isLocked, case .asked(let id) = apps[app].timeSensitiveQuestion,
      apps[app].entries.contains(where: { $0.id == id })
    else { return record(.user("finds no question about time-sensitive notifications"), app, "D-266") }
    record(.user("\(keep ? "leaves" : "turns off") the app's time-sensitive notifications"), app, "D-266")
    apps[app].timeSensitiveQuestion = .answered
    if !keep { apps[app].permission.user.timeSensitive = false }
  }
}

/// Whether the user has been asked about an app's time-sensitive notifications (D-266).
enum TimeSensitiveQuestion: Hashable, Sendable {
  case notAsked
  /// The question stands below this entry.
  case asked(String)
  case answered
}
