public import Basics
public import PushPayload

private let prefix: StaticString = "/3/device/"
private let idCount = 36

/// Many pushes in one piece of memory, made to be sent together: what they share is said once, and each has its own
/// token, `apns-id` and body. Appending allocates only when the memory must grow, sending not at all: a campaign's
/// pushes leave from where they were written.
///
/// A value: a copy that is changed takes memory of its own.
public struct PushBatch: Sendable {
  /// What several pushes have in common.
  public struct Shared: Sendable, Equatable {
    /// The suffix that its push type wants is added if it is not there.
    public var topic: String
    public var pushType: PushType
    public var priority: PushPriority
    /// Seconds since 1970; 0 for one attempt; nil leaves it to APNs (30 days).
    public var expiration: Int64?
    /// At most 64 bytes of UTF-8.
    public var collapseID: String?

    public init(
      topic: String, pushType: PushType, priority: PushPriority, expiration: Int64? = nil, collapseID: String? = nil
    ) {
      self.topic = topic
      self.pushType = pushType
      self.priority = priority
      self.expiration = expiration
      self.collapseID = collapseID
    }
  }

  /// Where one push lies: `apns-id`, path, body, one behind the other.
  struct Place: Sendable {
    var start: Int
    var pathCount: Int32
    var bodyCount: Int32
    var shared: Int
  }

  /// Oldest first; a push names one of them by its index.
  public private(set) var shared: [Shared] = []
  private(set) var places: [Place] = []
  private var memory = Memory()

  public init() {}

  public var count: Int { places.count }
  public var isEmpty: Bool { places.isEmpty }

  /// Makes room for so many pushes of so many bytes of body.
  public mutating func reserve(_ count: Int, bodySize: Int) {
    places.reserveCapacity(places.count + count)
    own(adding: count * (idCount + prefix.utf8CodeUnitCount + 64 + bodySize))
  }

  /// Forgets all pushes and what they shared; keeps the memory if nobody else holds it.
  public mutating func removeAll() {
    places.removeAll(keepingCapacity: true)
    shared.removeAll(keepingCapacity: true)
    if isKnownUniquelyReferenced(&memory) { memory.used = 0 } else { memory = Memory() }
  }

  /// Says what the pushes that follow have in common; its index.
  public mutating func share(_ shared: Shared) -> Int {
    if self.shared.last != shared { self.shared.append(shared) }
    return self.shared.count - 1
  }

  /// Adds a push. `body` writes UTF-8 JSON into at most `bodySize` bytes and says how many.
  ///
  /// - Parameters:
  ///   - id: the `apns-id`, kept through every retry.
  ///   - token: raw bytes; hex in the path.
  ///   - shared: an index that `share` gave; an index that it did not give is our caller's mistake and traps.
  public mutating func append(
    id: UUIDBits, token: [UInt8], shared: Int, bodySize: Int, body: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    append(token: token, shared: shared, bodySize: bodySize, id: { id.write(to: $0) }, body: body)
  }

  /// The same with an `apns-id` as text; false, and nothing is added, when it is no UUID of 36 letters.
  public mutating func append(id: String, token: [UInt8], shared: Int, body: [UInt8]) -> Bool {
    var id = id
    return id.withUTF8 { text in
      guard UUIDText.isCanonical(text) else { return false }
      append(
        token: token, shared: shared, bodySize: body.count,
        id: { $0.copyMemory(from: text.baseAddress!, byteCount: text.count) },
        body: { target in
          body.withUnsafeBytes { target.copyMemory(from: $0) }
          return body.count
        })
      return true
    }
  }

