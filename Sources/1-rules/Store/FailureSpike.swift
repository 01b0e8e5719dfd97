/// When so many devices of an app failed lately that its operators are told: at least `devices` within the window, and at
/// least `percent` of all that ended then, either way.
///
/// A device fails that APNs refused, but for a token that is no more (`Unregistered`, which is the way of the world); that
/// APNs did not answer for; or whose push expired before it left. Those that were not to be sent to do not count at all.
public struct FailureSpike: Sendable, Equatable {
  /// How far back, in whole minutes.
  public var minutes = 10
  public var devices = 20
  public var percent = 20

  public init() {}

  public func isReached(_ counts: [OutcomeKind: Int]) -> Bool {
    let (failed, ended) = Self.figures(counts)
    return failed >= devices && failed * 100 >= percent * ended
  }

  public static func figures(_ counts: [OutcomeKind: Int]) -> (failed: Int, ended: Int) {
    var (failed, others) = (0, 0)
    for (kind, count) in counts {
      switch kind {
      case .accepted, .refused("Unregistered"): others += count
      case .refused, .unanswered, .expired: failed += count
      case .skipped, .skippedByPreference, .withdrawn: break
      }
    }
    return (failed, failed + others)
  }
}
