/// The life of one connection to APNs: which pushes it still owes an answer, and when it may be let go.
///
///     settling ──first answer──▶ open ──goAway, retire──▶ draining ──last answer──▶ closed
///         └──────────────────goAway, retire──────────────────▲
///
/// Every state goes to closed on `lost`. A value: no clock, no socket, no task. `SendingPool` feeds it events in the
/// order of the wire and follows the effects in the order given.
public struct ConnectionLife: Sendable {
  public enum Event: Equatable, Sendable {
    case sent(PushID, on: StreamID)
    case answered(StreamID)
    /// The peer reset the stream as not processed (REFUSED_STREAM).
    case refusedStream(StreamID)
    /// The stream ended without an answer, by either side.
    case reset(StreamID)
    /// The peer serves nothing above `last` (RFC 9113 §6.8); it may say so again with a lower number.
    case goAway(last: StreamID)
    /// We want no more of it.
    case retire
    case lost
  }

  public enum Effect: Equatable, Sendable {
    /// This push has its answer.
    case conclude(PushID)
    /// The peer never saw these: send again at once under the same `apns-id`.
    case resend([PushID])
    /// The peer may have seen these: send again under the same `apns-id` and collapse id.
    case resendMaybeSeen([PushID])
    case close
  }

  /// What it takes now.
  public enum Intake: Equatable, Sendable { case nothing, oneAlone, any }

  private enum State {
    /// No answer yet. With a provider token one push goes alone, since APNs allows one stream until it has accepted a
    /// token (Apple, "Establishing a token-based connection to APNs"). Then: open, draining, closed.
    case settling(owed: [StreamID: PushID])
    /// Takes pushes. Then: draining, closed.
    case open(owed: [StreamID: PushID])
    /// Takes none and waits for what it owes; `last` is the highest stream that the peer still serves. Then: closed.
    case draining(owed: [StreamID: PushID], last: StreamID)
    /// Owes nothing. For ever.
    case closed
  }

  private var state: State

  /// - Parameter firstAlone: whether the first push must be answered before the second leaves (token authentication).
  public init(firstAlone: Bool = true) { state = firstAlone ? .settling(owed: [:]) : .open(owed: [:]) }

  public var intake: Intake {
    switch state {
    case .settling(let owed): owed.isEmpty ? .oneAlone : .nothing
    case .open: .any
    case .draining, .closed: .nothing
    }
  }

  public var isSettling: Bool { if case .settling = state { true } else { false } }

  /// Takes nothing any more.
  public var isEnding: Bool {
    switch state {
    case .settling, .open: false
    case .draining, .closed: true
    }
  }

  /// Streams that wait for an answer.
  public var owed: [StreamID: PushID] {
    switch state {
    case .settling(let owed), .open(let owed), .draining(let owed, _): owed
    case .closed: [:]
    }
  }

  /// Takes one event and answers what to do, first effect first; `[]` for an event without meaning in this state,
  /// since a peer's mistake must never stop the process.
  public mutating func handle(_ event: Event) -> [Effect] {
    var taken = State.closed
    swap(&taken, &state)  // taken, not copied: the dictionary stays ours alone
    let effects: [Effect]
    (state, effects) = Self.step(consume taken, event)
    return effects
  }

  private static func step(_ state: consuming State, _ event: Event) -> (State, [Effect]) {
    switch (consume state, event) {
    case (.settling(var owed), .sent(let push, let stream)):
      let stray = owed.updateValue(push, forKey: stream)
      return (.settling(owed: owed), again(stray))
    case (.open(var owed), .sent(let push, let stream)):
      let stray = owed.updateValue(push, forKey: stream)
      return (.open(owed: owed), again(stray))
    case (.draining(var owed, let last), .sent(let push, let stream)):
      guard stream <= last else { return (.draining(owed: owed, last: last), [.resend([push])]) }
      let stray = owed.updateValue(push, forKey: stream)
      return (.draining(owed: owed, last: last), again(stray))
    case (.closed, .sent(let push, _)):
      return (.closed, [.resend([push])])

    case (.settling(var owed), .answered(let stream)):
      guard let push = owed.removeValue(forKey: stream) else { return (.settling(owed: owed), []) }
      return (.open(owed: owed), [.conclude(push)])
    case (.open(var owed), .answered(let stream)):
      let push = owed.removeValue(forKey: stream)
      return (.open(owed: owed), push.map { [.conclude($0)] } ?? [])
    case (.draining(let owed, let last), .answered(let stream)):
      return ended(stream, owed, last) { .conclude($0) }

    case (.settling(var owed), .refusedStream(let stream)):
      let push = owed.removeValue(forKey: stream)
      return (.settling(owed: owed), push.map { [.resend([$0])] } ?? [])
    case (.open(var owed), .refusedStream(let stream)):
      let push = owed.removeValue(forKey: stream)
      return (.open(owed: owed), push.map { [.resend([$0])] } ?? [])
    case (.draining(let owed, let last), .refusedStream(let stream)):
      return ended(stream, owed, last) { .resend([$0]) }

    case (.settling(var owed), .reset(let stream)):
      let push = owed.removeValue(forKey: stream)
      return (.settling(owed: owed), again(push))
    case (.open(var owed), .reset(let stream)):
      let push = owed.removeValue(forKey: stream)
      return (.open(owed: owed), again(push))
    case (.draining(let owed, let last), .reset(let stream)):
      return ended(stream, owed, last) { .resendMaybeSeen([$0]) }

    case (.settling(let owed), .goAway(let last)), (.open(let owed), .goAway(let last)):
      return drain(owed, last)
    case (.draining(let owed, let before), .goAway(let last)):
      return drain(owed, min(before, last))
    case (.settling(let owed), .retire), (.open(let owed), .retire):
      return drain(owed, StreamID(rawValue: .max))
    case (.draining(let owed, let last), .retire):
      return (.draining(owed: owed, last: last), [])

    case (.settling(let owed), .lost), (.open(let owed), .lost), (.draining(let owed, _), .lost):
      return (.closed, owed.isEmpty ? [] : [.resendMaybeSeen(owed.inOrder)])
    case (.closed, .answered), (.closed, .refusedStream), (.closed, .reset), (.closed, .goAway), (.closed, .retire),
      (.closed, .lost):
      return (.closed, [])
    }
  }

  /// A stream number that was used twice is our driver's mistake; whoever had it first must still not be forgotten.
  private static func again(_ push: PushID?) -> [Effect] { push.map { [.resendMaybeSeen([$0])] } ?? [] }

  private static func ended(
    _ stream: StreamID, _ owed: consuming [StreamID: PushID], _ last: StreamID, _ effect: (PushID) -> Effect
  ) -> (State, [Effect]) {
    guard let push = owed.removeValue(forKey: stream) else { return (.draining(owed: owed, last: last), []) }
    return owed.isEmpty ? (.closed, [effect(push), .close]) : (.draining(owed: owed, last: last), [effect(push)])
  }

  private static func drain(_ owed: consuming [StreamID: PushID], _ last: StreamID) -> (State, [Effect]) {
    let unseen = owed.keys.filter { $0 > last }.sorted()
    var effects: [Effect] = []
    if !unseen.isEmpty { effects.append(.resend(unseen.compactMap { owed.removeValue(forKey: $0) })) }
    guard owed.isEmpty else { return (.draining(owed: owed, last: last), effects) }
    effects.append(.close)
    return (.closed, effects)
  }
}

extension [StreamID: PushID] {
  fileprivate var inOrder: [PushID] { sorted { $0.key < $1.key }.map(\.value) }
}
