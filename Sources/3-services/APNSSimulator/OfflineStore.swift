internal import Basics

/// What waits for phones that cannot be reached: one notification for each app and device, the newest.
struct OfflineStore: Sendable {
  struct Slot: Hashable, Sendable {
    var device: String
    var bundleID: String
    var environment: SimulatedEnvironment
  }

  struct Held: Hashable, Sendable {
    var push: DeliveredPush
    /// Its number in the log of notifications.
    var number: UInt64
  }

  enum Decision: Hashable, Sendable {
    /// Kept; the one that waited before, if any, is gone for good.
    case kept(replaced: UInt64?)
    /// Its expiration allowed one attempt only, and the phone was away.
    case notKept
  }

  private var devices: [String: [Slot: Held]] = [:]

  /// Everything that waits, in no order.
  var all: [Held] { devices.values.flatMap(\.values) }

  mutating func hold(_ push: DeliveredPush, number: UInt64, for device: String, now: Instant) -> Decision {
    guard now < push.storedUntil else { return .notKept }
    let slot = Slot(device: device, bundleID: push.bundleID, environment: push.environment)
    let replaced = devices[device, default: [:]].updateValue(Held(push: push, number: number), forKey: slot)
    return .kept(replaced: replaced?.number)
  }

  func waiting(for device: String) -> [Held] { Array((devices[device] ?? [:]).values) }

  /// Takes everything out that waits for `device`, oldest first. The caller drops what is past its time.
  mutating func release(device: String) -> [Held] {
    (devices.removeValue(forKey: device) ?? [:]).values.sorted { $0.number < $1.number }
  }

  /// Takes everything out whose time is over.
  mutating func expire(now: Instant) -> [Held] {
    let over = devices.values.flatMap { $0.filter { $0.value.push.storedUntil <= now } }
    for (slot, _) in over { _ = drop(slot) }
    return over.map(\.value).sorted { $0.number < $1.number }
  }

  /// The app is gone from the device: nothing waits for it any more.
  mutating func drop(_ slot: Slot) -> Held? {
    let dropped = devices[slot.device]?.removeValue(forKey: slot)
    if devices[slot.device]?.isEmpty == true { devices[slot.device] = nil }
    return dropped
  }
}
