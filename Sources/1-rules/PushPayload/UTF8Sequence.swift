/// Length of the well-formed UTF-8 sequence (Unicode 15, table 3-7) that begins at `at`; 0 when there is none.
func utf8SequenceLength(_ bytes: [UInt8], _ at: Int) -> Int {
  let first = bytes[at]
  if first < 0x80 { return 1 }
  let second = at + 1 < bytes.count ? bytes[at + 1] : 0
  let third = at + 2 < bytes.count ? bytes[at + 2] : 0
  let fourth = at + 3 < bytes.count ? bytes[at + 3] : 0
  let tail: ClosedRange<UInt8> = 0x80...0xBF
  switch first {
  case 0xC2...0xDF: return tail ~= second ? 2 : 0
  case 0xE0: return 0xA0...0xBF ~= second && tail ~= third ? 3 : 0
  case 0xED: return 0x80...0x9F ~= second && tail ~= third ? 3 : 0
  case 0xE1...0xEF: return tail ~= second && tail ~= third ? 3 : 0
  case 0xF0: return 0x90...0xBF ~= second && tail ~= third && tail ~= fourth ? 4 : 0
  case 0xF1...0xF3: return tail ~= second && tail ~= third && tail ~= fourth ? 4 : 0
  case 0xF4: return 0x80...0x8F ~= second && tail ~= third && tail ~= fourth ? 4 : 0
  default: return 0
  }
}
