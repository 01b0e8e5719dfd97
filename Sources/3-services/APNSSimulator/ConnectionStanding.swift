internal import PushPayload

/// How a connection stands with Apple: how many streams it may use, how many of its requests are worked on, and how much
/// it has erred (spec/apns.md §2.1).
///
///     single ──proved──▶ full ◀──taken── narrowed          any ──too many errors──▶ closing
///                          └──refused──────▲
///
/// A value, on the connection's loop; the driver asks `begin` for each request and performs the effects. Nothing here is
/// ever a reason to kill a stream: what is over the limit waits.
struct ConnectionStanding: Sendable {
  struct Rules: Sendable, Hashable {
    /// The limit of a connection that has proved who it is.
    var limit: UInt32 = 1000
    /// One stream until the first valid token; certificates have proved themselves by the handshake.
    var isGated = true
    /// A refused push takes the limit down to one stream, the next one taken restores it.
    var narrowsAfterRefusal = true
    /// Points at which the connection is closed; nil for never.
    var errorBudget: Int? = 500
    /// Points of a `BadDeviceToken`; other errors have one, a push that is taken gives one back.
    var badDeviceTokenPoints = 5

    /// What the first SETTINGS announce.
    var firstLimit: UInt32 { isGated ? min(1, limit) : limit }
  }

  enum Event: Equatable, Sendable {
    /// A valid token or certificate: whatever becomes of the push itself.
    case proved
    case taken
    case refused(RefusalReason)
    /// The client's SETTINGS ACK.
    case acknowledged
  }

  enum Effect: Equatable, Sendable {
    case announce(UInt32)
    /// GOAWAY with this reason, the last straw; then close.
    case dismiss(RefusalReason)
  }

  private enum State: Sendable {
    /// Has not proved anything. To `full`, `closing`.
    case single
    /// To `narrowed`, `closing`.
    case full
    /// Refused since the last push that was taken. To `full`, `closing`.
    case narrowed
    /// Told to go; no effect comes any more.
    case closing
  }

  let rules: Rules
  private var state: State
  private var announced: UInt32
  /// SETTINGS that the client has not acknowledged, the first ones among them.
  private var unacknowledged = 1
  /// Points, never below 0.
  private(set) var account = 0
  /// Requests begun whose streams are not over.
  private(set) var inWork: UInt32 = 0

  init(rules: Rules) {
    self.rules = rules
    state = rules.isGated ? .single : .full
    announced = rules.firstLimit
  }

  /// The stream limit that holds now, acknowledged or not.
  var limit: UInt32 {
    switch state {
    case .single: rules.firstLimit
    case .narrowed: min(1, rules.limit)
    case .full, .closing: rules.limit
    }
  }

  /// Whether another request may be worked on now: then it counts until `end`. One that may not has to wait for an `end`
  /// or for a higher limit.
  mutating func begin() -> Bool {
    guard inWork < max(1, limit) else { return false }
    inWork += 1
    return true
  }

  /// The stream of a request that began is over.
  mutating func end() { inWork -= inWork > 0 ? 1 : 0 }

  mutating func handle(_ event: Event) -> Effect? {
    switch event {
    case .proved:
      guard case .single = state else { return nil }
      state = .full
      return announcement()
    case .taken:
      account = max(0, account - 1)
      guard case .narrowed = state else { return nil }
      state = .full
      return announcement()
    case .refused(let reason):
      return refused(reason)
    case .acknowledged:
      unacknowledged = max(0, unacknowledged - 1)
      return announcement()
    }
  }

  private mutating func refused(_ reason: RefusalReason) -> Effect? {
    let points = points(of: reason)
    guard points > 0 else { return nil }
    account += points
    if let budget = rules.errorBudget, account >= budget {
      if case .closing = state { return nil }
      state = .closing
      return .dismiss(reason)
    }
    guard case .full = state, rules.narrowsAfterRefusal else { return nil }
    state = .narrowed
    return announcement()
  }

  /// Tells the limit when the client does not know it. A lower one waits until all that was told is acknowledged, so
  /// that good and bad pushes in turn cost one SETTINGS frame a round trip and not one each.
  private mutating func announcement() -> Effect? {
    if case .closing = state { return nil }
    guard limit != announced, limit > announced || unacknowledged == 0 else { return nil }
    announced = limit
    unacknowledged += 1
    return .announce(limit)
  }

  /// 410 is explicitly no error; 5xx is not the client's.
  private func points(of reason: RefusalReason) -> Int {
    guard (400..<500).contains(reason.status), reason.status != 410 else { return 0 }
    return reason == .badDeviceToken ? rules.badDeviceTokenPoints : 1
  }
}
