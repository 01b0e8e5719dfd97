import Basics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Carries TCP connections to a port of this machine and holds each byte back for a fixed time in each direction, as a
/// long way would. Threads of its own; bandwidth is not limited.
final class DelayRelay: Sendable {
  let port: UInt16
  private let listener: Int32

  init(to target: UInt16, oneWay seconds: Double) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isUp = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isUp else { throw BenchFault("the relay cannot listen") }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    startThread {
      while true {
        let near = accept(listener, nil, nil)
        guard near >= 0 else { return }
        let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: target)
        let isUp = withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(far, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
          }
        }
        guard isUp else {
          close(near)
          continue
        }
        for end in [near, far] {
          var one: Int32 = 1
          setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        }
        carry(from: near, to: far, seconds)
        carry(from: far, to: near, seconds)
      }
    }
  }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}

/// Two threads: one reads and notes when, the other writes when the time has come.
private func carry(from source: Int32, to sink: Int32, _ delay: Double) {
  let way = Locked<[(due: Double, bytes: [UInt8])]>([])
  startThread {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(source, &buffer, buffer.count)
      let bytes = count > 0 ? Array(buffer[..<count]) : []  // none is the end, in its turn
      way.withLock { $0.append((monotonicSeconds() + delay, bytes)) }
      if count <= 0 { return }
    }
  }
  startThread {
    while true {
      let due = way.withLock { way in
        let ready = way.prefix { $0.due <= monotonicSeconds() }
        way.removeFirst(ready.count)
        return Array(ready)
      }
      if due.isEmpty { usleep(500) }
      for (_, bytes) in due {
        guard !bytes.isEmpty else {
          shutdown(sink, Int32(SHUT_WR))
          return
        }
        var done = 0
        while done < bytes.count {
          let count = bytes[done...].withUnsafeBytes { send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
          guard count > 0 else { return }
          done += count
        }
      }
    }
  }
}

private func startThread(_ body: @escaping @Sendable () -> Void) {
  final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  #if canImport(Glibc)
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(Box(body)).toOpaque()
    pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, argument)
    pthread_detach(thread)
  #endif
}
