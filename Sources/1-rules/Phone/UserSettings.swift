extension Phone {
  /// What the user decided for one app in Settings (D-027). Each switch takes away exactly its part.
  public struct UserSettings: Hashable, Sendable {
    /// Allow Notifications.
    public var allowed = true
    /// Banners and modal alerts.
    public var alert = true
    public var sound = true
    public var badge = true
    public var lockScreen = true
    /// Notification Centre.
    public var centre = true
    /// nil: as the phone (`PhoneSettings.appearanceOfAlert`).
    public var style: PhoneSettings.AlertStyle?
    /// nil: as the phone (`PhoneSettings.previews`).
    public var previews: PhoneSettings.Previews?
    /// iOS 15 and later, for an app with the entitlement (D-262).
    public var timeSensitive = true
    /// In the scheduled summary instead of at once, iOS 15 and later (D-265).
    public var scheduledDelivery = false
    /// Critical alerts, for an app with the entitlement and the permission (D-263).
    public var critical = true
    public var carPlay = true
    /// Spoken by Siri, iOS 13 and later.
    public var announcement = true
    /// How the app's entries lie together in the centre and on the lock screen (D-240).
    public var grouping = Grouping.automatic
    /// Live Activities of the app.
    public var liveActivities = true
    /// More frequent updates of them.
    public var frequentActivityPushes = true

    public init() {}

    /// iOS 12 and later. Before, `off` turns the sections by app of iOS 5–9 into a list by time (D-240).
    public enum Grouping: String, CaseIterable, Sendable {
      /// By thread.
      case automatic
      case byApp
      case off
    }
  }
}
