internal import Basics
internal import CLibraryShims
internal import CMicroHTTPD

/// One request and its answer, from its request line to the last byte sent.
///
///     head ──within limits──▶ body ──read whole──▶ handled ──answer──▶ answered
///      └──────refused─────────┴──────────────────────────────────────▶ answered
///
/// Belongs to the libmicrohttpd thread of its connection. Two things cross: `takeRequest` gives the request away before
/// the handler starts, and `answer`, behind its lock, comes back.
final class HTTPExchange: @unchecked Sendable {  // its connection's thread; `answer` has a lock
  private enum Step { case head, body, handled, answered }

  private var step = Step.head
  /// Without body; does not change once the handler runs.
  private(set) var head: HTTPRequest
  private var body: [UInt8] = []
  private var bodyLimit = 0
  let answer = Locked<HTTPResponse?>(nil)
  /// Taken by the upgrade callback.
  private(set) var takeOver: (@Sendable (HTTPUpgradedSocket) -> Void)?
  /// Answered before the request was read: the peer may still be sending.
  private(set) var leavesUnread = false

  init(target: String) {
    let (path, query) = HTTPTarget.split(target)
    head = HTTPRequest(method: "", path: path, query: query)
  }

  func takeRequest() -> HTTPRequest {
    var request = head
    swap(&request.body, &body)
    return request
  }

  /// libmicrohttpd has the head, a piece of the body, or (with no bytes) the end of it. False: close without an answer.
  func proceed(
    _ core: HTTPServerCore, _ connection: OpaquePointer, method: UnsafePointer<CChar>,
    piece: UnsafeRawBufferPointer
  ) -> Bool {
    switch step {
    case .head:
      return startReading(core, connection, method: method)
    case .body:
      guard piece.isEmpty else {
        guard body.count + piece.count <= bodyLimit else { return refuseBody(core, connection) }
        body.append(contentsOf: piece)
        return true
      }
      step = .handled
      core.expect(.handler, on: .of(connection))
      MHD_suspend_connection(connection)
      core.handle(self, on: HTTPConnectionPointer(pointer: connection))
      return true
    case .handled:
      guard let response = answer.withLock({ $0.take() }) else { return true }
      return send(response, core, connection)
    case .answered:
      return true
    }
  }

  private func startReading(
    _ core: HTTPServerCore, _ connection: OpaquePointer, method: UnsafePointer<CChar>
  ) -> Bool {
    head.method = String(cString: method)
    head.peer = HTTPServerConnection.of(connection).peer
    head.headers.reserve(16)
    withUnsafeMutablePointer(to: &head.headers) { headers in
      _ = MHD_get_connection_values_n(connection, .HEADER_KIND, httpServerHeader, headers)
    }
    bodyLimit = core.limits.upload(head) ?? core.limits.body
    let length = head.headers["Content-Length"].flatMap { Int($0) }
    if belfry_mhd_head_size(connection) > core.limits.head {
      return refuse(.headTooLarge(limit: core.limits.head), core, connection)
    } else if let length, length > bodyLimit {
      return refuse(.bodyTooLarge(limit: bodyLimit), core, connection)
    } else if core.isStopping {
      return refuse(.stopping, core, connection)
    }
    step = .body
    body.reserveCapacity(length ?? 0)
    return true
  }

  private func refuse(_ refusal: HTTPRefusal, _ core: HTTPServerCore, _ connection: OpaquePointer) -> Bool {
    leavesUnread = head.headers["Content-Length"] != nil || head.headers["Transfer-Encoding"] != nil
    return send(core.refusal(refusal, head), core, connection, thenClose: true)
  }

  /// A chunked body has become too long. libmicrohttpd takes no answer before a body's end, so this one goes straight to
  /// the socket, on which nothing has been answered yet. Within TLS there is no such way: the connection is cut.
  private func refuseBody(_ core: HTTPServerCore, _ connection: OpaquePointer) -> Bool {
    step = .answered
    guard !core.isTLS else { return false }
    leavesUnread = true
    let response = core.refusal(.bodyTooLarge(limit: bodyLimit), head)
    HTTPSocket.sendAtOnce(response.bytesBeforeClosing, to: belfry_mhd_descriptor(connection))
    return false
  }

  private func send(
    _ answer: HTTPResponse, _ core: HTTPServerCore, _ connection: OpaquePointer, thenClose: Bool = false
  ) -> Bool {
    step = .answered
    // Within TLS the socket carries what only libmicrohttpd can read.
    let answer = core.isTLS && answer.takeOver != nil ? HTTPResponse(status: 501) : answer
    core.expect(.fetching(within: core.limits.writing), on: .of(connection))
    takeOver = answer.takeOver
    guard let response = HTTPServerResponse(answer) else { return false }
    if thenClose || core.isStopping, answer.takeOver == nil { response.add("Connection", "close") }
    return response.queue(on: connection)
  }
}

extension HTTPServerConnection {
  /// Set by the connection callback before any other callback for it.
  static func of(_ connection: OpaquePointer) -> HTTPServerConnection {
    Unmanaged<HTTPServerConnection>.fromOpaque(belfry_mhd_context(connection)!).takeUnretainedValue()
  }
}

/// libmicrohttpd's response, destroyed when it goes: libmicrohttpd keeps its own count.
struct HTTPServerResponse: ~Copyable {
  private let pointer: OpaquePointer
  private let status: Int

  /// nil without memory.
  init?(_ response: HTTPResponse) {
    status = response.status
    let pointer: OpaquePointer?
    if response.takeOver != nil {
      pointer = MHD_create_response_for_upgrade(httpServerUpgrade, nil)
    } else {
      pointer = response.body.withUnsafeBytes { bytes in
        MHD_create_response_from_buffer(
          bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
      }
    }
    guard let pointer else { return nil }
    self.pointer = pointer
    for field in response.headers.fields { add(field.name, field.value) }
  }

  deinit { MHD_destroy_response(pointer) }

  /// A name or value that HTTP does not allow (line breaks) is left out.
  borrowing func add(_ name: String, _ value: String) { _ = MHD_add_response_header(pointer, name, value) }

  borrowing func queue(on connection: OpaquePointer) -> Bool {
    MHD_queue_response(connection, UInt32(status), pointer) == .YES
  }
}

extension HTTPResponse {
  /// As HTTP/1.1, for a connection that is closed behind it.
  var bytesBeforeClosing: [UInt8] {
    let reason = MHD_get_reason_phrase_for(UInt32(status)).map { String(cString: $0) } ?? ""
    var head = "HTTP/1.1 \(status) \(reason)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n"
    for field in headers.fields { head += "\(field.name): \(field.value)\r\n" }
    return Array((head + "\r\n").utf8) + body
  }
}
