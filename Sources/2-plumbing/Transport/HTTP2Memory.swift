import CLibraryShims
import CNgHTTP2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

private func giveBack(_ block: UnsafeMutableRawPointer) { free(block) }

/// Memory for one nghttp2 session. nghttp2 asks for five small blocks for each stream and gives them back when it ends; here
/// they come from lists of blocks of the same size, and go back there: a stream costs the system's allocator nothing once
/// a connection is warm. On one loop, so no lock. What was once in use stays with the session until it ends.
///
/// Under a sanitizer every block comes from the system: a list would give a block to the next stream before it could
/// show that somebody still reads it.
final class HTTP2Memory {
  /// Where the lists get theirs: `malloc` and `free`, or in a test what may fail.
  struct System {
    var allocate: (Int) -> UnsafeMutableRawPointer? = { malloc($0) }
    var free: (UnsafeMutableRawPointer) -> Void = giveBack
  }

  /// Sizes served from lists: 16, 32 … 1,024 bytes; larger ones come from the system.
  private static let classes = 64
  private static let unit = 16
  /// In front of each block: its class, or `large`, and for that its size. Keeps blocks aligned to 16 bytes.
  private static let head = 16
  private static let large = UInt64.max

  private let system: System
  private let isListed: Bool
  private let lists: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  @exclusivity(unchecked) private var cursor: UnsafeMutableRawPointer?  // on the loop, no overlap
  @exclusivity(unchecked) private var room = 0  // on the loop, no overlap
  private var chunks: [UnsafeMutableRawPointer] = []
  private var chunkSize = 4096

  init(isListed: Bool = !belfry_is_sanitized(), system: System = System()) {
    self.isListed = isListed
    self.system = system
    lists = .allocate(capacity: Self.classes + 1)
    lists.initialize(repeating: nil, count: Self.classes + 1)
  }

  deinit {
    for chunk in chunks { system.free(chunk) }
    lists.deallocate()
  }

  /// What nghttp2 is given; good as long as this lives. A block that cannot be had is nil, which nghttp2 takes for
  /// NGHTTP2_ERR_NOMEM.
  var functions: nghttp2_mem {
    nghttp2_mem(
      mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
      malloc: { size, user in HTTP2Memory.with(user) { $0.allocate(size) } },
      free: { block, user in HTTP2Memory.with(user) { $0.free(block) } },
      calloc: { count, size, user in HTTP2Memory.with(user) { $0.allocateZeroed(count, size) } },
      realloc: { block, size, user in HTTP2Memory.with(user) { $0.reallocate(block, size) } })
  }

  @inline(__always)
  private static func with<Result>(_ user: UnsafeMutableRawPointer?, _ body: (HTTP2Memory) -> Result) -> Result {
    Unmanaged<HTTP2Memory>.fromOpaque(user!)._withUnsafeGuaranteedRef(body)
  }

  func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
    guard isListed, 0...Self.classes * Self.unit ~= size else { return allocateLarge(size) }
    let group = (max(1, size) + Self.unit - 1) / Self.unit
    if let block = lists[group] {
      lists[group] = block.load(as: UnsafeMutableRawPointer?.self)
      return block
    }
    let whole = group * Self.unit + Self.head
    if room < whole { addChunk() }
    guard room >= whole, let block = cursor else { return nil }
    cursor = block + whole
    room -= whole
    block.storeBytes(of: UInt64(group), as: UInt64.self)
    return block + Self.head
  }

  func allocateZeroed(_ count: Int, _ size: Int) -> UnsafeMutableRawPointer? {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: size)
    guard !overflow, let block = allocate(bytes) else { return nil }
    block.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    return block
  }

  /// A size that C counts above `Int.max` comes as a negative one, and is not to be had.
  private func allocateLarge(_ size: Int) -> UnsafeMutableRawPointer? {
    guard 0...Int.max - Self.head ~= size, let block = system.allocate(size + Self.head) else { return nil }
    block.storeBytes(of: Self.large, as: UInt64.self)
    block.storeBytes(of: size, toByteOffset: 8, as: Int.self)
    return block + Self.head
  }

  private func addChunk() {
    let size = min(2 * chunkSize, 65_536)
    guard let chunk = system.allocate(size) else { return }
    chunkSize = size
    chunks.append(chunk)
    cursor = chunk
    room = size
  }

  func free(_ block: UnsafeMutableRawPointer?) {
    guard let block else { return }
    let group = (block - Self.head).load(as: UInt64.self)
    guard group != Self.large else { return system.free(block - Self.head) }
    block.storeBytes(of: lists[Int(group)], as: UnsafeMutableRawPointer?.self)
    lists[Int(group)] = block
  }

  private func size(of block: UnsafeMutableRawPointer) -> Int {
    let group = (block - Self.head).load(as: UInt64.self)
    return group == Self.large ? (block - 8).load(as: Int.self) : Int(group) * Self.unit
  }

  func reallocate(_ block: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
    guard let block else { return allocate(size) }
    let before = self.size(of: block)
    guard size < 0 || size > before else { return block }
    guard let larger = allocate(size) else { return nil }
    larger.copyMemory(from: block, byteCount: before)
    free(block)
    return larger
  }
}
