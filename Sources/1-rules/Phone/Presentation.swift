import Basics
import PushPayload

/// What the user sees and hears: banner, lock screen, centre, sound, badge.
extension Phone {
  /// Shows what came while the app was not on the screen, as far as the user allows.
  mutating func showBehind(_ notice: Notice, at app: Int, _ rule: Rule) {
    let permission = apps[app].permission
    guard permission.isGranted else {
      let status = permission.status == .notDetermined ? "not asked for" : "denied"
      return record(
        .withheld(pushID: notice.pushID, reason: "permission \(status): delivered silently, nothing shown"), app,
        "D-034")
    }
    var parts: TimelineEntry.Shown.Parts = []
    if notice.content.hasAlert {
      parts.formUnion(placesOnScreen(of: app))
      if settings.iosVersion.hasCentre, permission.centre { parts.insert(.centre) }
    }
    if notice.content.hasSound, permission.sound { parts.insert(.sound) }
    if notice.content.hasBadge, permission.badge { parts.insert(.badge) }
    show(notice, at: app, parts, rule)
  }

  private func placesOnScreen(of app: Int) -> TimelineEntry.Shown.Parts {
    let permission = apps[app].permission
    if isLocked { return permission.lockScreen ? [.lockScreen, .wakesScreen] : [] }
    guard permission.banner else { return [] }
    guard settings.iosVersion.hasCentre else { return .modal }
    switch permission.user.style ?? settings.appearanceOfAlert {
    case .none: return []
    case .banner: return .banner
    case .modal: return .modal
    }
  }

  /// Shows what `willPresent` answered, each part only if the push has it and the user allows it (D-101).
  mutating func show(
    _ notice: Notice, at app: Int, as options: PresentationOptions, _ rule: Rule
  ) {
    let permission = apps[app].permission
    var parts: TimelineEntry.Shown.Parts = []
    if notice.content.hasAlert {
      if options.contains(.banner) || options.contains(.alert), permission.banner { parts.insert(.banner) }
      if options.contains(.list) || options.contains(.alert), permission.centre { parts.insert(.centre) }
    }
    if notice.content.hasSound, options.contains(.sound), permission.sound { parts.insert(.sound) }
    if notice.content.hasBadge, options.contains(.badge), permission.badge { parts.insert(.badge) }
    show(notice, at: app, parts, rule)
  }

  private mutating func show(
    _ notice: Notice, at app: Int, _ parts: TimelineEntry.Shown.Parts, _ rule: Rule
  ) {
    if parts.contains(.badge), let badge = notice.content.payload.badge {
      setBadge(Int(clamping: badge), of: app, badge == 0 ? "D-230" : "D-210")
    }
    guard !parts.isEmpty else {
      let reason =
        notice.content.isVisible ? "nothing of it may be shown by the user's settings" : "payload shows nothing"
      return record(.withheld(pushID: notice.pushID, reason: reason), app, notice.content.isVisible ? "D-027" : "D-117")
    }
    record(.shown(shown(notice, app, parts)), app, rule)
    let listed: TimelineEntry.Shown.Parts = [.banner, .modal, .lockScreen, .centre]
    if !parts.isDisjoint(with: listed) { enter(notice, parts, app) }
  }

  /// As written on the screen; empty when there is nothing to read. From iOS 10 on a title heads the entry, before and
  /// without one the app's name (D-203).
  func words(of notice: Notice, of app: Int) -> (heading: String, subtitle: String, body: String) {
    let appearance = notice.content.appearance
    guard appearance.showsText else { return ("", "", "") }
    let titled = settings.iosVersion.major >= 10
    return (
      (titled ? appearance.title?.shown : nil) ?? apps[app].description.name,
      (titled ? appearance.subtitle?.shown : nil) ?? "", appearance.body?.shown ?? ""
    )
  }

  private mutating func shown(
    _ notice: Notice, _ app: Int, _ parts: TimelineEntry.Shown.Parts
  ) -> TimelineEntry.Shown {
    var shown = TimelineEntry.Shown(pushID: notice.pushID, id: notice.id, parts: parts)
    (shown.heading, shown.subtitle, shown.body) = words(of: notice, of: app)
    if parts.contains(.sound), let sound = notice.content.payload.sound {
      shown.sound = self.sound(named: sound.name, for: notice, app)
    }
    if parts.contains(.badge) { shown.badge = notice.content.payload.badge.map { Int(clamping: $0) } }
    return shown
  }

  private mutating func sound(named name: String, for notice: Notice, _ app: Int) -> TimelineEntry.Shown.Sound {
    if settings.mute { return .vibration }
    if name == "default" { return .system }
    if apps[app].description.sounds.contains(where: { $0.name == name }) { return .file(name) }
    record(.system("no sound file \(name) in the app: the system sound plays"), app, "D-223")
    return .system
  }

  /// The same request identifier replaces: one entry, new, on top (D-235).
  private mutating func enter(_ notice: Notice, _ parts: TimelineEntry.Shown.Parts, _ app: Int) {
    let id = notice.id
    if apps[app].entries.contains(where: { $0.id == id }) {
      apps[app].entries.removeAll { $0.id == id }
      record(.removed(ids: [id], reason: "replaced by a newer one with the same identifier"), app, "D-235")
    }
    apps[app].entries.append(
      CentreEntry(
        id: id, notice: notice, shownAt: now, onLockScreen: parts.contains(.lockScreen),
        inCentre: parts.contains(.centre),
        overlay: parts.contains(.modal) ? .modal : parts.contains(.banner) && apps[app].state.isFront ? .banner : nil))
  }
}
