import Basics
import CSQLite
import HTTPClient
import PushPayload

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A million devices from a CSV file into the store. The peer is SQLite alone: rows of an id and a token under two unique
/// indexes, which is the least that a device costs.
func importBenchmark(_ setting: Setting) async throws -> [Figure] {
  let devices = setting.pushes(1_000_000)
  var seconds = Pair()
  for _ in 0..<(setting.isQuick ? 1 : 3) {
    let scene = try ServiceScene(devices: devices)
    defer { scene.remove() }
    seconds.ours.append(try scene.importDevices(from: try scene.writeDevices()))
    seconds.peer.append(try plainInsert(of: devices, in: scene.folder))
  }
  return [
    seconds.figure(
      "import", "\(devices) devices from CSV, two tags each", "s", peer: "SQLite: id and token, two indexes",
      bar: .atMost(30))
  ]
}

private func plainInsert(of count: Int, in folder: String) throws -> Double {
  let database = try PlainDatabase(
    "\(folder)/plain.db",
    """
    PRAGMA cache_size = -262144;
    CREATE TABLE device (id INTEGER PRIMARY KEY, name TEXT, token BLOB);
    CREATE UNIQUE INDEX by_name ON device (name); CREATE UNIQUE INDEX by_token ON device (token);
    """)
  let insert = try database.statement("INSERT INTO device VALUES (?1, 'rid' || ?1, randomblob(32))")
  let start = monotonicSeconds()
  for first in stride(from: 0, to: count, by: 32_768) {
    try database.run("BEGIN")
    for number in first..<min(count, first + 32_768) {
      sqlite3_bind_int64(insert, 1, Int64(number))
      try database.step(insert)
    }
    try database.run("COMMIT")
  }
  return monotonicSeconds() - start
}

/// An SQLite file with nothing of ours around it, durable as the store is.
final class PlainDatabase {
  private var handle: OpaquePointer?
  private var statements: [OpaquePointer] = []

  init(_ path: String, _ schema: String) throws {
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw BenchFault("no database at \(path)") }
    try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \(schema)")
  }

  deinit {
    for statement in statements { sqlite3_finalize(statement) }
    sqlite3_close(handle)
  }

  func run(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw fault }
  }

  func statement(_ sql: String) throws -> OpaquePointer {
    var made: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &made, nil) == SQLITE_OK, let made else { throw fault }
    statements.append(made)
    return made
  }

  func step(_ statement: OpaquePointer) throws {
    guard sqlite3_step(statement) == SQLITE_DONE else { throw fault }
    sqlite3_reset(statement)
  }

  private var fault: BenchFault { BenchFault(String(cString: sqlite3_errmsg(handle))) }
}

/// B3: one push to all of a million devices, each with its own badge, from the call to the last outcome on disk. `belfry
/// serve` has one core, `nghttpd` the other, as in b1. Peers in the same run: our client alone, which renders from memory
/// and keeps nothing, and h2load.
func campaignBenchmark(_ setting: Setting) async throws -> [Figure] {
  let devices = setting.pushes(1_000_000)
  let scene = try ServiceScene(devices: devices)
  defer { scene.remove() }
  _ = try scene.importDevices(from: try scene.writeDevices())
  let server = try Nghttpd(scene.apns)
  defer { server.stop() }
  let shape = Shape(pushes: min(devices, 200_000))
  var (rates, costs) = (Pair(), Pair())
  var memory: [Double] = []
  _ = try runH2load(scene.apns, port: server.port, shape)
  for _ in 0..<(setting.isQuick ? 1 : 5) {
    costs.peer.append(try runH2load(scene.apns, port: server.port, shape).cpuMicroseconds)
    rates.peer.append(try runSender(scene.apns, port: server.port, shape).perSecond)
    let ours = try await runCampaign(scene, port: server.port, devices)
    rates.ours.append(ours.perSecond)
    costs.ours.append(ours.cpuMicroseconds)
    memory.append(ours.growth)
  }
  let what = "broadcast to \(devices) devices"
  return [
    rates.figure("b3", "\(what), call to last outcome", "pushes/s", peer: "our client alone", bar: .ratioAtLeast(0.7)),
    costs.figure("b3", "CPU of it", "µs/push", peer: "h2load", bar: .ratioAtMost(2.5)),
    Figure(
      id: "b3", what: "most memory over idle", unit: "MiB", ours: memory, peerName: "", peer: [], bar: .atMost(150)),
  ]
}

/// `growth` is the most that was resident, over what was before the push.
private func runCampaign(_ scene: ServiceScene, port: UInt16, _ devices: Int) async throws -> Load {
  let service = try scene.serve(to: port, core: Core.client)
  defer { service.stop() }
  _ = try await service.call("GET", "/v3/tags")
  let idle = service.memory(.now)
  let before = service.cpuSeconds
  let start = monotonicSeconds()
  let accepted = try await service.call(
    "POST", "/v3/push",
    [
      "platform": "ios", "audience": "all",
      "notification": [
        "ios": [
          "alert": [
            "title": "Order shipped", "body": "Your parcel 4711 is on its way and comes tomorrow.",
          ], "badge": "+1", "sound": "default", "thread-id": "orders",
        ]
      ],
    ])
  guard let id = accepted.object?["msg_id"]?.string else { throw BenchFault("no msg_id: \(accepted.text)") }
  while true {
    let push = try await service.call("GET", "/v1/pushes/\(id)")
    if push.object?["state"]?.string == "finished" {
      let seconds = monotonicSeconds() - start
      guard push.object?["accepted"]?.number?.int64 == Int64(devices) else { throw BenchFault("b3: \(push.text)") }
      return Load(
        perSecond: Double(devices) / seconds,
        cpuMicroseconds: (service.cpuSeconds - before) / Double(devices) * 1e6,
        growth: service.memory(.most) - idle)
    }
    usleep(20_000)
  }
}
