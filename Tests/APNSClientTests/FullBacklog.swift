import Basics
import Synchronization
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An address that drops SYNs: a listener that accepts nobody and whose queue is full, so that the kernel lets each further
/// connection go unanswered, as a firewall does.
final class FullBacklog: Sendable {
  let endpoint: Endpoint
  private let sockets: [Int32]

  /// nil where the kernel answers all the same.
  init?() {
    let listener = LoopbackSocket.listening(backlog: 0)
    var sockets = [listener.descriptor]
    var isFull = false
    while !isFull, sockets.count < 16 {
      let client = LoopbackSocket.connecting(to: listener.port, flags: Int32(SOCK_NONBLOCK.rawValue)).descriptor
      sockets.append(client)
      var waiting = pollfd(fd: client, events: Int16(POLLOUT), revents: 0)
      isFull = poll(&waiting, 1, 300) == 0
    }
    endpoint = Endpoint(host: "127.0.0.1", port: listener.port)
    self.sockets = sockets
    guard isFull else { return nil }
  }

  deinit { for socket in sockets { close(socket) } }
}
