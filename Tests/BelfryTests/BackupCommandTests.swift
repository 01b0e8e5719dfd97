import Foundation
import Testing

@testable import belfry

@Suite("belfry backup and restore")
struct BackupCommandTests {
  @Test("a backup is another folder's beginning; neither is written over")
  func backup() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/belfry-backup-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func run(_ command: Command, _ words: [String], _ data: String) async throws {
      let status = try await command.run(try command.parse(words + ["--data", "\(folder)/\(data)"]))
      #expect(status == .success)
    }
    try await run(appCreateCommand, ["--bundle", "com.example.bell"], "one")
    try await run(backupCommand, ["\(folder)/file"], "one")
    try await run(restoreCommand, ["\(folder)/file"], "two")
    try await run(devicesExportCommand, [], "two")
    await #expect(throws: CommandFault("\(folder)/file is there already, and is not written over")) {
      try await run(backupCommand, ["\(folder)/file"], "one")
    }
    await #expect(
      throws: CommandFault("\(folder)/file: \(folder)/two has a database, which is not written over")
    ) {
      try await run(restoreCommand, ["\(folder)/file"], "two")
    }
  }
}
