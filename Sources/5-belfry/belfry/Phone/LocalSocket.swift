import Basics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A Unix domain socket that speaks lines; blocking, with time limits, for use off the loops.
struct LocalSocket: Sendable {
  let descriptor: Int32

  private static let longestLine = 1 << 20

  /// Throws `errno` in words.
  private static func open() throws(CommandFault) -> Int32 {
    #if canImport(Glibc)
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw CommandFault("no socket can be made: \(String(cString: strerror(errno)))") }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  private static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) throws(CommandFault) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < room else {
      throw CommandFault(
        "\(path) is longer than a socket's path may be (\(room - 1)); BELFRY_PHONES names a shorter folder")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  /// Listens at a path of which the caller knows that nobody else does; what lies there is taken away first.
  static func listen(_ path: String) throws(CommandFault) -> LocalSocket {
    let descriptor = try open()
    unlink(path)
    let bound = try withAddress(path) { bind(descriptor, $0, $1) }
    guard bound == 0, chmod(path, 0o600) == 0, systemListen(descriptor, 16) == 0 else {
      let cause = String(cString: strerror(errno))
      close(descriptor)
      throw CommandFault("\(path): no socket can be put there: \(cause)")
    }
    return LocalSocket(descriptor: descriptor)
  }

  /// nil: nobody listens there.
  static func connect(_ path: String) throws(CommandFault) -> LocalSocket? {
    let descriptor = try open()
    let connected = try withAddress(path) { systemConnect(descriptor, $0, $1) }
    guard connected == 0 else {
      close(descriptor)
      return nil
    }
    return LocalSocket(descriptor: descriptor)
  }

  /// nil: the listener is closed, or the caller has gone already.
  func accept(patience seconds: Int) -> LocalSocket? {
    let descriptor = systemAccept(self.descriptor)
    guard descriptor >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let socket = LocalSocket(descriptor: descriptor)
    socket.setPatience(seconds)
    return socket
  }

  func setPatience(_ seconds: Int) {
    var limit = timeval()
    limit.tv_sec = seconds
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  /// False: the other side has gone or does not read.
  func send(_ line: String) -> Bool { Terminal.write(line + "\n", to: descriptor) }

  func end() { close(descriptor) }

  /// Reads lines one after another.
  struct Reader {
    let socket: LocalSocket
    private var buffer: [UInt8] = []

    init(_ socket: LocalSocket) { self.socket = socket }

    /// nil: the other side has gone, is silent beyond the patience, or sends a line that no request is as long as.
    mutating func next() -> [UInt8]? {
      while true {
        if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
          defer { buffer.removeSubrange(...end) }
          return Array(buffer[..<end])
        }
        guard buffer.count < LocalSocket.longestLine else { return nil }
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = read(socket.descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return nil }
        buffer += chunk[..<count]
      }
    }
  }
}

// the type's own names hide the system's
private func systemListen(_ descriptor: Int32, _ waiting: Int32) -> Int32 { listen(descriptor, waiting) }
private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }
private func systemConnect(
  _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> Int32 { connect(descriptor, address, length) }
