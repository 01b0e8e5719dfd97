import Basics
import CNgHTTP2
import Synchronization

/// What a session tells the connection that owns it.
protocol HTTP2SessionOwner: AnyObject {
  func sessionOpened()
  func settingsArrived()
  func settingsAcknowledged()
  /// The peer's message on a stream is whole, or over a limit.
  func messageArrived(_ slot: HTTP2Slot)
  func streamEnded(_ slot: HTTP2Slot, code: UInt32)
  func goAwayArrived(lastStream: Int32, code: UInt32, debugData: [UInt8])
  func pongArrived()
  func sessionEnded(_ fault: TransportFault)
}

/// HTTP/2 on one byte stream, the same for both sides (RFC 9113; nghttp2 does framing and compression): streams, flow
/// control, SETTINGS, PING, GOAWAY, limits, time-outs. On one loop. Output is gathered during a turn of the loop.
///
/// Memory that a peer can make it hold: 64 KiB and one frame of output; bodies up to the connection window; header lists
/// up to the limit for each open stream. While a server's output waits for the peer, nothing of the peer is read.
final class HTTP2Session: StreamHandler, LoopFlushable {
  enum Side { case client, server }

  let side: Side
  let loop: EventLoop
  let settings: HTTP2Settings
  let limits: HTTP2Limits
  private(set) var owner: (any HTTP2SessionOwner)?
  private(set) var stream: StreamConnection?
  private(set) var nghttp2: OpaquePointer?
  private var list: [nghttp2_nv] = []

  /// Open streams, in no order; and slots for the next ones.
  private(set) var open: [HTTP2Slot] = []
  private var free: [HTTP2Slot] = []
  /// Slot of the header block being read.
  private var reading: HTTP2Slot?
  /// Open streams whose message the owner has; a client counts them as free.
  private(set) var deliveredCount = 0

  private var isOpened = false
  private var flushAsked = false
  private var isPaused = false
  /// What was in hand when reading was paused; at most what one read brought.
  private var unread: [UInt8] = []
  private(set) var settingsSeen = false
  /// No new streams; close once the open ones have ended.
  private(set) var isDraining = false
  private var mayCloseWhenDrained = false
  private var drainReason: TransportFault?
  private var goAwaySent = false
  /// GOAWAY frames of ours that are queued; any other comes from nghttp2.
  private var ownGoAways = 0
  /// Server: the highest stream that a GOAWAY of ours left to be served.
  private var servedUpTo = Int32.max
  /// nghttp2 found the peer at fault and says so by GOAWAY.
  private var violation: TransportFault?
  private var libraryWords: String?

  /// Stream limits on their way to the peer, first the oldest unacknowledged; nil for SETTINGS without one.
  private var toAnnounce: [UInt32?] = []
  private var unacknowledged: [UInt32?] = []
  private var acknowledgedLimit: UInt32?

  private var lastReceived: Int64 = 0
  private var lastUse: Int64 = 0
  private var lastDataSent: Int64 = 0
  private var settingsDue = Int64.max
  private var pingSent: Int64?
  private var drainDue: Int64?
  /// nghttp2 sends a PING before what was queued earlier; ours must follow the GOAWAY.
  private var owesDrainPing = false

  init(side: Side, loop: EventLoop, settings: HTTP2Settings, limits: HTTP2Limits, owner: any HTTP2SessionOwner) {
    self.side = side
    self.loop = loop
    self.settings = settings
    self.limits = limits
    self.owner = owner
    loop.liveSessions.add(1, ordering: .relaxed)
  }

  deinit {
    if let nghttp2 { nghttp2_session_del(nghttp2) }
    loop.liveSessions.subtract(1, ordering: .relaxed)
  }

  /// Before `opened`.
  func attach(_ stream: StreamConnection) { self.stream = stream }

  var streamLimits: StreamLimits {
    StreamLimits(
      connectTimeout: limits.connectTimeout, handshakeTimeout: limits.handshakeTimeout,
      writeTimeout: limits.writeTimeout)
  }

