public import Basics
public import Store

extension StoreSQLite {
  public func keepFile(
    _ file: StoredFile, parts: [[UInt8]], limit: Int, audit: AuditNote
  ) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try FileTable(database).keep(file, parts: parts, limit: limit)
    }
  }

  public func file(id: String, at now: Instant) async throws(StoreFault) -> StoredFile? {
    try await reader.run { database throws(StoreFault) in try FileTable(database).file(id: id, at: now) }
  }

  public func files(app: Int64?, at now: Instant) async throws(StoreFault) -> [StoredFile] {
    try await reader.run { database throws(StoreFault) in try FileTable(database).files(app: app, at: now) }
  }

  public func deleteFile(app: Int64?, id: String, audit: AuditNote) async throws(StoreFault) {
    _ = try await writing(audit) { database throws(StoreFault) in try FileTable(database).delete(app: app, id: id) }
  }
}
