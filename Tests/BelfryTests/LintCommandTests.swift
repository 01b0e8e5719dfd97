import PushPayload
import Testing

@testable import belfry

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder with the files given; gone when nobody holds it.
private final class Folder {
  let path = FileManager.default.temporaryDirectory.path + "/lint-\(UInt64.random(in: 0 ... .max))"

  init(_ files: [String: String]) throws {
    for (name, text) in files {
      let file = URL(filePath: "\(path)/\(name)")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite("belfry lint")
struct LintCommandTests {
  private func options(_ words: [String]) throws -> LintOptions {
    let parser = CommandLineParser(commands: [lintCommand], environment: [:])
    guard case .run(_, let parsed) = try parser.parse(["lint"] + words) else { throw UsageFault("help") }
    return try LintOptions(parsed)
  }

  @Test("looks through a folder and all below it, in the order of names, at .json and .apns only")
  func folder() throws {
    let files = [
      "b.json": #"{"aps":{"badge":"1"}}"#, "a/x.apns": #"{"Simulator Target Bundle":"a.b","aps":{"alert":"a"}}"#,
      "a/notes.txt": "no payload", ".hidden/y.json": "[", "c.json": #"{"aps":{"alert":"a"}}"#,
    ]
    let home = try Folder(files)
    let folder = home.path
    let report = try lintReport(options([folder]))
    #expect(report.files.map(\.name) == ["\(folder)/a/x.apns", "\(folder)/b.json", "\(folder)/c.json"])
    #expect(report.files.map { $0.findings.map(\.code) } == [[], [.badgeInvalid], []])
    #expect(report.summary == "3 files: 1 error, no warnings, no hints")
    withExtendedLifetime(home) {}
  }

  @Test("exit status 0 without errors, 1 with")
  func status() throws {
    let home = try Folder(["ok.json": #"{"aps":{"alert":""}}"#, "bad.json": "{"])
    let folder = home.path
    let warned = try runLint(options(["\(folder)/ok.json"]))
    #expect(warned == .success, "a warning is no error")
    let failed = try runLint(options(["\(folder)/bad.json", "--format", "json"]))
    #expect(failed == .failure)
    let both = try runLint(options([folder, "--format=sarif"]))
    #expect(both == .failure)
    withExtendedLifetime(home) {}
  }

  @Test("a folder that cannot be read is told, not taken for one without payloads")
  func closedFolder() throws {
    let home = try Folder(["a.json": "{}", "closed/b.json": "{"])
    let closed = "\(home.path)/closed"
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: closed)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: closed) }
    // root may read everything
    guard (try? FileManager.default.contentsOfDirectory(atPath: closed)) == nil else { return }
    let options = try options([home.path])
    #expect(throws: UsageFault("the folder \(closed) cannot be read; may this user read it?")) {
      try lintReport(options)
    }
  }

  @Test("exit status 2 for what cannot be looked at")
  func usage() throws {
    let home = try Folder(["a.txt": ""])
    let folder = home.path
    let missing = try options(["\(folder)/nope"])
    #expect(throws: UsageFault("there is no file \(folder)/nope")) { try lintReport(missing) }
    let empty = try options([folder])
    #expect(throws: UsageFault("the folder \(folder) holds no .json and no .apns file")) { try lintReport(empty) }
    withExtendedLifetime(home) {}
    #expect(throws: UsageFault("--format takes text, json or sarif, not 'xml'")) {
      try options(["-", "--format", "xml"])
    }
    #expect(throws: UsageFault("--format-in takes json or plist, not 'yaml'")) {
      try options(["-", "--format-in", "yaml"])
    }
    #expect(throws: UsageFault("--header takes NAME=VALUE, as in apns-priority=5, not 'apns-priority'")) {
      try options(["-", "--header", "apns-priority"])
    }
  }

  @Test("headers of options are judged with the payload; what is absent only when they are all")
  func headers() throws {
    let home = try Folder(["a.json": #"{"aps":{"content-available":1}}"#])
    let folder = home.path
    func codes(_ words: [String]) throws -> [LintCode] {
      try lintReport(options(["\(folder)/a.json"] + words)).files.flatMap(\.findings).map(\.code)
    }
    #expect(try codes([]) == [])
    #expect(try codes(["--push-type", "background"]) == [])
    #expect(try codes(["--push-type", "background", "--header", "apns-priority=10"]) == [.priorityUnfit])
    #expect(try codes(["--push-type", "alert"]) == [.pushTypeMismatch])
    #expect(try codes(["--push-type", "bakground"]) == [.pushTypeUnknown])
    #expect(try codes(["--push-type", "background", "--all-headers"]) == [.topicMissing, .priorityUnfit])
    #expect(try codes(["--header", "apns-expiration=120"]) == [.expirationInterval])
    #expect(try codes(["--header", "apns-topic=a", "--topic", "b"]) == [.duplicateHeader])
    withExtendedLifetime(home) {}
  }

  @Test("C15 one collapse id for several files is told")
  func collapseID() throws {
    let home = try Folder(["a.json": #"{"aps":{"badge":1}}"#, "b.json": #"{"aps":{"badge":2}}"#])
    let folder = home.path
    let report = try lintReport(options([folder, "--header", "apns-collapse-id=news"]))
    #expect(report.files.map { $0.findings.map(\.code) } == [[.collapseIDShared], [.collapseIDShared]])
    withExtendedLifetime(home) {}
  }

  @Test("device logs are understood with --format-in plist")
  func plist() throws {
    let home = try Folder(["log.txt": "{ aps = { alert = \"\"; \"content-available\" = 1; }; }"])
    let folder = home.path
    let report = try lintReport(options(["\(folder)/log.txt", "--format-in", "plist"]))
    #expect(report.files.flatMap(\.findings).map(\.code) == [.silentWithEmptyAlert])
    withExtendedLifetime(home) {}
  }
}
