import Basics

/// Gives message ids: milliseconds since 1970 and five more digits, 18 digits in all until the year 2286.
///
/// Always above the last, whatever the clock does, so that no id comes twice even when the clock is set back; the digits
/// begin at random, so that two nodes seldom meet (and the store refuses the second).
final class MessageIDs: Sendable {
  private let state: Locked<State>

  private struct State {
    var last: Int64
    var dice: Dice
  }

  private static let smallest: Int64 = 100_000_000_000_000_000

  /// `last` is the highest that was ever given.
  init(after last: Int64, seed: UInt64) { state = Locked(State(last: last, dice: Dice(seed: seed))) }

  /// Tells of an id that was given by another process.
  func note(_ id: Int64) { state.withLock { $0.last = max($0.last, id) } }

  func next(at now: Instant) -> Int64 {
    state.withLock { state in
      let (start, overflow) = max(0, now.milliseconds).multipliedReportingOverflow(by: 100_000)
      let wanted = overflow ? 0 : start &+ .random(in: 0..<50_000, using: &state.dice)
      state.last = max(state.last + 1, wanted, Self.smallest)
      return state.last
    }
  }
}

/// What a push to a device is called at APNs, the same however often it is tried (DESIGN §5, exactly one showing).
enum PushIdentity {
  /// A UUID of version 8 (RFC 9562 §5.8) that holds the message id and the ordinal: unique, and readable in a log.
  static func apnsID(message: Int64, device: UInt32) -> UUIDBits {
    let message = UInt64(bitPattern: message)
    return UUIDBits(
      high: (message >> 16) << 16 | 0x8000 | (message >> 4) & 0x0FFF,
      low: 0x8000_0000_0000_0000 | (message & 0xF) << 58 | UInt64(device))
  }
}
