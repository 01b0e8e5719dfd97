import Phone
import PushPayload

/// A push as one of the three articles that Belfry is built from (S0, S2, S4) prints it, asked for as an app server
/// would: the `notification.ios` object of `POST /v3/push`.
struct SeedPush: Sendable {
  /// Which article and which of its samples.
  var name: String
  var kind: Kind
  var ios: JSONValue

  /// What the articles call it.
  enum Kind: Sendable {
    /// Alert, with or without badge and sound ("ordinary").
    case ordinary
    /// Alert and `content-available` ("background").
    case background
    /// Nothing visible ("silent").
    case silent
    case badgeOnly
    case soundOnly

    var isVisible: Bool { self == .ordinary || self == .background }
  }

  static let all: [SeedPush] = [
    SeedPush(
      name: "S0 ordinary", kind: .ordinary,
      ios: ["alert": "显示内容", "badge": 1, "sound": "default", "extras": ["key1": "value1", "key2": "value2"]]),
    SeedPush(
      name: "S0 background", kind: .background,
      ios: [
        "alert": "显示内容", "badge": 1, "sound": "default", "content-available": true, "extras": ["key1": "value1"],
      ]),
    SeedPush(
      name: "S0 silent", kind: .silent, ios: ["alert": "", "content-available": true, "extras": ["key1": "value1"]]),
    SeedPush(
      name: "S2 first sample", kind: .background,
      ios: [
        "alert": ["title": "新消息", "body": "您有一条新的通知"], "badge": 1, "sound": "default", "content-available": true,
        "extras": ["customData": ["type": "message", "id": "12345"]],
      ]),
    SeedPush(
      name: "S2 alert object", kind: .ordinary, ios: ["alert": ["title": "更新提示", "body": "您的应用程序有重要更新，请尽快下载。"]]),
    SeedPush(name: "S2 alert string", kind: .ordinary, ios: ["alert": "您有一条新消息。"]),
    SeedPush(name: "S2 badge", kind: .badgeOnly, ios: ["alert": "", "badge": 5]),
    SeedPush(name: "S2 sound", kind: .soundOnly, ios: ["alert": "", "sound": "default"]),
    SeedPush(
      name: "S2 visible", kind: .ordinary,
      ios: ["alert": ["title": "重要提示", "body": "请及时查看最新活动信息。"], "badge": 3, "sound": "default"]),
    SeedPush(
      name: "S2 silent", kind: .silent,
      ios: ["alert": "", "content-available": true, "extras": ["customData": ["task": "sync"]]]),
  ]

  /// The custom keys, which the app's code must get unchanged.
  var extras: JSONObject { ios.object?["extras"]?.object ?? JSONObject() }
  var badge: Int? { ios.object?["badge"]?.number?.int64.map(Int.init) }
  var hasSound: Bool { ios.object?["sound"] != nil }
}

/// Where the app is when the push comes.
enum DemoPlace: String, CaseIterable, Sendable {
  case active = "in front"
  case inactive = "front, centre over it"
  case background = "behind, running"
  case suspended = "behind, suspended"
  case notRunning = "not running"
  case forceQuit = "swiped away"
  case lockedActive = "locked, was in front"
  case lockedSuspended = "locked, behind"
  case lockedNotRunning = "locked, not running"

  /// The three places that S0 tells apart.
  enum Seen { case front, behind, exited }

  var seen: Seen {
    switch self {
    case .active, .inactive: .front
    case .background, .suspended, .lockedActive, .lockedSuspended: .behind
    case .notRunning, .forceQuit, .lockedNotRunning: .exited
    }
  }

  var isLocked: Bool {
    switch self {
    case .lockedActive, .lockedSuspended, .lockedNotRunning: true
    case .active, .inactive, .background, .suspended, .notRunning, .forceQuit: false
    }
  }
}

