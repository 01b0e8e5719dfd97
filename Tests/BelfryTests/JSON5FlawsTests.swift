import Basics
import Testing

@testable import belfry

@Suite("What is wrong with a JSON5 text")
struct JSON5FlawsTests {
  static let rows = [
    ("{ steps: [ {} ]\n", "not JSON5: the { of line 1 is not closed."),
    ("{\n a: [1, 2\n}", "not JSON5: line 3: a } where the [ of line 2 is open."),
    ("{ a: 1 }\n]", "not JSON5: line 2: the ] closes nothing."),
    ("{ a: 1\n  b: 2 }", "not JSON5: line 2: a comma, or a colon, is missing before b."),
    ("{ a: [\"x\"\n\"y\"] }", "not JSON5: line 2: a comma, or a colon, is missing before \"y\"."),
    ("{ a: \"x }\n", "not JSON5: the text that begins in line 1 has no end."),
    ("{ a: 1, // b: 2\n /* c: */ a: 3 }", "line 2: a is there already, in line 1. Leave one out."),
    ("{ \"a\": {b: 1}, c: {b: 2}, 'a': 3 }", "line 1: a is there already, in line 1. Leave one out."),
  ]

  @Test("says what and in which line", arguments: rows)
  func told(text: String, words: String) {
    #expect(throws: JSON5Fault(words: words)) { try JSON5File.read(Array(text.utf8)) }
  }

  @Test(
    "finds nothing in what is right",
    arguments: [
      "\u{FEFF}{a:1}", "{'a':[+1,.5,-Infinity,0x1F,],/* { */b:\"it's \\\" {\",c:{a:1},}", "[{a:1},{a:1}]", "// x\n{}",
      "7",
    ])
  func right(text: String) {
    let flaws = JSON5Flaws(Array(text.utf8))
    #expect(flaws.twice == nil)
    if !text.hasPrefix("\u{FEFF}") { #expect(flaws.syntax == nil) }
  }

  @Test("ends, whatever it is given", arguments: 0..<200 as Range<UInt64>)
  func anything(seed: UInt64) {
    var dice = Dice(seed: seed)
    let alphabet = Array("{}[]:,\"'/*\\\n a1\u{FEFF}".utf8)
    let text = (0..<60).map { _ in alphabet.randomElement(using: &dice) ?? 0 }
    _ = JSON5Flaws(text)
  }
}
