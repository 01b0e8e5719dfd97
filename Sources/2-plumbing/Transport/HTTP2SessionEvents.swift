import Basics
import CNgHTTP2

/// What nghttp2 tells while it reads and writes. nghttp2 forbids to read or write from here: all that is sent waits for
/// the flush.
extension HTTP2Session {
  /// The session behind nghttp2's user data, which lives as long as nghttp2 may call: not counted, since this is the
  /// path of each header of each push.
  @inline(__always)
  static func with<Result>(
    _ user: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Result
  ) -> Result {
    Unmanaged<HTTP2Session>.fromOpaque(user!)._withUnsafeGuaranteedRef(body)
  }

  func mayOpen() -> Bool {
    guard open.count < limits.streamCeiling else { return false }
    guard limits.refusesOverrun else { return true }
    // Before the first acknowledgement there is no limit; a larger one on its way may already be in use.
    guard let acknowledgedLimit else { return true }
    let limit = unacknowledged.reduce(acknowledgedLimit) { max($0, $1 ?? .max) }
    return open.count < Int(limit)
  }

  func beganHeaders(_ frame: UnsafePointer<nghttp2_frame>) {
    let id = frame.pointee.hd.stream_id
    switch side {
    case .server:
      if frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
        guard mayOpen() else {
          reading = nil
          return reset(id, code: UInt32(NGHTTP2_REFUSED_STREAM.rawValue))
        }
        let slot = takeSlot()
        slot.pointee.id = id
        nghttp2_session_set_stream_user_data(nghttp2, id, UnsafeMutableRawPointer(slot))
        lastUse = loop.turnTime
        reading = slot
        if open.count == 1 { watch() }
      } else {
        reading = slot(of: id)
        reading?.pointee.isTrailer = true
      }
    case .client:
      reading = slot(of: id)
      guard let slot = reading else { return }
      if slot.pointee.status >= 200 {
        slot.pointee.isTrailer = true
      } else {
        if slot.pointee.fields.count > 0 { slot.pointee.fields.removeAll() }  // of an interim answer
        slot.pointee.headerListSize = 0
      }
    }
  }

  func header(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let slot = reading, !slot.pointee.isTrailer else { return true }
    slot.pointee.headerListSize += name.count + value.count + 32
    guard slot.pointee.headerListSize <= limits.headerListSize else {
      slot.pointee.excess = .headerList
      // Far over: the stream ends here, lest one block keeps us busy for ever.
      return slot.pointee.headerListSize <= max(65_536, 8 * limits.headerListSize)
    }
    if side == .client, name.count == 7, name[0] == UInt8(ascii: ":") {
      slot.pointee.status = value.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
      return true
    }
    if let wantedFields, slot.pointee.status / 100 == 2, !wantedFields.contains(name) { return true }
    slot.pointee.fields.append(name: name, value: value)
    return true
  }

  func data(_ id: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
    nghttp2_session_consume_stream(nghttp2, id, bytes.count)
    guard let slot = slot(of: id), !slot.pointee.isDelivered, slot.pointee.excess == nil,
      slot.pointee.body.count + bytes.count <= limits.bodySize
    else {
      nghttp2_session_consume_connection(nghttp2, bytes.count)
      overflowed(id, bytes.count)
      return
    }
    slot.pointee.body.append(contentsOf: bytes)
    slot.pointee.heldWindow += bytes.count
  }

  /// Bytes came that we do not keep.
  func overflowed(_ id: Int32, _ count: Int) {
    guard let slot = slot(of: id), !slot.pointee.isDelivered else { return }
    switch side {
    case .client:
      slot.pointee.excess = slot.pointee.excess ?? .body
      reset(id, code: UInt32(NGHTTP2_CANCEL.rawValue))
    case .server:
      slot.pointee.excess = slot.pointee.excess ?? .body
      slot.pointee.discarded += count
      if slot.pointee.discarded > limits.discardedBodySize { deliver(slot) }
    }
  }

  func deliver(_ slot: HTTP2SlotPlace) {
    guard !slot.pointee.isDelivered, side == .client || slot.pointee.id <= servedUpTo else { return }
    slot.pointee.isDelivered = true
    deliveredCount += 1
    if slot.pointee.heldWindow > 0 {
      nghttp2_session_consume_connection(nghttp2, slot.pointee.heldWindow)
      slot.pointee.heldWindow = 0
    }
    if !isMute { owner?.messageArrived(slot) }
  }

  func frameArrived(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = frame.pointee.hd
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA:
      if head.type == UInt8(NGHTTP2_HEADERS.rawValue) { reading = nil }
      guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let slot = slot(of: head.stream_id) else {
        return
      }
      slot.pointee.isComplete = true
      deliver(slot)
    case NGHTTP2_SETTINGS:
      resumeDeferred()
      guard head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 else {
        settingsSeen = true
        owner?.settingsArrived()
        return
      }
      settingsHeld = true
      guard side == .server else { return }
      if !unacknowledged.isEmpty { acknowledgedLimit = unacknowledged.removeFirst() ?? acknowledgedLimit }
      owner?.settingsAcknowledged()
    case NGHTTP2_WINDOW_UPDATE: resumeDeferred()
    case NGHTTP2_PING:
      guard head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 else {
        lastUse = loop.turnTime
        return
      }
      pong(frame.pointee.ping.opaque_data.0)
    case NGHTTP2_GOAWAY:
      let goAway = frame.pointee.goaway
      let debug = Array(UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len))
      if side == .client {
        isDraining = true
        mayCloseWhenDrained = true
        goAwaySent = true
        drainReason =
          drainReason
          ?? TransportFault(
            .closedByPeer, at: place, what: "the server is ending the connection (GOAWAY, code \(goAway.error_code))",
            remedy: "Connect again.")
        flushLater()
      }
      owner?.goAwayArrived(lastStream: goAway.last_stream_id, code: goAway.error_code, debugData: debug)
    default: break
    }
  }

  func pong(_ mark: UInt8) {
    pingSent = nil
    switch mark {
    case 1: owner?.pongArrived()
    case 2: if drainDue != nil { finishDraining() }
    default: break
    }
  }

  func frameSent(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = frame.pointee.hd
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA:
      if head.type == UInt8(NGHTTP2_DATA.rawValue) { lastDataSent = loop.turnTime }
      guard let slot = slot(of: head.stream_id) else { return }
      slot.pointee.headersSent = true
      guard side == .server, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, !slot.pointee.isComplete else {
        return
      }
      // Answered before the request ended: the client may stop sending (RFC 9113 §8.1).
      reset(head.stream_id, code: UInt32(NGHTTP2_NO_ERROR.rawValue))
    case NGHTTP2_GOAWAY:
      guard ownGoAways == 0 else {
        ownGoAways -= 1
        return
      }
      guard frame.pointee.goaway.error_code != 0, violation == nil else { return }
      violation = Self.violationFault(
        place, "the peer broke HTTP/2 (\(libraryWords ?? "code \(frame.pointee.goaway.error_code)"))")
    default: break
    }
  }

  func streamClosed(_ id: Int32, _ code: UInt32) {
    guard let slot = slot(of: id) else { return }
    if reading == slot { reading = nil }
    if slot.pointee.heldWindow > 0 { nghttp2_session_consume_connection(nghttp2, slot.pointee.heldWindow) }
    if slot.pointee.isDelivered { deliveredCount -= 1 }
    lastUse = loop.turnTime
    // Taken off the list first, so that the owner may open a stream in its place.
    takeOff(slot)
    owner?.streamEnded(slot, code: code)
    putBack(slot)
    if isDraining { flushLater() }
    if open.isEmpty, let idle = limits.idleTimeout { stream?.checkTime(at: loop.later(idle)) }
  }

  func said(_ words: String) { libraryWords = words }
}

