import Basics
import Store

/// Groups with their apps, and developers.
struct AccountTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  func insert(_ account: StoredAccount) throws(StoreFault) -> StoredAccount {
    try database.run(
      "INSERT INTO account (kind, key, name, secret_hash, created_at) VALUES (?, ?, ?, ?, ?)",
      .int(account.kind.rawValue), .text(account.key), .optional(account.name), .text(account.secretHash),
      .int(account.createdAt.milliseconds))
    var stored = account
    stored.id = database.lastInsertID
    return stored
  }

  func account(_ kind: StoredAccount.Kind, key: String) throws(StoreFault) -> StoredAccount? {
    try database.first(
      "SELECT id, key, name, secret_hash, created_at FROM account WHERE key = ? AND kind = ?", .text(key),
      .int(kind.rawValue)
    ) { Self.read($0, kind) }
  }

  func all(_ kind: StoredAccount.Kind) throws(StoreFault) -> [StoredAccount] {
    var accounts: [StoredAccount] = []
    try database.each(
      "SELECT id, key, name, secret_hash, created_at FROM account WHERE kind = ? ORDER BY id", .int(kind.rawValue)
    ) { accounts.append(Self.read($0, kind)) }
    return accounts
  }

  private static func read(_ row: Row, _ kind: StoredAccount.Kind) -> StoredAccount {
    StoredAccount(
      id: row.int(0), kind: kind, key: row.text(1), name: row.optionalText(2), secretHash: row.text(3),
      createdAt: Instant(milliseconds: row.int(4)))
  }

  // MARK: Groups

  /// false when it was there already.
  func add(app: Int64, toGroup group: Int64) throws(StoreFault) -> Bool {
    try database.run("INSERT OR IGNORE INTO group_app VALUES (?, ?)", .int(group), .int(app))
    return database.changes > 0
  }

  func apps(ofGroup group: Int64) throws(StoreFault) -> [Int64] {
    var apps: [Int64] = []
    try database.each("SELECT app FROM group_app WHERE group_id = ? ORDER BY app", .int(group)) {
      apps.append($0.int(0))
    }
    return apps
  }

  func parts(ofGroupPush id: Int64) throws(StoreFault) -> [GroupPart] {
    var parts: [GroupPart] = []
    try database.each("SELECT app, id FROM push WHERE group_push = ? ORDER BY app", .int(id)) {
      parts.append(GroupPart(app: $0.int(0), push: $0.int(1)))
    }
    return parts
  }
}
