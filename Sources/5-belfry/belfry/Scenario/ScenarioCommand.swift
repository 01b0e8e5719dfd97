import Basics
import Phone
import PhoneLab
import PushPayload
import Transport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

let scenarioCommand: Command = Command(
  name: "scenario",
  summary: "Play stories of phones, apps and pushes, and check what came of them",
  discussion: """
    FILE is a scenario in JSON5 (docs/scenarios.md); of a folder, every .json5 file in it and below. Everything runs in \
    this process by a virtual clock: a day takes milliseconds. With --apns the phones register at a running belfry apns \
    and time is real; with --service the apps hand their tokens to a running belfry serve.
    Exit status: 0 all passed, 1 one failed, 2 for wrong usage or a file that is no scenario.
    """,
  arguments: [.init(name: "FILE", help: "A scenario, or a folder of scenarios", repeats: true, optional: true)],
  options: [
    .init(name: "junit", value: "FILE", help: "Write JUnit's XML there", completion: .file),
    .flag("tap", "Print TAP 14 in place of text"),
    .flag("timeline", "Print all that happened on the phones"),
    .flag("update", "Rewrite expectations that failed from what happened"),
    .init(name: "apns", value: "URL", help: "The control API of a running belfry apns, as http://127.0.0.1:2198"),
    .init(name: "service", value: "URL", help: "A running belfry serve, as http://127.0.0.1:8080"),
    .init(
      name: "gateway", value: "URL",
      help: "The gateway of that service, as ws://127.0.0.1:8081: apps have messages from there, by BelfryKit"),
    .init(
      name: "app-key", value: "KEY", help: "Of the app at that service (belfry app create)", variable: "BELFRY_APP_KEY"),
    .init(
      name: "master-secret", value: "SECRET", help: "Of the same app; better in the variable than on a command line",
      variable: "BELFRY_MASTER_SECRET"),
    .flag("schema", "Print the JSON Schema for editors, and nothing else"),
  ],
  run: { parsed in try await runScenarios(parsed) })

func runScenarios(_ parsed: ParsedCommand) async throws -> ExitStatus {
  if parsed.flag("schema") {
    Terminal.print(Pretty.text(ScenarioSchema.value))
    return .success
  }
  let worlds = try ScenarioWorlds(parsed)
  let files = try scenarioFiles(parsed.arguments)
  var scenarios: [(path: String, scenario: Scenario)] = []
  var isBad = false
  for path in files {
    do throws(CommandFault) { scenarios.append((path, try readScenario(path))) } catch {
      Terminal.complain("belfry: \(error.words)")
      isBad = true
    }
  }
  guard !isBad else { return .usage }
  let tap = parsed.flag("tap")
  let clock = SystemClock()
  var report = ScenarioReport(startedAt: clock.now)
  for (path, scenario) in scenarios {
    let begin = clock.uptime
    let result = try await worlds.play(scenario)
    let one = ScenarioReport.Case(path: path, result: result, time: clock.uptime - begin)
    report.cases.append(one)
    guard !tap else { continue }
    Terminal.print(ScenarioReport.text(one))
    if parsed.flag("timeline") { Terminal.print(timeline(of: result)) }
  }
  if let path = parsed.value("junit") { try Files.write(report.junit.xml, to: path) }
  if tap { Terminal.print(report.tap) } else { Terminal.print(report.summary) }
  if parsed.flag("update") { return try update(report, tap: tap) }
  return report.failed == 0 ? .success : .failure
}

private func timeline(of result: ScenarioResult) -> String {
  let several = Set(result.timeline.map(\.phone)).count > 1
  let width = result.timeline.map(\.phone.count).max() ?? 0
  let lines = result.timeline.map { told in
    "    \(several ? padded(told.phone, width) + "  " : "")\(told.entry.line(width: 140))"
  }
  return lines.joined(separator: "\n")
}

extension ScenarioSources {
  /// Files from the working folder, and this machine's time zones.
  static let usual = ScenarioSources(
    file: { try Files.read($0) }, zone: { try? ZoneDatabase.usual.zone(named: $0) })
}

/// Faults name the file, the place in it, what was found, and what to write.
func readScenario(_ path: String) throws(CommandFault) -> Scenario {
  let value = try JSON5File.read(path, kind: "a scenario? One has some thousand bytes")
  let folder = URL(filePath: path).deletingLastPathComponent()
  let name = URL(filePath: path).deletingPathExtension().lastPathComponent
  do throws(ScenarioFault) {
    var sources = ScenarioSources.usual
    sources.file = { try Files.read(folder.appending(path: $0).path(percentEncoded: false)) }
    return try Scenario(value, name: name, sources: sources)
  } catch {
    throw CommandFault("\(path): \(error)")
  }
}

/// The files themselves, and every `.json5` below a folder, by name; hidden ones are left out.
func scenarioFiles(_ paths: [String]) throws(UsageFault) -> [String] {
  guard !paths.isEmpty else { throw UsageFault("FILE is missing: a scenario, or a folder of scenarios") }
  var files: [String] = []
  for path in paths {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw UsageFault("there is no file \(path)")
    }
    guard isFolder else {
      files.append(path)
      continue
    }
    guard let names = try? FileManager.default.subpathsOfDirectory(atPath: path) else {
      throw UsageFault("the folder \(path) cannot be read; may this user read it?")
    }
    let found = names.filter { name in
      name.hasSuffix(".json5") && !name.split(separator: "/").contains { $0.hasPrefix(".") }
    }
    if found.isEmpty { throw UsageFault("the folder \(path) holds no .json5 file") }
    files += found.sorted().map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
  }
  return files
}

/// Writes what happened into the files of scenarios that failed, and says what could not be written and what is lost.
private func update(_ report: ScenarioReport, tap: Bool) throws -> ExitStatus {
  var status = ExitStatus.success
  func tell(_ words: String) { tap ? Terminal.complain(words) : { _ = Terminal.print(words) }() }
  for one in report.cases where !one.result.passed {
    let outcome = try ScenarioUpdate(one.result).apply(to: one.path)
    tell("\(one.path): \(outcome.words)")
    if !outcome.isComplete { status = .failure }
  }
  return status
}
