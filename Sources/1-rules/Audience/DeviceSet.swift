internal import CRoaring

/// A set of device ordinals, compressed (roaring bitmap): tens of millions in at most 1.25 MB.
///
/// A value: copies share their storage until one of them changes. Every operation is exact.
public struct DeviceSet: Sendable {
  private var storage: Bitmap

  public init() { storage = Bitmap(owning: roaring_bitmap_create_with_capacity(0)) }

  public init(_ ordinals: some Sequence<DeviceOrdinal>) {
    let list = Array(ordinals)
    storage = Bitmap(owning: list.withUnsafeBufferPointer { roaring_bitmap_of_ptr($0.count, $0.baseAddress) })
  }

  public init(_ ordinals: ClosedRange<DeviceOrdinal>) {
    self.init()
    roaring_bitmap_add_range_closed(storage.pointer, ordinals.lowerBound, ordinals.upperBound)
  }

  private init(owning pointer: UnsafeMutablePointer<roaring_bitmap_t>?) { storage = Bitmap(owning: pointer) }

  public var count: Int { reading { Int(roaring_bitmap_get_cardinality($0)) } }
  public var isEmpty: Bool { reading { roaring_bitmap_is_empty($0) } }
  public var first: DeviceOrdinal? { reading { roaring_bitmap_is_empty($0) ? nil : roaring_bitmap_minimum($0) } }
  public var last: DeviceOrdinal? { reading { roaring_bitmap_is_empty($0) ? nil : roaring_bitmap_maximum($0) } }

  public func contains(_ ordinal: DeviceOrdinal) -> Bool { reading { roaring_bitmap_contains($0, ordinal) } }

  /// Whether the ordinal was not there before.
  @discardableResult
  public mutating func insert(_ ordinal: DeviceOrdinal) -> Bool {
    changing { roaring_bitmap_add_checked($0, ordinal) }
  }

  /// Whether the ordinal was there before.
  @discardableResult
  public mutating func remove(_ ordinal: DeviceOrdinal) -> Bool {
    changing { roaring_bitmap_remove_checked($0, ordinal) }
  }

  public mutating func formUnion(_ other: DeviceSet) { combine(other, roaring_bitmap_or_inplace) }
  public mutating func formIntersection(_ other: DeviceSet) { combine(other, roaring_bitmap_and_inplace) }

  public mutating func subtract(_ other: DeviceSet) {
    if other.storage === storage {  // the C function demands two bitmaps
      self = DeviceSet()
    } else {
      combine(other, roaring_bitmap_andnot_inplace)
    }
  }

  public func union(_ other: DeviceSet) -> DeviceSet { combined(other, roaring_bitmap_or) }
  public func intersection(_ other: DeviceSet) -> DeviceSet { combined(other, roaring_bitmap_and) }
  public func subtracting(_ other: DeviceSet) -> DeviceSet { combined(other, roaring_bitmap_andnot) }

  /// How many are in both, without building the set.
  public func intersectionCount(_ other: DeviceSet) -> Int {
    reading { mine in other.reading { Int(roaring_bitmap_and_cardinality(mine, $0)) } }
  }

  /// Up to `limit` ordinals in growing order, from the first after `ordinal` on, or from the very first.
  public func ordinals(after ordinal: DeviceOrdinal? = nil, limit: Int) -> [DeviceOrdinal] {
    guard limit > 0, ordinal != .max else { return [] }
    return reading { bitmap in
      var iterator = roaring_uint32_iterator_t()
      roaring_init_iterator(bitmap, &iterator)
      if let ordinal { _ = roaring_move_uint32_iterator_equalorlarger(&iterator, ordinal + 1) }
      guard iterator.has_value else { return [] }
      return Array(unsafeUninitializedCapacity: Swift.min(limit, count)) { buffer, filled in
        filled = Int(roaring_read_uint32_iterator(&iterator, buffer.baseAddress, UInt32(clamping: buffer.count)))
      }
    }
  }

  /// The shards that hold at least one of the set, in growing order.
  public var shards: [ShardIndex] {
    var shards: [ShardIndex] = []
    var next = ordinals(limit: 1).first
    while let ordinal = next {
      let shard = ordinal.shard
      shards.append(shard)
      next = ordinals(after: shard.ordinals.upperBound, limit: 1).first
    }
    return shards
  }

  /// The part of the set in one shard; ordinals stay what they are.
  public func slice(_ shard: ShardIndex) -> DeviceSet { intersection(DeviceSet(shard.ordinals)) }

