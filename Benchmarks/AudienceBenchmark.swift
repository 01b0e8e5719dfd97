import Audience
import Basics
import CSQLite
import PushPayload
import Store
import StoreSQLite

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// B4: whom a push reaches, out of ten million devices under ten tags of half of them and a hundred of one in a hundred, as
/// the embedded store keeps them: from the question to the last shard, reading included. The peer is a plain bitset of each
/// tag in memory, with nothing to read and nobody's token to look after.
func audienceBenchmark(_ setting: Setting) async throws -> [Figure] {
  let devices = setting.isQuick ? 1_000_000 : 10_000_000
  let scene = try await AudienceScene(devices: devices)
  defer { scene.remove() }
  let store = try await StoreSQLite.open(folder: scene.folder)
  var pairs = Array(repeating: Pair(), count: AudienceScene.questions.count)
  for _ in 0..<setting.runs {
    for (index, question) in AudienceScene.questions.enumerated() {
      let start = monotonicSeconds()
      let reach = try await store.reach(app: 1, question.expression, .production, at: Instant(seconds: 0))
      pairs[index].ours.append((monotonicSeconds() - start) * 1000)
      let peerStart = monotonicSeconds()
      let truth = question.count(scene.bits)
      pairs[index].peer.append((monotonicSeconds() - peerStart) * 1000)
      guard reach.count == truth else { throw BenchFault("b4: \(reach.count) where \(truth) are meant") }
    }
  }
  await store.close()
  var size = Pair()
  size.ours = [Double(scene.indexBytes) / 1_048_576]
  size.peer = [Double(110 * devices / 8) / 1_048_576]
  return zip(pairs, AudienceScene.questions).map { pair, question in
    pair.figure(
      "b4", "\(question.words) of \(devices) devices", "ms", peer: "bitsets in memory", bar: .atMost(10))
  } + [size.figure("b4", "index of 110 tags", "MiB", peer: "bitsets in memory", bar: .atMost(64))]
}

private struct AudienceQuestion: Sendable {
  var words: String
  var expression: AudienceExpression
  /// By the bitsets of three tags: two of half of all, one of one in a hundred.
  var combine: @Sendable (UInt64, UInt64, UInt64) -> UInt64

  func count(_ bits: [[UInt64]]) -> Int {
    var count = 0
    for index in bits[0].indices { count += combine(bits[0][index], bits[1][index], bits[2][index]).nonzeroBitCount }
    return count
  }
}

/// A store's folder with an app, its tags and their sets, written as the store writes them; devices have no rows, since an
/// audience over tags reads none.
private final class AudienceScene {
  let folder: String
  /// Of the three tags that are asked for, a bit a device.
  private(set) var bits: [[UInt64]] = []
  private(set) var indexBytes = 0
  private let database: OpaquePointer?

  static var questions: [AudienceQuestion] {
    [
      AudienceQuestion(
        words: "three tags by AND and NOT", expression: .all([.tag("h0"), .tag("h1"), .not(.tag("s0"))]),
        combine: { $0 & $1 & ~$2 }),
      AudienceQuestion(
        words: "three tags by OR", expression: .any([.tag("h0"), .tag("h1"), .tag("s0")]), combine: { $0 | $1 | $2 }),
      AudienceQuestion(
        words: "three tags by AND, OR and NOT", expression: .all([.any([.tag("h0"), .tag("s0")]), .not(.tag("h1"))]),
        combine: { ($0 | $2) & ~$1 }),
    ]
  }

  init(devices: Int) async throws {
    var template = Array("/tmp/belfry-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchFault("no temporary folder: \(String(cString: strerror(errno)))")
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let store = try await StoreSQLite.open(folder: folder)
    _ = try await store.createApp(
      StoredApp(
        id: 0, key: "bench", bundleID: "com.example.bench", name: nil, secretHash: "", createdAt: .init(seconds: 0)),
      audit: AuditNote(.appMade, at: .init(seconds: 0), doer: AuditDoer(.command)))
    await store.close()
    var opened: OpaquePointer?
    guard sqlite3_open(folder + "/belfry.db", &opened) == SQLITE_OK else { throw BenchFault("b4: no database") }
    database = opened
    try fill(devices)
    sqlite3_close(database)
  }

  func remove() {
    for name in ["belfry.db", "belfry.db-wal", "belfry.db-shm", "lock"] { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  private func fill(_ devices: Int) throws {
    try run("BEGIN; UPDATE app SET next_ordinal = \(devices) WHERE id = 1")
    var dice = Dice(seed: 4)
    for number in 0..<110 {
      let words = number < 10 ? Self.half(devices, &dice) : Self.hundredth(devices, &dice)
      if number < 2 || number == 10 { bits.append(words) }
      let name = number < 10 ? "h\(number)" : "s\(number - 10)"
      let count = words.reduce(0) { $0 + $1.nonzeroBitCount }
      try run("INSERT INTO tag (id, app, name, devices) VALUES (\(number + 1), 1, '\(name)', \(count))")
      try store(words, ofTag: number + 1)
    }
    try run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private static func half(_ devices: Int, _ dice: inout Dice) -> [UInt64] {
    var words = (0..<(devices + 63) / 64).map { _ in dice.next() }
    if devices % 64 > 0 { words[words.count - 1] &= 1 << UInt64(devices % 64) - 1 }
    return words
  }

  private static func hundredth(_ devices: Int, _ dice: inout Dice) -> [UInt64] {
    var words = [UInt64](repeating: 0, count: (devices + 63) / 64)
    for _ in 0..<devices / 100 {
      let device = Int.random(in: 0..<devices, using: &dice)
      words[device / 64] |= 1 << UInt64(device % 64)
    }
    return words
  }

  private func store(_ words: [UInt64], ofTag tag: Int) throws {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, "INSERT INTO device_set VALUES (?, ?)", -1, &statement, nil) == SQLITE_OK else {
      throw BenchFault("b4: \(String(cString: sqlite3_errmsg(database)))")
    }
    defer { sqlite3_finalize(statement) }
    for shard in stride(from: 0, to: words.count, by: 1024) {
      var ordinals: [DeviceOrdinal] = []
      for (index, word) in words[shard..<min(shard + 1024, words.count)].enumerated() {
        var rest = word
        while rest != 0 {
          ordinals.append(DeviceOrdinal((shard + index) * 64 + rest.trailingZeroBitCount))
          rest &= rest - 1
        }
      }
      if ordinals.isEmpty { continue }
      let blob = DeviceSet(ordinals).serialized()
      indexBytes += blob.count
      sqlite3_bind_int64(statement, 1, Int64(tag * 4) << 16 | Int64(shard / 1024))
      _ = blob.withUnsafeBytes {
        sqlite3_bind_blob(
          statement, 2, $0.baseAddress, Int32($0.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      }
      guard sqlite3_step(statement) == SQLITE_DONE else {
        throw BenchFault("b4: \(String(cString: sqlite3_errmsg(database)))")
      }
      sqlite3_reset(statement)
    }
  }

  private func run(_ sql: String) throws {
    guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
      throw BenchFault("b4: \(String(cString: sqlite3_errmsg(database)))")
    }
  }
}
