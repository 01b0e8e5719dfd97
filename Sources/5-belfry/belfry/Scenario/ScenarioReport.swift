import Basics
import PhoneLab
import PushPayload

/// What became of many scenarios, for people and for CI.
struct ScenarioReport {
  var cases: [Case] = []
  var startedAt: Instant

  struct Case {
    var path: String
    var result: ScenarioResult
    var time: Instant.Span
  }

  var failed: Int { cases.count { !$0.result.passed } }
  private var skipped: Int { cases.count { $0.result.skipped != nil } }

  var summary: String {
    let count = cases.count == 1 ? "1 scenario" : "\(cases.count) scenarios"
    let left = skipped == 0 ? "" : ", \(skipped) skipped"
    return "\(count): \(cases.count - failed - skipped) passed, \(failed) failed\(left)"
  }

  static func text(_ one: Case) -> String {
    let result = one.result
    let checks = result.checks == 1 ? "1 check" : "\(result.checks) checks"
    if let why = result.skipped { return "skipped \(result.name)  (\(one.path)): \(why)" }
    guard !result.passed else { return "ok      \(result.name)  (\(one.path), \(checks), \(one.time.milliseconds) ms)" }
    return "FAILED  \(result.name)  (\(one.path))\n\(result.text())\n"
  }

  /// TAP 14 (testanything.org): a line a scenario, what failed in YAML below it. The texts say how far they are indented
  /// (`|2`), since their first lines may begin with spaces of their own.
  var tap: String {
    var lines = ["TAP version 14", "1..\(cases.count)"]
    for (index, one) in cases.enumerated() {
      let name = one.result.name.replacing("\\", with: "\\\\").replacing("#", with: "\\#").replacing("\n", with: " ")
      let skip = one.result.skipped.map { " # SKIP \($0.replacing("\n", with: " "))" } ?? ""
      lines.append("\(one.result.passed ? "ok" : "not ok") \(index + 1) - \(name)\(skip)")
      guard !one.result.passed else { continue }
      lines += ["  ---", "  file: \(quoted(one.path))", "  failures:"]
      for failure in one.result.failures {
        lines += [
          "    - message: \(quoted(failure.heading))", "      at: \(quoted("\(failure.path)"))", "      text: |2",
        ]
        lines += failure.text.split(separator: "\n", omittingEmptySubsequences: false).map { "        \($0)" }
      }
      lines.append("  ...")
    }
    return lines.joined(separator: "\n")
  }

  var junit: JUnitReport {
    let time = cases.reduce(Int64(0)) { $0 + $1.time.milliseconds }
    return JUnitReport([
      .init(
        name: "belfry scenario", startedAt: startedAt, time: .milliseconds(time),
        cases: cases.map { one in
          .init(
            name: "\(one.result.name) (\(one.path))", time: one.time,
            failure: one.result.failures.first.map { ($0.heading, one.result.text()) }, skipped: one.result.skipped)
        })
    ])
  }
}
