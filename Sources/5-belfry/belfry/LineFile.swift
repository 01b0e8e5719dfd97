import PushService

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file read line by line from a place in it, whatever its size.
struct LineFile: ~Copyable {
  /// In bytes.
  let size: Int64
  /// Where the next line begins.
  private(set) var position: Int64 = 0
  private let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// Of a longer line so much is answered and the rest passed over, so that a file without lines is not held whole.
  private static let longestLine = DeviceFile.longestLine + 1
  private static let chunk = 1 << 20

  init(_ path: String) throws(CommandFault) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    var facts = stat()
    guard descriptor >= 0, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      if descriptor >= 0 { close(descriptor) }
      throw CommandFault("\(path): cannot be read; is it a file, and may this user read it?")
    }
    self.path = path
    self.descriptor = descriptor
    size = Int64(facts.st_size)
  }

  deinit { close(descriptor) }

  mutating func seek(to position: Int64) {
    lseek(descriptor, off_t(position), SEEK_SET)
    self.position = position
    buffer = []
    start = 0
    isAtEnd = false
  }

  /// Without its newline; nil at the end. Of a line that is too long, what comes first.
  mutating func next() throws(CommandFault) -> ArraySlice<UInt8>? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return take(to: end, past: end + 1)
      }
      searched = buffer.count
      if isAtEnd {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        return take(to: buffer.count, past: buffer.count)
      }
      try fill(&searched)
    }
  }

  private mutating func take(to end: Int, past next: Int) -> ArraySlice<UInt8> {
    position += Int64(next - start)
    return buffer[start..<end].prefix(Self.longestLine)
  }

  private mutating func fill(_ searched: inout Int) throws(CommandFault) {
    let excess = searched - start - Self.longestLine
    if excess > 0 {
      buffer.removeSubrange(start + Self.longestLine..<searched)
      position += Int64(excess)
      searched -= excess
    }
    buffer.removeFirst(start)
    searched -= start
    start = 0
    let kept = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: Self.chunk))
    let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + kept, Self.chunk) }
    guard count >= 0 else { throw CommandFault("\(path): cannot be read to its end") }
    buffer.removeLast(Self.chunk - count)
    isAtEnd = count == 0
  }
}