/// What the user does once the push is there.
enum DemoAct: String, Sendable {
  case nothing = "nothing"
  case tap = "taps it"
  case icon = "opens by icon"
  case unlock = "unlocks"
}

/// One push to all phones and one act.
struct DemoStep: Sendable {
  var push: SeedPush
  var place: DemoPlace
  var act: DemoAct

  static let all: [DemoStep] = SeedPush.all.flatMap { push in
    DemoPlace.allCases.flatMap { place -> [DemoStep] in
      let acts: [DemoAct] =
        switch place.seen {
        case .front: [.nothing]
        case .behind, .exited: place.isLocked ? [.unlock] : push.kind.isVisible ? [.tap, .icon] : [.icon]
        }
      return acts.map { DemoStep(push: push, place: place, act: $0) }
    }
  }
}

/// What the articles say of one step on a phone of one generation: the words are the seeds', the ids the device
/// specification's.
struct SeedClaim: Equatable, Sendable {
  /// Which of banner (or lock screen), centre, sound and badge the user gets at arrival.
  var shown: TimelineEntry.Shown.Parts
  /// The callbacks that carry the payload at arrival.
  var atArrival: [Callback.Method]
  /// The callbacks that carry it because of the act.
  var atAct: [Callback.Method]
  var rules: String

  init(_ step: DemoStep, _ generation: IOSVersion.Generation) {
    (shown, rules) = Self.shown(step)
    atArrival = Self.arrival(step, generation)
    atAct = Self.act(step, generation)
  }

  private static func shown(_ step: DemoStep) -> (TimelineEntry.Shown.Parts, String) {
    guard step.place.seen != .front else { return ([], "D-067 D-075") }
    var shown: TimelineEntry.Shown.Parts = []
    if step.push.kind.isVisible { shown = step.place.isLocked ? [.lockScreen, .centre] : [.banner, .centre] }
    if step.push.hasSound { shown.insert(.sound) }
    if step.push.badge != nil { shown.insert(.badge) }
    return (shown, step.push.kind == .silent ? "D-081 D-088" : "D-070 D-073")
  }

  /// S0 tip 5: in front the code gets all; behind only what carries `content-available`, from iOS 7; exited nothing.
  private static func arrival(_ step: DemoStep, _ generation: IOSVersion.Generation) -> [Callback.Method] {
    let wakes = step.push.kind == .background || step.push.kind == .silent
    switch (step.place.seen, generation) {
    case (.front, .g1): return [.didReceiveRemoteNotification]
    case (.front, .g2): return [.didReceiveRemoteNotificationFetch]
    case (.front, .g3):
      switch step.push.kind {
      case .ordinary, .badgeOnly, .soundOnly: return [.willPresent]
      case .background: return [.didReceiveRemoteNotificationFetch, .willPresent]
      case .silent: return [.didReceiveRemoteNotificationFetch]
      }
    case (.behind, .g1): return []
    case (.behind, .g2), (.behind, .g3): return wakes ? [.didReceiveRemoteNotificationFetch] : []
    case (.exited, _): return []
    }
  }

  /// S0 tips 4 and 5, S4: a tap (or, locked, the unlock that S4 describes) brings the payload to the code; the icon
  /// does not.
  private static func act(_ step: DemoStep, _ generation: IOSVersion.Generation) -> [Callback.Method] {
    switch step.act {
    case .nothing, .icon: return []
    case .tap: break
    case .unlock: guard step.push.kind.isVisible else { return [] }
    }
    let used: Callback.Method =
      switch generation {
      case .g1: .didReceiveRemoteNotification
      case .g2: .didReceiveRemoteNotificationFetch
      case .g3: .didReceiveResponse
      }
    switch (step.place.seen, generation) {
    case (.front, _): return []
    case (.behind, _): return [used]
    case (.exited, .g1): return [.willFinishLaunching, .didFinishLaunching]
    case (.exited, .g2), (.exited, .g3): return [.willFinishLaunching, .didFinishLaunching, used]
    }
  }
}
