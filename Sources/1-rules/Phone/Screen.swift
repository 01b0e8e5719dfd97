public import Basics

/// What the user sees at this moment, for terminals, consoles and tests: a picture, made on demand from the phone, that
/// stores nothing twice and shows no more than the user would see.
public struct Screen: Hashable, Sendable {
  /// Time of day in the phone's zone, `09:41`.
  public var clock: String
  public var isLocked: Bool
  public var indicators: Indicators
  /// What the locked screen lists, newest first; empty while unlocked.
  public var lockScreen: [Group] = []
  /// What the notification centre lists, newest first; empty before iOS 5, which has none. It is on the screen only while
  /// `isCentreOpen`.
  public var centre: [Group] = []
  public var isCentreOpen = false
  /// The home screen, in the order of installation.
  public var icons: [Icon] = []
  /// The app that fills the screen; nil: the home screen or the lock screen.
  public var front: Icon?
  /// Over whatever else is there, newest first.
  public var banners: [Notification] = []
  /// The notification that is pulled open, with its whole text and buttons (D-204, D-258).
  public var expanded: Notification?
  /// The alert in the middle of the screen, which waits for an answer (D-127).
  public var alert: Alert?
  /// The question whether an app may notify (D-013).
  public var prompt: Prompt?
  /// The call that rings or is answered, locked or not (D-186).
  public var call: PhoneCall?
  /// Rings while there is `call`.
  public var waitingCall: PhoneCall?
  /// Live Activities as the Lock Screen lists them, above the notifications (D-189); seen on the locked screen and when the
  /// centre is open.
  public var activities: [ShownActivity] = []
  /// What the Dynamic Island holds, its owner first.
  public var island: [ShownActivity] = []

  /// What the status bar tells.
  public struct Indicators: Hashable, Sendable {
    /// The name of the Focus, or of Do Not Disturb; nil: off.
    public var focus: String?
    public var isLowPower = false
    public var isOnline = true
    public var isAirplane = false
    public var isMuted = false
  }

  public struct Icon: Hashable, Sendable {
    public var bundleID: String
    public var name: String
    /// The number on the icon; 0: none.
    public var badge = 0
  }

  /// One notification as it is written on the screen.
  public struct Notification: Hashable, Sendable {
    public var bundleID: String
    public var appName: String
    /// The identifier of the notification request.
    public var id: String
    /// Bold: the title, else the app's name (D-203).
    public var heading = ""
    public var subtitle = ""
    public var body = ""
    public var shownAt: Instant
    /// The app's buttons, seen when it is pulled open, of a banner the first two (D-243); of a modal alert see `Screen.Alert`.
    public var actions: [NotificationAction] = []
    /// What the system itself asks below it: keep or turn off (D-025, D-266). Empty for most.
    public var choices: [String] = []
  }

  /// A stack: the newest notification is seen, the others lie beneath it (D-240).
  public struct Group: Hashable, Sendable {
    /// nil: a scheduled summary, which is of several apps (D-265).
    public var bundleID: String?
    /// The app's name, or the summary's.
    public var title: String
    /// The `thread-id` that holds it together; nil: the app does, or nothing.
    public var threadID: String?
    /// Newest first; in a summary the most relevant first.
    public var notifications: [Notification]
    /// What stands below the newest one: `3 more messages from Lin` (D-241); nil when nothing lies beneath.
    public var summary: String?
  }

  public struct Alert: Hashable, Sendable {
    public var notification: Notification
    /// Close first; View, or the word that the push names, second if there is anything to view (D-127).
    public var buttons: [String]
  }

  public struct Prompt: Hashable, Sendable {
    public var bundleID: String
    public var text: String
    public var detail: String
    public var buttons: [String]
  }
}
