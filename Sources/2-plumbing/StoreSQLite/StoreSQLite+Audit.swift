public import Store

extension StoreSQLite {
  public func note(_ note: AuditNote) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in try AuditTable(database).write(note) }
  }

  public func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws(StoreFault) -> [AuditEntry] {
    try await reader.run { database throws(StoreFault) in
      try AuditTable(database).entries(filter, before: before ?? .max, limit: limit)
    }
  }
}
