import CSQLite
import Store

/// One connection to an SQLite file with its prepared statements. Not thread-safe: `Writer` and `Reader` each own one
/// and touch it on their queue alone.
final class Database {
  private let handle: OpaquePointer
  /// By the address of the literal, which is one per place in the source.
  private var statements: [UnsafeRawPointer: OpaquePointer] = [:]

  /// What the operation under way did to inboxes; told of once it is committed (`Writer.follow`).
  var announcements: [InboxNews] = []

  enum Access { case readWrite, readOnly }

  init(path: String, _ access: Access) throws(StoreFault) {
    var opened: OpaquePointer?
    let flags =
      switch access {
      case .readWrite: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard let opened else { throw .unavailable("no memory to open \(path)") }
    guard code == SQLITE_OK else {
      defer { sqlite3_close_v2(opened) }
      throw StoreFault(code: code, message: "cannot open \(path): \(String(cString: sqlite3_errmsg(opened)))")
    }
    handle = opened
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  /// Between BEGIN and its end. A full disk may end a transaction by itself.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Rows changed by the last INSERT, UPDATE or DELETE.
  var changes: Int { Int(sqlite3_changes(handle)) }

  /// Whether the file that is written to is no longer the one at its path: removed, or another one put in its place. What
  /// is written then is gone with this process.
  var isDisplaced: Bool {
    var answer: Int32 = 0
    return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer) == SQLITE_OK && answer != 0
  }

  var lastInsertID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// SQL that is made at run time or runs once: settings and migrations.
  func execute(_ sql: String) throws(StoreFault) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw fault(code) }
  }

  func run(_ sql: StaticString, _ values: SQLValue...) throws(StoreFault) {
    try step(sql, values) { _ throws(StoreFault) in true }
  }

  func each(_ sql: StaticString, _ values: SQLValue..., read: (Row) throws(StoreFault) -> Void) throws(StoreFault) {
    try step(sql, values) { row throws(StoreFault) in
      try read(row)
      return true
    }
  }

  /// The first row; the others are not read.
  func first<Result>(
    _ sql: StaticString, _ values: SQLValue..., read: (Row) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    var result: Result?
    try step(sql, values) { row throws(StoreFault) in
      result = try read(row)
      return false
    }
    return result
  }

  /// Runs until there is no row left or `body` answers false.
  private func step(
    _ sql: StaticString, _ values: [SQLValue], _ body: (Row) throws(StoreFault) -> Bool
  ) throws(StoreFault) {
    let statement = try statement(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      let code = value.bind(to: statement, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw fault(code) }
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: guard try body(Row(statement: statement)) else { return }
      case SQLITE_DONE: return
      case let code: throw fault(code)
      }
    }
  }

  private func statement(_ sql: StaticString) throws(StoreFault) -> OpaquePointer {
    let key = UnsafeRawPointer(sql.utf8Start)
    if let known = statements[key] { return known }
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(
      handle, UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self), Int32(sql.utf8CodeUnitCount),
      UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw fault(code) }
    statements[key] = prepared
    return prepared
  }

  private func fault(_ code: Int32) -> StoreFault {
    StoreFault(code: code, message: String(cString: sqlite3_errmsg(handle)))
  }
}

extension StoreFault {
  /// From an SQLite result code, extended or not.
  init(code: Int32, message: String) {
    switch code & 0xFF {
    case SQLITE_FULL: self = .full(message)
    case SQLITE_CORRUPT, SQLITE_NOTADB: self = .corrupt(message)
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: self = .unusable(message)
    case SQLITE_CONSTRAINT: self = .taken(message)
    default: self = .unavailable("\(message) (SQLite \(code))")
    }
  }
}

enum SQLValue {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  static func int(_ value: some BinaryInteger) -> SQLValue { .integer(Int64(value)) }
  static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
  static func optional(_ number: Int64?) -> SQLValue { number.map(SQLValue.integer) ?? .null }
  static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? .null }

  fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT
    switch self {
    case .null: return sqlite3_bind_null(statement, index)
    case .integer(let value): return sqlite3_bind_int64(statement, index, value)
    case .text(var text):
      return text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) {
          sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), copied)
        }
      }
    case .blob(let bytes):
      if bytes.isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
      return bytes.withUnsafeBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), copied) }
    }
  }
}

/// The row that a statement stands on; not to be kept.
struct Row {
  fileprivate let statement: OpaquePointer

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
  func int(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
  func optionalInt(_ column: Int32) -> Int64? { isNull(column) ? nil : int(column) }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(statement, column) else { return "" }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    return String(decoding: bytes, as: UTF8.self)
  }

  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  func blob(_ column: Int32) -> [UInt8] { withBlob(column) { Array($0) } }

  func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }

  /// The bytes where SQLite has them, valid within `body`.
  func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let start = sqlite3_column_blob(statement, column)
    return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }
}
