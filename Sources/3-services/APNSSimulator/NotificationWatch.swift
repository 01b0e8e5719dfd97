internal import Basics

/// Who waits for pushes: collects those that concern it until they are asked for. Costs nothing while nothing comes.
///
/// `offer` may be called from any thread, `next` from one task at a time. A push that changes several times before it is
/// fetched is told once, as it is last.
final class NotificationWatch: Sendable {
  let number: UInt64
  private let concerns: @Sendable (LoggedNotification) -> Bool
  private let inbox = Locked(Inbox())

  private struct Inbox: Sendable {
    var pending: [UInt64: LoggedNotification] = [:]
    var isOver = false
    var wake: CheckedContinuation<Void, Never>?
  }

  init(number: UInt64, concerns: @escaping @Sendable (LoggedNotification) -> Bool) {
    self.number = number
    self.concerns = concerns
  }

  func offer(_ changed: [LoggedNotification]) {
    let mine = changed.filter(concerns)
    guard !mine.isEmpty else { return }
    let waiter = inbox.withLock { inbox in
      for entry in mine { inbox.pending[entry.number] = entry }
      return inbox.wake.take()
    }
    waiter?.resume()
  }

  /// Ends the waiting: what is pending can still be fetched, then `next` answers nil.
  func end() {
    let waiter = inbox.withLock { inbox in
      inbox.isOver = true
      return inbox.wake.take()
    }
    waiter?.resume()
  }

  /// What came or changed since the last call, oldest first, as soon as there is something; nil once the watch is over or
  /// the task cancelled.
  func next() async -> [LoggedNotification]? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = inbox.withLock { inbox in
          guard inbox.pending.isEmpty, !inbox.isOver else { return true }
          inbox.wake = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      end()
    }
    let pending = inbox.withLock { inbox in
      defer { inbox.pending = [:] }
      return inbox.pending
    }
    return pending.isEmpty ? nil : pending.values.sorted { $0.number < $1.number }
  }
}
