import PushService
import Testing

@testable import belfry

@Suite("Where the sealing key comes from")
struct SealingKeyFileTests {
  private let hex = String(repeating: "0a", count: 32)

  private func words(_ body: () throws(CommandFault) -> SealingKey) -> String {
    do throws(CommandFault) { return "no fault but \(try body())" } catch { return error.words }
  }

  @Test("the variable, else the file that another names, else one in the data folder, made once for this user alone")
  func sources() throws {
    let folder = try Files.temporaryFolder("belfry-sealing")
    defer { Files.remove(folder) }
    let given = SealingKey.Source([SealingKey.Source.variable: hex, SealingKey.Source.fileVariable: "/nowhere"])
    #expect(try SealingKey.read(given, dataFolder: folder).hex == hex)
    try Files.writePrivate(" \(hex.uppercased())\n", to: folder + "/named")
    let named = SealingKey.Source([SealingKey.Source.variable: "", SealingKey.Source.fileVariable: folder + "/named"])
    #expect(try SealingKey.read(named, dataFolder: folder).hex == hex)
    #expect(Files.stamp(folder + "/sealing.key") == nil)

    let made = try SealingKey.read(SealingKey.Source([:]), dataFolder: folder).hex
    #expect(made != hex && Files.permissions(folder + "/sealing.key") == 0o600)
    #expect(try SealingKey.read(SealingKey.Source([:]), dataFolder: folder).hex == made)
    try Files.addPrivate(hex, at: folder + "/sealing.key")
    #expect(try SealingKey.read(SealingKey.Source([:]), dataFolder: folder).hex == made, "one that is there stays")
  }

  @Test("many that start at once on one folder have one key")
  func together() async throws {
    let folder = try Files.temporaryFolder("belfry-sealing")
    defer { Files.remove(folder) }
    let keys = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<16 {
        group.addTask { try SealingKey.read(SealingKey.Source([:]), dataFolder: folder).hex }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(keys.count == 1)
  }

  @Test("what is no key, and a named file that is not there, are told with their place")
  func wrong() throws {
    let folder = try Files.temporaryFolder("belfry-sealing")
    defer { Files.remove(folder) }
    let short = SealingKey.Source([SealingKey.Source.variable: "0a0b"])
    #expect(
      words { () throws(CommandFault) in try SealingKey.read(short, dataFolder: folder) }
        == "BELFRY_SEALING_KEY: no sealing key; give 64 hex digits, as 'openssl rand -hex 32' prints them")
    let missing = SealingKey.Source([SealingKey.Source.fileVariable: folder + "/mistyped"])
    let found = words { () throws(CommandFault) in try SealingKey.read(missing, dataFolder: folder) }
    #expect(found.hasPrefix("\(folder)/mistyped: "))
    try Files.writePrivate("", to: folder + "/sealing.key")
    let empty = words { () throws(CommandFault) in try SealingKey.read(.dataFolder, dataFolder: folder) }
    #expect(empty.hasPrefix("\(folder)/sealing.key: no sealing key"))
  }

  @Test("belfry config tells the place, never the key")
  func row() {
    for (environment, value) in [
      ([SealingKey.Source.variable: hex], "given"), ([SealingKey.Source.fileVariable: "/k"], "/k"),
      ([:], "sealing.key in the data folder"),
    ] {
      #expect(SealingKey.Source(environment).row.value == value)
    }
  }
}
