public import PushPayload

/// A Live Activity as the user sees it.
public struct ShownActivity: Hashable, Sendable {
  public var bundleID: String
  public var id: String
  public var state: ActivityState
  public var activity: LiveActivity
  /// The update token that reaches it; nil: there is none, or not yet.
  public var token: [UInt8]?
}

// MARK: what a host or a test may ask

extension Phone {
  /// The app's Live Activities that are on the Lock Screen, in the order of their start.
  public func liveActivities(of bundleID: String) -> [ShownActivity] {
    index(of: bundleID).map(shownActivities) ?? []
  }

  /// The token that starts activities of an attributes type by push; nil: APNs has given none.
  public func pushToStartToken(of bundleID: String, attributesType: String) -> [UInt8]? {
    guard let app = index(of: bundleID) else { return nil }
    return apps[app].activities.startTokens.first { $0.attributesType == attributesType }?.token
  }

  /// All apps' activities as the Lock Screen lists them: those that run before those that have ended, each by relevance,
  /// the one that began first before its equals. (Apple, `ActivityContent.relevanceScore`)
  public var lockScreenActivities: [ShownActivity] {
    apps.indices.flatMap(shownActivities).sorted(by: Self.isShownBefore)
  }

  /// What the Dynamic Island holds: its owner, and one more beside it; nothing while the phone is locked, and no activity
  /// of the app in front. Each app sends its most relevant one.
  public var dynamicIsland: [ShownActivity] {
    guard settings.hasDynamicIsland, !isLocked else { return [] }
    let candidates = apps.indices.compactMap { app -> ShownActivity? in
      guard !apps[app].state.isFront else { return nil }
      return shownActivities(app).filter { $0.state == .active || $0.state == .stale }.min(by: Self.isShownBefore)
    }
    return Array(candidates.sorted(by: Self.isShownBefore).prefix(2))
  }

  private func shownActivities(_ app: Int) -> [ShownActivity] {
    apps[app].activities.kept.map { one in
      ShownActivity(
        bundleID: apps[app].description.bundleID, id: one.id, state: one.state(at: now), activity: one.activity,
        token: one.token)
    }
  }

  private static func isShownBefore(_ left: ShownActivity, _ right: ShownActivity) -> Bool {
    let isOver = (left.state == .ended, right.state == .ended)
    if isOver.0 != isOver.1 { return isOver.1 }
    let scores = (left.activity.relevanceScore ?? 0, right.activity.relevanceScore ?? 0)
    if scores.0 != scores.1 { return scores.0 > scores.1 }
    return left.activity.startedAt < right.activity.startedAt
  }
}
