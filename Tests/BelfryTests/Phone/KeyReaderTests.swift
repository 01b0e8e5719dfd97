import Testing

@testable import belfry

@Suite("Keys from a terminal's bytes")
struct KeyReaderTests {
  static let rows: [(String, [Key])] = [
    ("lq", [.character("l"), .character("q")]), ("\r\n", [.enter, .enter]), ("\t\u{1B}[Z", [.tab, .backTab]),
    ("\u{7F}\u{8}", [.backspace, .backspace]), ("\u{3}\u{1A}", [.control("c"), .control("z")]),
    ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]), ("\u{1B}OA", [.up]),
    ("\u{1B}[1;5A", [.up]), ("\u{1B}[5~\u{1B}[6~\u{1B}[3~", [.pageUp, .pageDown, .delete]),
    ("\u{1B}[H\u{1B}[4~", [.home, .end]), ("新🔔", [.character("新"), .character("🔔")]),
    ("\u{1B}[200~x", [.character("x")]), ("\u{1B}xq", [.character("q")]),
  ]

  @Test("plain, UTF-8 and sequences of VT and xterm; what is not known means nothing", arguments: rows)
  func keys(text: String, expected: [Key]) {
    var reader = KeyReader()
    #expect(reader.read(text.utf8) == expected)
    #expect(!reader.isWaiting)
  }

  @Test("byte by byte, as over a slow line, the keys are the same", arguments: rows)
  func slowly(text: String, expected: [Key]) {
    var reader = KeyReader()
    #expect(text.utf8.flatMap { reader.read([$0]) } == expected)
  }

  @Test("a lone escape is the Escape key once nothing follows; two at once are one and what follows")
  func escape() {
    var reader = KeyReader()
    #expect(reader.read([0x1B]).isEmpty && reader.isWaiting)
    #expect(reader.flush() == [.escape])
    #expect(!reader.isWaiting && reader.flush().isEmpty)
    #expect(reader.read([0x1B, 0x1B]) == [.escape] && reader.isWaiting)
  }

  @Test("no bytes, however wrong, trap or stay for ever")
  func noise() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      var reader = KeyReader()
      for _ in 0..<20 { _ = reader.read((0..<8).map { _ in UInt8.random(in: 0...255, using: &generator) }) }
      _ = reader.read(Array(repeating: UInt8(ascii: "1"), count: 200))
      _ = reader.flush()
      #expect(reader.read("q".utf8) == [.character("q")])
    }
  }
}
