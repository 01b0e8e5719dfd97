import Basics
import PushPayload

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let lintCommand: Command = Command(
  name: "lint",
  summary: "Tell what APNs and iOS will make of payloads, before they are sent",
  discussion: """
    FILE is a payload (.json), a file of Apple's Simulator (.apns), a folder, in which all of these are looked at, or - \
    for standard input. With headers, they are judged too.
    Every finding has a stable code, says what happens on the phone, and how to mend it. Exit status: 0 without errors, \
    1 with, 2 for wrong usage.
    """,
  arguments: [.init(name: "FILE", help: "A payload, a folder of payloads, or -", repeats: true)],
  options: [
    .init(
      name: "push-type", value: "TYPE", help: "The apns-push-type it will be sent with",
      completion: .words(PushType.allCases.map(\.rawValue))),
    .init(name: "topic", value: "TOPIC", help: "The apns-topic it will be sent to"),
    .init(name: "header", value: "NAME=VALUE", help: "Any other header of APNs", repeats: true),
    .flag("all-headers", "The headers given are all: tell what is missing"),
    .flag("broadcast", "It will be sent to a channel, not to device tokens"),
    .init(
      name: "format", value: "FORMAT", help: "text, json or sarif; default text",
      completion: .words(LintOptions.Format.allCases.map(\.rawValue))),
    .init(
      name: "format-in", value: "FORM", help: "json, or plist for what device logs print; default json",
      completion: .words(["json", "plist"])),
  ],
  run: { parsed in try runLint(LintOptions(parsed)) })

struct LintOptions {
  enum Format: String, CaseIterable { case text, json, sarif }

  var paths: [String]
  var format = Format.text
  var context = LintContext()

  init(_ parsed: ParsedCommand) throws(UsageFault) {
    paths = parsed.arguments
    if let word = parsed.value("format") {
      guard let format = Format(rawValue: word) else {
        throw UsageFault("--format takes text, json or sarif, not '\(word)'")
      }
      self.format = format
    }
    switch parsed.value("format-in") {
    case nil, "json": context.form = .json
    case "plist": context.form = .plist
    case let word?: throw UsageFault("--format-in takes json or plist, not '\(word)'")
    }
    var fields: [(name: String, value: String)] = []
    if let type = parsed.value("push-type") { fields.append(("apns-push-type", type)) }
    if let topic = parsed.value("topic") { fields.append(("apns-topic", topic)) }
    for word in parsed.all("header") {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw UsageFault("--header takes NAME=VALUE, as in apns-priority=5, not '\(word)'")
      }
      fields.append((String(parts[0]), String(parts[1])))
    }
    context.headers = PushHeaders(fields: fields)
    context.headersAreComplete = parsed.flag("all-headers")
    context.isBroadcast = parsed.flag("broadcast")
    context.now = Instant(seconds: Int64(time(nil)))
  }
}

/// Looks at every file and prints what was found; `failure` when one finding is an error.
func runLint(_ options: LintOptions) throws -> ExitStatus {
  let report = try lintReport(options)
  switch options.format {
  case .text:
    let listing = report.listing(colour: Terminal.wantsColour)
    if !listing.isEmpty { Terminal.print(listing + "\n") }
    Terminal.print(report.summary)
  case .json: Terminal.print(report.json.text)
  case .sarif: Terminal.print(report.sarif(version: belfryVersion).text)
  }
  return report.count(.error) > 0 ? .failure : .success
}

/// What lint finds in each file, in the order given, folders by name.
func lintReport(_ options: LintOptions) throws -> LintReport {
  let sources = try options.paths.flatMap(lintSources)
  var context = options.context
  context.isTemplate = sources.count > 1
  return LintReport(
    try sources.map { source in
      let text = try source.read()
      context.isSimulatorFile = source.name.hasSuffix(".apns")
      return LintReport.File(name: source.name, text: text, findings: Lint.check(text, context))
    })
}

/// Where a payload comes from.
struct LintSource {
  /// nil for standard input.
  var path: String?

  var name: String { path ?? "<stdin>" }

  func read() throws -> [UInt8] {
    let descriptor = path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? 0
    guard descriptor >= 0 else { throw UsageFault("\(name) cannot be read: \(String(cString: strerror(errno)))") }
    defer { if path != nil { close(descriptor) } }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let capacity = chunk.count
      let count = chunk.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, capacity) }
      if count == 0 { return text }
      if count < 0 {
        if errno == EINTR { continue }
        throw UsageFault("\(name) cannot be read: \(String(cString: strerror(errno)))")
      }
      text.append(contentsOf: chunk[..<count])
      if text.count > Self.longest { throw UsageFault("\(name) has more than \(Self.longest >> 20) MiB: no payload") }
    }
  }

  private static let longest = 16 << 20
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  #if canImport(Glibc)
    Glibc.read(descriptor, buffer, count)
  #else
    Darwin.read(descriptor, buffer, count)
  #endif
}

/// The file itself, or all payloads below a folder, in the order of their names; hidden ones are left out.
private func lintSources(_ path: String) throws -> [LintSource] {
  if path == "-" { return [LintSource(path: nil)] }
  var isFolder = false
  guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
    throw UsageFault("there is no file \(path)")
  }
  guard isFolder else { return [LintSource(path: path)] }
  let found = try payloads(below: path)
  if found.isEmpty { throw UsageFault("the folder \(path) holds no .json and no .apns file") }
  return found.map { LintSource(path: $0) }
}

/// A folder that cannot be read is a fault: its payloads must not pass as looked at.
private func payloads(below folder: String) throws(UsageFault) -> [String] {
  let names: [String]
  do { names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } catch {
    throw UsageFault("the folder \(folder) cannot be read; may this user read it?")
  }
  var found: [String] = []
  for name in names where !name.hasPrefix(".") {
    let path = folder.hasSuffix("/") ? folder + name : folder + "/" + name
    var facts = stat()
    guard lstat(path, &facts) == 0 else { continue }
    if facts.st_mode & S_IFMT == S_IFDIR {
      found += try payloads(below: path)
    } else if name.hasSuffix(".json") || name.hasSuffix(".apns") {
      found.append(path)
    }
  }
  return found
}
