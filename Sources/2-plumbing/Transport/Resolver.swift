import CLibraryShims  // which, or CLibuv, shows this file the socket addresses: whichever was loaded first
import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Looks up `endpoint` without blocking the loop and tells the addresses in the order to try; addresses in digits are
/// told on a later turn too, and never wait for names: libuv looks up two at a time in the whole process, and one that no
/// server knows takes many seconds. On the loop.
func resolve(
  _ endpoint: Endpoint, on loop: EventLoop,
  _ done: @escaping (Result<[sockaddr_storage], TransportFault>) -> Void
) {
  if let address = endpoint.numericAddress {
    nonisolated(unsafe) let done = done  // runs on this loop, as the caller does
    return loop.execute {
      guard loop.isOpen else {
        return done(
          .failure(TransportFault(system: UV_ECANCELED.rawValue, at: endpoint.description, doing: "connecting")))
      }
      done(.success([address]))
    }
  }
  let lookup = Lookup(endpoint: endpoint, done: done)
  let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
  request.pointee.data = Unmanaged.passRetained(lookup).toOpaque()
  var hints = addrinfo()
  #if canImport(Glibc)
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  #else
    hints.ai_socktype = SOCK_STREAM
  #endif
  hints.ai_flags = AI_NUMERICSERV
  let started = uv_getaddrinfo(
    loop.uv, request,
    { request, status, found in
      let lookup = Unmanaged<Lookup>.fromOpaque(request!.pointee.data).takeRetainedValue()
      request!.deallocate()
      lookup.ended(status, found)
      uv_freeaddrinfo(found)
    }, endpoint.host, String(endpoint.port), &hints)
  if started != 0 {
    Unmanaged<Lookup>.fromOpaque(request.pointee.data).release()
    request.deallocate()
    lookup.ended(started, nil)
  }
}

private final class Lookup {
  let endpoint: Endpoint
  let done: (Result<[sockaddr_storage], TransportFault>) -> Void

  init(endpoint: Endpoint, done: @escaping (Result<[sockaddr_storage], TransportFault>) -> Void) {
    self.endpoint = endpoint
    self.done = done
  }

  func ended(_ status: Int32, _ found: UnsafeMutablePointer<addrinfo>?) {
    guard status == 0 else {
      return done(.failure(TransportFault(system: status, at: endpoint.description, doing: "looking up the name")))
    }
    var addresses: [sockaddr_storage] = []
    var next = found
    while let entry = next {
      var address = sockaddr_storage()
      let length = min(Int(entry.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
      withUnsafeMutableBytes(of: &address) { memory in
        memory.copyMemory(from: UnsafeRawBufferPointer(start: entry.pointee.ai_addr, count: length))
      }
      addresses.append(address)
      next = entry.pointee.ai_next
    }
    done(.success(addresses))
  }
}

extension Endpoint {
  /// The address when `host` is one in digits; nil for names, and for IPv6 with a zone, which the system looks up.
  fileprivate var numericAddress: sockaddr_storage? { host.contains("%") ? nil : socketAddress }

  /// The address when `host` is one in digits, also with the zone of a link (`fe80::1%eth0`).
  var socketAddress: sockaddr_storage? {
    var address = sockaddr_storage()
    let isNumeric = withUnsafeMutablePointer(to: &address) { storage in
      let memory = UnsafeMutableRawPointer(storage)
      return uv_ip4_addr(host, Int32(port), memory.assumingMemoryBound(to: sockaddr_in.self)) == 0
        || uv_ip6_addr(host, Int32(port), memory.assumingMemoryBound(to: sockaddr_in6.self)) == 0
    }
    return isNumeric ? address : nil
  }

  /// ATYP and address as SOCKS wants them (RFC 1928 §5): 4 or 16 bytes, or a name with its length before it; nil when
  /// the name is longer than that can say.
  var socksAddress: [UInt8]? {
    guard var address = numericAddress else {
      let name = Array(host.utf8)
      return (1...255).contains(name.count) ? [3, UInt8(name.count)] + name : nil
    }
    return withUnsafeBytes(of: &address) { memory in
      Int32(memory.load(as: sockaddr_storage.self).ss_family) == AF_INET
        ? [1] + withUnsafeBytes(of: memory.load(as: sockaddr_in.self).sin_addr) { Array($0) }
        : [4] + withUnsafeBytes(of: memory.load(as: sockaddr_in6.self).sin6_addr) { Array($0) }
    }
  }

  /// nil for what is neither IPv4 nor IPv6.
  init?(socketAddress: sockaddr_storage) {
    var address = socketAddress
    let found = withUnsafeMutablePointer(to: &address) { Endpoint(reading: UnsafeMutableRawPointer($0)) }
    guard let found else { return nil }
    self = found
  }

  init?(peerOf handle: UnsafeMutablePointer<uv_tcp_t>) { self.init(of: handle, uv_tcp_getpeername) }
  init?(ownOf handle: UnsafeMutablePointer<uv_tcp_t>) { self.init(of: handle, uv_tcp_getsockname) }

  private init?(
    of handle: UnsafeMutablePointer<uv_tcp_t>,
    _ ask: (UnsafePointer<uv_tcp_t>?, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<Int32>?) -> Int32
  ) {
    var address = sockaddr_storage()
    var length = Int32(MemoryLayout<sockaddr_storage>.size)
    let found: Endpoint? = withUnsafeMutablePointer(to: &address) { storage in
      let generic = UnsafeMutableRawPointer(storage)
      guard ask(handle, generic.assumingMemoryBound(to: sockaddr.self), &length) == 0 else { return nil }
      return Endpoint(reading: generic)
    }
    guard let found else { return nil }
    self = found
  }

  private init?(reading storage: UnsafeMutableRawPointer) {
    var text = [CChar](repeating: 0, count: 64)
    let port: UInt16
    switch Int32(storage.assumingMemoryBound(to: sockaddr.self).pointee.sa_family) {
    case AF_INET:
      let four = storage.assumingMemoryBound(to: sockaddr_in.self)
      uv_ip4_name(four, &text, text.count)
      port = UInt16(bigEndian: four.pointee.sin_port)
    case AF_INET6:
      let six = storage.assumingMemoryBound(to: sockaddr_in6.self)
      uv_ip6_name(six, &text, text.count)
      port = UInt16(bigEndian: six.pointee.sin6_port)
      var zone = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
      if six.pointee.sin6_scope_id != 0, if_indextoname(six.pointee.sin6_scope_id, &zone) != nil {
        text = text.prefix { $0 != 0 } + [CChar(UInt8(ascii: "%"))] + zone
      }
    default: return nil
    }
    self.init(host: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self), port: port)
  }
}
