public import Store

extension StoreSQLite {
  public func addCredential(_ credential: StoredCredential, audit: AuditNote) async throws(StoreFault)
    -> CredentialAnswer
  {
    try await writer.run { database throws(StoreFault) in
      let answer = try CredentialTable(database).add(credential)
      if case .kept(let kept) = answer { try AuditTable(database).write(audit, subject: kept.id) }
      return answer
    }
  }

  public func rotateCredential(_ credential: StoredCredential, audit: AuditNote) async throws(StoreFault)
    -> CredentialAnswer
  {
    try await writer.run { database throws(StoreFault) in
      let answer = try CredentialTable(database).rotate(credential)
      if case .kept(let kept) = answer { try AuditTable(database).write(audit, subject: kept.id) }
      return answer
    }
  }

  public func deleteCredential(app: Int64, id: Int64, audit: AuditNote) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try CredentialTable(database).delete(app: app, id: id)
    }
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

  public func reseal(
    audit: AuditNote, _ body: @escaping @Sendable (SealedSecret, [UInt8]) -> [UInt8]?
  ) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in
      var sealed: [(secret: SealedSecret, bytes: [UInt8])] = []
      for (id, bytes) in try CredentialTable(database).secrets() { sealed.append((.credential(id), bytes)) }
      for (id, bytes) in try WebhookTable(database).secrets() { sealed.append((.webhook(id), bytes)) }
      for (id, bytes) in try WebhookTable(database).formerSecrets() { sealed.append((.formerOfWebhook(id), bytes)) }
      let anew = sealed.map { body($0.secret, $0.bytes) }
      guard !anew.contains(nil) else { return false }
      for ((secret, _), bytes) in zip(sealed, anew) {
        switch secret {
        case .credential(let id): try CredentialTable(database).set(secret: bytes ?? [], of: id)
        case .webhook(let id): try WebhookTable(database).set(secret: bytes ?? [], of: id)
        case .formerOfWebhook(let id): try WebhookTable(database).set(formerSecret: bytes ?? [], of: id)
        }
      }
      try AuditTable(database).write(audit)
      return true
    }
  }
}
