// What libmicrohttpd calls, always on one of its own threads. Nonisolated functions, so that no executor is checked.
internal import CLibraryShims
internal import CMicroHTTPD

/// The request line has been read; what is returned comes back with each further call for this request.
func httpServerTarget(
  context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>, connection: OpaquePointer
) -> UnsafeMutableRawPointer? {
  let exchange = HTTPExchange(target: String(cString: target))
  httpServerCore(context).began(exchange, on: .of(connection))
  return Unmanaged.passUnretained(exchange).toOpaque()
}

func httpServerAccess(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?, target: UnsafePointer<CChar>?,
  method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, piece: UnsafePointer<CChar>?,
  pieceSize: UnsafeMutablePointer<Int>?, exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let connection, let method, let pieceSize, let exchange = httpExchange(exchange) else { return .NO }
  let bytes = UnsafeRawBufferPointer(start: piece, count: piece == nil ? 0 : pieceSize.pointee)
  pieceSize.pointee = 0
  return exchange.proceed(httpServerCore(context), connection, method: method, piece: bytes) ? .YES : .NO
}

func httpServerHeader(
  context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameSize: Int,
  value: UnsafePointer<CChar>?, valueSize: Int
) -> MHD_Result {
  guard let context, let name else { return .YES }
  let text = String(decoding: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize), as: UTF8.self)
  context.assumingMemoryBound(to: HTTPHeaders.self).pointee.add(
    String(decoding: UnsafeRawBufferPointer(start: name, count: nameSize), as: UTF8.self), text)
  return .YES
}

/// The last byte of the answer left, or the connection ended in some other way; the socket is still open.
func httpServerCompleted(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
  exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
  guard let connection, let finished = httpExchange(exchange) else { return }
  exchange?.pointee = nil
  let core = httpServerCore(context)
  if finished.leavesUnread { core.linger.keep(belfry_mhd_descriptor(connection)) }
  core.ended(on: .of(connection))
}

func httpServerConnection(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
  own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, event: MHD_ConnectionNotificationCode
) {
  guard let connection, let own else { return }
  let core = httpServerCore(context)
  switch event {
  case .CONNECTION_NOTIFY_STARTED:
    let opened = HTTPServerConnection(
      descriptor: belfry_mhd_descriptor(connection), peer: belfry_mhd_peer(connection).flatMap(HTTPSocket.endpoint))
    own.pointee = Unmanaged.passRetained(opened).toOpaque()
    core.opened(opened)
  case .CONNECTION_NOTIFY_CLOSED:
    guard let box = own.pointee else { return }
    own.pointee = nil
    core.closed(Unmanaged<HTTPServerConnection>.fromOpaque(box).takeRetainedValue())
  @unknown default:
    break
  }
}

/// The 101 left. The socket is duplicated so that libmicrohttpd can let its record and its pool go at once.
func httpServerUpgrade(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?, exchange: UnsafeMutableRawPointer?,
  extra: UnsafePointer<CChar>?, extraSize: Int, descriptor: Int32, handle: OpaquePointer?
) {
  guard let handle else { return }
  defer { belfry_mhd_release_upgraded(handle) }
  guard
    let exchange, let takeOver = Unmanaged<HTTPExchange>.fromOpaque(exchange).takeUnretainedValue().takeOver,
    let own = HTTPSocket.duplicate(descriptor)
  else { return }
  let bytes = UnsafeRawBufferPointer(start: extra, count: extra == nil ? 0 : extraSize)
  takeOver(HTTPUpgradedSocket(descriptor: own, alreadyRead: Array(bytes)))
}

private func httpServerCore(_ context: UnsafeMutableRawPointer?) -> HTTPServerCore {
  Unmanaged<HTTPServerCore>.fromOpaque(context!).takeUnretainedValue()  // given to belfry_mhd_start, never nil
}

private func httpExchange(_ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) -> HTTPExchange? {
  (slot?.pointee).map { Unmanaged<HTTPExchange>.fromOpaque($0).takeUnretainedValue() }
}
