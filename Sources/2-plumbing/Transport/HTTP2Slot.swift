import CNgHTTP2

/// Where a stream's slot lies: plain memory of the session's, so that looking at a stream counts no references. The
/// session's `open` and `free` own it, from `takeSlot` to the session's own end; nghttp2 holds it as the stream's user
/// data until the stream is closed, and nghttp2's session ends before ours.
typealias HTTP2SlotPlace = UnsafeMutablePointer<HTTP2Slot>

/// All that one stream needs, taken from a free list and put back when the stream is over, so that a message costs no
/// allocation once a connection is warm. nghttp2 compresses headers when it sends, not when one submits: what a slot
/// holds must stay untouched until its stream is closed.
struct HTTP2Slot {
  var id: Int32 = 0
  /// Place in the session's list of open streams.
  var index = 0
  var startedAt: Int64 = 0

  // What comes in.
  var fields = HTTP2FieldList()
  var status = 0
  var body: [UInt8] = []
  var headerListSize = 0
  var isTrailer = false
  var excess: HTTP2Request.Excess?
  var discarded = 0
  /// Bytes of the connection's window that `body` occupies.
  var heldWindow = 0
  /// The peer sent its last byte.
  var isComplete = false
  /// The handler was told.
  var isDelivered = false

  // What goes out.
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var common: HTTP2FieldBlock?
  /// Keeps what was not copied.
  private var owner: AnyObject?
  private(set) var outgoingBody = UnsafeRawBufferPointer(start: nil, count: 0)
  var bodySent = 0
  /// The most bytes of a DATA frame.
  var dataSize = Int.max
  /// HEADERS of ours are on the wire.
  var headersSent = false
  /// Server: `respond` was called.
  var isAnswered = false
  var answeredAt: Int64 = 0
  /// Waits for room to send its body in one piece.
  var isDeferred = false

  static func make() -> HTTP2SlotPlace {
    let place = HTTP2SlotPlace.allocate(capacity: 1)
    place.initialize(to: HTTP2Slot())
    return place
  }

  /// Gives back the slot and all that it holds.
  static func discard(_ place: HTTP2SlotPlace) {
    place.pointee.memory.deallocate()
    place.deinitialize(count: 1)
    place.deallocate()
  }

  /// Copies what is the message's own and lists all fields, pseudo fields first. The result points into the slot and
  /// into `common`.
  mutating func load(
    _ list: inout HTTP2NameValueList, common: HTTP2FieldBlock?, first: (name: StaticString, value: [UInt8]),
    own: [HTTP2Field],
    body: [UInt8]
  ) {
    var size = first.value.count + body.count
    for field in own { size += field.name.count + field.value.count }
    if size > memory.count {
      memory.deallocate()
      memory = .allocate(byteCount: max(1024, size), alignment: 1)
    }
    self.common = common
    list.begin(common)
    guard var cursor = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    first.value.withUnsafeBufferPointer {
      cursor.update(from: $0.baseAddress ?? UnsafePointer(cursor), count: $0.count)
    }
    list.entries[list.place] = nghttp2_nv(
      name: UnsafeMutablePointer(mutating: first.name.utf8Start), value: cursor,
      namelen: first.name.utf8CodeUnitCount, valuelen: first.value.count,
      flags: noCopy | (common == nil ? 0 : noIndex))  // a path is its own, a status is not
    cursor += first.value.count
    for field in own { list.entries.append(place(field, at: &cursor)) }
    body.withUnsafeBufferPointer { cursor.update(from: $0.baseAddress ?? UnsafePointer(cursor), count: $0.count) }
    outgoingBody = UnsafeRawBufferPointer(start: cursor, count: body.count)
  }

  /// Lists all fields of a request whose bytes lie in memory that `owner` keeps in place; nothing is copied.
  mutating func refer(
    _ list: inout HTTP2NameValueList, common: HTTP2FieldBlock, to request: borrowing HTTP2OutgoingRequest
  ) {
    self.common = common
    owner = request.owner
    list.begin(common, ownCount: 1)
    list.set(list.place, name: ":path", value: request.path)
    list.set(list.entries.count - 1, name: request.ownName, value: request.ownValue)
    outgoingBody = request.body
  }

  /// Ready for the next stream; keeps small memory, gives back large.
  mutating func clear() {
    id = 0
    if fields.count > 0 { fields.removeAll() }
    status = 0
    if !body.isEmpty { if body.capacity > 16_384 { body = [] } else { body.removeAll(keepingCapacity: true) } }
    headerListSize = 0
    isTrailer = false
    excess = nil
    discarded = 0
    heldWindow = 0
    isComplete = false
    isDelivered = false
    common = nil
    owner = nil
    outgoingBody = UnsafeRawBufferPointer(start: nil, count: 0)
    bodySent = 0
    dataSize = .max
    headersSent = false
    isAnswered = false
    isDeferred = false
    if memory.count > 16_384 {
      memory.deallocate()
      memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
  }
}

/// The fields of the message being submitted, as nghttp2 wants them. What messages have in common stays in place from
/// one to the next.
struct HTTP2NameValueList {
  var entries: [nghttp2_nv] = []
  /// Where the message's own pseudo field goes.
  private(set) var place = 0
  private var common: HTTP2FieldBlock?
  private var commonCount = 0

  mutating func begin(_ block: HTTP2FieldBlock?) {
    if !entries.isEmpty, block === common {
      entries.removeSubrange(commonCount...)
      return
    }
    common = block
    entries = (block?.pseudo ?? []) + [Self.empty] + (block?.regular ?? [])
    place = block?.pseudo.count ?? 0
    commonCount = entries.count
  }

  /// The same, with room for so many own fields at the end.
  mutating func begin(_ block: HTTP2FieldBlock, ownCount: Int) {
    if block === common, entries.count == commonCount + ownCount { return }
    begin(block)
    for _ in 0..<ownCount { entries.append(Self.empty) }
  }

  /// A field that is never indexed.
  @inline(__always)
  mutating func set(_ index: Int, name: StaticString, value: UnsafeRawBufferPointer) {
    entries[index] = nghttp2_nv(
      name: UnsafeMutablePointer(mutating: name.utf8Start),
      value: UnsafeMutableRawPointer(mutating: value.baseAddress)?.assumingMemoryBound(to: UInt8.self),
      namelen: name.utf8CodeUnitCount, valuelen: value.count, flags: noCopy | noIndex)
  }

  private static var empty: nghttp2_nv { nghttp2_nv(name: nil, value: nil, namelen: 0, valuelen: 0, flags: 0) }
}
