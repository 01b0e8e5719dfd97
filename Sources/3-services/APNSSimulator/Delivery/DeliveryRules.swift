public import Basics

/// How the simulated APNs delivers. The defaults bring every push to a phone that can be reached and awake, one after
/// another and in order, except that background pushes have Apple's budget; `asApple` is what Apple reserves itself.
public struct DeliveryRules: Hashable, Sendable {
  /// A push that waits behind another in flight gives way to a newer one of its app. Apple: yes ("rapid fire to one
  /// device overwrites earlier ones", Troubleshooting push notifications). Off: all wait their turn.
  public var overwritesWaiting = false
  /// So long pushes of priority 5 and 1 wait for others of any app before they leave in one burst, to a phone that is
  /// awake. Apple publishes no length; 0 for none.
  public var groupWindow = Instant.Span.milliseconds(0)
  /// So long priority 5 waits for a phone that is asleep or saves power; then it wakes it. Priority 1 waits until the
  /// phone is awake by itself. Apple publishes no length.
  public var powerWindow = Instant.Span.minutes(15)
  /// What leaves together leaves in an order that the dice throw; off: oldest first. (APNs promises no order.)
  public var isReordering = false
  /// Background pushes within any 60 minutes to one app on a device; nil for no limit, as when run from Xcode. At least 1.
  public var backgroundPerHour: Int? = 3
  /// The same from midnight to midnight UTC.
  public var backgroundPerDay: Int?
  /// Pushes that wait behind one that the phone does not acknowledge; one more, and its courier is cut off.
  public var mostQueued = 256

  public init() {}

  /// Everything that Apple reserves itself: overwriting, grouping for five seconds, no order.
  public static var asApple: DeliveryRules {
    var rules = DeliveryRules()
    rules.overwritesWaiting = true
    rules.groupWindow = .seconds(5)
    rules.isReordering = true
    return rules
  }

  var budget: BackgroundBudget.Rules { .init(perHour: backgroundPerHour, perDay: backgroundPerDay) }
}

/// How a phone stands with its battery. (Apple, "Sending notification requests to APNs": `apns-priority`)
public enum PhonePower: String, CaseIterable, Sendable {
  case awake
  /// The screen is off; only what may wake it goes out at once.
  case asleep
  /// In use, but saving power: low priorities wait as if it slept.
  case lowPower = "low-power"
}
