public import Store

extension StoreSQLite {
  public func createAccount(_ account: StoredAccount, audit: AuditNote) async throws(StoreFault) -> StoredAccount {
    try await writer.run { database throws(StoreFault) in
      let made = try AccountTable(database).insert(account)
      try AuditTable(database).write(audit)
      return made
    }
  }

  public func account(_ kind: StoredAccount.Kind, key: String) async throws(StoreFault) -> StoredAccount? {
    try await reader.run { database throws(StoreFault) in try AccountTable(database).account(kind, key: key) }
  }

  public func accounts(_ kind: StoredAccount.Kind) async throws(StoreFault) -> [StoredAccount] {
    try await reader.run { database throws(StoreFault) in try AccountTable(database).all(kind) }
  }

  public func add(app: Int64, toGroup group: Int64, audit: AuditNote) async throws(StoreFault) {
    _ = try await writing(audit) { database throws(StoreFault) in
      try AccountTable(database).add(app: app, toGroup: group)
    }
  }

  public func apps(ofGroup group: Int64) async throws(StoreFault) -> [Int64] {
    try await reader.run { database throws(StoreFault) in try AccountTable(database).apps(ofGroup: group) }
  }

  public func parts(ofGroupPush id: Int64) async throws(StoreFault) -> [GroupPart] {
    try await reader.run { database throws(StoreFault) in try AccountTable(database).parts(ofGroupPush: id) }
  }
}
