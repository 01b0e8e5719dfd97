import Basics
import Foundation
import PhoneLab
import PushPayload
import Testing

@testable import belfry

@Suite("belfry scenario")
struct ScenarioCommandTests {
  static let examples: [String] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return (try? scenarioFiles([root.appending(path: "docs/examples").path])) ?? []
  }()

  @Test("every scenario of docs/examples passes", arguments: examples)
  func example(path: String) async throws {
    let scenario = try readScenario(path)
    let result = try await ScenarioWorlds(ParsedCommand()).play(scenario)
    #expect(result.passed, "\(result.text())")
    #expect(result.checks > 0)
  }

  @Test("there are examples") func some() { #expect(Self.examples.count >= 40) }

  /// A folder with these files, and what the command answers.
  private func run(_ files: [String: String], _ words: [String] = []) async throws -> (belfry.ExitStatus, String) {
    let folder = try Files.temporaryFolder("scenarios")
    for (name, text) in files { try Files.write(text, to: "\(folder)/\(name)") }
    let parser = CommandLineParser(commands: [scenarioCommand], environment: [:])
    guard
      case .run(let command, let parsed) = try parser.parse(
        ["scenario", folder] + words.map { $0.replacing("DIR", with: folder) })
    else { throw UsageFault("help") }
    return (try await command.run(parsed), folder)
  }

  private static let good = "{ app: {}, steps: [ { push: { aps: { alert: 'a' } }, expect: { shown: ['BC'] } } ] }"
  private static let bad = """
    // kept
    {
      app: {},
      steps: [
        // kept too
        { push: { aps: { alert: 'a', badge: 2 } }, expect: { shown: ['B' /* lost */], badge: 1, callbacks: [] } }, // and this
      ],
    }

    """

  @Test("0 when all pass, 1 when one fails, 2 when a file is no scenario")
  func status() async throws {
    #expect(try await run(["a.json5": Self.good]).0 == .success)
    #expect(try await run(["a.json5": Self.good, "b.json5": Self.bad]).0 == .failure)
    #expect(try await run(["a.json5": Self.good, "b.json5": "{ steps: [ 'tapp' ] }"]).0 == .usage)
    #expect(try await run(["b.json5": "{ steps: "]).0 == .usage)
    await #expect(throws: UsageFault.self) { try await run(["a.json": Self.good]) }
  }

  @Test("what cannot be played against running servers is left out, and every report says why")
  func skipped() {
    var report = ScenarioReport(startedAt: .init(seconds: 0))
    let result = ScenarioResult(name: "a day", skipped: "a day passes")
    report.cases.append(.init(path: "x.json5", result: result, time: .milliseconds(0)))
    #expect(ScenarioReport.text(report.cases[0]) == "skipped a day  (x.json5): a day passes")
    #expect(report.tap == "TAP version 14\n1..1\nok 1 - a day # SKIP a day passes")
    #expect(
      report.junit.xml.contains("<skipped message=\"a day passes\"/>") && report.junit.xml.contains("skipped=\"1\""))
    #expect(report.summary == "1 scenario: 0 passed, 0 failed, 1 skipped")
  }

  @Test("JUnit and TAP tell the same")
  func reports() async throws {
    let (_, folder) = try await run(
      ["a.json5": Self.good, "b.json5": Self.bad], ["--tap", "--junit", "DIR/junit.xml"])
    let xml = String(decoding: try Files.read("\(folder)/junit.xml"), as: UTF8.self)
    #expect(xml.contains(#"<testsuites tests="2" failures="1" errors="0""#) && xml.contains("shown B "))
    var report = ScenarioReport(startedAt: .init(seconds: 0))
    var result = ScenarioResult(name: "a #1 \\ b")
    report.cases.append(.init(path: "x.json5", result: result, time: .milliseconds(3)))
    result.failures = [
      .init(path: JSONPath("steps"), place: "step 1", phone: nil, summary: "no", text: "one\ntwo", update: nil)
    ]
    report.cases.append(.init(path: "y.json5", result: result, time: .milliseconds(3)))
    #expect(
      report.tap == """
        TAP version 14
        1..2
        ok 1 - a \\#1 \\\\ b
        not ok 2 - a \\#1 \\\\ b
          ---
          file: "y.json5"
          failures:
            - message: "step 1: no"
              at: "steps"
              text: |2
                one
                two
          ...
        """)
  }

  @Test("--update rewrites what failed, keeps comments elsewhere, and says which are lost")
  func update() async throws {
    let (status, folder) = try await run(["b.json5": Self.bad], ["--update"])
    #expect(status == .success)
    let text = String(decoding: try Files.read("\(folder)/b.json5"), as: UTF8.self)
    #expect(
      text
        == Self.bad.replacing("'B'", with: #""BCN""#).replacing("badge: 1,", with: "badge: 2,"))
    #expect(try await run(["b.json5": text]).0 == .success)
  }

  private static let rewritten: [(String, String, String)] = [
    (
      "exact, longer: the whole list",
      "exact: ['arrived', 'badge 1' /* lost */]", #"exact: ["arrived", "badge 0 → 2", "shown BCN"]"#
    ),
    (
      "exact, as long: what differs", "exact: ['arrived', 'badge 1', /* kept */ 'shown']",
      #"exact: ['arrived', "badge 0 → 2", /* kept */ 'shown']"#
    ),
    (
      "contains: what holds stays as it is", "contains: [{ rule: 'D-105', what: 'shown' }, 'badge 7']",
      #"contains: [{ rule: 'D-105', what: 'shown' }, "badge 0 → 2"]"#
    ),
    ("inOrder", "inOrder: ['arrived', 'shown B' /* kept */, ]", #"inOrder: ['arrived', "shown BCN" /* kept */, ]"#),
    ("never: what happened goes", "never: ['badge', { rule: 'D-110' }]", #"never: [{"rule":"D-110"}]"#),
    ("shown in full", "shown: [{ body: 'a', parts: 'B' }]", #"shown: ["BCN"]"#),
    (
      "screen: as much as it said", "screen: { icons: [{ /* kept */ badge: 1 }], locked: false }",
      "screen: { icons: [{ /* kept */ badge: 2 }], locked: false }"
    ),
    ("ids by their names", "centre: []", #"centre: ["hello"]"#),
  ]

  @Test("--update of each kind of expectation; the file then passes", arguments: rewritten)
  func updates(kind: String, former: String, expected: String) async throws {
    func file(_ expectation: String) -> String {
      """
      { // a file
        app: {}, steps: [
          { push: { aps: { alert: 'a', badge: 2 } }, name: 'hello', expect: { \(expectation) /* beside */ } },
        ],
      }
      """
    }
    let (status, folder) = try await run(["b.json5": file(former)], ["--update"])
    #expect(status == .success)
    let text = String(decoding: try Files.read("\(folder)/b.json5"), as: UTF8.self)
    #expect(text == file(expected))
    #expect(try await run(["b.json5": text]).0 == .success, "\(text)")
  }

  @Test(
    "places in JSON5 are found through comments, quotes and commas",
    arguments: [
      ("{a: 1}", "a", "1"), ("{ 'a' : [1, /* ] */ {b: '}'},], }", "a[1].b", "'}'"),
      ("[\n // x\n 'it\\'s', \"b\" ]", "[1]", "\"b\""),
      ("{a: 1, a: 2}", "a", "2"), ("{a: +.5e3, b: -0x1F}", "b", "-0x1F"), ("{a: 1}", "b", nil), ("{a: {", "a.b", nil),
      ("{\"a b\": {c: null}}", "a b.c", "null"),
    ] as [(String, String, String?)])
  func places(text: String, path: String, value: String?) {
    let steps: [JSONPath.Step] = path.split(whereSeparator: { ".[]".contains($0) }).map { word in
      Int(word).map { .index($0) } ?? .key(String(word))
    }
    let json = JSON5Text(Array(text.utf8))
    #expect(json.range(of: JSONPath(steps)).map { String(decoding: json.bytes[$0], as: UTF8.self) } == value)
  }
}
