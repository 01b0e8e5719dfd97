/// FNV-1a of the fields of a record that may be edited, in their order.
struct Fingerprint {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ text: String?) {
    for byte in text?.utf8 ?? "\u{1}".utf8 { value = (value ^ UInt64(byte)) &* 0x0100_0000_01b3 }
    value = value &* 0x0100_0000_01b3  // a zero between fields
  }
}
