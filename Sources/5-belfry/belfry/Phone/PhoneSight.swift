import Basics
import Phone

/// All of a running phone that is drawn, taken at one moment.
struct PhoneSight: Sendable {
  struct App: Hashable, Sendable {
    var bundleID: String
    var state: AppState
  }

  var name: String
  var ios: String
  var screen: Screen
  var now: Instant
  var statusBar = StatusBarOverride()
  var apps: [App] = []
  var settings = PhoneSettings()
  /// By bundle id.
  var userSettings: [String: Phone.UserSettings] = [:]
  /// Newest last.
  var log: [TimelineEntry] = []
  /// The buttons of what a finger can touch.
  var buttons: [ScreenDrawing.Selection: [NotificationAction]] = [:]
  /// How to push to it, in lines for a person.
  var places: [String] = []

  /// Those that a finger can touch now.
  var selectable: [ScreenDrawing.Selection] { ScreenDrawing.selectable(screen) }
}
