internal import Foundation

/// What became of pushes on this phone: each kind is told once for a push, however many callbacks the system makes of it.
extension Belfry {
  /// Kept, and told when it can be. false: it was noted before, so that the app need not act on this callback either.
  /// Without an effect for a push that is not of this service.
  @discardableResult
  public func note(_ report: PushReport, of push: PushInfo) async throws(BelfryFault) -> Bool {
    guard let message = push.messageID else { return false }
    let at = Int64(Date().timeIntervalSince1970 * 1000)
    guard try await store.note(.init(message: message, kind: report, at: at)) else { return false }
    tryWaiting()
    return true
  }

  func sayReports() async throws(BelfryFault) {
    while true {
      let reports = try await store.reportsToSay()
      if reports.isEmpty { return }
      do throws(BelfryFault) {
        try await withRegistration { registration throws(BelfryFault) in
          try await self.api.report(registration, reports)
        }
      } catch {
        // what the service will never take is not said again and again
        if error.isTemporary { throw error }
      }
      try await store.reportsTaken(reports)
    }
  }
}
