import Basics
import Testing
import Transport

@testable import APNSSimulator

@Suite("The simulator's file")
struct SimulatorSchemaTests {
  @Test("a file from before forms had numbers is taken up; every step leaves its number")
  func migrates() async throws {
    try await withFolder { path in
      let file = "\(path)/simulator.sqlite"
      do {
        let old = try SimulatorDatabase(path: file)
        try old.execute(SimulatorSchema.steps[0])
        try old.execute("INSERT INTO fact VALUES ('key id', 'ABCDEFGHIJ')")
      }
      for _ in 0..<2 { #expect(try SimulatorStore(path: file).fact("key id") == "ABCDEFGHIJ") }
      var version: Int64?
      try SimulatorDatabase(path: file).each("PRAGMA user_version") { version = $0.integer(0) }
      #expect(version == Int64(SimulatorSchema.steps.count))
    }
  }

  @Test("channels of form 3 are taken up: who lacked the newest broadcast gets it once, the others do not")
  func listeners() async throws {
    try await withFolder { path in
      let now = SystemClock().now
      do {
        let old = try SimulatorDatabase(path: "\(path)/simulator.sqlite")
        for step in SimulatorSchema.steps.prefix(3) { try old.execute(step) }
        try old.execute("PRAGMA user_version = 3")
        try old.run(
          """
          INSERT INTO channel VALUES ('Y2g=', 'com.example.app', 'sandbox', 1, ?, 7, 0, 3, 0,
            '123e4567-e89b-12d3-a456-4266554400a0', NULL, 10, NULL, CAST('{"n":7}' AS BLOB), ?, ?)
          """, .integer(now.milliseconds), .integer(now.milliseconds), .integer((now + .hours(8)).milliseconds))
        for (device, since, received) in [
          ("late", Optional(now.milliseconds), 6), ("current", now.milliseconds, 7), ("gone", nil, 1),
        ] {
          try old.execute("INSERT INTO device VALUES ('\(device)', 0, 0, 'awake', 0)")
          try old.run(
            "INSERT INTO subscriber VALUES ('Y2g=', 'com.example.app', 'sandbox', ?, ?, ?)", .text(device),
            .optional(since), .integer(Int64(received)))
        }
      }
      for round in 0..<2 {
        try await LiveScene.run({ $0.dataFolder = path }) { scene in
          for device in ["late", "current", "gone"] {
            let got = Locked<[DeliveredPush]>([])
            let courier = scene.simulator.courier
            courier.connect(device: device) { push in got.withLock { $0.append(push) } }
            courier.setOnline(device: device, true)
            let payloads = got.withLock { $0.map { String(decoding: $0.payload, as: UTF8.self) } }
            #expect(payloads == (device == "late" && round == 0 ? [#"{"n":7}"#] : []), "\(device), start \(round)")
            #expect(got.withLock { $0.allSatisfy { $0.channelID == "Y2g=" } })
          }
        }
      }
    }
  }

  @Test("a file of a newer Belfry is refused in a sentence, and left as it is")
  func newer() async throws {
    try await withFolder { path in
      let file = "\(path)/simulator.sqlite"
      try SimulatorDatabase(path: file).execute("PRAGMA user_version = 1000")
      do throws(SimulatorFault) {
        _ = try SimulatorStore(path: file)
        Issue.record("a fault was expected")
      } catch {
        #expect(error.what.contains("made by a newer Belfry (form 1000;"))
        #expect(error.remedy.hasSuffix("."))
      }
      var tables = 0
      try SimulatorDatabase(path: file).each("SELECT name FROM sqlite_master") { _ in tables += 1 }
      #expect(tables == 0)
    }
  }

  @Test("a transaction that fails leaves nothing, and the next one works")
  func rollsBack() async throws {
    try await withFolder { path in
      let database = try SimulatorDatabase(path: "\(path)/x.sqlite")
      try database.execute("CREATE TABLE t (x INTEGER PRIMARY KEY)")
      #expect(throws: SimulatorFault.self) {
        try database.transaction { () throws(SimulatorFault) in
          try database.run("INSERT INTO t VALUES (?)", .integer(1))
          try database.run("INSERT INTO t VALUES (?)", .integer(1))
        }
      }
      try database.transaction { () throws(SimulatorFault) in try database.run("INSERT INTO t VALUES (?)", .integer(2))
      }
      var found: [Int64?] = []
      try database.each("SELECT x FROM t") { found.append($0.integer(0)) }
      #expect(found == [2])
    }
  }

  @Test("a file that was removed under it is noticed")
  func displaced() async throws {
    try await withFolder { path in
      let database = try SimulatorDatabase(path: "\(path)/x.sqlite")
      try database.execute("CREATE TABLE t (x INTEGER PRIMARY KEY)")
      #expect(!database.isDisplaced)
      removeFolder(path)
      #expect(database.isDisplaced)
    }
  }
}
