import Basics
import Testing

@Suite("Chance and digits")
struct DiceTests {
  @Test("the same seed throws the same numbers, on every platform")
  func repeats() {
    var dice = Dice(seed: 0)
    // The reference values of SplitMix64.
    #expect([dice.next(), dice.next()] == [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4])
    var other = Dice(seed: 1)
    #expect(other.next() != 0xE220_A839_7B1D_CDAF)
  }

  @Test("hex comes back as it went, in either case; what is no hex is nil")
  func hex() {
    let all = Array(UInt8.min...UInt8.max)
    #expect(bytes(fromHex: all.hex.utf8) == all)
    #expect(bytes(fromHex: all.hex.uppercased().utf8) == all)
    for text in ["0", "0g", "é", " 0", "0x", "００"] { #expect(bytes(fromHex: text.utf8) == nil, "\(text)") }
    #expect(bytes(fromHex: "".utf8) == [])
  }
}
