import Audience
import Foundation
import PushService
import Store
import StoreSQLite
import Testing

@testable import belfry

@Suite("belfry devices")
struct DevicesCommandTests {
  let folder = FileManager.default.temporaryDirectory.path + "/belfry-devices-\(UUID().uuidString)"

  private func run(_ command: Command, _ words: [String]) async throws -> belfry.ExitStatus {
    try await command.run(try command.parse(words + ["--data", folder]))
  }

  private func write(_ text: String, _ name: String = "devices.csv") throws -> String {
    let path = "\(folder)/\(name)"
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  private func token(_ number: Int) -> String { String(repeating: "0", count: 56) + String(10_000_000 + number) }

  private func exported(_ name: String) async throws -> String {
    let path = "\(folder)/\(name)"
    #expect(try await run(devicesExportCommand, [path]) == .success)
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test("takes what is good, tells what is not, and changes nothing the second time; the export is the import again")
  func importing() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try await run(appCreateCommand, ["--bundle", "com.example.bell"]) == .success)
    let rows = (0..<40_000).map { "\(token($0)),user\($0),\"all n\($0 % 7)\"\r" }
    let path = try write("\u{FEFF}token,alias,tags\r\n" + (rows + ["nonsense,,"]).joined(separator: "\n"))
    #expect(try await run(devicesImportCommand, [path]) == .failure)
    let first = try await exported("first.jsonl")
    #expect(first.split(separator: "\n").count == 40_000)
    #expect(try await run(devicesImportCommand, [path]) == .failure)
    #expect(try await exported("second.jsonl") == first)
    #expect(try await run(devicesImportCommand, ["\(folder)/first.jsonl"]) == .success)
    #expect(try await exported("third.jsonl") == first)
    await #expect(throws: CommandFault("\(folder)/third.jsonl: is there already, and is not written over")) {
      try await run(devicesExportCommand, ["\(folder)/third.jsonl"])
    }
  }

  @Test("a run that was killed goes on behind what it kept")
  func resuming() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try await run(appCreateCommand, ["--bundle", "com.example.bell"]) == .success)
    let path = try write("token\n" + (0..<10).map(token).joined(separator: "\n") + "\n")
    // what a killed run left: four lines taken, of which a device was deleted since
    let opened = try await FolderService.open(try devicesImportCommand.parse([path, "--data", folder]))
    let app = try await opened.app(ParsedCommand())
    let position = Int64("token\n".utf8.count + 4 * 65)
    _ = try await opened.service.importDevices(
      app, (0..<4).map { (Int64($0 + 2), ArraySlice(Array(token($0).utf8))) }, of: .csv, columns: [.token],
      mark: .init(source: "\(Files.stamp(path) ?? "") csv", position: position, lines: 5))
    let line = try #require(try await opened.service.exportDevices(app, as: .csv, after: nil).lines.first)
    try await opened.service.deleteDevice(app, registrationID: String(line.prefix { $0 != "," }))
    await opened.store.close()
    #expect(try await run(devicesImportCommand, [path]) == .success)
    let all = try await exported("all.csv")
    #expect(all.split(separator: "\n").count == 1 + 9)
    #expect(!all.contains(token(0)) && all.contains(token(9)))
  }

  static let faults: [(text: String, words: String)] = [
    ("alias\nx\n", ":1: the first line must name the columns, with token"),
    ("", ":1: “” is no column; all are"),
  ]

  @Test("a file without a line of names is told", arguments: faults)
  func header(text: String, words: String) async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try await run(appCreateCommand, ["--bundle", "com.example.bell"]) == .success)
    let path = try write(text)
    await #expect {
      try await run(devicesImportCommand, [path])
    } throws: {
      "\($0)".contains(path + words)
    }
  }

  @Test("a line of any length is read to its end, and the next is found")
  func longLines() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Files.makeFolder(folder)
    let long = String(repeating: "x", count: 5 << 20)
    let path = try write("a\n\(long)\nb\n\nlast")
    var file = try LineFile(path)
    var lines: [(length: Int, position: Int64)] = []
    while let line = try file.next() { lines.append((line.count, file.position)) }
    let end = Int64(2 + (5 << 20) + 1)
    #expect(lines.map(\.length) == [1, DeviceFile.longestLine + 1, 1, 0, 4])
    #expect(lines.map(\.position) == [2, end, end + 2, end + 3, end + 7])
    #expect(file.size == end + 7)
  }

  @Test("without a folder, an app or a choice of app it says what to do")
  func choices() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect { try await run(devicesExportCommand, []) } throws: { "\($0)".contains("no data folder of Belfry") }
    #expect(try await run(appCreateCommand, ["--bundle", "com.example.bell"]) == .success)
    #expect(try await run(appCreateCommand, ["--bundle", "com.example.other"]) == .success)
    await #expect(throws: UsageFault("'--app' is missing: there are 2 apps; see 'belfry apps list'")) {
      try await run(devicesExportCommand, [])
    }
  }

  @Test("the bar says how far it is")
  func bar() {
    #expect(ProgressBar.line("import", 50, "5 devices") == "import [###############---------------] 50%  5 devices")
  }
}
