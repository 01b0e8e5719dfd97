public import Audience
public import Basics
public import Store

extension StoreSQLite {
  // MARK: Devices

  public func register(_ draft: DeviceDraft) async throws(StoreFault) -> StoredDevice {
    try await writer.run { database throws(StoreFault) in try DeviceTable(database).register(draft) }
  }

  public func device(app: Int64, registrationID: String) async throws(StoreFault) -> StoredDevice? {
    try await reader.run { database throws(StoreFault) in
      try DeviceTable(database).device(app: app, registrationID: registrationID)
    }
  }

  public func devices(app: Int64, registrationIDs: [String]) async throws(StoreFault) -> [StoredDevice] {
    try await reader.run { database throws(StoreFault) in
      try DeviceTable(database).devices(app: app, registrationIDs: registrationIDs)
    }
  }

  public func devices(app: Int64, alias: String) async throws(StoreFault) -> [StoredDevice] {
    try await reader.run { database throws(StoreFault) in try DeviceTable(database).devices(app: app, alias: alias) }
  }

  public func changeDevice(
    app: Int64, registrationID: String, _ edit: DeviceEdit, limits: DeviceLimits, audit: AuditNote?
  ) async throws(StoreFault) -> DeviceEditAnswer {
    try await writer.run { database throws(StoreFault) in
      let table = DeviceTable(database)
      guard let audit else { return try table.change(app: app, registrationID: registrationID, edit, limits: limits) }
      let before = try table.device(app: app, registrationID: registrationID)?.fingerprint
      let answer = try table.change(app: app, registrationID: registrationID, edit, limits: limits)
      let after = try table.device(app: app, registrationID: registrationID)?.fingerprint
      if after != before { try AuditTable(database).write(audit) }
      return answer
    }
  }

  public func tokenNames(
    app: Int64, like purpose: TokenPurpose, after: String?, limit: Int
  ) async throws(StoreFault) -> [TokenName] {
    try await reader.run { database throws(StoreFault) in
      try SpecialTokenTable(database).names(app: app, like: purpose, after: after, limit: limit)
    }
  }

  public func purposeTokens(
    app: Int64, of ordinals: ClosedRange<DeviceOrdinal>
  ) async throws(StoreFault) -> [DeviceOrdinal: [PurposeToken]] {
    try await reader.run { database throws(StoreFault) in
      try SpecialTokenTable(database).tokens(app: app, of: ordinals)
    }
  }

  public func usage(
    app: Int64, _ unit: UsageUnit, from: Instant, before: Instant
  ) async throws(StoreFault) -> [Instant: UsageCount] {
    try await reader.run { database throws(StoreFault) in
      try UsageTable(database).counts(app: app, unit, from: from, before: before)
    }
  }

  public func noteSeen(app: Int64, registrationID: String, at now: Instant) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in
      try DeviceTable(database).noteSeen(app: app, registrationID: registrationID, at: now)
    }
  }

  public func deleteDevice(app: Int64, registrationID: String, audit: AuditNote) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try DeviceTable(database).delete(app: app, registrationID: registrationID)
    }
  }

  // MARK: Removing what is old

  public func forget(_ ages: Forgetting) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in try ForgettingTable(database).forget(ages) }
  }

  // MARK: Importing devices

  public func importDevices(
    app: Int64, _ devices: [ImportedDevice], limits: DeviceLimits, mark: ImportMark
  ) async throws(StoreFault) -> [ImportAnswer] {
    try await writer.run { database throws(StoreFault) in
      let table = ImportTable(database)
      try table.set(mark, app: app)
      return try table.insert(devices, into: app, limits: limits)
    }
  }

  public func importMark(app: Int64, source: String) async throws(StoreFault) -> ImportMark? {
    try await reader.run { database throws(StoreFault) in try ImportTable(database).mark(app: app, source: source) }
  }

  public func finishImport(app: Int64, source: String, audit: AuditNote) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in
      try ImportTable(database).forget(app: app, source: source)
      try AuditTable(database).write(audit)
    }
  }

  // MARK: Tags and aliases

  public func tags(app: Int64, after: String?, limit: Int) async throws(StoreFault) -> [StoredTag] {
    try await reader.run { database throws(StoreFault) in
      try TagTable(database).tags(app: app, after: after, limit: limit)
    }
  }

  public func tag(app: Int64, name: String) async throws(StoreFault) -> StoredTag? {
    try await reader.run { database throws(StoreFault) in try TagTable(database).tag(app: app, name: name) }
  }

  public func changeTag(
    app: Int64, name: String, _ edit: TagEdit, limits: DeviceLimits, audit: AuditNote
  ) async throws(StoreFault) -> MembershipAnswer {
    try await noting(audit) { database throws(StoreFault) in
      try TagTable(database).change(app: app, name: name, edit, limits: limits)
    }
  }

  /// With its note when somebody gained or lost something.
  private func noting(
    _ audit: AuditNote, _ body: @escaping @Sendable (Database) throws(StoreFault) -> MembershipAnswer
  ) async throws(StoreFault) -> MembershipAnswer {
    try await writer.run { database throws(StoreFault) in
      let answer = try body(database)
      if case .done(changed: 1...) = answer { try AuditTable(database).write(audit) }
      return answer
    }
  }

  public func deleteTag(app: Int64, name: String, audit: AuditNote) async throws(StoreFault) {
    let wasThere = try await writing(audit) { database throws(StoreFault) in
      try TagTable(database).drop(app: app, name: name)
    }
    if wasThere { sweepTags() }
  }

  /// Piece by piece between what others write; what is left when the store closes is swept after the next opening.
  func sweepTags() {
    Task {
      while (try? await writer.run { database throws(StoreFault) in try TagTable(database).sweep() }) == true {}
    }
  }

  public func removeAlias(
    app: Int64, alias: String, from registrationIDs: [String], audit: AuditNote
  ) async throws(StoreFault) -> MembershipAnswer {
    try await noting(audit) { database throws(StoreFault) in
      try DeviceTable(database).removeAlias(app: app, alias: alias, from: registrationIDs)
    }
  }

  public func deleteAlias(app: Int64, alias: String, audit: AuditNote) async throws(StoreFault) {
    _ = try await writing(audit) { database throws(StoreFault) in
      try DeviceTable(database).deleteAlias(app: app, alias: alias)
    }
  }

  // MARK: Audiences

  public func reach(
    app: Int64, _ audience: AudienceExpression, _ environment: APNSEnvironment, at now: Instant
  ) async throws(StoreFault) -> AudienceReach {
    try await reader.run { database throws(StoreFault) in
      try audience.reach(environment, in: AudienceTables(database, app: app), at: now)
    }
  }

  public func devices(
    app: Int64, in audience: AudienceExpression, after: DeviceOrdinal?, limit: Int, at now: Instant
  ) async throws(StoreFault) -> [StoredDevice] {
    try await reader.run { database throws(StoreFault) in
      let ordinals = try audience.ordinals(
        in: AudienceTables(database, app: app), at: now, after: after, limit: limit)
      return try DeviceTable(database).devices(app: app, ordinals: ordinals)
    }
  }
}
