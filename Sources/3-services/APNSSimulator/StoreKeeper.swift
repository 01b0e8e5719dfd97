internal import Basics
internal import Transport

/// Writes changes behind the connections' backs, on a thread of its own, many in one transaction.
final class StoreKeeper: Sendable {
  private let thread = EventLoop(name: "apns store")
  private let desk: Desk
  private let lastFault = Locked<SimulatorFault?>(nil)

  private final class Desk: @unchecked Sendable {  // touched on `thread` only
    let store: SimulatorStore
    weak var core: SimulatorCore?
    init(_ store: SimulatorStore) { self.store = store }
  }

  init(_ store: SimulatorStore) { desk = Desk(store) }

  func serve(_ core: SimulatorCore) {
    thread.execute { [desk] in desk.core = core }
  }

  func writeLater() {
    thread.execute { self.write() }
  }

  /// Returns once everything that happened before is on disk; throws what the last write met.
  func flush() async throws(SimulatorFault) {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      thread.execute {
        self.write()
        done.resume()
      }
    }
    if let fault { throw fault }
  }

  /// What the last write met; nil when it went well.
  var fault: SimulatorFault? { lastFault.withLock { $0 } }

  func stop() async {
    try? await flush()
    await thread.stop()
  }

  private func write() {
    guard let core = desk.core else { return }
    do {
      try desk.store.write(core.takeChanges())
      lastFault.withLock { $0 = nil }
    } catch {
      lastFault.withLock { $0 = error }
    }
  }
}
