public import Store

extension StoreSQLite {
  public func note(_ note: AuditNote) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in try AuditTable(database).write(note) }
  }

  /// An operation that answers whether it changed something, with its note in the same transaction when it did.
  func writing(
    _ audit: AuditNote?, _ body: @escaping @Sendable (Database) throws(StoreFault) -> Bool
  ) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in
      let isDone = try body(database)
      if isDone, let audit { try AuditTable(database).write(audit) }
      return isDone
    }
  }

  public func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws(StoreFault) -> [AuditEntry] {
    try await reader.run { database throws(StoreFault) in
      try AuditTable(database).entries(filter, before: before ?? .max, limit: limit)
    }
  }
}
