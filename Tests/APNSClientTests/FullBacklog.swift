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
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = bind(listener, pointer, length)
        _ = listen(listener, 0)
        _ = getsockname(listener, pointer, &length)
      }
      return UInt16(bigEndian: pointer.pointee.sin_port)
    }
    var sockets = [listener]
    var isFull = false
    while !isFull, sockets.count < 16 {
      let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
      sockets.append(client)
      withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, length) }
      }
      var waiting = pollfd(fd: client, events: Int16(POLLOUT), revents: 0)
      isFull = poll(&waiting, 1, 300) == 0
    }
    endpoint = Endpoint(host: "127.0.0.1", port: port)
    self.sockets = sockets
    guard isFull else { return nil }
  }

  deinit { for socket in sockets { close(socket) } }
}
