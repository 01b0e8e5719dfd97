import Basics
import Store

/// The life of a role: its turns one after the other, each with the pause that it asks for, until it is stopped.
final class RoleLoop: Sendable {
  private let clock: any WallClock
  private let onEvent: @Sendable (ServiceEvent) -> Void
  private let task = Locked<Task<Void, Never>?>(nil)

  init(clock: any WallClock, onEvent: @escaping @Sendable (ServiceEvent) -> Void) {
    self.clock = clock
    self.onEvent = onEvent
  }

  /// Once more it changes nothing. After a turn that the store refused, which is told, the next comes after `pause`.
  func start(
    pause: Instant.Span, _ turn: @escaping @Sendable () async throws(StoreFault) -> Instant.Span
  ) {
    task.withLock { task in
      if task == nil { task = Task { [self] in await run(turn, pause) } }
    }
  }

  /// Returns once the turn under way is over.
  func stop() async {
    let running = task.withLock { $0 }
    running?.cancel()
    await running?.value
  }

  private func run(_ turn: () async throws(StoreFault) -> Instant.Span, _ usual: Instant.Span) async {
    while !Task.isCancelled {
      var pause = usual
      do throws(StoreFault) { pause = try await turn() } catch { onEvent(.storeTrouble("\(error)")) }
      do { try await clock.sleep(for: pause) } catch { return }
    }
  }
}
