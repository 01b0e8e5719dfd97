#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A stretch of a message's bytes, shared with the message.
typealias Bytes = ArraySlice<UInt8>

extension ArraySlice<UInt8> {
  /// Byte for byte; much faster than `==` on the path of a push.
  func equals(_ other: some ContiguousBytes) -> Bool {
    withUnsafeBytes { mine in other.withBytes { theirs in isEqual(mine, theirs) } }
  }

  func ends(with suffix: [UInt8]) -> Bool { count > suffix.count && self.suffix(suffix.count).equals(suffix) }
}

func isEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
  one.count == other.count && (one.isEmpty || memcmp(one.baseAddress!, other.baseAddress!, one.count) == 0)
}

/// Bytes that lie in one piece.
protocol ContiguousBytes {
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension ArraySlice<UInt8>: ContiguousBytes {
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { withUnsafeBytes(body) }
}

extension [UInt8]: ContiguousBytes {
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { withUnsafeBytes(body) }
}

extension StaticString: ContiguousBytes {
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount))
  }
}

/// At most 80 bytes of what a peer sent, made printable.
func text(_ bytes: some Collection<UInt8>) -> String {
  let shown = bytes.prefix(80).map { (0x20...0x7E).contains($0) || $0 >= 0x80 ? $0 : UInt8(ascii: "?") }
  return String(decoding: shown, as: UTF8.self) + (bytes.count > 80 ? "…" : "")
}
