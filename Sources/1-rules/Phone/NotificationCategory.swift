/// A kind of notification that an app registers, with the buttons it shows (D-242 … D-244): a `UNNotificationCategory`,
/// on iOS 8 and 9 a `UIUserNotificationCategory`.
public struct NotificationCategory: Hashable, Sendable {
  /// What `aps.category` names.
  public var id: String
  public var actions: [NotificationAction]
  public var options: Options
  /// Body of an entry whose preview is hidden; `%u` is the number of entries in its thread (D-126).
  public var hiddenPreviewsBodyPlaceholder: String?
  /// Text under a group: `%u` the number of entries, `%@` their summary arguments (D-241).
  public var summaryFormat: String?
  /// iOS 8 and 9: the buttons of the minimal context; nil: the first two (D-243).
  public var minimalActions: [String]?

  public init(
    id: String, actions: [NotificationAction] = [], options: Options = [],
    hiddenPreviewsBodyPlaceholder: String? = nil, summaryFormat: String? = nil, minimalActions: [String]? = nil
  ) {
    self.id = id
    self.actions = actions
    self.options = options
    self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder
    self.summaryFormat = summaryFormat
    self.minimalActions = minimalActions
  }

  /// `UNNotificationCategoryOptions` (D-244).
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The app learns when the user dismisses such a notification (D-145).
    public static let customDismissAction = Self(rawValue: 1)
    public static let allowInCarPlay = Self(rawValue: 2)
    public static let hiddenPreviewsShowTitle = Self(rawValue: 4)
    public static let hiddenPreviewsShowSubtitle = Self(rawValue: 8)
    /// iOS 13 and 14; ignored since.
    public static let allowAnnouncement = Self(rawValue: 16)

    public static let table: [(option: Self, name: String)] = [
      (.customDismissAction, "customDismissAction"), (.allowInCarPlay, "allowInCarPlay"),
      (.hiddenPreviewsShowTitle, "hiddenPreviewsShowTitle"),
      (.hiddenPreviewsShowSubtitle, "hiddenPreviewsShowSubtitle"), (.allowAnnouncement, "allowAnnouncement"),
    ]
  }
}

/// A button of a notification: a `UNNotificationAction`, with `textInput` a `UNTextInputNotificationAction`.
public struct NotificationAction: Hashable, Sendable {
  /// Unique over all categories: it is all that the app's code gets (D-243).
  public var id: String
  public var title: String
  public var options: Options
  /// nil: a plain button. iOS 9 and later (D-144).
  public var textInput: TextInput?

  public init(id: String, title: String? = nil, options: Options = [], textInput: TextInput? = nil) {
    self.id = id
    self.title = title ?? id
    self.options = options
    self.textInput = textInput
  }

  public struct TextInput: Hashable, Sendable {
    /// On the button that sends.
    public var button: String
    public var placeholder: String

    public init(button: String = "Send", placeholder: String = "") {
      self.button = button
      self.placeholder = placeholder
    }
  }

  /// `UNNotificationActionOptions` (D-244).
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// On a locked phone the user unlocks first (D-143).
    public static let authenticationRequired = Self(rawValue: 1)
    /// Shown in red.
    public static let destructive = Self(rawValue: 2)
    /// Brings the app to the front (D-142).
    public static let foreground = Self(rawValue: 4)

    public static let table: [(option: Self, name: String)] = [
      (.authenticationRequired, "authenticationRequired"), (.destructive, "destructive"), (.foreground, "foreground"),
    ]
  }
}
