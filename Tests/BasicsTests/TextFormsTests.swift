import Basics
import Testing

@Suite("Bytes as text")
struct TextFormsTests {
  /// RFC 4648 §10.
  static let vectors = [
    ("", "", ""), ("f", "66", "Zg=="), ("fo", "666f", "Zm8="), ("foo", "666f6f", "Zm9v"),
    ("foob", "666f6f62", "Zm9vYg=="),
    ("fooba", "666f6f6261", "Zm9vYmE="), ("foobar", "666f6f626172", "Zm9vYmFy"),
  ]

  @Test("RFC 4648's vectors, both ways", arguments: vectors)
  func vector(text: String, hex: String, base64: String) {
    #expect(text.utf8.hex == hex)
    #expect(bytes(fromHex: hex.uppercased().utf8) == Array(text.utf8))
    #expect(text.utf8.base64 == base64)
    #expect(text.utf8.base64URL == base64.filter { $0 != "=" })
    #expect(bytes(fromBase64: base64.utf8) == Array(text.utf8))
    #expect(bytes(fromBase64: text.utf8.base64URL.utf8) == Array(text.utf8))
  }

  @Test("both alphabets of base64 are read")
  func alphabets() {
    #expect([0xFB, 0xEF, 0xFF].base64 == "++//")
    #expect([0xFB, 0xEF, 0xFF].base64URL == "--__")
    #expect(bytes(fromBase64: "++__".utf8) == [0xFB, 0xEF, 0xFF])
  }

  @Test("other text stands for no bytes", arguments: ["A", "AAAAA", "A=A=", "AA===", "AA\n", "A A=", "Aé=="])
  func notBase64(text: String) { #expect(bytes(fromBase64: text.utf8) == nil) }

  @Test("an odd count of digits, and what is no digit, is no hex", arguments: ["a", "abc", "0x", "g0", "a ", "é"])
  func notHex(text: String) { #expect(bytes(fromHex: text.utf8) == nil) }

  @Test("each byte is a hex digit or none, at either place of a pair")
  func everyHexDigit() {
    for byte in UInt8.min...UInt8.max {
      let value = Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
      #expect(bytes(fromHex: [byte, UInt8(ascii: "3")]) == value.map { [$0 << 4 | 3] })
      #expect(bytes(fromHex: [UInt8(ascii: "3"), byte]) == value.map { [0x30 | $0] })
    }
  }

  @Test("A new UUID is of version 4 and canonical, whatever the chance")
  func newUUID() {
    #expect(text(UUIDText.version4(0, 0)) == "00000000-0000-4000-8000-000000000000")
    #expect(text(UUIDText.version4(.max, .max)) == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    #expect(text(UUIDText.version4(.max, 0, upperCase: true)) == "FFFFFFFF-FFFF-4FFF-8000-000000000000")
    var dice = Dice(seed: 1)
    for _ in 0..<100 { #expect(UUIDText.isCanonical(UUIDText.version4(dice.next(), dice.next()))) }
  }

  @Test(
    "a UUID has 36 letters in five groups of hex digits",
    arguments: [
      "", "6ba7b810-9dad-11d1-80b4-00c04fd430c", "6ba7b8109dad11d180b400c04fd430c8",
      "{6ba7b810-9dad-11d1-80b4-00c04fd430}",
      "6ba7b810-9dad-11d1-80b4-00c04fd430cg", "6ba7b810_9dad_11d1_80b4_00c04fd430c8",
    ])
  func notUUID(text: String) { #expect(!UUIDText.isCanonical(text.utf8)) }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
