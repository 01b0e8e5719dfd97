import Basics
import CNgHTTP2
import Synchronization

/// What a session tells the connection that owns it.
protocol HTTP2SessionOwner: AnyObject {
  func sessionOpened()
  func settingsArrived()
  func settingsAcknowledged()
  /// The peer's message on a stream is whole, or over a limit.
  func messageArrived(_ slot: HTTP2SlotPlace)
  func streamEnded(_ slot: HTTP2SlotPlace, code: UInt32)
  func goAwayArrived(lastStream: Int32, code: UInt32, debugData: [UInt8])
  func pongArrived()
  /// What was read from the peer at once is told.
  func inputHandled()
  func sessionEnded(_ fault: TransportFault)
  /// A server's session is about to end in order: the debug data of its GOAWAY.
  func sessionDrains(_ reason: TransportFault) -> [UInt8]
}

extension HTTP2SessionOwner {
  func sessionDrains(_ reason: TransportFault) -> [UInt8] { [] }
}

/// HTTP/2 on one byte stream, the same for both sides (RFC 9113; nghttp2 does framing and compression): streams, flow
/// control, SETTINGS, PING, GOAWAY, limits, time-outs. On one loop. Output is gathered during a turn of the loop.
///
/// Memory that a peer can make it hold: 64 KiB and one frame of output; bodies up to the connection window; header lists
/// up to the limit for each open stream. While a server's output waits for the peer, nothing of the peer is read.
///
/// What is touched for each push is not checked for overlapping access at run time: all of it is on one loop, and none is
/// held across a call that could come back.
final class HTTP2Session: StreamHandler, LoopFlushable {
  enum Side { case client, server }

  let side: Side
  let loop: EventLoop
  let settings: HTTP2Settings
  let limits: HTTP2Limits
  @exclusivity(unchecked) var owner: (any HTTP2SessionOwner)?
  @exclusivity(unchecked) var stream: StreamConnection?
  @exclusivity(unchecked) var nghttp2: OpaquePointer?
  /// nghttp2's; outlives it.
  private let memory = HTTP2Memory()
  @exclusivity(unchecked) var list = HTTP2NameValueList()

  /// Client: the fields of a 2xx answer that its owner wants to see; nil for all.
  @exclusivity(unchecked) var wantedFields: HTTP2FieldNames?

  /// Open streams, in no order; and slots for the next ones.
  @exclusivity(unchecked) var open: [HTTP2SlotPlace] = []
  @exclusivity(unchecked) var free: [HTTP2SlotPlace] = []
  /// Slot of the header block being read.
  @exclusivity(unchecked) var reading: HTTP2SlotPlace?
  /// Open streams whose message the owner has; a client counts them as free.
  @exclusivity(unchecked) var deliveredCount = 0

  var isOpened = false
  /// Half open: requests are read and never answered; see `mute`.
  var isMute = false
  /// Not even PINGs, once this turn's output is sent.
  var becomesDeaf = false
  @exclusivity(unchecked) var flushAsked = false
  var isPaused = false
  /// Client: after the last flush, nothing was left of the peer's window for the connection.
  @exclusivity(unchecked) var isWindowUsedUp = false
  /// What was in hand when reading was paused; at most what one read brought.
  var unread: [UInt8] = []
  @exclusivity(unchecked) var settingsSeen = false
  /// Client: the peer has acknowledged our SETTINGS.
  var settingsHeld = false
  /// No new streams; close once the open ones have ended.
  @exclusivity(unchecked) var isDraining = false
  var mayCloseWhenDrained = false
  var drainReason: TransportFault?
  /// Debug data of the GOAWAYs by which we end in order.
  var drainWords: [UInt8] = []
  var goAwaySent = false
  /// GOAWAY frames of ours that are queued; any other comes from nghttp2.
  var ownGoAways = 0
  /// GOAWAY frames that drop streams, waiting for the answers before them to leave.
  var owedGoAways: [(last: Int32, code: UInt32, debugData: [UInt8])] = []
  /// Server: the highest stream that a GOAWAY of ours left to be served.
  var servedUpTo = Int32.max
  /// nghttp2 found the peer at fault and says so by GOAWAY.
  var violation: TransportFault?
  var libraryWords: String?

