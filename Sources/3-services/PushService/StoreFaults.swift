import Store

extension RequestFault {
  /// Whose numbers a fault of the store is told in.
  enum Family {
    case push
    case device
    case schedule
  }

  init(_ fault: StoreFault, _ family: Family) {
    let isTemporary: Bool
    let found: String
    switch fault {
    case .full: (isTemporary, found) = (true, "the store has no room left; nothing was kept")
    case .unavailable, .closed: (isTemporary, found) = (true, "the store did not take it; nothing was kept")
    case .taken: (isTemporary, found) = (true, "the store was asked for the same thing twice; nothing was kept")
    case .corrupt, .unusable: (isTemporary, found) = (false, "the store cannot be used")
    }
    let code: Code =
      switch family {
      case .push: isTemporary ? .temporarilyUnavailable : .internalError
      case .schedule: isTemporary ? .scheduleTemporarilyUnavailable : .scheduleInternalError
      case .device: isTemporary ? .deviceTemporarilyUnavailable : .deviceInternalError
      }
    self.init(
      code, found: found, remedy: isTemporary ? "Try again later." : "Ask the operator to look at the server's log.")
  }
}

/// What the store answers; a fault of it is told in the numbers of `family`.
func faulting<Answer>(
  as family: RequestFault.Family, _ answer: @autoclosure () async throws(StoreFault) -> Answer
) async throws(RequestFault) -> Answer {
  do throws(StoreFault) { return try await answer() } catch { throw RequestFault(error, family) }
}
