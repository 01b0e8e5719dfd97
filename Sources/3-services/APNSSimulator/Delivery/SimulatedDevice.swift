/// A phone as Apple's side sees it.
struct SimulatedDevice: Hashable, Sendable {
  /// Set by the tester: whether the phone has a network.
  var isOnline = true
  /// A courier came for it once; from then on it is away while none is there.
  var usesCourier = false
  var isConnected = false
  var power = PhonePower.awake
  /// As if run from Xcode: background pushes have no budget.
  var isUnlimited = false
  /// The phone keeps the budget of background pushes by itself, so nothing is held back for it.
  var keepsBudget = false
  /// The phone follows its Live Activities by itself, so the board has none of it.
  var keepsActivities = false
  /// Its courier wants to know what becomes of pushes that do not arrive.
  var hearsFates = false
  /// Its courier acknowledges over a wire, so that a push in flight may outlive this process.
  var keepsInFlight = false

  var isReachable: Bool { isOnline && (isConnected || !usesCourier) }
}