  /// Stream limits on their way to the peer, first the oldest unacknowledged; nil for SETTINGS without one.
  var toAnnounce: [UInt32?] = []
  var unacknowledged: [UInt32?] = []
  var acknowledgedLimit: UInt32?

  @exclusivity(unchecked) var lastReceived: Int64 = 0
  @exclusivity(unchecked) var lastUse: Int64 = 0
  @exclusivity(unchecked) var lastDataSent: Int64 = 0
  var settingsDue = Int64.max
  var pingSent: Int64?
  var drainDue: Int64?
  /// nghttp2 sends a PING before what was queued earlier; ours must follow the GOAWAY.
  var owesDrainPing = false

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
    discardSlots()
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

  var place: String { stream?.place ?? "connection" }

  // MARK: Opening

  func opened(_ stream: StreamConnection) {
    isOpened = true
    lastReceived = loop.turnTime
    lastUse = loop.turnTime
    settingsDue = loop.later(limits.handshakeTimeout)
    makeSession()
    var entries: [(nghttp2_settings_id, UInt32)] = []
    // A server says all, also what is HTTP/2's own default, since Apple's does (spec/apns.md §2.1).
    if side == .server || settings.headerTableSize != 4096 {
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
    if side == .server || settings.streamWindow != 65_535 {
      entries.append((NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindow))
    }
    if side == .server || settings.maximumFrameSize != 16_384 {
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
  static let libraryLimit: UInt32 = 0x7FFF_FFFF

  func makeSession() {
    var option: OpaquePointer?
    nghttp2_option_new(&option)
    defer { nghttp2_option_del(option) }
    nghttp2_option_set_no_auto_window_update(option, 1)
    // Against floods of empty CONTINUATION frames. Not nghttp2's own 8: it counts each piece in which such a frame's head
    // comes, so that an honest one in nine pieces was too many. What headers may weigh, `header` says.
    nghttp2_option_set_max_continuations(option, 100)
    let me = Unmanaged.passUnretained(self).toOpaque()
    var functions = memory.functions
    switch side {
    case .client: nghttp2_session_client_new3(&nghttp2, sessionCallbacks, me, option, &functions)
    case .server: nghttp2_session_server_new3(&nghttp2, sessionCallbacks, me, option, &functions)
    }
  }

  // MARK: Streams

  /// The slot of an open stream.
  func slot(of stream: Int32) -> HTTP2SlotPlace? {
    guard let nghttp2, let data = nghttp2_session_get_stream_user_data(nghttp2, stream) else { return nil }
    return data.assumingMemoryBound(to: HTTP2Slot.self)
  }

  func takeSlot() -> HTTP2SlotPlace {
    let slot = free.popLast() ?? HTTP2Slot.make()
    slot.pointee.startedAt = loop.turnTime
    slot.pointee.index = open.count
    open.append(slot)
    return slot
  }

  func giveBack(_ slot: HTTP2SlotPlace) {
    takeOff(slot)
    putBack(slot)
  }

  /// Off the list of open ones.
  func takeOff(_ slot: HTTP2SlotPlace) {
    let last = open.removeLast()
    if last != slot {
      open[slot.pointee.index] = last
      last.pointee.index = slot.pointee.index
    }
  }

  /// A slot that is off the list of open ones.
  func putBack(_ slot: HTTP2SlotPlace) {
    guard free.count < 1024 else { return HTTP2Slot.discard(slot) }
    slot.pointee.clear()
    free.append(slot)
  }

  /// After nghttp2's session, which looks at them.
  func discardSlots() {
    for slot in open + free { HTTP2Slot.discard(slot) }
    open = []
    free = []
    reading = nil
  }

  /// How many streams the peer lets us have open.
  var remoteStreamLimit: UInt32 {
    guard let nghttp2 else { return 0 }
    return nghttp2_session_get_remote_settings(nghttp2, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
  }

  /// Client. Queues a request; nil when nghttp2 refuses (stream ids used up, no memory).
  func request(common: HTTP2FieldBlock, path: [UInt8], own: [HTTP2Field], body: [UInt8]) -> Int32? {
    let slot = takeSlot()
    slot.pointee.load(&list, common: common, first: (":path", path), own: own, body: body)
    return submit(slot)
  }

  /// Client. The same without a copy: the bytes lie with the request's owner, who is kept until the stream is over.
  func request(common: HTTP2FieldBlock, _ request: borrowing HTTP2OutgoingRequest) -> Int32? {
    let slot = takeSlot()
    slot.pointee.refer(&list, common: common, to: request)
    return submit(slot)
  }

  /// The request that `list` describes, on the stream of `slot`.
  private func submit(_ slot: HTTP2SlotPlace) -> Int32? {
    let id = withProvider(slot) { provider in
      nghttp2_submit_request(
        nghttp2, nil, list.entries, list.entries.count, provider, UnsafeMutableRawPointer(slot))
    }
    guard id > 0 else {
      giveBack(slot)
      return nil
    }
    slot.pointee.id = id
    lastUse = loop.turnTime
    flushLater()
    return id
  }

  /// Server.
  func respond(_ slot: HTTP2SlotPlace, status: Int, fields: [HTTP2Field], body: [UInt8], dataSize: Int) {
    slot.pointee.isAnswered = true
    slot.pointee.dataSize = max(1, dataSize)
    slot.pointee.load(&list, common: nil, first: (":status", digits(of: status)), own: fields, body: body)
    slot.pointee.answeredAt = loop.turnTime
    _ = withProvider(slot) { nghttp2_submit_response(nghttp2, slot.pointee.id, list.entries, list.entries.count, $0) }
    flushLater()
  }

  func withProvider(_ slot: HTTP2SlotPlace, _ body: (UnsafePointer<nghttp2_data_provider>?) -> Int32) -> Int32 {
    guard !slot.pointee.outgoingBody.isEmpty else { return body(nil) }
    var provider = nghttp2_data_provider()
    provider.source.ptr = UnsafeMutableRawPointer(slot)
    provider.read_callback = { _, _, memory, room, flags, source, user in
      let slot = source!.pointee.ptr.assumingMemoryBound(to: HTTP2Slot.self)
      return HTTP2Session.with(user) { $0.provide(slot, memory!, room, flags!) }
    }
    return withUnsafePointer(to: provider) { body($0) }
  }

  /// Never more than `room`: it is what the flow-control windows leave (spec/stack.md §2, trap 1). A server waits for
  /// room for the whole body when the client's window can ever hold it: one DATA frame, with END_STREAM.
  func provide(
    _ slot: HTTP2SlotPlace, _ memory: UnsafeMutablePointer<UInt8>, _ room: Int, _ flags: UnsafeMutablePointer<UInt32>
  ) -> Int {
    let left = slot.pointee.outgoingBody.count - slot.pointee.bodySent
    let count = min(left, room, slot.pointee.dataSize)
    if side == .server, room < left, left <= 16_384, slot.pointee.dataSize == .max {
      let window = Int(nghttp2_session_get_remote_settings(nghttp2, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE))
      if left <= window {
        slot.pointee.isDeferred = true
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
      }
    }
    memory.update(
      from: slot.pointee.outgoingBody.baseAddress!.assumingMemoryBound(to: UInt8.self) + slot.pointee.bodySent,
      count: count)
    slot.pointee.bodySent += count
    if count == left { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
  }

  func resumeDeferred() {
    for slot in open where slot.pointee.isDeferred {
      slot.pointee.isDeferred = false
      nghttp2_session_resume_data(nghttp2, slot.pointee.id)
    }
  }

  func reset(_ stream: Int32, code: UInt32) {
    guard let nghttp2, !isEnded else { return }
    nghttp2_submit_rst_stream(nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    flushLater()
  }

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
