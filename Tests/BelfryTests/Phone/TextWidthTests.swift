import Testing

@testable import belfry

@Suite("The width of a text on a terminal")
struct TextWidthTests {
  static let rows: [(String, Int)] = [
    ("", 0), ("abc", 3), ("新消息", 6), ("한국어", 6), ("ｱ", 1), ("ｗ", 2), ("é", 1), ("e\u{301}", 1), ("🔔", 2), ("👩‍👩‍👧", 2),
    ("🇨🇳", 2), ("❤️", 2), ("❤", 1), ("1️⃣", 2), ("│", 1), ("…", 1), ("\u{200B}", 0), ("👍🏽", 2), ("a新b", 4),
  ]

  @Test("CJK and emoji take two columns, marks none", arguments: rows)
  func width(text: String, columns: Int) {
    #expect(TextWidth.of(text) == columns)
  }

  @Test("never more than the columns asked for, whatever the text", arguments: 0...14)
  func cut(columns: Int) {
    for text in ["您有一条新的通知 🔔", "plain words that go on", "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", ""] {
      #expect(TextWidth.of(TextWidth.cut(text, to: columns)) <= columns)
      #expect(TextWidth.of(TextWidth.fit(text, to: columns)) == columns)
      let lines = TextWidth.wrap(text, to: columns)
      #expect(lines.allSatisfy { TextWidth.of($0) <= columns })
      #expect(TextWidth.wrap(text, to: columns, limit: 2).count <= 2)
      let styled = StyledLine(text, .bold) + StyledLine(" end")
      #expect(styled.fit(to: columns).width == columns)
      #expect(styled.centred(in: columns).width == columns)
    }
  }

  @Test("what is cut says so, what fits stays as it is")
  func ellipsis() {
    #expect(TextWidth.cut("新消息", to: 5) == "新消…")
    #expect(TextWidth.cut("新消息", to: 6) == "新消息")
    #expect(TextWidth.fit("新", to: 4) == "新  ")
    #expect(TextWidth.wrap("one two three", to: 7) == ["one two", "three"])
    #expect(TextWidth.wrap("abcdefgh", to: 3) == ["abc", "def", "gh"])
    #expect(TextWidth.wrap("one two three", to: 7, limit: 1) == ["one tw…"])
  }

  @Test("a sender's text cannot move the cursor, clear the screen or turn the writing around")
  func harmless() {
    #expect(TextWidth.harmless("a\u{1B}[2Jb\u{7}c\nd") == "a·[2Jb·c d")
    #expect(TextWidth.harmless("pay\u{202E}001\u{2066}") == "pay001")
    #expect(TextWidth.harmless("新消息 🔔 é") == "新消息 🔔 é")
    #expect(TextWidth.harmless("\u{9B}31m") == "·31m")
  }

  @Test("without colours bold and inverse stay; behind an emoji the column is named again")
  func ansi() {
    let line = StyledLine("🔔", .ink(.red, bold: true)) + StyledLine("x")
    #expect(line.ansi(colours: true) == "\u{1B}[1;31m🔔\u{1B}[0mx")
    #expect(line.ansi(colours: false) == "\u{1B}[1m🔔\u{1B}[0mx")
    #expect(line.ansi(colours: false, placed: true) == "\u{1B}[1m🔔\u{1B}[0m\u{1B}[3Gx")
  }
}
