internal import Basics
internal import CLibraryShims  // which, or CLibuv, shows this file the socket addresses: whichever was loaded first
internal import CLibuv

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A TCP socket bound to its address and listening.
struct HTTPListeningSocket {
  let descriptor: Int32
  /// With the real port.
  let endpoint: Endpoint

  init(_ wanted: Endpoint) throws(TransportFault) {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = HTTPSocket.stream
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(wanted.host, String(wanted.port), &hints, &found) == 0, let address = found?.pointee else {
      throw TransportFault(
        .nameNotFound, at: wanted.description, what: "\(wanted.host) has no address to listen on",
        remedy: "Name an address of this machine, such as 127.0.0.1 or 0.0.0.0.")
    }
    defer { freeaddrinfo(found) }
    let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
    guard descriptor >= 0 else { throw Self.fault(wanted, errno) }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, 1024) == 0 else {
      let reason = errno
      HTTPSocket.release(descriptor)
      throw Self.fault(wanted, reason)
    }
    self.descriptor = descriptor
    var bound = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let port = withUnsafeMutablePointer(to: &bound) { bound in
      bound.withMemoryRebound(to: sockaddr.self, capacity: 1) { bound in
        getsockname(descriptor, bound, &size) == 0 ? HTTPSocket.endpoint(bound)?.port : nil
      }
    }
    endpoint = Endpoint(host: wanted.host, port: port ?? wanted.port)
  }

  private static func fault(_ wanted: Endpoint, _ code: Int32) -> TransportFault {
    let kind: TransportFault.Kind
    let remedy: String
    switch code {
    case EADDRINUSE:
      kind = .addressInUse
      remedy = "Stop the program that listens there, or give another port (0 takes a free one)."
    case EADDRNOTAVAIL:
      (kind, remedy) = (.addressNotAvailable, "Name an address of this machine, such as 127.0.0.1 or 0.0.0.0.")
    case EACCES, EPERM:
      (kind, remedy) = (.permissionDenied, "Give a port above 1023, or the right to use this one.")
    case EMFILE, ENFILE:
      (kind, remedy) = (.outOfDescriptors, "Raise the limit of open files.")
    default:
      (kind, remedy) = (.system, "Look the message up for this system.")
    }
    return TransportFault(
      kind, at: wanted.description, what: "cannot listen: \(String(cString: strerror(code)))", remedy: remedy)
  }

  func release() { HTTPSocket.release(descriptor) }
}

enum HTTPSocket {
  #if canImport(Glibc)
    static let stream = Int32(SOCK_STREAM.rawValue)
  #else
    static let stream = SOCK_STREAM
  #endif

  /// Both ways: the peer sees an end, libmicrohttpd a peer that left.
  static func cut(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  static func release(_ descriptor: Int32) { _ = close(descriptor) }

  static func duplicate(_ descriptor: Int32) -> Int32? {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    return copy < 0 ? nil : copy
  }

  /// What fits into the socket's buffer now; the rest is dropped.
  static func sendAtOnce(_ bytes: [UInt8], to descriptor: Int32) {
    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
  }

  /// Whether all has been read and the peer will send no more.
  static func hasEnded(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK))
    return count == 0 || (count < 0 && errno == ECONNRESET)
  }

  enum Drained {
    case ended
    case more(Int)
    case nothing
  }

  /// Reads and drops what is there, a megabyte at most.
  static func drain(_ descriptor: Int32) -> Drained {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
      var dropped = 0
      while dropped < 1 << 20 {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { return .ended }
        if count < 0 { return dropped == 0 ? .nothing : .more(dropped) }
        dropped += count
      }
      return .more(dropped)
    }
  }

  /// Numeric, without looking a name up; nil for what is no IP.
  static func endpoint(_ address: UnsafePointer<sockaddr>) -> Endpoint? {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
        var ip = address.pointee.sin_addr
        return text(AF_INET, &ip).map { Endpoint(host: $0, port: UInt16(bigEndian: address.pointee.sin_port)) }
      }
    case AF_INET6:
      address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
        var ip = address.pointee.sin6_addr
        return text(AF_INET6, &ip).map { Endpoint(host: $0, port: UInt16(bigEndian: address.pointee.sin6_port)) }
      }
    default:
      nil
    }
  }

  private static func text(_ family: Int32, _ ip: UnsafeRawPointer) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      inet_ntop(family, ip, buffer.baseAddress!, socklen_t(buffer.count)).map { String(cString: $0) }
    }
  }
}
