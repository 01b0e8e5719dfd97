public import Store

extension StoreSQLite {
  public func addCredential(_ credential: StoredCredential) async throws(StoreFault) -> CredentialAnswer {
    try await writer.run { database throws(StoreFault) in try CredentialTable(database).add(credential) }
  }

  public func rotateCredential(_ credential: StoredCredential) async throws(StoreFault) -> CredentialAnswer {
    try await writer.run { database throws(StoreFault) in try CredentialTable(database).rotate(credential) }
  }

  public func deleteCredential(app: Int64, id: Int64) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in try CredentialTable(database).delete(app: app, id: id) }
  }

  public func credential(app: Int64, id: Int64) async throws(StoreFault) -> StoredCredential? {
    try await reader.run { database throws(StoreFault) in try CredentialTable(database).credential(app: app, id: id) }
  }

  public func credentials(app: Int64, after: Int64, limit: Int) async throws(StoreFault) -> [StoredCredential] {
    try await reader.run { database throws(StoreFault) in
      try CredentialTable(database).credentials(app: app, after: after, limit: limit)
    }
  }

  public func credentials() async throws(StoreFault) -> [StoredCredential] {
    try await reader.run { database throws(StoreFault) in try CredentialTable(database).all() }
  }

  public func credentialVersions() async throws(StoreFault) -> [Int64: Int64] {
    try await reader.run { database throws(StoreFault) in try CredentialTable(database).versions() }
  }
}
