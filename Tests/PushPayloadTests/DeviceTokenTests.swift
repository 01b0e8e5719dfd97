import Basics
import PushPayload
import Testing

@Suite("A device token as text")
struct DeviceTokenTests {
  static let bytes = [UInt8](0..<32)
  static let hex = bytes.hex

  @Test("is the hex of its bytes, in either case, of 32 to 100 bytes")
  func readsHex() throws {
    #expect(try DeviceTokenText.read(Self.hex) == Self.bytes)
    #expect(try DeviceTokenText.read("  \(Self.hex.uppercased())\n") == Self.bytes)
    #expect(try DeviceTokenText.read(String(repeating: "ab", count: 100)).count == 100)
  }

  static let refused: [(String, DeviceTokenFault.Kind)] = [
    ("", .empty),
    ("   ", .empty),
    ("(null)", .placeholder),
    ("undefined", .placeholder),
    ("{length = 32, bytes = 0x11aa22bb 33cc44dd ... 5566eeff }", .truncatedDescription),
    ("<00010203 04050607 08090a0b 0c0d0e0f 10111213 14151617 18191a1b 1c1d1e1f>", .description),
    (String(hex.dropLast()), .oddHex),
    (String(hex.prefix(50)), .tooShort),
    ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", .base64),
    ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", .base64),
    (String(repeating: "ab", count: 101), .tooLong),
    ("zz" + hex.dropFirst(2), .notHex),
    ("é\u{0}", .notHex),
  ]

  @Test("C18 refuses what is something else, and says what it is", arguments: refused)
  func refuses(text: String, kind: DeviceTokenFault.Kind) {
    #expect { try DeviceTokenText.read(text) } throws: { ($0 as? DeviceTokenFault)?.kind == kind }
  }

  @Test("C18 offers the hex of base64 in the hint, and says that a description lacks the middle")
  func hints() {
    let base64 = #expect(throws: DeviceTokenFault.self) {
      try DeviceTokenText.read("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
    }
    #expect(base64?.suggestion == Self.hex)
    #expect(base64?.remedy.contains(Self.hex) == true)
    let description = #expect(throws: DeviceTokenFault.self) {
      try DeviceTokenText.read("{length = 32, bytes = 0x11aa22bb 33cc44dd ... 5566eeff }")
    }
    #expect(description?.found.contains("middle") == true)
    #expect(description?.suggestion == nil)
  }
}
