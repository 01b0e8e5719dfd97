import Audience
import Basics
import BelfryTesting
import CSQLite
import Foundation
import Store
import StoreSQLite
import Testing

@Suite("Backups of the embedded store")
struct BackupTests {
  let folder = TemporaryFolder()
  let other = TemporaryFolder()

  private var file: String { other.path + ".backup" }

  private func words(_ body: () async throws(StoreFault) -> Void) async -> String {
    do throws(StoreFault) {
      try await body()
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test("a backup of a running store, written to meanwhile, is restored to what was there at its beginning")
  func running() async throws {
    defer { try? FileManager.default.removeItem(atPath: file) }
    let store = try await StoreSQLite.open(folder: folder.path)
    let app = try await store.sampleApp(devices: 50)
    try await store.acceptSample(StoreSamples.push(7, of: app))
    async let writing: Void = {
      for number in 50..<150 { _ = try await store.register(StoreSamples.device(number, of: app)) }
    }()
    try await StoreSQLite.backUp(folder: folder.path, to: file)
    try await writing
    await store.close()
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)

    try await StoreSQLite.restore(file, toFolder: other.path)
    let restored = try await StoreSQLite.open(folder: other.path)
    let count = try await restored.reach(app: app, .everyone, .production).count
    #expect(50...150 ~= count)
    #expect(try await restored.progress(app: app, push: 7)?.targeted == 50)
    #expect(try await restored.unfinished(after: nil, limit: 9).count == 1)
    for number in 0..<count {
      #expect(try await restored.device(app: app, registrationID: "r\(app)x\(number)") != nil)
    }
    await restored.close()
  }

  @Test("nothing is written over, neither a file nor a database, and nothing half is left")
  func notOver() async throws {
    defer { try? FileManager.default.removeItem(atPath: file) }
    let store = try await StoreSQLite.open(folder: folder.path)
    #expect(await words { () throws(StoreFault) in try await StoreSQLite.backUp(folder: folder.path, to: file) } == "")
    let before = FileManager.default.contents(atPath: file)
    #expect(
      await words { () throws(StoreFault) in try await StoreSQLite.backUp(folder: folder.path, to: file) }
        == "\(file) is there already, and is not written over")
    #expect(FileManager.default.contents(atPath: file) == before)
    await store.close()
    #expect(
      await words { () throws(StoreFault) in try await StoreSQLite.restore(file, toFolder: folder.path) }
        == "\(folder.path) has a database, which is not written over")
    #expect(
      await words { () throws(StoreFault) in try await StoreSQLite.backUp(folder: other.path, to: file + "2") }
        == "\(other.path) has no database of Belfry")
    let names = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
    #expect(!names.contains { $0.hasSuffix(".partial") })
  }

  @Test("what is no backup, is damaged, or is of a newer Belfry is not restored")
  func refused() async throws {
    defer { try? FileManager.default.removeItem(atPath: file) }
    let store = try await StoreSQLite.open(folder: folder.path)
    _ = try await store.sampleApp(devices: 2000)
    await store.close()
    func restored() async -> String {
      await words { () throws(StoreFault) in try await StoreSQLite.restore(file, toFolder: other.path) }
    }
    #expect(await restored() == "\(file) cannot be read")
    try Data("hello, this is no database, whatever its name".utf8).write(to: URL(filePath: file))
    #expect(await restored() == "damaged: file is not a database")

    try FileManager.default.removeItem(atPath: file)
    try await StoreSQLite.backUp(folder: folder.path, to: file)
    var bytes = try Data(contentsOf: URL(filePath: file))
    let whole = bytes
    for index in stride(from: 3 * 4096, to: bytes.count - 4096, by: 4096) {
      bytes.replaceSubrange(index..<index + 64, with: Data(repeating: 0xFF, count: 64))
    }
    try bytes.write(to: URL(filePath: file))
    #expect(await restored().hasPrefix("damaged: "))

    try whole.write(to: URL(filePath: file))
    var database: OpaquePointer?
    try #require(sqlite3_open(file, &database) == SQLITE_OK)
    sqlite3_exec(database, "INSERT INTO migration VALUES (99)", nil, nil, nil)
    sqlite3_close(database)
    #expect(await restored().hasPrefix("made by a newer Belfry (schema 99"))
    #expect(!StoreSQLite.exists(inFolder: other.path))
  }
}
