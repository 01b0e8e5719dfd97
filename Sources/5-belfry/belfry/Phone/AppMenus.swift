import Basics
import Phone
import PushPayload

/// What the marked app's page in Settings offers, and what its code can be told to do, each by a digit.
enum AppMenus {
  static func settings(_ pointing: Pointing) -> KeyBinding.Effect {
    guard let app = pointing.app, let now = pointing.sight.userSettings[app] else { return .nothing }
    let choices = switches.map { words, path -> KeyMenu.Choice in
      var settings = now
      settings[keyPath: path].toggle()
      return .init(
        words: "\(words) \(now[keyPath: path] ? "on" : "off")",
        result: .act(.events([.changePermission(bundleID: app, settings)])))
    }
    return .menu(KeyMenu(title: "Settings", choices: choices))
  }

  private static let switches: [(String, any WritableKeyPath<Phone.UserSettings, Bool> & Sendable)] = [
    ("Allow Notifications", \.allowed), ("Alerts", \.alert), ("Sounds", \.sound), ("Badges", \.badge),
    ("Lock Screen", \.lockScreen), ("Notification Centre", \.centre), ("Time Sensitive", \.timeSensitive),
    ("Scheduled Summary", \.scheduledDelivery), ("Live Activities", \.liveActivities),
  ]

  static func code(_ pointing: Pointing) -> KeyBinding.Effect {
    guard let app = pointing.app else { return .nothing }
    let soon = LocalNotification(
      id: "local", content: content("A local notification"), trigger: .interval(.seconds(5), repeats: false))
    let region = LocalNotification(
      id: "region", content: content("You are here"), trigger: .region(Region("here"), repeats: true))
    let acts: [(String, AppAct)] = [
      ("start a Live Activity", .startActivity(UsualApp.activity)),
      ("update it", .updateActivity(id: nil, ActivityContent(state: ["status": "updated"]))),
      ("end it", .endActivity(id: nil, contentState: ["status": "over"], .standard)),
      ("local notification in 5 s", .addNotification(soon)), ("at the region 'here'", .addNotification(region)),
      ("badge 0", .setBadge(0)), ("read delivered", .getDelivered), ("read permission", .readPermission),
      ("ask and register", .askAndRegister(.usual)),
    ]
    let choices = acts.map { KeyMenu.Choice(words: $0.0, result: .act(.events([.app(bundleID: app, $0.1)]))) }
    return .menu(KeyMenu(title: "The app's code", choices: choices))
  }

  private static func content(_ body: String) -> NotificationContent {
    var content = NotificationContent()
    content.body = .literal(body)
    return content
  }
}
