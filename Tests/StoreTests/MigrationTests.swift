import Audience
import Basics
import BelfryTesting
import CSQLite
import Foundation
import Store
import StoreSQLite
import Testing

@Suite("The embedded store and files of older schemas")
struct MigrationTests {
  let folder = TemporaryFolder()

  private func write(_ sql: String) throws {
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    var database: OpaquePointer?
    try #require(sqlite3_open(folder.path + "/belfry.db", &database) == SQLITE_OK)
    defer { sqlite3_close(database) }
    try #require(
      sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
  }

  @Test("D-331 a file of the first schema keeps all it has; every device wants every push until it says otherwise")
  func first() async throws {
    try write(firstSchema)
    let key = "0123456789abcdef01234567"
    for round in 1...2 {
      let store = try await StoreSQLite.open(folder: folder.path)
      let app = try #require(try await store.app(key: key))
      for number in 0..<3 {
        let device = try #require(try await store.device(app: app.id, registrationID: "r\(number)"))
        #expect(device.alias == "user\(number + 1)" && device.tags == ["all", "t\(number + 1)"])
        #expect(device.createdAt == device.registeredAt && device.seenAt == device.registeredAt)
        #expect(device.badge == 1 && device.facts.timeZone == "Asia/Shanghai")
        #expect(device.onlyScheduled == (round == 2 && number == 2))
      }
      #expect(try await store.tags(app: app.id, after: nil, limit: 9).map(\.devices) == [3, 1, 1, 1])
      for (audience, count) in [
        (AudienceExpression.language("zh"), 3), (.osVersion(.above, "17"), 0),
        (.created(.before(StoreSamples.noon)), 0),
        (.lastSeen(.from(StoreSamples.noon)), 3), (.not(.timeZone("Asia/Shanghai")), 0),
      ] {
        let found = try await store.devices(app: app.id, in: audience, after: nil, limit: 9, at: StoreSamples.noon)
        #expect(found.count == count, "\(audience)")
      }
      let sent = try #require(try await store.progress(app: app.id, push: 71))
      #expect(sent.reports == [:])
      let hours = try #require(try await store.breakdown(app: app.id, push: 71)).hours
      #expect(hours.values.map(\.outcomes) == [[.accepted: 3]])
      #expect(sent.counts == [.accepted: 3] && sent.finishedAt != nil && !sent.push.isScheduled)
      #expect(try await store.unfinished(after: nil, limit: 9).map(\.devices) == [2])
      var edit = DeviceEdit()
      edit.onlyScheduled = true
      _ = try await store.changeDevice(app: app.id, registrationID: "r2", edit, limits: DeviceLimits())
      await store.close()
    }
    // The push that was accepted before there were preferences heeds them.
    let store = try await StoreSQLite.open(folder: folder.path)
    let start = try await store.begin(push: 72, shard: 0, holder: 1, claiming: 9, at: StoreSamples.noon)
    guard case .begun(let shard) = start else {
      Issue.record("\(start)")
      return
    }
    #expect(shard.claimed.map(\.ordinal) == [1])
    await store.close()
  }

  @Test("a file of a newer Belfry is left alone and told")
  func newer() async throws {
    try write("CREATE TABLE migration (version INTEGER PRIMARY KEY); INSERT INTO migration VALUES (99);")
    await #expect(throws: StoreFault.unusable("made by a newer Belfry (schema 99; this one knows 15)")) {
      try await StoreSQLite.open(folder: folder.path)
    }
  }
}
