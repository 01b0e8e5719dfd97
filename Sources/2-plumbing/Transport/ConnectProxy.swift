public import Basics

/// An HTTP proxy that knows one method, CONNECT (RFC 9110 §9.3.6), and decides itself where each name leads: so a client
/// whose host is built in can be brought elsewhere without a change to it. Bytes pass unread; a slow side slows the other.
public final class ConnectProxy: Sendable {
  /// The real address, with the port that a given 0 became.
  public let endpoint: Endpoint
  private let listener: StreamListener

  private init(listener: StreamListener) {
    self.listener = listener
    endpoint = listener.endpoint
  }

  /// Returns once the port is open. `route` is called on a loop; nil answers 403. `patience` is for a client to say where
  /// it wants to go.
  public static func bind(
    _ endpoint: Endpoint, loops: LoopGroup, patience: Instant.Span = .seconds(10),
    route: @escaping @Sendable (Endpoint) -> Endpoint?
  ) async throws(TransportFault) -> ConnectProxy {
    ConnectProxy(
      listener: try await .bind(endpoint, loops: loops, tls: nil, limits: StreamLimits()) { stream in
        Tunnel(stream, route: route, patience: patience)
      })
  }

  /// Takes no more connections; tunnels end with their loops or their ends.
  public func stop() async { await listener.close() }
}

/// One client and the server that it was brought to, on one loop.
private final class Tunnel: StreamHandler {
  private enum Phase {
    case head([UInt8], deadline: Int64)
    case connecting(pending: [UInt8])
    case open
    case over
  }

  private let route: @Sendable (Endpoint) -> Endpoint?
  private var client: StreamConnection?
  private var server: StreamConnection?
  private var phase: Phase

  init(_ client: StreamConnection, route: @escaping @Sendable (Endpoint) -> Endpoint?, patience: Instant.Span) {
    self.client = client
    self.route = route
    phase = .head([], deadline: client.loop.turnTime + patience.milliseconds)
  }

  // MARK: The client

  func opened(_ stream: StreamConnection) {
    if case .head(_, let deadline) = phase { stream.checkTime(at: deadline) }
  }

  func timeCheck(now: Int64) -> Int64 {
    guard case .head(_, let deadline) = phase else { return .max }
    guard now >= deadline else { return deadline }
    answer(408, "Request Timeout")
    return .max
  }

  func received(_ bytes: UnsafeRawBufferPointer) {
    switch phase {
    case .head(var head, let deadline):
      let old = head.count
      head.append(contentsOf: bytes)
      if let end = head.indexAfterHead(from: max(0, old - 3)) {
        return begin(String(decoding: head[..<end], as: UTF8.self), rest: Array(head[end...]))
      }
      guard head.count <= 8192 else { return answer(431, "Request Header Fields Too Large") }
      phase = .head(head, deadline: deadline)
    case .connecting(var pending):
      pending.append(contentsOf: bytes)
      phase = .connecting(pending: pending)
    case .open: if server?.write(bytes) == false { client?.pauseReading() }
    case .over: break
    }
  }

  private func begin(_ head: String, rest: [UInt8]) {
    guard let client else { return }
    let words = head.prefix { $0 != "\r\n" && $0 != "\r" }.split(separator: " ")
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return answer(400, "Bad Request") }
    guard words[0] == "CONNECT" else { return answer(405, "Method Not Allowed", "Allow: CONNECT\r\n") }
    guard let wanted = Endpoint(String(words[1])) else { return answer(400, "Bad Request") }
    guard let target = route(wanted) else { return answer(403, "Forbidden") }
    phase = .connecting(pending: rest)
    client.pauseReading()
    server = .connect(to: target, tls: nil, on: client.loop, limits: StreamLimits(), handler: TunnelEnd(self))
  }

  private func answer(_ status: Int, _ words: String, _ fields: String = "") {
    phase = .over
    write("HTTP/1.1 \(status) \(words)\r\n\(fields)Content-Length: 0\r\nConnection: close\r\n\r\n")
    client?.close()
  }

  private func write(_ text: String) { Array(text.utf8).withUnsafeBytes { _ = client?.write($0) } }

  func writable() { server?.resumeReading() }

  func receivedEnd() { closed() }

  func closed(_ fault: TransportFault) { closed() }

  // MARK: The server

  fileprivate func serverOpened() {
    guard case .connecting(let pending) = phase else { return }
    phase = .open
    write("HTTP/1.1 200 Connection established\r\n\r\n")
    if !pending.isEmpty { pending.withUnsafeBytes { _ = server?.write($0) } }
    client?.resumeReading()
  }

  fileprivate func serverReceived(_ bytes: UnsafeRawBufferPointer) {
    if client?.write(bytes) == false { server?.pauseReading() }
  }

  fileprivate func serverWritable() { client?.resumeReading() }

  fileprivate func serverClosed() {
    if case .connecting = phase { return answer(502, "Bad Gateway") }
    closed()
  }

  /// One end is over: what waits for the other still goes out, then it is over too.
  private func closed() {
    phase = .over
    client?.close()
    server?.close()
    client = nil
    server = nil
  }
}

/// The tunnel's far side.
private final class TunnelEnd: StreamHandler {
  private let tunnel: Tunnel

  init(_ tunnel: Tunnel) { self.tunnel = tunnel }

  func opened(_ stream: StreamConnection) { tunnel.serverOpened() }
  func received(_ bytes: UnsafeRawBufferPointer) { tunnel.serverReceived(bytes) }
  func writable() { tunnel.serverWritable() }
  func receivedEnd() { tunnel.serverClosed() }
  func timeCheck(now: Int64) -> Int64 { .max }
  func closed(_ fault: TransportFault) { tunnel.serverClosed() }
}
