import Phone
import PushPayload

/// The app that a phone has when no file describes one: it implements every call, sets its delegate in time, has the
/// background mode, shows in front what comes, and asks and registers when it starts.
enum UsualApp {
  static let bundleID = "com.example.app"

  static func description(
    _ bundleID: String, environment: AppDescription.APSEnvironment, ios: IOSVersion = IOSVersion(17)
  ) -> AppDescription {
    var app = AppDescription(bundleID: bundleID, name: name(bundleID), apsEnvironment: environment)
    app.delegate = .beforeLaunchEnds
    app.backgroundModes = [.remoteNotification, .voip]
    app.entitlements = [.timeSensitive]
    app.supportsMultipleScenes = true
    app.mayUseLocation = true
    app.usesMessages = true
    app.liveActivities = LiveActivitySupport(attributesTypes: [activity.attributesType])
    app.presentation = [.banner, .list, .sound, .badge]
    let pushKit: [AppAct] = ios.major >= 8 ? [.setPushTypes([.voip])] : []
    let categories: [AppAct] = ios.major >= 10 ? [.setCategories([category])] : []
    app.script = [.didFinishLaunching: pushKit + categories + [.askAndRegister(.usual)]]
    if ios.major >= 10 { app.script[.pushRegistryDidReceive] = [.reportIncomingCall(from: "Lin")] }
    return app
  }

  /// A Live Activity as its code starts it.
  static let activity = ActivityRequest(
    attributesType: "ExampleAttributes", attributes: ["name": "Example"],
    content: ActivityContent(state: ["status": "on its way"]), pushType: .token)

  /// What a push of category `MESSAGE` can be answered with.
  static let category = NotificationCategory(
    id: "MESSAGE",
    actions: [
      NotificationAction(id: "reply", title: "Reply", textInput: .init(placeholder: "Message")),
      NotificationAction(id: "open", title: "Open", options: .foreground),
      NotificationAction(id: "delete", title: "Delete", options: [.destructive, .authenticationRequired]),
    ], options: .customDismissAction)

  /// `News` for com.example.news.
  static func name(_ bundleID: String) -> String {
    let last = bundleID.split(separator: ".").last.map(String.init) ?? bundleID
    return last.prefix(1).uppercased() + last.dropFirst()
  }

  /// Letters, digits, `-` and `.`, at least two parts (Apple, CFBundleIdentifier).
  static func isBundleID(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count >= 2 && text.utf8.count <= 155
      && parts.allSatisfy { part in
        !part.isEmpty
          && part.utf8.allSatisfy {
            $0 == 0x2D || Character(Unicode.Scalar($0)).isLetter && $0 < 0x80 || (0x30...0x39).contains($0)
          }
      }
  }
}