  // MARK: Storage

  /// The portable format that all roaring implementations share (RoaringFormatSpec), smallest form.
  public func serialized() -> [UInt8] {
    var compact = self
    compact.changing { _ = roaring_bitmap_run_optimize($0) }
    return compact.reading { bitmap in
      Array(unsafeUninitializedCapacity: roaring_bitmap_portable_size_in_bytes(bitmap)) { buffer, filled in
        filled = buffer.withMemoryRebound(to: CChar.self) { roaring_bitmap_portable_serialize(bitmap, $0.baseAddress) }
      }
    }
  }

  /// nil when the bytes are not what `serialized` wrote; never reads beyond them.
  public init?(serialized bytes: UnsafeRawBufferPointer) {
    let chars = bytes.bindMemory(to: CChar.self)
    guard let start = chars.baseAddress, !chars.isEmpty,
      roaring_bitmap_portable_deserialize_size(start, chars.count) == chars.count,
      let pointer = roaring_bitmap_portable_deserialize_safe(start, chars.count)
    else { return nil }
    storage = Bitmap(owning: pointer)
  }

  public init?(serialized bytes: [UInt8]) {
    guard let set = bytes.withUnsafeBytes({ DeviceSet(serialized: $0) }) else { return nil }
    self = set
  }

  // MARK: Access

  private func reading<Result>(_ body: (UnsafePointer<roaring_bitmap_t>) -> Result) -> Result {
    withExtendedLifetime(storage) { body(storage.pointer) }
  }

  private mutating func changing<Result>(_ body: (UnsafeMutablePointer<roaring_bitmap_t>) -> Result) -> Result {
    if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
    return withExtendedLifetime(storage) { body(storage.pointer) }
  }

  private mutating func combine(
    _ other: DeviceSet, _ operation: (UnsafeMutablePointer<roaring_bitmap_t>, UnsafePointer<roaring_bitmap_t>) -> Void
  ) {
    guard other.storage !== storage else { return }  // a ∪ a and a ∩ a are a
    changing { mine in other.reading { operation(mine, $0) } }
  }

  private func combined(
    _ other: DeviceSet,
    _ operation: (UnsafePointer<roaring_bitmap_t>, UnsafePointer<roaring_bitmap_t>)
      -> UnsafeMutablePointer<roaring_bitmap_t>?
  ) -> DeviceSet {
    DeviceSet(owning: reading { mine in other.reading { operation(mine, $0) } })
  }
}

extension DeviceSet: Equatable {
  public static func == (left: DeviceSet, right: DeviceSet) -> Bool {
    left.reading { mine in right.reading { roaring_bitmap_equals(mine, $0) } }
  }
}

extension DeviceSet: Sequence {
  /// In growing order, read in blocks.
  public struct Iterator: IteratorProtocol {
    fileprivate let set: DeviceSet
    fileprivate var block: [DeviceOrdinal]
    fileprivate var index = 0

    public mutating func next() -> DeviceOrdinal? {
      if index == block.count {
        guard let last = block.last else { return nil }
        block = set.ordinals(after: last, limit: 1024)
        index = 0
        if block.isEmpty { return nil }
      }
      defer { index += 1 }
      return block[index]
    }
  }

  public func makeIterator() -> Iterator { Iterator(set: self, block: ordinals(limit: 1024)) }
  public var underestimatedCount: Int { count }
}

extension DeviceSet: ExpressibleByArrayLiteral, CustomStringConvertible {
  public init(arrayLiteral elements: DeviceOrdinal...) { self.init(elements) }

  public var description: String {
    let shown = ordinals(limit: 9).map(String.init).joined(separator: ", ")
    return "{\(shown)\(count > 9 ? ", … \(count) in all" : "")}"
  }
}

/// Owns one C bitmap. Only `DeviceSet` touches it: it changes one that nobody else refers to
/// (`isKnownUniquelyReferenced`) and reads others, so that sharing between tasks is safe.
private final class Bitmap: @unchecked Sendable {  // guarded by uniqueness of the reference
  let pointer: UnsafeMutablePointer<roaring_bitmap_t>

  init(owning pointer: UnsafeMutablePointer<roaring_bitmap_t>?) {
    guard let pointer else { fatalError("out of memory for a device set") }
    self.pointer = pointer
  }

  func copy() -> Bitmap { Bitmap(owning: roaring_bitmap_copy(pointer)) }

  deinit { roaring_bitmap_free(pointer) }
}
