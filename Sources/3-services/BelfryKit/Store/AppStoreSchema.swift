/// The file's tables, step by step: a step is never changed, the next one is added behind it.
enum AppStoreSchema {
  /// - Parameter wanted: an earlier form, for tests.
  static func bring(_ database: Database, to wanted: Int = steps.count) throws(DatabaseFault) {
    let form = try database.run("PRAGMA user_version") { Int($0.integer(0)) }.first ?? 0
    // a file of a later version of the library has what this one knows, and more
    guard form < wanted else { return }
    for step in steps[form..<wanted] {
      for statement in step { try database.run(statement) }
    }
    try database.run("PRAGMA user_version = \(wanted)")
  }

  private static let steps: [[String]] = [
    [
      // JSON by name: the registration, the token that is to be registered, the cursor
      "CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
      // what the app has not handled, in the order in which it came; `given`: its code has seen it
      """
      CREATE TABLE inbox (
        position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, event TEXT NOT NULL,
        is_message INTEGER NOT NULL, given INTEGER NOT NULL DEFAULT 0)
      """,
      "CREATE INDEX inbox_by_id ON inbox (id)",
      "CREATE TABLE seen (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE)",
      "CREATE TABLE read_marks (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE)",
      // what is to be said to the service; of a `topic` only the newest
      "CREATE TABLE calls (position INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT UNIQUE, call TEXT NOT NULL)",
      """
      CREATE TABLE reports (
        position INTEGER PRIMARY KEY AUTOINCREMENT, message TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
        sent INTEGER NOT NULL DEFAULT 0, UNIQUE (message, kind))
      """,
    ],
    [
      // what was read is remembered after the service has it: a notification of it may come late
      "ALTER TABLE read_marks ADD COLUMN said INTEGER NOT NULL DEFAULT 0",
      "CREATE INDEX read_marks_to_say ON read_marks (position) WHERE said = 0",
    ],
  ]
}