  var isEnded: Bool { owner == nil || stream?.isClosed != false }

  private var place: String { stream?.peer.description ?? "connection" }

  // MARK: Opening

  func opened(_ stream: StreamConnection) {
    isOpened = true
    lastReceived = loop.turnTime
    lastUse = loop.turnTime
    settingsDue = later(limits.handshakeTimeout)
    makeSession()
    var entries: [(nghttp2_settings_id, UInt32)] = []
    if settings.headerTableSize != 4096 {
      entries.append((NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, settings.headerTableSize))
    }
    switch side {
    case .client: entries.append((NGHTTP2_SETTINGS_ENABLE_PUSH, 0))
    case .server:
      if settings.maximumConcurrentStreams != nil {
        entries.append((NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, Self.libraryLimit))
      }
      toAnnounce.append(settings.maximumConcurrentStreams)
    }
    if settings.streamWindow != 65_535 { entries.append((NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindow)) }
    if settings.maximumFrameSize != 16_384 {
      entries.append((NGHTTP2_SETTINGS_MAX_FRAME_SIZE, settings.maximumFrameSize))
    }
    if let size = settings.maximumHeaderListSize { entries.append((NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, size)) }
    let list = entries.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    nghttp2_submit_settings(nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), list, list.count)
    nghttp2_session_set_local_window_size(nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, settings.connectionWindow)
    owner?.sessionOpened()
    flushLater()
  }

  /// What nghttp2 believes our stream limit to be. It would kill a connection that goes over a limit, and a stream that
  /// goes over one not yet acknowledged; we are milder, so it never learns the real one: `patch` writes that into the
  /// frame, `mayOpen` holds to it.
  private static let libraryLimit: UInt32 = 0x7FFF_FFFF

  private func makeSession() {
    var option: OpaquePointer?
    nghttp2_option_new(&option)
    defer { nghttp2_option_del(option) }
    nghttp2_option_set_no_auto_window_update(option, 1)
    let me = Unmanaged.passUnretained(self).toOpaque()
    switch side {
    case .client: nghttp2_session_client_new2(&nghttp2, sessionCallbacks, me, option)
    case .server: nghttp2_session_server_new2(&nghttp2, sessionCallbacks, me, option)
    }
  }

  // MARK: Streams

  /// The slot of an open stream.
  func slot(of stream: Int32) -> HTTP2Slot? {
    guard let nghttp2, let data = nghttp2_session_get_stream_user_data(nghttp2, stream) else { return nil }
    return Unmanaged<HTTP2Slot>.fromOpaque(data).takeUnretainedValue()
  }

  private func takeSlot() -> HTTP2Slot {
    let slot = free.popLast() ?? HTTP2Slot()
    slot.startedAt = loop.turnTime
    slot.index = open.count
    open.append(slot)
    return slot
  }

  private func giveBack(_ slot: HTTP2Slot) {
    let last = open.removeLast()
    if last !== slot {
      open[slot.index] = last
      last.index = slot.index
    }
    slot.clear()
    if free.count < 1024 { free.append(slot) }
  }

  /// How many streams the peer lets us have open.
  var remoteStreamLimit: UInt32 {
    guard let nghttp2 else { return 0 }
    return nghttp2_session_get_remote_settings(nghttp2, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
  }

  /// Client. Queues a request; nil when nghttp2 refuses (stream ids used up, no memory).
  func request(common: HTTP2FieldBlock, path: [UInt8], own: [HTTP2Field], body: [UInt8]) -> Int32? {
    let slot = takeSlot()
    slot.load(&list, common: common, first: (":path", path), own: own, body: body)
    let id = withProvider(slot) { provider in
      nghttp2_submit_request(
        nghttp2, nil, list, list.count, provider, Unmanaged.passUnretained(slot).toOpaque())
    }
    guard id > 0 else {
      giveBack(slot)
      return nil
    }
    slot.id = id
    lastUse = loop.turnTime
    flushLater()
    return id
  }

  /// Server.
  func respond(_ slot: HTTP2Slot, status: Int, fields: [HTTP2Field], body: [UInt8]) {
    slot.isAnswered = true
    slot.load(&list, common: nil, first: (":status", digits(of: status)), own: fields, body: body)
    slot.answeredAt = loop.turnTime
    _ = withProvider(slot) { nghttp2_submit_response(nghttp2, slot.id, list, list.count, $0) }
    flushLater()
  }

  private func withProvider(_ slot: HTTP2Slot, _ body: (UnsafePointer<nghttp2_data_provider>?) -> Int32) -> Int32 {
    guard !slot.outgoingBody.isEmpty else { return body(nil) }
    var provider = nghttp2_data_provider()
    provider.source.ptr = Unmanaged.passUnretained(slot).toOpaque()
    provider.read_callback = { _, _, memory, room, flags, source, user in
      let slot = Unmanaged<HTTP2Slot>.fromOpaque(source!.pointee.ptr).takeUnretainedValue()
      return HTTP2Session.from(user).provide(slot, memory!, room, flags!)
    }
    return withUnsafePointer(to: provider) { body($0) }
  }

  /// Never more than `room`: it is what the flow-control windows leave (spec/stack.md §2, trap 1). A server waits for
  /// room for the whole body when the client's window can ever hold it: one DATA frame, with END_STREAM.
  private func provide(
    _ slot: HTTP2Slot, _ memory: UnsafeMutablePointer<UInt8>, _ room: Int, _ flags: UnsafeMutablePointer<UInt32>
  ) -> Int {
    let left = slot.outgoingBody.count - slot.bodySent
    let count = min(left, room)
    if side == .server, count < left, left <= 16_384 {
      let window = Int(nghttp2_session_get_remote_settings(nghttp2, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE))
      if left <= window {
        slot.isDeferred = true
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
      }
    }
    memory.update(
      from: slot.outgoingBody.baseAddress!.assumingMemoryBound(to: UInt8.self) + slot.bodySent, count: count)
    slot.bodySent += count
    if count == left { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
  }

  private func resumeDeferred() {
    for slot in open where slot.isDeferred {
      slot.isDeferred = false
      nghttp2_session_resume_data(nghttp2, slot.id)
    }
  }

  func reset(_ stream: Int32, code: UInt32) {
    guard let nghttp2, !isEnded else { return }
    nghttp2_submit_rst_stream(nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    flushLater()
  }

  // MARK: Connection-wide frames

  /// Asks the peer for a sign of life; a `mark` of 1 is told to the owner.
  func ping(mark: UInt8) {
    guard let nghttp2, !isEnded else { return }
    nghttp2_submit_ping(nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), [mark, 0, 0, 0, 0, 0, 0, 0])
    if pingSent == nil { pingSent = loop.turnTime }
    stream?.checkTime(at: later(limits.pingTimeout))
    flushLater()
  }

  func goAway(lastStream: Int32?, code: UInt32, debugData: [UInt8]) {
    guard let nghttp2, !isEnded else { return }
    goAwaySent = true
    let last = lastStream ?? nghttp2_session_get_last_proc_stream_id(nghttp2)
    let submitted = nghttp2_submit_goaway(
      nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code, debugData, debugData.count)
    if submitted == 0 { ownGoAways += 1 }
    if side == .server { servedUpTo = min(servedUpTo, last) }
    flushLater()
  }

  func announce(maxConcurrentStreams limit: UInt32) {
    guard let nghttp2, !isEnded else { return }
    toAnnounce.append(limit)
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: Self.libraryLimit)
    nghttp2_submit_settings(nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    flushLater()
  }

  /// Ends in order: no new streams, GOAWAY, then goodbye once the open ones have ended. A server says first that it will
  /// (RFC 9113 §6.8), so that requests already on their way are still served.
  func drain(_ reason: TransportFault) {
    guard !isDraining else { return }
    guard let nghttp2, !isEnded, isOpened else {
      stream?.close(reason)
      return
    }
    isDraining = true
    drainReason = reason
    if side == .server, !goAwaySent {
      if nghttp2_submit_shutdown_notice(nghttp2) == 0 { ownGoAways += 1 }
      owesDrainPing = true
      drainDue = later(.seconds(1))
      stream?.checkTime(at: drainDue!)
    } else {
      finishDraining()
    }
    flushLater()
  }

  private func finishDraining() {
    drainDue = nil
    mayCloseWhenDrained = true
    if !goAwaySent { goAway(lastStream: side == .client ? 0 : nil, code: 0, debugData: []) }
    flushLater()
  }

  /// Ends now; what is queued and fits is still sent.
  func end(_ reason: TransportFault) {
    guard isOpened, !isEnded else {
      stream?.close(reason)
      return
    }
    if !goAwaySent { goAway(lastStream: side == .client ? 0 : nil, code: 0, debugData: []) }
    flush()
    stream?.close(reason)
  }

  func abort(_ fault: TransportFault) { stream?.abort(fault) }

  // MARK: Output

  func flushLater() {
    guard !flushAsked else { return }
    flushAsked = true
    loop.flushLater(self)
  }

  func flush() {
    flushAsked = false
    guard let nghttp2, let stream, !stream.isClosed else { return }
    let batch = loop.batchBuffer
    var used = 0
    while stream.isWritable, !stream.isClosed {
      var data: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(nghttp2, &data)
      guard count > 0, let data else {
        if count < 0 {
          stream.abort(Self.violationFault(place, "HTTP/2 cannot go on (\(nghttp2Words(count)))"))
        }
        break
      }
      if used + count > batch.count {
        stream.write(UnsafeRawBufferPointer(rebasing: batch[..<used]))
        used = 0
      }
      if count > batch.count {
        stream.write(UnsafeRawBufferPointer(start: data, count: count))
        continue
      }
      (batch.baseAddress! + used).copyMemory(from: data, byteCount: count)
      if side == .server { patch(UnsafeMutableRawBufferPointer(rebasing: batch[used..<(used + count)])) }
      used += count
    }
    if used > 0 { stream.write(UnsafeRawBufferPointer(rebasing: batch[..<used])) }
    if owesDrainPing {
      owesDrainPing = false
      ping(mark: 2)
    }
    if side == .server, !stream.isWritable, !isPaused {
      isPaused = true
      stream.pauseReading()
    }
    closeIfDone()
  }

  /// Writes the stream limit that we announce into an outgoing SETTINGS frame; see `libraryLimit`.
  private func patch(_ frame: UnsafeMutableRawBufferPointer) {
    guard frame.count >= 9, frame[3] == UInt8(NGHTTP2_SETTINGS.rawValue), frame[4] & 1 == 0, !toAnnounce.isEmpty else {
      return
    }
    let limit = toAnnounce.removeFirst()
    unacknowledged.append(limit)
    guard let limit else { return }
    var entry = 9
    while entry + 6 <= frame.count {
      if frame[entry] == 0, frame[entry + 1] == UInt8(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue) {
        frame.storeBytes(of: limit.bigEndian, toByteOffset: entry + 2, as: UInt32.self)
      }
      entry += 6
    }
  }

  func writable() {
    flush()
    guard isPaused, let stream, stream.isWritable else { return }
    isPaused = false
    if !unread.isEmpty {
      let bytes = unread
      unread = []
      bytes.withUnsafeBytes { received($0) }
    }
    if !isPaused { stream.resumeReading() }
  }

  private func closeIfDone() {
    guard let nghttp2, let stream, !stream.isClosed, stream.isWritable else { return }
    if let violation {
      if nghttp2_session_want_write(nghttp2) == 0 { stream.close(violation) }
      return
    }
    guard mayCloseWhenDrained, open.isEmpty, nghttp2_session_want_write(nghttp2) == 0 else { return }
    stream.close(drainReason)
  }

  // MARK: Input

  func received(_ bytes: UnsafeRawBufferPointer) {
    lastReceived = loop.turnTime
    var rest = bytes
    while let nghttp2, violation == nil, !isEnded, !rest.isEmpty {
      guard !isPaused else {
        unread.append(contentsOf: rest)
        return
      }
      // In pieces, so that few answers pile up before it shows whether the peer takes them.
      let piece = min(rest.count, 16_384)
      let taken = nghttp2_session_mem_recv(nghttp2, rest.baseAddress?.assumingMemoryBound(to: UInt8.self), piece)
      guard !isEnded else { return }
      guard taken >= 0 else { return refuse(taken) }
      rest = UnsafeRawBufferPointer(rebasing: rest[piece...])
      if nghttp2_session_get_outbound_queue_size(nghttp2) > 256 { flush() }
    }
    flushLater()
  }

  private func refuse(_ code: Int) {
    let words =
      code == Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue)
      ? "the peer does not speak HTTP/2" : "the peer broke HTTP/2 (\(libraryWords ?? nghttp2Words(code)))"
    violation = Self.violationFault(place, words)
    nghttp2_session_terminate_session(nghttp2, UInt32(NGHTTP2_PROTOCOL_ERROR.rawValue))
    flush()
  }

  func receivedEnd() {
    guard !isEnded else { return }
    let reason = TransportFault(
      .closedByPeer, at: place, what: "the peer closed the connection",
      remedy: "Connect again when there is something to send.")
    switch side {
    case .client: stream?.close(reason)
    case .server:
      // What was asked in full is still answered; what was not never will be.
      for slot in open where !slot.isComplete { reset(slot.id, code: UInt32(NGHTTP2_CANCEL.rawValue)) }
      isDraining = true
      mayCloseWhenDrained = true
      goAwaySent = true
      drainReason = reason
      flushLater()
    }
  }

  func closed(_ fault: TransportFault) {
    let owner = self.owner
    self.owner = nil
    // A handler that looks at the connection in `sessionEnded` still finds it whole.
    owner?.sessionEnded(fault)
    stream = nil
    if let nghttp2 { nghttp2_session_del(nghttp2) }
    nghttp2 = nil
    open = []
    free = []
    reading = nil
  }

  // MARK: Time

  private func later(_ span: Instant.Span) -> Int64 {
    let (sum, overflow) = loop.turnTime.addingReportingOverflow(span.milliseconds)
    return overflow ? .max : sum
  }

  func timeCheck(now: Int64) -> Int64 {
    var next = Int64.max
    /// False when the time has come.
    func waits(_ since: Int64, _ span: Instant.Span) -> Bool {
      let (due, overflow) = since.addingReportingOverflow(span.milliseconds)
      guard !overflow, now >= due else {
        if !overflow { next = min(next, due) }
        return true
      }
      return false
    }
    if !settingsSeen {
      guard now < settingsDue else {
        abort(StreamConnection.timedOut(.settings, place, "the peer sent no HTTP/2 SETTINGS"))
        return .max
      }
      next = settingsDue
    }
    if let sent = pingSent {
      guard waits(sent, limits.pingTimeout) else {
        abort(StreamConnection.timedOut(.ping, place, "the peer does not answer a PING"))
        return .max
      }
    } else if let interval = limits.pingInterval, !waits(lastReceived, interval) {
      ping(mark: 0)
      _ = waits(now, limits.pingTimeout)
    }
    if let drainDue {
      if now >= drainDue { finishDraining() } else { next = min(next, drainDue) }
    }
    if open.isEmpty, !isDraining, let idle = limits.idleTimeout, !waits(lastUse, idle) {
      drain(StreamConnection.timedOut(.idle, place, "nothing was asked for too long"))
    }
    if side == .server { checkStreams(waits) }
    return next
  }

  private func checkStreams(_ waits: (Int64, Instant.Span) -> Bool) {
    for slot in open {
      if !slot.isComplete, !slot.isDelivered, !waits(slot.startedAt, limits.requestTimeout) {
        guard reading !== slot else {
          return abort(StreamConnection.timedOut(.request, place, "a request's headers did not end in time"))
        }
        reset(slot.id, code: UInt32(NGHTTP2_CANCEL.rawValue))
      }
      if slot.isAnswered, !waits(max(slot.answeredAt, lastDataSent), limits.writeTimeout) {
        return abort(StreamConnection.timedOut(.writing, place, "the client opens no window for its answers"))
      }
    }
  }

  /// A stream began: make sure that a check comes in time.
  private func watch() {
    guard side == .server else { return }
    stream?.checkTime(at: later(min(limits.requestTimeout, limits.writeTimeout)))
  }

  // MARK: nghttp2's callbacks

  fileprivate static func from(_ user: UnsafeMutableRawPointer?) -> HTTP2Session {
    Unmanaged<HTTP2Session>.fromOpaque(user!).takeUnretainedValue()
  }

  private func mayOpen() -> Bool {
    guard open.count < limits.streamCeiling else { return false }
    // Before the first acknowledgement there is no limit; a larger one on its way may already be in use.
    guard let acknowledgedLimit else { return true }
    let limit = unacknowledged.reduce(acknowledgedLimit) { max($0, $1 ?? .max) }
    return open.count < Int(limit)
  }

  fileprivate func beganHeaders(_ frame: UnsafePointer<nghttp2_frame>) {
    let id = frame.pointee.hd.stream_id
    switch side {
    case .server:
      if frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
        guard mayOpen() else {
          reading = nil
          return reset(id, code: UInt32(NGHTTP2_REFUSED_STREAM.rawValue))
        }
        let slot = takeSlot()
        slot.id = id
        nghttp2_session_set_stream_user_data(nghttp2, id, Unmanaged.passUnretained(slot).toOpaque())
        lastUse = loop.turnTime
        reading = slot
        if open.count == 1 { watch() }
      } else {
        reading = slot(of: id)
        reading?.isTrailer = true
      }
    case .client:
      reading = slot(of: id)
      guard let slot = reading else { return }
      if slot.status >= 200 {
        slot.isTrailer = true
      } else {
        slot.fields.removeAll()  // of an interim answer
        slot.headerListSize = 0
      }
    }
  }

  fileprivate func header(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let slot = reading, !slot.isTrailer else { return true }
    slot.headerListSize += name.count + value.count + 32
    guard slot.headerListSize <= limits.headerListSize else {
      slot.excess = .headerList
      // Far over: the stream ends here, lest one block keeps us busy for ever.
      return slot.headerListSize <= max(65_536, 8 * limits.headerListSize)
    }
    if side == .client, name.count == 7, name[0] == UInt8(ascii: ":") {
      slot.status = value.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
      return true
    }
    slot.fields.append(name: name, value: value)
    return true
  }

  fileprivate func data(_ id: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
    nghttp2_session_consume_stream(nghttp2, id, bytes.count)
    guard let slot = slot(of: id), !slot.isDelivered, slot.excess == nil,
      slot.body.count + bytes.count <= limits.bodySize
    else {
      nghttp2_session_consume_connection(nghttp2, bytes.count)
      overflowed(id, bytes.count)
      return
    }
    slot.body.append(contentsOf: bytes)
    slot.heldWindow += bytes.count
  }

  /// Bytes came that we do not keep.
  private func overflowed(_ id: Int32, _ count: Int) {
    guard let slot = slot(of: id), !slot.isDelivered else { return }
    switch side {
    case .client: reset(id, code: UInt32(NGHTTP2_CANCEL.rawValue))
    case .server:
      slot.excess = slot.excess ?? .body
      slot.discarded += count
      if slot.discarded > limits.discardedBodySize { deliver(slot) }
    }
  }

  private func deliver(_ slot: HTTP2Slot) {
    guard !slot.isDelivered, side == .client || slot.id <= servedUpTo else { return }
    slot.isDelivered = true
    deliveredCount += 1
    if slot.heldWindow > 0 {
      nghttp2_session_consume_connection(nghttp2, slot.heldWindow)
      slot.heldWindow = 0
    }
    owner?.messageArrived(slot)
  }

  fileprivate func frameArrived(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = frame.pointee.hd
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA:
      if head.type == UInt8(NGHTTP2_HEADERS.rawValue) { reading = nil }
      guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let slot = slot(of: head.stream_id) else {
        return
      }
      slot.isComplete = true
      deliver(slot)
    case NGHTTP2_SETTINGS:
      resumeDeferred()
      guard head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 else {
        settingsSeen = true
        owner?.settingsArrived()
        return
      }
      guard side == .server else { return }
      if !unacknowledged.isEmpty { acknowledgedLimit = unacknowledged.removeFirst() ?? acknowledgedLimit }
      owner?.settingsAcknowledged()
    case NGHTTP2_WINDOW_UPDATE: resumeDeferred()
    case NGHTTP2_PING: if head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { pong(frame.pointee.ping.opaque_data.0) }
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

  private func pong(_ mark: UInt8) {
    pingSent = nil
    switch mark {
    case 1: owner?.pongArrived()
    case 2: if drainDue != nil { finishDraining() }
    default: break
    }
  }

  fileprivate func frameSent(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = frame.pointee.hd
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA:
      if head.type == UInt8(NGHTTP2_DATA.rawValue) { lastDataSent = loop.turnTime }
      guard let slot = slot(of: head.stream_id) else { return }
      slot.headersSent = true
      guard side == .server, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, !slot.isComplete else { return }
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

  fileprivate func streamClosed(_ id: Int32, _ code: UInt32) {
    guard let slot = slot(of: id) else { return }
    if reading === slot { reading = nil }
    if slot.heldWindow > 0 { nghttp2_session_consume_connection(nghttp2, slot.heldWindow) }
    if slot.isDelivered { deliveredCount -= 1 }
    lastUse = loop.turnTime
    // Taken off the list first, so that the owner may open a stream in its place.
    let last = open.removeLast()
    if last !== slot {
      open[slot.index] = last
      last.index = slot.index
    }
    owner?.streamEnded(slot, code: code)
    slot.clear()
    if free.count < 1024 { free.append(slot) }
    if isDraining { flushLater() }
    if open.isEmpty, let idle = limits.idleTimeout { stream?.checkTime(at: later(idle)) }
  }

  fileprivate func said(_ words: String) { libraryWords = words }

  static func violationFault(_ place: String, _ what: String) -> TransportFault {
    TransportFault(
      .protocolViolation, at: place, what: what, remedy: "Check that the peer is an HTTP/2 program and up to date.")
  }
}

private func digits(of status: Int) -> [UInt8] {
  [
    UInt8(clamping: 0x30 + status / 100 % 10), UInt8(clamping: 0x30 + status / 10 % 10),
    UInt8(clamping: 0x30 + status % 10),
  ]
}

private func nghttp2Words(_ code: Int) -> String { String(cString: nghttp2_strerror(Int32(clamping: code))) }

/// Made once and never changed; sessions copy it.
nonisolated(unsafe) private let sessionCallbacks: OpaquePointer? = {
  var callbacks: OpaquePointer?
  nghttp2_session_callbacks_new(&callbacks)
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
    let session = HTTP2Session.from(user)
    guard !session.isEnded else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    session.beganHeaders(frame!)
    return 0
  }
  nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameLength, value, valueLength, _, user in
    let kept = HTTP2Session.from(user).header(
      name: UnsafeBufferPointer(start: name, count: nameLength),
      value: UnsafeBufferPointer(start: value, count: valueLength))
    return kept ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
  }
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, data, length, user in
    HTTP2Session.from(user).data(stream, UnsafeBufferPointer(start: data, count: length))
    return 0
  }
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
    let session = HTTP2Session.from(user)
    guard !session.isEnded else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    session.frameArrived(frame!)
    return 0
  }
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
    HTTP2Session.from(user).frameSent(frame!)
    return 0
  }
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
    HTTP2Session.from(user).streamClosed(stream, code)
    return 0
  }
  nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, words, length, user in
    let bytes = UnsafeBufferPointer(start: words, count: length).map { UInt8(bitPattern: $0) }
    HTTP2Session.from(user).said(String(decoding: bytes, as: UTF8.self))
    return 0
  }
  return callbacks
}()
