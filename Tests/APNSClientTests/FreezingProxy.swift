import Basics
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Stands between client and peer and can stop passing bytes on without closing anything, as a broken network does.
/// Threads and blocking sockets: nothing of ours is under test here.
final class FreezingProxy: Sendable {
  let port: UInt16
  private let listener: Int32
  private let state = Locked(State())

  private struct State {
    var frozen: Set<Int> = []
    var pairs: [(Int32, Int32)] = []
    var freezesAll = false
    var isStopped = false
  }

  init(to target: UInt16) {
    signal(SIGPIPE, SIG_IGN)
    let socket = LoopbackSocket.listening(backlog: 16)
    listener = socket.descriptor
    port = socket.port
    run { self.serve(target) }
  }

  /// Connections so far.
  var count: Int { state.withLock { $0.pairs.count } }

  /// From now on no byte passes on the connections there are; new ones work.
  func freeze() { state.withLock { state in state.frozen = Set(state.pairs.indices) } }

  /// New connections are accepted and nothing more.
  func freezeNew(_ freezes: Bool) { state.withLock { $0.freezesAll = freezes } }

  func stop() {
    state.withLock { $0.isStopped = true }
    shutdown(listener, Int32(SHUT_RDWR))  // wakes `serve`, which closes it: its number must not be another's before
    for (left, right) in state.withLock({ $0.pairs }) {
      shutdown(left, Int32(SHUT_RDWR))
      if right >= 0 { shutdown(right, Int32(SHUT_RDWR)) }
    }
  }

  private func serve(_ target: UInt16) {
    while true {
      let client = acceptConnection(listener)
      guard !state.withLock({ $0.isStopped }) else {
        close(listener)
        return
      }
      guard client >= 0 else {
        usleep(1000)
        continue
      }
      let server = LoopbackSocket.connecting(to: target).descriptor
      let number = state.withLock { state in
        state.pairs.append((client, server))
        if state.freezesAll { state.frozen.insert(state.pairs.count - 1) }
        return state.pairs.count - 1
      }
      run { self.pass(client, server, number) }
      run { self.pass(server, client, number) }
    }
  }

  private func pass(_ from: Int32, _ to: Int32, _ number: Int) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(from, &buffer, buffer.count)
      if state.withLock({ $0.frozen.contains(number) }) { return }
      guard count > 0 else {
        shutdown(to, Int32(SHUT_WR))
        return
      }
      var sent = 0
      while sent < count {
        let written = buffer.withUnsafeBytes { write(to, $0.baseAddress! + sent, count - sent) }
        guard written > 0 else { return }
        sent += written
      }
    }
  }

  private func run(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Body(body))
    pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    pthread_detach(thread)
  }

  private final class Body: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

private func acceptConnection(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
