/// The life of one connection to APNs: which pushes it still owes an answer, and when it may be let go.
///
///     settling ──first answer──▶ open ──goAway, retire──▶ draining ──last answer──▶ closed
///         └──────────────────goAway, retire──────────────────▲
///
/// | | settling | open | draining | closed |
/// | --- | --- | --- | --- | --- |
/// | `sent` | owes it | owes it | owes it; above the last stream: resend | resend |
/// | `answered` | conclude; open | conclude | conclude; the last one: close | – |
/// | `refusedStream` | resend | resend | resend; the last one: close | – |
/// | `reset` | resend, maybe seen | resend, maybe seen | the same; the last one: close | – |
/// | `goAway` | resend what is above; draining, or close if nothing is left | the same | the same, with the lower last | – |
/// | `retire` | draining, or close | draining, or close | – | – |
/// | `lost` | resend all, maybe seen; closed | the same | the same | – |
///
/// An answer, refusal or reset on a stream that owes nothing changes nothing, in no state. A value: no clock, no socket, no task. `SendingPool` feeds it events in the
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

  private enum Phase {
    /// No answer yet. With a provider token one push goes alone, since APNs allows one stream until it has accepted a
    /// token (Apple, "Establishing a token-based connection to APNs"). Then: open, draining, closed.
    case settling
    /// Takes pushes. Then: draining, closed.
    case open
    /// Takes none and waits for what it owes; `last` is the highest stream that the peer still serves. Then: closed.
    case draining(last: StreamID)
    /// Owes nothing. For ever.
    case closed
  }

  private var phase: Phase
  /// Streams that wait for an answer. Beside the phase and not inside it: changed in place, never copied, also where
  /// nothing is optimised.
  private var streams = OwedStreams()

  /// Streams that wait for an answer, lowest first.
  public var owed: [(stream: StreamID, push: PushID)] { streams.inOrder }
  public var owesNothing: Bool { streams.isEmpty }
  public func push(on stream: StreamID) -> PushID? { streams[stream] }

  /// - Parameter firstAlone: whether the first push must be answered before the second leaves (token authentication).
  public init(firstAlone: Bool = true) { phase = firstAlone ? .settling : .open }

  public var intake: Intake {
    switch phase {
    case .settling: streams.isEmpty ? .oneAlone : .nothing
    case .open: .any
    case .draining, .closed: .nothing
    }
  }

  public var isSettling: Bool { if case .settling = phase { true } else { false } }

  /// Takes nothing any more.
  public var isEnding: Bool {
    switch phase {
    case .settling, .open: false
    case .draining, .closed: true
    }
  }

  /// Takes one event and answers what to do, first effect first; `[]` for an event without meaning in this state,
  /// since a peer's mistake must never stop the process.
  public mutating func handle(_ event: Event) -> [Effect] {
    switch (phase, event) {
    case (.settling, .sent(let push, let stream)), (.open, .sent(let push, let stream)):
      return sent(push, stream)
    case (.draining(let last), .sent(let push, let stream)):
      return stream <= last ? sent(push, stream) : [.resend([push])]
    case (.closed, .sent(let push, _)):
      return [.resend([push])]

    case (.settling, .answered(let stream)):
      guard let push = streams.remove(stream) else { return [] }
      phase = .open
      return [.conclude(push)]
    case (.open, .answered(let stream)), (.draining, .answered(let stream)):
      return streams.remove(stream).map { closing(.conclude($0)) } ?? []
    case (.settling, .refusedStream(let stream)), (.open, .refusedStream(let stream)),
      (.draining, .refusedStream(let stream)):
      return streams.remove(stream).map { closing(.resend([$0])) } ?? []
    case (.settling, .reset(let stream)), (.open, .reset(let stream)), (.draining, .reset(let stream)):
      return streams.remove(stream).map { closing(.resendMaybeSeen([$0])) } ?? []

    case (.settling, .goAway(let last)), (.open, .goAway(let last)):
      return drain(last)
    case (.draining(let before), .goAway(let last)):
      return drain(min(before, last))
    case (.settling, .retire), (.open, .retire):
      return drain(StreamID(rawValue: .max))

    case (.settling, .lost), (.open, .lost), (.draining, .lost):
      phase = .closed
      return streams.isEmpty ? [] : [.resendMaybeSeen(streams.removeAll())]
    case (.draining, .retire), (.closed, .answered), (.closed, .refusedStream), (.closed, .reset), (.closed, .goAway),
      (.closed, .retire), (.closed, .lost):
      return []
    }
  }

  /// `handle(.sent)` in an open connection, which is how nearly every push leaves; false: nothing happened, `handle` must.
  mutating func sendOpen(_ push: PushID, on stream: StreamID) -> Bool {
    guard case .open = phase, streams[stream] == nil else { return false }
    return streams.insert(push, on: stream) == nil
  }

  /// `handle(.answered)` in an open connection: the push to conclude; nil: nothing happened, `handle` must.
  mutating func answerOpen(_ stream: StreamID) -> PushID? {
    guard case .open = phase else { return nil }
    return streams.remove(stream)
  }

  private mutating func sent(_ push: PushID, _ stream: StreamID) -> [Effect] {
    // a stream number that was used twice is our driver's mistake; whoever had it first must still not be forgotten
    guard let stray = streams.insert(push, on: stream) else { return [] }
    return [.resendMaybeSeen([stray])]
  }

  /// A stream ended; while draining, the last one ends the connection.
  private mutating func closing(_ effect: Effect) -> [Effect] {
    guard case .draining = phase, streams.isEmpty else { return [effect] }
    phase = .closed
    return [effect, .close]
  }

  private mutating func drain(_ last: StreamID) -> [Effect] {
    let unseen = streams.inOrder.lazy.map(\.stream).filter { $0 > last }
    var effects: [Effect] = []
    if !unseen.isEmpty { effects.append(.resend(unseen.compactMap { streams.remove($0) })) }
    phase = .draining(last: last)
    guard streams.isEmpty else { return effects }
    phase = .closed
    return effects + [.close]
  }
}