  private mutating func append(
    token: [UInt8], shared: Int, bodySize: Int, id: (UnsafeMutableRawPointer) -> Void,
    body: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    precondition(self.shared.indices.contains(shared), "share(_:) gave no such index")
    let prefixCount = prefix.utf8CodeUnitCount
    let pathCount = prefixCount + 2 * token.count
    own(adding: idCount + pathCount + bodySize)
    let start = memory.used
    var cursor = memory.start! + start
    id(cursor)
    cursor += idCount
    cursor.copyMemory(from: prefix.utf8Start, byteCount: prefixCount)
    cursor += prefixCount
    token.withUnsafeBufferPointer { token in
      for byte in token {
        cursor.storeBytes(of: hexDigits(of: byte), as: UInt16.self)
        cursor += 2
      }
    }
    let bodyCount = min(bodySize, max(0, body(UnsafeMutableRawBufferPointer(start: cursor, count: bodySize))))
    memory.used = start + idCount + pathCount + bodyCount
    places.append(
      Place(start: start, pathCount: Int32(clamping: pathCount), bodyCount: Int32(clamping: bodyCount), shared: shared))
  }

  /// Sees to memory of our own with so much room.
  private mutating func own(adding count: Int) {
    guard !isKnownUniquelyReferenced(&memory) || memory.used + count > memory.capacity else { return }
    memory = Memory(copying: memory, capacity: max(2 * memory.capacity, memory.used + count, 4096))
  }

  // MARK: One push

  /// What the push has in common with others.
  public func shared(at index: Int) -> Shared { shared[places[index].shared] }

  /// The device token's bytes.
  public func token(at index: Int) -> [UInt8] {
    bytes(fromHex: wire(at: index).path.dropFirst(prefix.utf8CodeUnitCount)) ?? []
  }

  /// The `apns-id`.
  public func id(at index: Int) -> String { String(decoding: wire(at: index).id, as: UTF8.self) }

  public func payload(at index: Int) -> [UInt8] { Array(wire(at: index).body) }

  public func push(at index: Int) -> OutgoingPush {
    let shared = shared(at: index)
    return OutgoingPush(
      id: id(at: index), token: token(at: index), topic: shared.topic, pushType: shared.pushType,
      priority: shared.priority, expiration: shared.expiration, collapseID: shared.collapseID,
      payload: payload(at: index))
  }

  // MARK: Where it lies, for whoever sends it

  /// The bytes of one push, where nghttp2 may read them: good as long as a copy of the batch lives.
  package struct Wire: Sendable {
    fileprivate nonisolated(unsafe) let start: UnsafeRawPointer  // read only; the batch's memory
    private let pathCount: Int32
    private let bodyCount: Int32
    package let shared: Int

    fileprivate init(_ start: UnsafeRawPointer, _ place: Place) {
      self.start = start + place.start
      pathCount = place.pathCount
      bodyCount = place.bodyCount
      shared = place.shared
    }

    /// `apns-id`.
    package var id: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: idCount) }
    /// `/3/device/<token in hex>`.
    package var path: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start + idCount, count: Int(pathCount)) }
    package var body: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: start + idCount + Int(pathCount), count: Int(bodyCount))
    }
    package var tokenCount: Int { (Int(pathCount) - prefix.utf8CodeUnitCount) / 2 }
  }

  package func wire(at index: Int) -> Wire { Wire(memory.start!, places[index]) }

  /// All of them.
  package func wires() -> [Wire] {
    guard let start = memory.start else { return [] }
    return places.map { Wire(start, $0) }
  }

  private final class Memory: @unchecked Sendable {  // written only by the one batch that holds it
    private(set) var start: UnsafeMutableRawPointer?
    let capacity: Int
    var used = 0

    init() { capacity = 0 }

    init(copying other: Memory, capacity: Int) {
      self.capacity = capacity
      let start = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
      if let old = other.start { start.copyMemory(from: old, byteCount: other.used) }
      self.start = start
      used = other.used
    }

    deinit { start?.deallocate() }
  }
}

extension PushBatch {
  /// Pushes one by one as a batch; what follows each other with the same topic, type and so on shares it. Those
  /// whose `apns-id` is no UUID are left out.
  public init(_ pushes: some Sequence<OutgoingPush>) {
    self.init()
    for push in pushes {
      let shared = share(
        Shared(
          topic: push.topic, pushType: push.pushType, priority: push.priority, expiration: push.expiration,
          collapseID: push.collapseID))
      _ = append(id: push.id, token: push.token, shared: shared, body: push.payload)
    }
  }
}
