#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A TCP socket of the system's own on 127.0.0.1, with the address that it listens at or is connected to.
struct LoopbackSocket {
  let descriptor: Int32
  private(set) var address = sockaddr_in()

  var port: UInt16 { UInt16(bigEndian: address.sin_port) }

  private init(_ port: UInt16, flags: Int32 = 0) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | flags, 0)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
  }

  private mutating func withAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> Void) {
    withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
  }

  /// Listens on a port that is free.
  static func listening(backlog: Int32) -> LoopbackSocket {
    var made = LoopbackSocket(0)
    let descriptor = made.descriptor
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    made.withAddress { address in
      _ = bind(descriptor, address, length)
      _ = listen(descriptor, backlog)
      _ = getsockname(descriptor, address, &length)
    }
    return made
  }

  /// - Parameter flags: `SOCK_NONBLOCK`, to return before it is connected.
  static func connecting(to port: UInt16, flags: Int32 = 0) -> LoopbackSocket {
    var made = LoopbackSocket(port, flags: flags)
    let descriptor = made.descriptor
    made.withAddress { _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    return made
  }
}