/// What every session copies.
nonisolated(unsafe) let sessionCallbacks: OpaquePointer? = {  // made once, never changed
  var callbacks: OpaquePointer?
  nghttp2_session_callbacks_new(&callbacks)
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
    HTTP2Session.with(user) { session in
      guard !session.isEnded else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
      session.beganHeaders(frame!)
      return 0
    }
  }
  nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameLength, value, valueLength, _, user in
    HTTP2Session.with(user) { session in
      let kept = session.header(
        name: UnsafeBufferPointer(start: name, count: nameLength),
        value: UnsafeBufferPointer(start: value, count: valueLength))
      return kept ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
  }
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, data, length, user in
    HTTP2Session.with(user) { $0.data(stream, UnsafeBufferPointer(start: data, count: length)) }
    return 0
  }
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
    HTTP2Session.with(user) { session in
      guard !session.isEnded else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
      session.frameArrived(frame!)
      return 0
    }
  }
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
    HTTP2Session.with(user) { $0.frameSent(frame!) }
    return 0
  }
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
    HTTP2Session.with(user) { $0.streamClosed(stream, code) }
    return 0
  }
  nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, words, length, user in
    let bytes = UnsafeBufferPointer(start: words, count: length).map { UInt8(bitPattern: $0) }
    HTTP2Session.with(user) { $0.said(String(decoding: bytes, as: UTF8.self)) }
    return 0
  }
  return callbacks
}()
