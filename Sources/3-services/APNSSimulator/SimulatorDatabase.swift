internal import CSQLite

/// The simulator's SQLite file: statements, kept prepared, and rows. Not thread-safe; everything blocks.
final class SimulatorDatabase {
  enum Value {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func optional(_ text: String?) -> Value { text.map(Value.text) ?? .null }
    static func optional(_ number: Int64?) -> Value { number.map(Value.integer) ?? .null }
    static func flag(_ flag: Bool) -> Value { .integer(flag ? 1 : 0) }
  }

  /// The row that a statement stands on; not to be kept.
  struct Row {
    fileprivate let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64? {
      sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : sqlite3_column_int64(statement, column)
    }

    func text(_ column: Int32) -> String? {
      sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    func blob(_ column: Int32) -> [UInt8] {
      guard let start = sqlite3_column_blob(statement, column) else { return [] }
      return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
  }

  let path: String
  private let handle: OpaquePointer
  /// By the address of the literal, which is one per place in the source.
  private var statements: [UnsafeRawPointer: OpaquePointer] = [:]

  init(path: String) throws(SimulatorFault) {
    self.path = path
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
      let words = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
      sqlite3_close_v2(opened)
      throw SimulatorFault(what: "\(path) cannot be opened: \(words)", remedy: "Give a folder that can be written.")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 5_000)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  /// Whether the file that is written to is no longer the one at its path: removed, or another one put in its place. What
  /// is written then is gone with this process, and SQLite says nothing of it.
  var isDisplaced: Bool {
    var answer: Int32 = 0
    return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer) == SQLITE_OK && answer != 0
  }

  /// SQL that is made at run time or runs once: settings and migrations.
  func execute(_ sql: String) throws(SimulatorFault) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw fault() }
  }

  /// All of `body` or nothing.
  func transaction(_ body: () throws(SimulatorFault) -> Void) throws(SimulatorFault) {
    try execute("BEGIN IMMEDIATE")
    do {
      try body()
      try execute("COMMIT")
    } catch {
      // A full disk may have ended the transaction by itself.
      if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
      throw error
    }
  }

  func run(_ sql: StaticString, _ values: Value...) throws(SimulatorFault) {
    try step(sql, values) { _ in }
  }

  func each(_ sql: StaticString, _ values: Value..., read: (Row) -> Void) throws(SimulatorFault) {
    try step(sql, values, read)
  }

  private func step(_ sql: StaticString, _ values: [Value], _ read: (Row) -> Void) throws(SimulatorFault) {
    let statement = try statement(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (place, value) in values.enumerated() { bind(value, to: statement, at: Int32(place + 1)) }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: read(Row(statement: statement))
      case SQLITE_DONE: return
      default: throw fault()
      }
    }
  }

  private func bind(_ value: Value, to statement: OpaquePointer, at index: Int32) {
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT, a macro that is not imported
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
    case .text(let text): sqlite3_bind_text(statement, index, text, -1, copied)
    case .blob(let bytes):
      if bytes.isEmpty {
        sqlite3_bind_zeroblob(statement, index, 0)
      } else {
        sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), copied)
      }
    }
  }

  private func statement(_ sql: StaticString) throws(SimulatorFault) -> OpaquePointer {
    let key = UnsafeRawPointer(sql.utf8Start)
    if let known = statements[key] { return known }
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(
      handle, key.assumingMemoryBound(to: CChar.self), Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT),
      &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw fault() }
    statements[key] = prepared
    return prepared
  }

  private func fault() -> SimulatorFault {
    SimulatorFault(
      what: "\(path): \(String(cString: sqlite3_errmsg(handle)))",
      remedy: "Check that the folder can be written and the disk has room.")
  }
}
