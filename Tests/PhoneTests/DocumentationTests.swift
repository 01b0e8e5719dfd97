import Foundation
import Phone
import Testing

/// What is written about the phone's rules, and which tests judge them.
@Suite("docs/iphone.md")
struct DocumentationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func document() throws -> String {
    try String(contentsOf: Self.root.appending(path: "docs/iphone.md"), encoding: .utf8)
  }

  /// The ids in a text; `D-104 … D-112` stands for all between.
  private func ids(in text: some StringProtocol) -> Set<Int> {
    String(text).matches(of: /D-(\d{3})(?: … D-(\d{3}))?/).reduce(into: []) { ids, match in
      guard let first = Int(match.1) else { return }
      ids.formUnion(first...max(first, match.2.flatMap { Int($0) } ?? first))
    }
  }

  /// The lines of a table, with the ids in the first column and the words of the last.
  private func rows(under heading: String) throws -> [(ids: Set<Int>, words: String)] {
    let text = try document()
    let start = try #require(text.range(of: "\n## \(heading)\n"), "no heading \(heading)")
    let section = text[start.upperBound...].prefix { _ in true }
    let end = section.range(of: "\n## ")?.lowerBound ?? section.endIndex
    return section[..<end].split(separator: "\n").filter { $0.hasPrefix("| D-") }.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return (ids(in: cells[0]), cells.dropFirst().joined(separator: " "))
    }
  }

  /// Every id of the specification's sections A to M. An id that is not here was never given.
  private static let specified: Set<Int> = [
    1...7, 10...19, 20...34, 40...49, 60...68, 70...81, 85...92, 100...118, 120...128, 130...153, 155...166,
    170...189, 200...214, 220...245, 250...258, 260...268, 270...280, 300...308, 310...316, 320...326, 330...335,
    340...349,
  ].reduce(into: []) { $0.formUnion($1) }

  @Test("tells of every rule that the phone's code names")
  func everyRule() throws {
    let told = try ids(in: document())
    let folder = Self.root.appending(path: "Sources/1-rules/Phone")
    var named: Set<Int> = []
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      let text = try String(contentsOf: file, encoding: .utf8)
      named.formUnion(text.matches(of: /"D-(\d{3})"/).compactMap { Int($0.1) })
    }
    #expect(named.count > 90)
    #expect(named.subtracting(told).sorted() == [])
    // and every one says what it says, and who says so
    let worded = Set(Rule.all.compactMap { Int($0.id.dropFirst(2)) })
    #expect(named.subtracting(worded).sorted() == [])
  }

  /// By the name of a test, or by the name of a row in the table that a test takes its arguments from. A text elsewhere
  /// judges nothing.
  private func judged() throws -> Set<Int> {
    let folder = Self.root.appending(path: "Tests")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var judged: Set<Int> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for name in names(ofTestsIn: text) { judged.formUnion(ids(in: name)) }
    }
    // and the rows of the matrix, which MatrixTests plays
    let matrix = try String(contentsOf: MatrixFile.url, encoding: .utf8)
    for line in matrix.split(separator: "\n") where !line.hasPrefix("#") {
      let cells = line.split(separator: "|")
      if cells.count > 2 { judged.formUnion(ids(in: cells[1])) }
    }
    return judged
  }

  private func names(ofTestsIn text: String) -> [Substring] {
    let tests = text.matches(of: /@Test\(\s*"([^"]*)"(?:[^@{]*?arguments: (?:Self\.)?([a-z]\w*))?/)
    let rows = Set(tests.compactMap(\.2)).flatMap { table -> [Substring] in
      guard let declared = text.range(of: "  static (let|var) \(table)\\b", options: .regularExpression) else {
        return []
      }
      let rest = text[declared.upperBound...]
      // to the bracket or brace that ends the member
      let end = rest.firstMatch(of: /\n  [\]}]/)?.range.lowerBound ?? rest.endIndex
      return rest[..<end].matches(of: /"([CD]-?\d+ [^"]*)"/).map(\.1)
    }
    return tests.map(\.1) + rows
  }

  @Test("only the name of a test, or of a row that a test takes, judges a rule")
  func namesAreFound() {
    let text = """
      struct Judging {
        static let rows = [
          Row("D-991 taken"), Row("not D-999"),
        ]
        static let idle = [
          Row("D-992 by no test"),
        ]
        @Test("D-993 D-994 a name", .timeLimit(.minutes(1)), arguments: rows)
        func one(row: Row) { #expect(row.rule == "D-995 in its body") }
        // @Suite("D-996")
        @Test("D-997 … D-999 alone") func two() {}
      }
      """
    #expect(names(ofTestsIn: text) == ["D-993 D-994 a name", "D-997 … D-999 alone", "D-991 taken"])
  }

  @Test("each rule of the specification is judged by a test, or said to be no behaviour, and why")
  func everyRuleIsJudged() throws {
    let judged = try judged()
    let open = try rows(under: "Not modelled").map { (ids: $0.ids.subtracting(judged), words: $0.words) }
    let reasons = try rows(under: "No behaviour") + open
    let unjudged = Self.specified.subtracting(judged)
    let excused = reasons.reduce(into: Set<Int>()) { $0.formUnion($1.ids) }
    #expect(unjudged.subtracting(excused).sorted() == [], "neither a test nor a reason")
    #expect(excused.subtracting(unjudged).sorted() == [], "a test has the id, the reason is out of date")
    for row in reasons { #expect(row.words.count > 20, "\(row.ids.sorted()) needs a reason") }
  }

  @Test("tells of every rule of the specification, and of no other")
  func everyRuleIsTold() throws {
    let told = try ids(in: document())
    #expect(Self.specified.subtracting(told).sorted() == [])
    #expect(told.subtracting(Self.specified).sorted() == [])
  }

  /// What the specification takes from memory or a single hint.
  private static let unverified: Set<Int> = [
    23, 26, 32, 34, 42, 49, 107, 109, 111, 113, 115, 117, 120, 122, 136, 140, 141, 145, 147, 153, 157, 171, 178, 185,
    203, 207, 214, 220, 227, 230, 232, 237, 238, 240, 253, 255, 256, 262, 264, 268, 272, 273,
  ]

  @Test("what no source makes sure is a switch, or told as decided")
  func everyGuess() throws {
    var told: Set<Int> = []
    for line in try document().split(separator: "\n") {
      if line.hasPrefix("- **") { told.formUnion(ids(in: line.dropFirst(4).prefix { $0 != "*" })) }
      if line.hasPrefix("| `") { told.formUnion(ids(in: line)) }
    }
    #expect(Self.unverified.subtracting(told).sorted() == [])
  }

  @Test("names every switch of a phone")
  func everySwitch() throws {
    let text = try document()
    let switches = Mirror(reflecting: PhoneSettings()).children.compactMap(\.label)
    #expect(switches.count > 50)
    #expect(switches.filter { !text.contains("`\($0)`") } == [])
  }

  @Test("what the phone says is not modelled stands in the last table")
  func notModelled() throws {
    let told = try rows(under: "Not modelled").reduce(into: Set<Int>()) { $0.formUnion($1.ids) }
    let folder = Self.root.appending(path: "Sources/1-rules/Phone")
    var said: Set<Int> = []
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: /record\(\s*\.notModelled\([^\n]*"D-(\d{3})"\)/) {
        if let id = Int(match.1) { said.insert(id) }
      }
    }
    #expect(said.subtracting(told).sorted() == [])
  }
}
