import Basics
import PushPayload

/// The scheduled summary (D-265; Apple, Human Interface Guidelines, "Managing notifications"): what is active or passive
/// waits, unseen, until the user's times of day, and comes sorted by relevance with one banner.
extension Phone {
  /// Whether it waits. What has no place on screen or in the centre has nothing to wait for.
  func waitsForSummary(_ level: Level, _ app: Int) -> Bool {
    guard settings.iosVersion.major >= 15, !settings.summaryTimes.isEmpty else { return false }
    guard apps[app].permission.waitsForSummary else { return false }
    switch level {
    case .passive, .active: return true
    case .timeSensitive, .critical: return false
    }
  }

  /// Puts it by; only the badge changes now.
  mutating func collect(_ notice: Notice, _ parts: TimelineEntry.Shown.Parts, at app: Int) {
    if parts.contains(.badge) { changeBadge(by: notice, at: app) }
    guard !parts.isDisjoint(with: Self.listed) else {
      return record(.withheld(pushID: notice.pushID, reason: "its sound is left out of the summary"), app, "D-265")
    }
    replace(notice.id, of: app)
    apps[app].collected.append(CentreEntry(id: notice.id, notice: notice, shownAt: now))
    let next = summaryDue ?? nextSummary
    summaryDue = next
    record(
      .withheld(pushID: notice.pushID, reason: "it waits for the scheduled summary\(next.map { " of \($0)" } ?? "")"),
      app, "D-265")
  }

  /// The next of the user's times of day, by the clocks of the phone's zone.
  var nextSummary: Instant? {
    settings.summaryTimes.compactMap { minute in
      guard (0..<1440).contains(minute) else { return nil }
      return CalendarPattern(hour: minute / 60, minute: minute % 60).next(after: now, in: settings.clocks)
    }.min()
  }

  /// Its time has come, or the user has turned it off.
  mutating func deliverSummary() {
    summaryDue = nil
    var found: [(app: Int, entry: CentreEntry)] = []
    for app in apps.indices {
      for var entry in apps[app].collected {
        entry.summarizedAt = now
        entry.inCentre = true
        entry.onLockScreen = isLocked && apps[app].permission.lockScreen
        found.append((app, entry))
      }
      apps[app].collected = []
    }
    guard !found.isEmpty else { return }
    var parts: TimelineEntry.Shown.Parts = isLocked ? [.lockScreen, .wakesScreen, .centre] : [.banner, .centre]
    if let focus = settings.focus {
      parts = .centre
      for index in found.indices { found[index].entry.onLockScreen = false }
      record(.system("held back by the Focus \(focus.name): to the centre, silently"), nil, "D-264")
    }
    for one in found { apps[one.app].entries.append(one.entry) }
    let items = found.sorted { Self.isFeatured($0.entry, before: $1.entry) }.map { app, entry in
      TimelineEntry.Summary.Item(
        bundleID: apps[app].description.bundleID, id: entry.id, relevance: entry.notice.content.relevance)
    }
    record(.summary(TimelineEntry.Summary(parts: parts, entries: items)), nil, "D-265")
    if parts.contains(.banner) { raiseBanner(nil) }
  }

  /// The more relevant first, of equal ones the newer.
  static func isFeatured(_ left: CentreEntry, before right: CentreEntry) -> Bool {
    let (l, r) = (left.notice.content.relevance, right.notice.content.relevance)
    return l == r ? left.shownAt > right.shownAt : l > r
  }

  /// The times have changed: what waits comes at the next of them, or at once if there is none.
  mutating func rescheduleSummary() {
    guard apps.contains(where: { !$0.collected.isEmpty }) else { return }
    summaryDue = nextSummary
    if summaryDue == nil { deliverSummary() }
  }
}

extension Content {
  /// 0 … 1; 0 when it names none.
  var relevance: Double {
    guard let score = payload.relevanceScore, score.isFinite else { return 0 }
    return min(max(score, 0), 1)
  }
}
