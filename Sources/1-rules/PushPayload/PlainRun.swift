/// How many bytes from `start` on stand for themselves in a JSON string: ASCII, no control character, neither quote nor
/// backslash. Eight at a time, since most of a payload is such text.
func plainRun(_ bytes: [UInt8], from start: Int) -> Int {
  bytes.withUnsafeBytes { bytes in
    var at = start
    while at + 8 <= bytes.count {
      let found = special(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
      guard found == 0 else { return at + found.trailingZeroBitCount / 8 - start }
      at += 8
    }
    while at < bytes.count, special(UInt64(bytes[at]) | 0x2020_2020_2020_2000) == 0 { at += 1 }
    return at - start
  }
}

/// The highest bit of the first byte of eight that is not plain; 0 when all are. Bits above the first mean nothing: a
/// subtraction may have borrowed from the bytes there.
private func special(_ eight: UInt64) -> UInt64 {
  let ones: UInt64 = 0x0101_0101_0101_0101
  let quotes = eight ^ (ones &* UInt64(UInt8(ascii: "\"")))
  let backslashes = eight ^ (ones &* UInt64(UInt8(ascii: "\\")))
  let controls = (eight &- ones &* 0x20) & ~eight
  let zeroes = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
  return (controls | zeroes | eight) & (ones &* 0x80)
}
