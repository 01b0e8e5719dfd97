internal import Foundation

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// What SQLite said when it could not do something. Holds no value of the app.
struct DatabaseFault: Error, Hashable {
  var code: Int32
  var words: String
}

/// One SQLite file. On one queue only.
final class Database {
  private var handle: OpaquePointer?
  private var statements: [String: OpaquePointer] = [:]

  /// Opens it, or makes it. What commits survives the end of the process and of the phone's power.
  init(_ path: String) throws(DatabaseFault) {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK else {
      let fault = fault(code)
      sqlite3_close_v2(handle)
      throw fault
    }
    // an app and its extension are two processes on one file
    sqlite3_busy_timeout(handle, 5000)
    try run("PRAGMA journal_mode = WAL")
    try run("PRAGMA synchronous = FULL")
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  enum Value {
    case integer(Int64)
    case text(String)
    case null
  }

  /// A row's columns, while it is being read.
  struct Row {
    fileprivate let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func text(_ column: Int32) -> String? {
      sqlite3_column_text(statement, column).map { String(cString: $0) }
    }
  }

  /// Runs one statement to its end. Answers what `read` made of each row.
  @discardableResult
  func run<Answer>(
    _ sql: String, _ values: [Value] = [], read: (Row) -> Answer
  ) throws(DatabaseFault) -> [Answer] {
    let statement = try prepared(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      let place = Int32(index + 1)
      let code =
        switch value {
        case .integer(let integer): sqlite3_bind_int64(statement, place, integer)
        // SQLite makes its own copy (SQLITE_TRANSIENT)
        case .text(let text): sqlite3_bind_text(statement, place, text, -1, unsafeBitCast(-1, to: Destructor.self))
        case .null: sqlite3_bind_null(statement, place)
        }
      guard code == SQLITE_OK else { throw fault(code) }
    }
    var answers: [Answer] = []
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return answers }
      guard code == SQLITE_ROW else { throw fault(code) }
      answers.append(read(Row(statement: statement)))
    }
  }

  private typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void

  func run(_ sql: String, _ values: [Value] = []) throws(DatabaseFault) {
    try run(sql, values) { _ in }
  }

  /// Rows that the last statement changed.
  var changes: Int { Int(sqlite3_changes(handle)) }

  /// All of it or nothing.
  func transaction<Answer>(_ body: () throws(DatabaseFault) -> Answer) throws(DatabaseFault) -> Answer {
    try run("BEGIN IMMEDIATE")
    do throws(DatabaseFault) {
      let answer = try body()
      try run("COMMIT")
      return answer
    } catch {
      sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
      throw error
    }
  }

  private func prepared(_ sql: String) throws(DatabaseFault) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard code == SQLITE_OK, let statement else { throw fault(code) }
    statements[sql] = statement
    return statement
  }

  private func fault(_ code: Int32) -> DatabaseFault {
    DatabaseFault(code: code, words: handle.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory")
  }
}
