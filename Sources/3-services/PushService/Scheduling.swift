public import Basics
public import Schedule

/// What schedules need of the world, and their settings.
public struct Scheduling: Sendable {
  public struct Settings: Sendable, Equatable {
    /// Whose clocks a schedule is read by when neither it nor its app says otherwise: a name of the tz database. Default
    /// Asia/Shanghai, as JPush's users know it.
    public var timeZone = "Asia/Shanghai"
    /// The same for single apps, by bundle id.
    public var timeZoneOfApp: [String: String] = [:]
    /// What becomes of due times while the service was down. Default: the last of them is caught up.
    public var missed = MissedFirings.catchUp
    /// How many schedules that are not over an app may have. Default 100, as JPush has it.
    public var perApp = 100

    /// When nobody is to see or hear anything, by the clocks of each device's place, by bundle id; `*` for apps that are not
    /// named. Silent pushes pass. Default: never.
    public var quietHours: [String: QuietHours] = [:]

    public init() {}

    func quietHours(of app: AppRecord) -> QuietHours? { quietHours[app.bundleID] ?? quietHours["*"] }

    func timeZone(of app: AppRecord) -> String { timeZoneOfApp[app.bundleID] ?? timeZone }
  }

  public var settings: Settings
  /// The rules of a zone; nil when there is none of that name.
  public var zone: @Sendable (String) -> TimeZoneRules?
  /// In place of a time zone: each device's own.
  public static let ofEachDevice = "device"

  /// A device of the farthest east, where every time on the wall comes first.
  static let easternmost = TimeZoneRules(fixed: 14 * 3600, abbreviation: "+14")

  func rules(of timeZone: String) -> TimeZoneRules? {
    timeZone == Self.ofEachDevice ? Self.easternmost : zone(timeZone)
  }

  /// Reads the push of a schedule again, from the bytes that were kept. Done for each firing, so that a schedule outlives
  /// changes of what is read.
  public var order: @Sendable ([UInt8]) throws(RequestFault) -> PushOrder

  public init(
    settings: Settings = Settings(), zone: @escaping @Sendable (String) -> TimeZoneRules?,
    order: @escaping @Sendable ([UInt8]) throws(RequestFault) -> PushOrder
  ) {
    self.settings = settings
    self.zone = zone
    self.order = order
  }
}
