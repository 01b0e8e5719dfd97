import Foundation
import PushPayload
import Testing

@Suite("Lint's reports")
struct LintReportTests {
  static func report(_ text: String, headers: PushHeaders = PushHeaders(), name: String = "push.json") -> LintReport {
    var context = LintContext()
    context.headers = headers
    let bytes = Array(text.utf8)
    return LintReport([.init(name: name, text: bytes, findings: Lint.check(bytes, context))])
  }

  @Test("a finding at each key of one long line is listed in time linear in the line", .timeLimit(.minutes(1)))
  func longLine() {
    let keys = (0..<10_000).map { #""unknown\#($0)":1"# }.joined(separator: ",")
    let report = Self.report(#"{"aps":{"alert":{"# + keys + "}}}")
    let listing = report.listing(colour: false)
    #expect(listing.contains(##"…9996":1,"unknown9997":1,"unknown9998":1,"unknown9999":1}}}"##))
    #expect(listing.utf8.count { $0 == UInt8(ascii: "^") } >= 10_000)
    #expect(report.sarif(version: "1").encoded().count > listing.utf8.count)
  }

  @Test("the text points at the place as a compiler does, in columns of a terminal")
  func listing() {
    let report = Self.report(
      "{\n\t\"aps\": {\"alert\": \"推送😀\", \"badge\": \"12\"}\n}", headers: PushHeaders(expiration: "120"))
    let expected = #"""
      push.json:2:35: error: aps.badge is the string "12", not a whole number from 0 up [badge-invalid]
       2 | 	"aps": {"alert": "推送😀", "badge": "12"}
         | 	                                    ^~~~
         effect: The badge stays as it was.
         fix: Write "badge": 12, without quotes.

      push.json: warning: apns-expiration 120 looks like an interval [expiration-interval]
         effect: Read as a date it lies in the 1970s: the push gets one attempt at most.
         fix: Send the time now plus 120, in seconds since 1970.
      """#
    #expect(report.listing(colour: false) == expected)
    #expect(report.summary == "1 file: 1 error, 1 warning, no hints")
    #expect(report.listing(colour: true).contains("\u{1B}[1;31merror:\u{1B}[0m"))
    #expect(!report.listing(colour: false).contains("\u{1B}"))
  }

  @Test("a long line is cut around the place; an empty file has no line to show")
  func excerpts() {
    let long = String(repeating: "x", count: 400)
    let lines = Self.report(#"{"k":"\#(long)","aps":{"badge":"1"},"l":"\#(long)"}"#).listing(colour: false).split(
      separator: "\n")
    #expect(lines[1].hasPrefix(" 1 | …") && lines[1].hasSuffix("…") && lines[1].count < 115)
    #expect(lines[1].dropFirst(5).utf8.count > 0 && lines[2].hasSuffix("^~~"))
    let mark = lines[2].prefix { $0 != "^" }.count
    #expect(Array(lines[1])[mark] == "\"" && Array(lines[1])[mark + 1] == "1")
    #expect(Self.report("").listing(colour: false).split(separator: "\n").count == 3)
  }

  @Test("nothing in a payload moves the cursor or turns the direction of a terminal")
  func controls() {
    let text = "{\"aps\":{\"\u{1B}[2J\u{202E}bad\u{9B}\":1,\"alert\":\"a\"}}"
    let listing = Self.report(text).listing(colour: false)
    #expect(listing.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
    #expect(!listing.unicodeScalars.contains("\u{202E}"))
  }

  @Test("the JSON holds every finding, and is JSON")
  func json() throws {
    let json = Self.report(#"{"aps":{"badge":true}}"#, headers: PushHeaders(priority: "3")).json
    #expect(try JSONReader.read(json.encoded()).value == json)
    #expect(json.object?["errors"] == 2 && json.object?["warnings"] == 0 && json.object?["hints"] == 0)
    let findings = try #require(json[JSONPath("files").appending(0).appending("findings")]?.array)
    #expect(
      findings.first == [
        "code": "badge-invalid", "severity": "error", "path": "aps.badge", "line": 1, "column": 17, "offset": 16,
        "length": 4,
        "message": "aps.badge is the boolean true, not a whole number from 0 up",
        "effect": "The badge stays as it was.",
        "fix": "Write a whole number from 0 up, as in \"badge\": 1.",
      ])
    #expect(findings.last?.object?["header"] == "apns-priority" && findings.last?.object?["line"] == nil)
  }

  @Test("SARIF 2.1.0: one run, rules that results point to, regions with ends, names as URIs")
  func sarif() throws {
    let report = Self.report(
      "{\"aps\":{\"badge\":\"😀\",\n\"foo\":1}}", headers: PushHeaders(priority: "3"), name: "a b/ü.json")
    let sarif = report.sarif(version: "1.2.3")
    #expect(sarif.object?["version"] == "2.1.0")
    let run = try #require(sarif[JSONPath("runs").appending(0)])
    let rules = try #require(run[JSONPath("tool", "driver", "rules")]?.array)
    let results = try #require(run[JSONPath("results")]?.array)
    #expect(results.count == 3 && rules.count == 3)
    for result in results {
      let index = try #require(result[JSONPath("ruleIndex")]?.number?.int64)
      #expect(rules[Int(index)][JSONPath("id")] == result[JSONPath("ruleId")])
      #expect(result[JSONPath("message", "text")]?.string?.isEmpty == false)
    }
    #expect(results.map { $0[JSONPath("level")] } == ["error", "warning", "error"])
    let place = try #require(results[0][JSONPath("locations").appending(0).appending("physicalLocation")])
    #expect(place[JSONPath("artifactLocation", "uri")] == "a%20b/%C3%BC.json")
    #expect(
      place[JSONPath("region")] == [
        "startLine": 1, "startColumn": 17, "endLine": 1, "endColumn": 20, "byteOffset": 16, "byteLength": 6,
      ])
    #expect(results[2][JSONPath("locations").appending(0).appending("physicalLocation").appending("region")] == nil)
  }
}

@Suite("docs/lint.md")
struct LintPageTests {
  @Test("has a row for every code, in its words, and none besides")
  func rows() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/lint.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") && !$0.hasPrefix("| `--") }.map(String.init)
    #expect(rows == LintCode.allCases.map { "| `\($0.rawValue)` | \($0.summary) |" })
  }
}
