internal import Basics
internal import Synchronization
internal import Transport

/// Writes changes behind the connections' backs, on a thread of its own, many in one transaction. What cannot be written
/// stays to be written: it is tried again each second until it goes.
final class StoreKeeper: Sendable {
  let thread = EventLoop(name: "apns store")
  private let desk: Desk
  private let lastFault = Locked<SimulatorFault?>(nil)
  /// The same question, asked for each push.
  private let isFaulty = Atomic<Bool>(false)

  private final class Desk: @unchecked Sendable {  // touched on `thread` only
    let store: SimulatorStore
    weak var core: SimulatorCore?
    var isRetrying = false
    init(_ store: SimulatorStore) { self.store = store }
  }

  init(_ store: SimulatorStore) { desk = Desk(store) }

  func serve(_ core: SimulatorCore) {
    thread.execute { [desk] in desk.core = core }
  }

  func writeLater() {
    thread.execute { [weak self] in self?.write() }
  }

  /// Calls `done`, on the keeper's thread, once everything that happened before is written, or could not be: what waits
  /// behind one transaction goes into the next together.
  func whenWritten(_ done: @escaping @Sendable (SimulatorFault?) -> Void) {
    thread.execute {
      self.write()
      done(self.fault)
    }
  }

  /// Returns once everything that happened before is written; throws what the last write met.
  func flush() async throws(SimulatorFault) {
    let fault = await withCheckedContinuation { (done: CheckedContinuation<SimulatorFault?, Never>) in
      whenWritten { done.resume(returning: $0) }
    }
    if let fault { throw fault }
  }

  /// What the last write met; nil when it went well.
  var fault: SimulatorFault? { isFaulty.load(ordering: .relaxed) ? lastFault.withLock { $0 } : nil }

  func stop() async {
    try? await flush()
    await thread.stop()
  }

  private func write() {
    guard let core = desk.core else { return }
    let batch = core.takeChanges()
    do {
      try desk.store.write(batch)
      isFaulty.store(false, ordering: .relaxed)
      lastFault.withLock { $0 = nil }
    } catch {
      core.giveBack(batch)
      lastFault.withLock { $0 = error }
      isFaulty.store(true, ordering: .relaxed)
      retryLater()
    }
  }

  private func retryLater() {
    guard !desk.isRetrying else { return }
    desk.isRetrying = true
    thread.schedule(after: .seconds(1)) { [weak self] in
      self?.desk.isRetrying = false
      self?.write()
    }
  }
}
