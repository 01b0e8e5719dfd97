import Audience
import Basics
import Store

/// Files of names. A file's contents lie in `file_part` in pieces of whole lines, so that one is never in memory whole.
struct FileTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// The number of developers' files in the place of an app's.
  private static let everyApp: Int64 = 0

  // MARK: Keeping

  func keep(_ file: StoredFile, parts: [[UInt8]], limit: Int) throws(StoreFault) -> Bool {
    try sweep(at: file.createdAt)
    let live = try database.first("SELECT count(*) FROM file WHERE app = ?", .int(file.app ?? Self.everyApp)) {
      Int($0.int(0))
    }
    guard let live, live < limit else { return false }
    try database.run(
      "INSERT INTO file (id, app, kind, name, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)", .text(file.id),
      .int(file.app ?? Self.everyApp), .int(file.kind.rawValue), .text(file.name),
      .int(file.createdAt.milliseconds), .int(file.expiresAt.milliseconds))
    let number = database.lastInsertID
    for (index, part) in parts.enumerated() {
      try database.run("INSERT INTO file_part VALUES (?, ?, ?)", .int(number), .int(index), .blob(part))
    }
    return true
  }

  /// Whether some had expired.
  @discardableResult
  func sweep(at now: Instant) throws(StoreFault) -> Bool {
    try database.run(
      "DELETE FROM file_part WHERE file IN (SELECT number FROM file WHERE expires_at <= ?)", .int(now.milliseconds))
    try database.run("DELETE FROM file WHERE expires_at <= ?", .int(now.milliseconds))
    return database.changes > 0
  }

  /// Whether its lines are there, also those of one that has expired.
  func isKept(_ id: String) throws(StoreFault) -> Bool {
    try database.first("SELECT 1 FROM file WHERE id = ?", .text(id)) { _ in true } ?? false
  }

  /// Whether there was such a file.
  func delete(app: Int64?, id: String) throws(StoreFault) -> Bool {
    try database.run(
      "DELETE FROM file_part WHERE file IN (SELECT number FROM file WHERE id = ? AND app = ?)", .text(id),
      .int(app ?? Self.everyApp))
    try database.run("DELETE FROM file WHERE id = ? AND app = ?", .text(id), .int(app ?? Self.everyApp))
    return database.changes > 0
  }

  // MARK: Reading

  func file(id: String, at now: Instant) throws(StoreFault) -> StoredFile? {
    try database.first(
      "SELECT id, app, kind, name, created_at, expires_at FROM file WHERE id = ? AND expires_at > ?", .text(id),
      .int(now.milliseconds), read: Self.read)
  }

  func files(app: Int64?, at now: Instant) throws(StoreFault) -> [StoredFile] {
    var files: [StoredFile] = []
    try database.each(
      """
      SELECT id, app, kind, name, created_at, expires_at FROM file WHERE app = ? AND expires_at > ? ORDER BY number
      """, .int(app ?? Self.everyApp), .int(now.milliseconds)
    ) { row throws(StoreFault) in files.append(try Self.read(row)) }
    return files
  }

  private static func read(_ row: Row) throws(StoreFault) -> StoredFile {
    guard let kind = StoredFile.Kind(rawValue: UInt8(clamping: row.int(2))) else {
      throw .corrupt("a file of no known kind")
    }
    return StoredFile(
      id: row.text(0), app: row.int(1) == everyApp ? nil : row.int(1), kind: kind, name: row.text(3),
      createdAt: Instant(milliseconds: row.int(4)), expiresAt: Instant(milliseconds: row.int(5)))
  }

  /// The app's devices that a file names; none for one that is not there or another app's.
  func members(of id: String, app: Int64) throws(StoreFault) -> DeviceSet {
    let found = try database.first(
      "SELECT number, kind FROM file WHERE id = ? AND (app = ? OR app = ?)", .text(id), .int(app), .int(Self.everyApp)
    ) { (number: $0.int(0), kind: StoredFile.Kind(rawValue: UInt8(clamping: $0.int(1)))) }
    guard let (number, kind) = found, let kind else { return DeviceSet() }
    let devices = DeviceTable(database)
    var members = DeviceSet()
    try database.each("SELECT content FROM file_part WHERE file = ? ORDER BY part", .int(number)) {
      row throws(StoreFault) in
      var ids: [Int64] = []
      for line in row.blob(0).split(separator: UInt8(ascii: "\n")) {
        let name = String(decoding: line, as: UTF8.self)
        switch kind {
        case .alias: ids += try devices.ids(app: app, alias: name)
        case .registrationID: if let id = try devices.id(app: app, registrationID: name) { ids.append(id) }
        }
      }
      members.formUnion(DeviceSet(ids.map { DeviceOrdinal(truncatingIfNeeded: $0) }))
    }
    return members
  }
}
