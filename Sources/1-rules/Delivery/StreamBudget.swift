/// How many streams a connection may have at once: what the peer's SETTINGS say at this moment, never more than we want.
///
/// APNs begins with 1 for provider tokens, goes to about 1,000 once it has accepted one, and takes back to 1 when it
/// refuses much; 0 is legal too (RFC 9113 §6.5.2). Shrinking closes no stream: nothing more is opened until enough end.
public struct StreamBudget: Equatable, Sendable {
  public enum Event: Equatable, Sendable {
    case settings(maxConcurrentStreams: UInt32)
    case opened
    case ended
  }

  /// nil before the peer's first SETTINGS, when nothing may be sent.
  public private(set) var advertised: Int?
  public private(set) var inUse = 0
  private let ceiling: Int

  /// - Parameter ceiling: streams that we want at most, whatever the peer offers.
  public init(ceiling: Int) { self.ceiling = max(1, ceiling) }

  public var limit: Int { min(advertised ?? 0, ceiling) }

  /// Streams that may be opened now.
  public var free: Int { max(0, limit - inUse) }

  /// The same for a connection in a given phase of its life.
  public func free(for intake: ConnectionLife.Intake) -> Int {
    switch intake {
    case .nothing: 0
    case .oneAlone: inUse == 0 ? min(1, free) : 0
    case .any: free
    }
  }

  public mutating func handle(_ event: Event) {
    switch event {
    case .settings(let maximum): advertised = Int(maximum)
    case .opened: inUse += 1
    case .ended: inUse = max(0, inUse - 1)
    }
  }
}
