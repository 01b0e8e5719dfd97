public import Basics
public import PushPayload

/// Whether a credential may be used at one server: a client certificate, or a key as far as its environment goes (its
/// tokens are `ProviderTokenLife`'s). Held back with one alarm once APNs has refused it, tried again later.
///
///     good ──refused──▶ held ──wanted, 20 min later──▶ good (a probe)
public struct CredentialStanding: Equatable, Sendable {
  public enum Event: Equatable, Sendable {
    case wanted
    case accepted
    case refused(RefusalReason)
    case resumed
  }

  public enum Effect: Equatable, Sendable {
    case use
    case hold(RefusalReason)
    /// Tell the operator; said once for each reason until a push is accepted.
    case alarm(RefusalReason)
  }

  private enum State: Equatable {
    case good
    case held(RefusalReason, since: Instant.Span)
  }

  private let probe: Instant.Span
  private var state = State.good
  private var told: RefusalReason?

  public init(probe: Instant.Span = .minutes(20)) { self.probe = probe }

  /// Refused, and not tried again yet.
  public var isHeld: Bool {
    switch state {
    case .good: false
    case .held: true
    }
  }

  public mutating func handle(_ event: Event, at moment: Moment) -> [Effect] {
    switch (state, event) {
    case (.good, .wanted):
      return [.use]
    case (.held(let reason, let since), .wanted):
      guard moment.uptime - since >= probe else { return [.hold(reason)] }
      state = .good
      return [.use]
    case (.good, .accepted):
      told = nil
      return []
    case (.good, .refused(let reason)):
      state = .held(reason, since: moment.uptime)
      guard told != reason else { return [.hold(reason)] }
      told = reason
      return [.alarm(reason), .hold(reason)]
    case (.held(let reason, _), .refused):
      return [.hold(reason)]
    case (.held, .accepted):
      return []
    case (.good, .resumed), (.held, .resumed):
      state = .good
      told = nil
      return []
    }
  }
}
