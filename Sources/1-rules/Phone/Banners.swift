import Basics

/// The banner that goes away by itself: of one entry, or of the scheduled summary.
struct TemporaryBanner: Hashable, Sendable {
  /// nil: the scheduled summary's.
  var entry: Entry?
  var until: Instant

  struct Entry: Hashable, Sendable {
    var bundleID: String
    var id: String
  }
}

/// What hangs over the screen, and for how long (D-127). There is one banner at a time; a newer one takes its place.
/// From iOS 11 on the alert style "modal" is a banner that stays until it is used or swiped away.
extension Phone {
  /// How an alert of this app looks on the unlocked screen; nil: not at all.
  func overlay(of app: Int, _ permission: Permission? = nil) -> CentreEntry.Overlay? {
    let permission = permission ?? apps[app].permission
    guard permission.banner else { return nil }
    guard settings.iosVersion.hasCentre else { return .modal }
    switch permission.user.style ?? settings.appearanceOfAlert {
    case .none: return nil
    case .banner: return .banner
    case .modal: return settings.iosVersion.major >= 11 ? .persistentBanner : .modal
    }
  }

  mutating func raiseBanner(_ entry: TemporaryBanner.Entry?) {
    lowerBanner()
    banner = TemporaryBanner(entry: entry, until: now + settings.bannerTime)
  }

  /// Its time is over, or a newer one comes: the entry stays in the centre.
  mutating func lowerBanner() {
    guard let entry = banner?.entry else {
      banner = nil
      return
    }
    banner = nil
    guard let app = index(of: entry.bundleID),
      let index = apps[app].entries.lastIndex(where: { $0.id == entry.id }), apps[app].entries[index].overlay == .banner
    else { return }
    apps[app].entries[index].overlay = nil
    dropGone(of: app, "the banner went away, and the centre does not list it", "D-127")
  }

  /// The phone is locked: no banner hangs over it any more; a modal alert waits below.
  mutating func lowerAllBanners() {
    banner = nil
    for app in apps.indices where apps[app].entries.contains(where: { $0.overlay?.isBanner == true }) {
      for index in apps[app].entries.indices where apps[app].entries[index].overlay?.isBanner == true {
        apps[app].entries[index].overlay = nil
      }
      dropGone(of: app, "the banner went away, and the centre does not list it", "D-127")
    }
  }

  /// Entries that the user can find nowhere any more.
  mutating func dropGone(of app: Int, _ reason: String, _ rule: Rule) {
    let gone = apps[app].entries.filter(\.isGone).map(\.id)
    guard !gone.isEmpty else { return }
    apps[app].entries.removeAll(where: \.isGone)
    record(.removed(ids: gone, reason: reason), app, rule)
  }
}
