import Audience
import Basics
import BelfryTesting
import Foundation
import Store
import StoreSQLite
import Testing

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/belfry-test-\(UUID().uuidString)"
  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// What a killed process would leave.
  func snapshot() throws -> TemporaryFolder {
    let copy = TemporaryFolder()
    try FileManager.default.copyItem(atPath: path, toPath: copy.path)
    return copy
  }
}

@Suite("The embedded store")
struct StoreSQLiteTests {
  let folder = TemporaryFolder()

  @Test("keeps the promises of the contract", arguments: StoreConformance.cases)
  func promises(promise: ConformanceCase<any Store>) async throws {
    let store = try await StoreSQLite.open(folder: folder.path)
    try await promise.check(store)
    await store.close()
  }
}

@Suite("The embedded store and its folder")
struct DataFolderTests {
  let folder = TemporaryFolder()

  func unusable(_ path: String) async -> String? {
    do throws(StoreFault) {
      _ = try await StoreSQLite.open(folder: path)
      return nil
    } catch {
      guard case .unusable(let words) = error else { return "\(error)" }
      return words
    }
  }

  @Test(
    "what was answered is there after a kill and after a clean end", arguments: [true, false])
  func reopening(isKilled: Bool) async throws {
    let store = try await StoreSQLite.open(folder: folder.path)
    let app = try await store.sampleApp(devices: 5)
    try await store.acceptSample(StoreSamples.push(7, of: app, badge: .add(1)))
    guard
      case .begun(let before) = try await store.begin(
        push: 7, shard: 0, holder: 1, claiming: 3, at: StoreSamples.noon)
    else {
      Issue.record("not begun")
      return
    }
    _ = try await store.advance(
      before.hold, outcomes: [DeviceOutcome(ordinal: 1, kind: .accepted)], claiming: [], at: StoreSamples.noon)
    let left = isKilled ? try folder.snapshot() : folder
    if !isKilled { await store.close() }
    let again = try await StoreSQLite.open(folder: left.path)
    #expect(try await again.unfinished(after: nil, limit: 9).map(\.devices) == [4])
    guard
      case .begun(let after) = try await again.begin(
        push: 7, shard: 0, holder: 1, claiming: 5, at: StoreSamples.noon)
    else {
      Issue.record("not begun")
      return
    }
    #expect(after.push == StoreSamples.push(7, of: app, badge: .add(1)))
    #expect(after.pending == [0, 2, 3, 4])
    #expect(after.claimed.map(\.badge) == [1, 1, 1, 1], "claimed before or not, counted once")
    #expect(before.claimed.map(\.badge) == [1, 1, 1])
    await again.close()
  }

  @Test("two cannot have one folder; the second is told which process has it")
  func locked() async throws {
    let store = try await StoreSQLite.open(folder: folder.path)
    let words = await unusable(folder.path)
    #expect(
      words
        == "the data folder \(folder.path) is in use by another Belfry (process \(ProcessInfo.processInfo.processIdentifier))"
    )
    await store.close()
  }

  @Test("a folder that cannot be made or written is told by name and reason")
  func unwritable() async throws {
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let file = folder.path + "/file"
    #expect(FileManager.default.createFile(atPath: file, contents: Data()))
    #expect(await unusable(file + "/data") == "cannot make the data folder \(file)/data: Not a directory")
    #expect(await unusable(file) == "cannot write in the data folder \(file): Not a directory")
    #expect(await unusable("/proc/belfry")?.hasPrefix("cannot make the data folder /proc/belfry: ") == true)
  }

  @Test("with its folder taken away nothing is taken, since it would be lost; put back, all goes on")
  func takenAway() async throws {
    let away = TemporaryFolder()
    let store = try await StoreSQLite.open(folder: folder.path)
    _ = try await store.createApp(StoreSamples.app("one"))
    try FileManager.default.moveItem(atPath: folder.path, toPath: away.path)
    await #expect(throws: StoreFault.self) { try await store.createApp(StoreSamples.app("two")) }
    await #expect(throws: StoreFault.self) { try await store.check() }
    try FileManager.default.moveItem(atPath: away.path, toPath: folder.path)
    _ = try await store.createApp(StoreSamples.app("two"))
    try await store.check()
    #expect(try await store.apps().count == 2)
    await store.close()
  }

  @Test("folders above are made, for their owner alone")
  func nested() async throws {
    let path = folder.path + "/a/b"
    let store = try await StoreSQLite.open(folder: path)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    for file in try FileManager.default.contentsOfDirectory(atPath: path) {
      let mode = try FileManager.default.attributesOfItem(atPath: path + "/" + file)[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(file)")
    }
    await store.close()
  }

  @Test("a file that is no database is told, not overwritten")
  func noDatabase() async throws {
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let text = Data(String(repeating: "this is no database. ", count: 100).utf8)
    #expect(FileManager.default.createFile(atPath: folder.path + "/belfry.db", contents: text))
    let words = await unusable(folder.path)
    #expect(words == "damaged: file is not a database")
    #expect(FileManager.default.contents(atPath: folder.path + "/belfry.db") == text)
  }

  @Test("however little room there is, an operation is whole or not there, and the next one with room works")
  func fullDisk() async throws {
    let store = try await StoreSQLite.open(folder: folder.path)
    let app = try await store.sampleApp(devices: 1)
    var refused = 0
    for pages in 0..<400 as Range<Int64> {
      try await store.limitSize(bytes: 4096 * (20 + pages))
      var push = StoreSamples.push(pages + 1, of: app, clientID: "c\(pages)")
      push.request = Array(repeating: 0x20, count: 9000)
      do throws(StoreFault) {
        _ = try await store.accept(
          push, audience: [.init(shard: 0, devices: [0])], clientIDsSince: StoreSamples.noon)
      } catch {
        guard case .full = error else {
          Issue.record("\(error)")
          continue
        }
        refused += 1
        #expect(try await store.progress(app: app, push: push.id) == nil)
        #expect(try await store.push(app: app, clientID: "c\(pages)", since: StoreSamples.noon) == nil)
      }
    }
    #expect(refused > 0)
    let open = try await store.unfinished(after: nil, limit: 1000)
    #expect(open.count == 400 - refused)
    for shard in open { #expect(try await store.progress(app: app, push: shard.push) != nil) }
    try await store.limitSize(bytes: nil)
    try await store.acceptSample(StoreSamples.push(9999, of: app))
    try await store.check()
    await store.close()
  }
}
