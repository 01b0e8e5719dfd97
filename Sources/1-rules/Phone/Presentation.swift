import Basics
import PushPayload

/// What the user sees and hears: banner, lock screen, centre, sound, badge.
extension Phone {
  /// Shows what came while the app was not on the screen, as far as the user allows.
  mutating func showBehind(_ notice: Notice, at app: Int, _ rule: Rule) {
    let permission = permission(of: app, for: notice)
    guard permission.isGranted else {
      let status = permission.status == .notDetermined ? "not asked for" : "denied"
      return record(
        .withheld(pushID: notice.pushID, reason: "permission \(status): delivered silently, nothing shown"), app,
        "D-034")
    }
    let level = grantedLevel(of: notice, at: app)
    let parts = allowed(.everything, of: notice, level, permission, on: placesOnScreen(of: app, permission))
    if waitsForSummary(level, app) { return collect(notice, parts, at: app) }
    show(notice, at: app, parts, level, isFront: false, rule)
  }

  private func placesOnScreen(of app: Int, _ permission: Permission) -> TimelineEntry.Shown.Parts {
    if isLocked { return permission.lockScreen ? [.lockScreen, .wakesScreen] : [] }
    return overlay(of: app, permission)?.part ?? []
  }

  /// Shows what `willPresent` answered, each part only if the push has it and the user allows it (D-101).
  mutating func show(
    _ notice: Notice, at app: Int, as options: PresentationOptions, _ rule: Rule
  ) {
    let permission = apps[app].permission
    let level = grantedLevel(of: notice, at: app)
    let parts = allowed(options, of: notice, level, permission, on: overlay(of: app, permission)?.part ?? [])
    show(notice, at: app, parts, level, isFront: true, rule)
  }

  /// What `options` ask for, each part only if the notification has it and the user allows it. `places`: where an alert
  /// comes up now.
  private func allowed(
    _ options: PresentationOptions, of notice: Notice, _ level: Level, _ permission: Permission,
    on places: TimelineEntry.Shown.Parts
  ) -> TimelineEntry.Shown.Parts {
    var parts: TimelineEntry.Shown.Parts = []
    if notice.content.hasAlert {
      if !options.isDisjoint(with: [.banner, .alert]) { parts.formUnion(places) }
      if !options.isDisjoint(with: [.list, .alert]), settings.iosVersion.hasCentre, permission.centre {
        parts.insert(.centre)
      }
    }
    if options.contains(.sound), level == .critical || (notice.content.hasSound && permission.sound) {
      parts.insert(.sound)
    }
    if options.contains(.badge), notice.content.hasBadge, permission.badge { parts.insert(.badge) }
    return parts
  }

  /// The app in front has been told by its own delegate, not by the notification centre's: on iOS 10 and later a switch
  /// lets it be shown all the same (D-120).
  mutating func showWithoutDelegate(_ notice: Notice, at app: Int, _ rule: Rule) {
    if settings.iosVersion.generation == .g3, settings.noDelegateShows {
      return show(notice, at: app, as: .everything, "D-120")
    }
    let reason = "the app is in front: nothing shown, no sound, badge untouched"
    record(.withheld(pushID: notice.pushID, reason: reason), app, rule)
  }

  private mutating func show(
    _ notice: Notice, at app: Int, _ allowed: TimelineEntry.Shown.Parts, _ level: Level, isFront: Bool, _ rule: Rule
  ) {
    guard !allowed.isEmpty else {
      let reason =
        notice.content.isVisible ? "nothing of it may be shown by the user's settings" : notice.content.whyNothing
      return record(.withheld(pushID: notice.pushID, reason: reason), app, notice.content.isVisible ? "D-027" : "D-117")
    }
    var parts = allowed
    quieten(&parts, of: notice, level, at: app, isFront: isFront)
    if parts.contains(.badge) { changeBadge(by: notice, at: app) }
    guard !parts.isEmpty else { return }
    if settings.voiceOverAnnouncements, apps[app].permission.announcement, !parts.isDisjoint(with: Self.comesUp) {
      parts.insert(.spoken)
    }
    record(.shown(shown(notice, app, parts, level)), app, rule)
    if !parts.isDisjoint(with: Self.listed) { enter(notice, parts, level, app) }
  }

  /// Where an entry of it stands.
  static let listed: TimelineEntry.Shown.Parts = [.banner, .modal, .lockScreen, .centre]
  /// What the user would notice, so that it is worth saying.
  private static let comesUp: TimelineEntry.Shown.Parts = [.banner, .modal, .wakesScreen]

  mutating func changeBadge(by notice: Notice, at app: Int) {
    guard let badge = notice.content.payload.badge else { return }
    setBadge(Int(clamping: badge), of: app, badge == 0 ? "D-230" : "D-210")
  }

  private mutating func shown(
    _ notice: Notice, _ app: Int, _ parts: TimelineEntry.Shown.Parts, _ level: Level
  ) -> TimelineEntry.Shown {
    var shown = TimelineEntry.Shown(pushID: notice.pushID, id: notice.id, parts: parts, level: level)
    (shown.heading, shown.subtitle, shown.body) = words(of: notice, of: app)
    if parts.contains(.sound) {
      // a critical one without a sound plays the system's critical sound (D-263)
      shown.sound = sound(named: notice.content.payload.sound?.name ?? "default", level, app)
      if level == .critical { shown.volume = notice.content.payload.sound?.volume ?? 1 }
    }
    if !shown.heading.isEmpty {
      shown.watchTitle = watchTitle(of: notice)
      shown.attachments = notice.content.attachments.map(\.file)
      if parts.contains(.modal) { shown.buttons = alertButtons(of: notice.content, app) }
    }
    if parts.contains(.badge) { shown.badge = notice.content.payload.badge.map { Int(clamping: $0) } }
    return shown
  }

  /// The same request identifier replaces: one entry, new, on top (D-235).
  mutating func replace(_ id: String, of app: Int) {
    guard apps[app].entries.contains(where: { $0.id == id }) || apps[app].collected.contains(where: { $0.id == id })
    else { return }
    apps[app].entries.removeAll { $0.id == id }
    apps[app].collected.removeAll { $0.id == id }
    record(.removed(ids: [id], reason: "replaced by a newer one with the same identifier"), app, "D-235")
  }

  private mutating func enter(_ notice: Notice, _ parts: TimelineEntry.Shown.Parts, _ level: Level, _ app: Int) {
    replace(notice.id, of: app)
    let isUp = !parts.isDisjoint(with: [.banner, .modal])
    let overlay = isUp ? overlay(of: app, permission(of: app, for: notice)) : nil
    let entry = CentreEntry(
      id: notice.id, notice: notice, shownAt: now, onLockScreen: parts.contains(.lockScreen),
      inCentre: parts.contains(.centre), overlay: overlay)
    apps[app].entries.append(entry)
    showInOpenExtension(entry, app)
    if overlay == .banner {
      raiseBanner(TemporaryBanner.Entry(bundleID: apps[app].description.bundleID, id: notice.id))
    }
    if level == .timeSensitive { askAboutTimeSensitive(notice.id, of: app) }
  }
}

extension CentreEntry.Overlay {
  fileprivate var part: TimelineEntry.Shown.Parts {
    switch self {
    case .banner, .persistentBanner: .banner
    case .modal: .modal
    }
  }
}
