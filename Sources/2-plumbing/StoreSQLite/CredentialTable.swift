import Audience
import Basics
import Store

/// What apps authenticate to APNs with; secrets are sealed before they come here.
struct CredentialTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  func add(_ credential: StoredCredential) throws(StoreFault) -> CredentialAnswer {
    if let other = try occupant(credential) { return .occupied(by: other) }
    try database.run(
      """
      INSERT INTO apns_credential (app, environments, name, key_id, team_id, topics, not_before, not_after, fingerprint,
        secret, created_at, uploaded_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
      """, .int(credential.app), .int(credential.environments.mask), .text(credential.name),
      .optional(credential.keyID), .optional(credential.teamID), .text(credential.topics.joined(separator: "\n")),
      .optional(credential.notBefore?.milliseconds), .optional(credential.notAfter?.milliseconds),
      .text(credential.fingerprint), .blob(credential.secret), .int(credential.createdAt.milliseconds),
      .int(credential.uploadedAt.milliseconds))
    var kept = credential
    kept.id = database.lastInsertID
    kept.version = 1
    return .kept(kept)
  }

  func rotate(_ credential: StoredCredential) throws(StoreFault) -> CredentialAnswer {
    if let other = try occupant(credential) { return .occupied(by: other) }
    try database.run(
      """
      UPDATE apns_credential SET environments = ?, name = ?, key_id = ?, team_id = ?, topics = ?, not_before = ?,
        not_after = ?, fingerprint = ?, secret = ?, uploaded_at = ?, version = version + 1
        WHERE app = ? AND id = ? AND version = ?
      """, .int(credential.environments.mask), .text(credential.name), .optional(credential.keyID),
      .optional(credential.teamID), .text(credential.topics.joined(separator: "\n")),
      .optional(credential.notBefore?.milliseconds), .optional(credential.notAfter?.milliseconds),
      .text(credential.fingerprint), .blob(credential.secret), .int(credential.uploadedAt.milliseconds),
      .int(credential.app), .int(credential.id), .int(credential.version))
    guard database.changes > 0, let kept = try self.credential(app: credential.app, id: credential.id) else {
      return .changedMeanwhile
    }
    return .kept(kept)
  }

  func delete(app: Int64, id: Int64) throws(StoreFault) -> Bool {
    try database.run("DELETE FROM apns_credential WHERE app = ? AND id = ?", .int(app), .int(id))
    return database.changes > 0
  }

  func credential(app: Int64, id: Int64) throws(StoreFault) -> StoredCredential? {
    try database.first(
      """
      SELECT id, app, environments, name, key_id, team_id, topics, not_before, not_after, fingerprint, secret,
        created_at, uploaded_at, version FROM apns_credential WHERE app = ? AND id = ?
      """, .int(app), .int(id), read: Self.read)
  }

  func credentials(app: Int64, after: Int64, limit: Int) throws(StoreFault) -> [StoredCredential] {
    var found: [StoredCredential] = []
    try database.each(
      """
      SELECT id, app, environments, name, key_id, team_id, topics, not_before, not_after, fingerprint, secret,
        created_at, uploaded_at, version FROM apns_credential WHERE app = ? AND id > ? ORDER BY id LIMIT ?
      """, .int(app), .int(after), .int(limit)
    ) { found.append(Self.read($0)) }
    return found
  }

  func all() throws(StoreFault) -> [StoredCredential] {
    var found: [StoredCredential] = []
    try database.each(
      """
      SELECT id, app, environments, name, key_id, team_id, topics, not_before, not_after, fingerprint, secret,
        created_at, uploaded_at, version FROM apns_credential ORDER BY id
      """
    ) { found.append(Self.read($0)) }
    return found
  }

  func secrets() throws(StoreFault) -> [(id: Int64, secret: [UInt8])] {
    var secrets: [(id: Int64, secret: [UInt8])] = []
    try database.each("SELECT id, secret FROM apns_credential ORDER BY id") { secrets.append(($0.int(0), $0.blob(1))) }
    return secrets
  }

  func set(secret: [UInt8], of id: Int64) throws(StoreFault) {
    try database.run("UPDATE apns_credential SET secret = ? WHERE id = ?", .blob(secret), .int(id))
  }

  func versions() throws(StoreFault) -> [Int64: Int64] {
    var versions: [Int64: Int64] = [:]
    try database.each("SELECT id, version FROM apns_credential") { versions[$0.int(0)] = $0.int(1) }
    return versions
  }

  /// Another of the app's that has one of the environments.
  private func occupant(_ credential: StoredCredential) throws(StoreFault) -> StoredCredential? {
    let id = try database.first(
      "SELECT id FROM apns_credential WHERE app = ? AND environments & ? AND id <> ? ORDER BY id LIMIT 1",
      .int(credential.app), .int(credential.environments.mask), .int(credential.id)
    ) { $0.int(0) }
    return try id.flatMap { id throws(StoreFault) in try self.credential(app: credential.app, id: id) }
  }

  private static func read(_ row: Row) -> StoredCredential {
    StoredCredential(
      id: row.int(0), app: row.int(1), environments: Set(mask: row.int(2)), name: row.text(3),
      keyID: row.optionalText(4), teamID: row.optionalText(5),
      topics: row.text(6).split(separator: "\n").map(String.init),
      notBefore: row.optionalInt(7).map(Instant.init(milliseconds:)),
      notAfter: row.optionalInt(8).map(Instant.init(milliseconds:)), fingerprint: row.text(9), secret: row.blob(10),
      createdAt: Instant(milliseconds: row.int(11)), uploadedAt: Instant(milliseconds: row.int(12)),
      version: row.int(13))
  }
}

extension Set<APNSEnvironment> {
  /// A bit for each, by its number.
  fileprivate var mask: Int64 { reduce(0) { $0 | 1 << Int64($1.rawValue) } }

  fileprivate init(mask: Int64) { self.init(APNSEnvironment.allCases.filter { mask & 1 << Int64($0.rawValue) != 0 }) }
}
