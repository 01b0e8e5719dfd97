/// Who knows the addresses of a host. Asked before every connection: nothing is remembered (Apple, "Establishing a
/// connection to APNs": look up anew, and spread over the answers).
public protocol NameResolver: Sendable {
  /// Called on `loop`; must not block it, and must call `done` once, on `loop`, on a later turn: with addresses in digits,
  /// the preferred ones first (RFC 6724), or with why there are none.
  func addresses(
    of host: Endpoint, on loop: EventLoop, _ done: @escaping (Result<[Endpoint], TransportFault>) -> Void)
}

/// The machine's own: hosts file, name servers.
public struct SystemResolver: NameResolver {
  public init() {}

  public func addresses(
    of host: Endpoint, on loop: EventLoop, _ done: @escaping (Result<[Endpoint], TransportFault>) -> Void
  ) {
    resolve(host, on: loop) { result in done(result.map { $0.compactMap(Endpoint.init(socketAddress:)) }) }
  }
}
