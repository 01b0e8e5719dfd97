public import Basics
internal import PushPayload

/// A push that APNs took, and what became of it.
public struct LoggedNotification: Hashable, Sendable {
  /// Where it is, or how it ended. `delivered`, `replaced`, `expired` and `dropped` are final.
  public enum Fate: Hashable, Sendable {
    /// In the store, of which each app on a device has one place, until the phone can be reached or wakes.
    case stored(Instant, StoredCause)
    /// Of low priority: waits for others, to leave with them in one burst.
    case grouped(Instant, until: Instant)
    /// A background push over the budget of its app; the newest waits.
    case throttled(Instant, until: Instant)
    /// Behind another that is in flight to the phone.
    case queued(Instant)
    /// Handed to a courier that has not acknowledged it yet.
    case sent(Instant)
    /// The phone has it; for a device without courier, it could have had it.
    case delivered(Instant)
    /// A newer one took its place.
    case replaced(Instant)
    case expired(Instant)
    case dropped(Instant, String)
  }

  /// Grows by one with each push taken; `GET /notifications?since=` counts in it.
  public let number: UInt64
  public let device: String
  public let push: DeliveredPush
  /// `apns-unique-id`, in the sandbox.
  public let uniqueID: String?
  /// What is odd about it though it was taken.
  public let remarks: [String]
  /// What lint said of it when it came.
  let findings: [Finding]
  public internal(set) var fate: Fate
  /// Which headers came at all.
  var sent = SentHeaders()
  /// What it was before, oldest first: storing and a later delivery are two things that happened. (Being sent is left
  /// out where it was delivered by that.)
  public internal(set) var earlier: [Fate] = []

  mutating func become(_ new: Fate) {
    switch (fate, new) {
    case (.sent, .delivered), (.throttled, .throttled): break
    case (.sent, _), (.stored, _), (.grouped, _), (.throttled, _), (.queued, _), (.delivered, _), (.replaced, _),
      (.expired, _), (.dropped, _):
      earlier.append(fate)
    }
    fate = new
  }
}

/// What `DeliveredPush` no longer shows of the headers: those that were absent, and Apple's of which there are none.
struct SentHeaders: Hashable, Sendable {
  var hasID = true
  var hasPushType = true
  var hasPriority = true
  /// Names beginning with `apns-` that `/3/device` does not know.
  var unknown: [String] = []
}

/// Why a push is in the store though it was taken. (Apple, "Viewing the status of push notifications using Metrics and
/// APNs": stored, device offline; stored, power considerations)
public enum StoredCause: String, Hashable, Sendable {
  case offline
  /// The phone's courier is away.
  case noCourier = "no-courier"
  /// Of priority 5 or 1, and the phone sleeps.
  case asleep
  case lowPower = "low-power"
}

/// A push that was refused, with our words for the cause.
public struct LoggedRefusal: Hashable, Sendable {
  public let number: UInt64
  public let at: Instant
  public let id: String
  public let path: String
  public let topic: String
  public let refusal: Refusal
}

/// The last so many entries; older ones go without a word. Numbers start at 1 and are never used again.
struct RecentLog<Entry: Sendable>: Sendable {
  let capacity: Int
  private var entries: [Entry] = []
  /// Where the oldest stands once `entries` is full.
  private var start = 0
  private(set) var next: UInt64 = 1
  /// Whether changes are noted for `takeTouched`.
  var isWatched = false { didSet { touched = [] } }
  private var touched: [UInt64] = []

  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// Appends what `make` says for the entry's number.
  @discardableResult
  mutating func append(_ make: (UInt64) -> Entry) -> UInt64 {
    let number = next
    next += 1
    if entries.count < capacity {
      entries.append(make(number))
    } else {
      entries[start] = make(number)
      start = start + 1 == capacity ? 0 : start + 1
    }
    if isWatched { touched.append(number) }
    return number
  }

  /// Changes the entry of that number, if it is still there.
  mutating func update(_ number: UInt64, _ change: (inout Entry) -> Void) {
    guard let index = index(of: number) else { return }
    change(&entries[index])
    if isWatched { touched.append(number) }
  }

  /// The entries that came or changed since the last call, each once, as they are now; none while nobody watches.
  mutating func takeTouched() -> [Entry] {
    guard !touched.isEmpty else { return [] }
    let numbers = Set(touched).sorted()
    touched = []
    return numbers.compactMap { index(of: $0).map { entries[$0] } }
  }

  /// The entry of that number, if it is still there.
  subscript(number: UInt64) -> Entry? { index(of: number).map { entries[$0] } }

  private func index(of number: UInt64) -> Int? {
    guard number >= oldest, number < next else { return nil }
    return (start + Int(number - oldest)) % capacity
  }

  /// From the oldest to the newest.
  var all: [Entry] { start == 0 ? entries : Array(entries[start...] + entries[..<start]) }

  /// All that is there at one moment, and the numbers between which it lies.
  struct Snapshot: Sendable {
    var entries: [Entry]
    /// Of the oldest entry that is still there, or of the next one if there is none.
    var first: UInt64
    /// Of the newest entry that ever was; 0 for none.
    var last: UInt64
  }

  var snapshot: Snapshot { Snapshot(entries: all, first: oldest, last: next - 1) }

  var count: Int { entries.count }

  private var oldest: UInt64 { next - UInt64(entries.count) }

  /// Forgets all, but no number.
  mutating func removeAll() {
    entries = []
    start = 0
  }
}
