import Audience
import Basics
import BelfryTesting
import CSQLite
import Foundation
import Store
import Testing

@testable import StoreSQLite

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

  /// What a Belfry of a form wrote that those before could not: by the form, as it had it.
  private static let rows: [Int: String] = [
    2: "UPDATE device SET only_scheduled = 1 WHERE registration_id = 'r1'",
    3: "UPDATE device SET seen_at = seen_at + 86400000 WHERE registration_id = 'r0'",
    4: "UPDATE device SET model = 'iPhone17,1', permission = 2 WHERE registration_id = 'r0'",
    5: """
    INSERT INTO schedule VALUES (1, 's1', 1, 'daily', 1, '2027-01-01 09:00:00', 'Asia/Shanghai', x'7b7d', NULL,
      1796059776318, 1, NULL, 1798765200000);
    """,
    6: """
    INSERT INTO push_report VALUES (71, 0, 3, 1796040001000);
    INSERT INTO push_report_count VALUES (71, 3, 498900, '', 1);
    """,
    7: "UPDATE push SET control = 1 WHERE id = 72",
    8: "INSERT INTO ab_test VALUES (1, 'test', x'5b5d', 1796059776318)",
    16: "INSERT INTO device_import VALUES (1, 'file', 5, 2)",
    18: """
    INSERT INTO apns_credential VALUES (1, 1, 3, 'k.p8', 'ABC123DEFG', 'DEF123GHIJ', '', NULL, NULL, 'AB', x'01', 1, 2, 1);
    """,
    19: "INSERT INTO special_token VALUES (4294967296, 1, '', x'0102', 1796040000000)",
    21: """
    INSERT INTO webhook (app, url, events, is_enabled, secret, request, created_at, due_at)
      VALUES (1, 'https://a.example/', 2, 1, x'01', x'', 1796040000000, 1796040000000);
    INSERT INTO outbox (webhook, kind, at, kept_at, push) VALUES (1, 1, 1796040000000, 1796040000000, 71);
    """,
    22: """
    UPDATE app SET message_position = 1;
    INSERT INTO message (place, id, kind, accepted_at, targeted, body) VALUES ((1 << 40) | 1, 71, 0, 1796040001000, 1, x'7b7d');
    INSERT INTO inbox VALUES ((1 << 32) | 0, 1, (1 << 40) | 1, NULL);
    """,
    23: "INSERT INTO audit VALUES (1, 1796059776318, 1, 1, 3, 'root', NULL, 'key', NULL)",
  ]

  @Test("a file of each earlier schema keeps all it has", arguments: 1...Schema.newest)
  func every(form: Int) async throws {
    try write(firstSchema)
    do {
      let database = try Database(path: folder.path + "/belfry.db", .readWrite)
      for step in 1...form {
        try Schema.prepare(database, upTo: step)
        if let rows = Self.rows[step] { try database.execute(rows) }
      }
    }
    let store = try await StoreSQLite.open(folder: folder.path)
    let app = try #require(try await store.app(key: "0123456789abcdef01234567"))
    for number in 0..<3 {
      let device = try #require(try await store.device(app: app.id, registrationID: "r\(number)"))
      #expect(device.alias == "user\(number + 1)" && device.tags == ["all", "t\(number + 1)"] && device.badge == 1)
      #expect(device.onlyScheduled == (form >= 2 && number == 1))
      #expect(device.seenAt - device.registeredAt == (form >= 3 && number == 0 ? .days(1) : .seconds(0)))
      #expect(device.purposes == (form >= 19 && number == 0 ? [.voip] : []))
      #expect(device.facts.permission == (form >= 4 && number == 0 ? .authorized : nil))
    }
    let found = try await store.devices(
      app: app.id, in: .all([.tag("all"), .language("zh")]), after: nil, limit: 9, at: StoreSamples.noon)
    #expect(found.count == 3)
    var edit = DeviceEdit()
    edit.badge = 2
    _ = try await store.changeDevice(app: app.id, registrationID: "r2", edit, limits: DeviceLimits())
    #expect(try await store.device(app: app.id, registrationID: "r2")?.badge == 2)
    let schedules = try await store.schedules(app: app.id, onlyLive: true, after: 0, skipping: 0, limit: 9)
    #expect(schedules.schedules.map(\.id) == (form >= 5 ? ["s1"] : []))
    let sent = try #require(try await store.progress(app: app.id, push: 71))
    #expect(sent.counts == [.accepted: 3] && sent.finishedAt != nil)
    #expect(sent.reports == (form >= 6 ? [.clicked: 1] : [:]))
    #expect(try await store.progress(app: app.id, push: 72)?.control == (form >= 7 ? .paused : .running))
    #expect(try await store.unfinished(after: nil, limit: 9).map(\.devices) == [2])
    #expect(try await store.importMark(app: app.id, source: "file")?.lines == (form >= 16 ? 2 : nil))
    #expect(
      try await store.webhooks(app: app.id, after: 0, limit: 9).map(\.events) == (form >= 21 ? [[.pushFinished]] : []))
    #expect(try await store.outbox(webhook: 1, limit: 9).map(\.push) == (form >= 21 ? [71] : []))
    let inbox = try await store.inbox(app: app.id, ordinal: 0, InboxRange(limit: 9), at: StoreSamples.noon)
    #expect(inbox.entries.map(\.id) == (form >= 22 ? [71] : []))
    #expect(try await store.credentials().map(\.environments) == (form >= 18 ? [[.sandbox, .production]] : []))
    #expect(
      try await store.audit(.init(app: 1), before: nil, limit: 9).map(\.note.kind) == (form >= 23 ? [.appMade] : []))
    await store.close()
  }

  @Test("a file of a newer Belfry is left alone and told")
  func newer() async throws {
    try write("CREATE TABLE migration (version INTEGER PRIMARY KEY); INSERT INTO migration VALUES (99);")
    await #expect(throws: StoreFault.unusable("made by a newer Belfry (schema 99; this one knows \(Schema.newest))")) {
      try await StoreSQLite.open(folder: folder.path)
    }
  }
}
