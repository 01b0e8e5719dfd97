public import Audience
public import Basics
public import Store

/// What takes a note for the audit log, for tests that are about something else.
extension Store {
  private var note: AuditNote { AuditNote(.appMade, at: StoreSamples.noon, doer: AuditDoer(.service)) }

  public func createApp(_ app: StoredApp) async throws(StoreFault) -> StoredApp {
    try await createApp(app, audit: note)
  }

  public func renewSecret(app id: Int64, hash: String) async throws(StoreFault) -> Bool {
    try await renewSecret(app: id, hash: hash, audit: note)
  }

  public func renameApp(_ id: Int64, name: String?, ifFingerprint fingerprint: UInt64?) async throws(StoreFault) -> Bool
  {
    try await renameApp(id, name: name, ifFingerprint: fingerprint, audit: note)
  }

  public func withdrawMessage(app: Int64, id: Int64, at now: Instant) async throws(StoreFault) -> Bool {
    try await withdrawMessage(app: app, id: id, at: now, audit: nil)
  }

  public func deleteApp(_ id: Int64, at now: Instant) async throws(StoreFault) {
    try await deleteApp(id, at: now, audit: note)
  }

  public func addCredential(_ credential: StoredCredential) async throws(StoreFault) -> CredentialAnswer {
    try await addCredential(credential, audit: note)
  }

  public func rotateCredential(_ credential: StoredCredential) async throws(StoreFault) -> CredentialAnswer {
    try await rotateCredential(credential, audit: note)
  }

  public func deleteCredential(app: Int64, id: Int64) async throws(StoreFault) -> Bool {
    try await deleteCredential(app: app, id: id, audit: note)
  }

  public func createAccount(_ account: StoredAccount) async throws(StoreFault) -> StoredAccount {
    try await createAccount(account, audit: note)
  }

  public func add(app: Int64, toGroup group: Int64) async throws(StoreFault) {
    try await add(app: app, toGroup: group, audit: note)
  }

  public func deleteDevice(app: Int64, registrationID: String) async throws(StoreFault) -> Bool {
    try await deleteDevice(app: app, registrationID: registrationID, audit: note)
  }

  public func finishImport(app: Int64, source: String) async throws(StoreFault) {
    try await finishImport(app: app, source: source, audit: note)
  }

  public func keepSegment(
    app: Int64, _ segment: StoredSegment, ifVersion: Int64?
  ) async throws(StoreFault) -> StoredSegment? {
    try await keepSegment(app: app, segment, ifVersion: ifVersion, audit: note)
  }

  public func deleteSegment(app: Int64, id: String) async throws(StoreFault) -> Bool {
    try await deleteSegment(app: app, id: id, audit: note)
  }

  public func keepTest(app: Int64, _ test: StoredABTest) async throws(StoreFault) -> StoredABTest? {
    try await keepTest(app: app, test, audit: note)
  }

  public func deleteTest(app: Int64, id: String) async throws(StoreFault) -> Bool {
    try await deleteTest(app: app, id: id, audit: note)
  }

  public func control(
    app: Int64, push: Int64, _ control: PushControl, at now: Instant
  ) async throws(StoreFault) -> PushControlAnswer {
    try await self.control(app: app, push: push, control, at: now, audit: note)
  }

  public func createSchedule(
    _ schedule: StoredSchedule, limit: Int, clientIDsSince since: Instant
  ) async throws(StoreFault) -> ScheduleCreation {
    try await createSchedule(schedule, limit: limit, clientIDsSince: since, audit: note)
  }

  public func changeSchedule(_ old: StoredSchedule, to new: StoredSchedule) async throws(StoreFault) -> Bool {
    try await changeSchedule(old, to: new, audit: note)
  }

  public func deleteSchedule(app: Int64, id: String) async throws(StoreFault) -> Bool {
    try await deleteSchedule(app: app, id: id, audit: note)
  }

  public func createWebhook(
    _ webhook: StoredWebhook, limit: Int, clientIDsSince since: Instant
  ) async throws(StoreFault) -> WebhookCreation {
    try await createWebhook(webhook, limit: limit, clientIDsSince: since, audit: note)
  }

  public func changeWebhook(
    _ old: StoredWebhook, to new: StoredWebhook, at now: Instant
  ) async throws(StoreFault) -> Bool {
    try await changeWebhook(old, to: new, at: now, audit: note)
  }

  public func deleteWebhook(app: Int64, id: Int64) async throws(StoreFault) -> Bool {
    try await deleteWebhook(app: app, id: id, audit: note)
  }

  public func changeDevice(
    app: Int64, registrationID: String, _ edit: DeviceEdit, limits: DeviceLimits
  ) async throws(StoreFault) -> DeviceEditAnswer {
    try await changeDevice(app: app, registrationID: registrationID, edit, limits: limits, audit: nil)
  }

  public func changeTag(
    app: Int64, name: String, _ edit: TagEdit, limits: DeviceLimits
  ) async throws(StoreFault) -> MembershipAnswer {
    try await changeTag(app: app, name: name, edit, limits: limits, audit: note)
  }

  public func deleteTag(app: Int64, name: String) async throws(StoreFault) {
    try await deleteTag(app: app, name: name, audit: note)
  }

  public func removeAlias(
    app: Int64, alias: String, from registrationIDs: [String]
  ) async throws(StoreFault) -> MembershipAnswer {
    try await removeAlias(app: app, alias: alias, from: registrationIDs, audit: note)
  }

  public func deleteAlias(app: Int64, alias: String) async throws(StoreFault) {
    try await deleteAlias(app: app, alias: alias, audit: note)
  }

  public func keepFile(_ file: StoredFile, parts: [[UInt8]], limit: Int) async throws(StoreFault) -> Bool {
    try await keepFile(file, parts: parts, limit: limit, audit: note)
  }

  public func deleteFile(app: Int64?, id: String) async throws(StoreFault) {
    try await deleteFile(app: app, id: id, audit: note)
  }

  public func accept(
    _ push: StoredPush, audience: [AudienceReach.ShardAudience], companion: PlannedPush? = nil, message: MessageDraft?,
    clientIDsSince since: Instant
  ) async throws(StoreFault) -> Acceptance {
    try await accept(
      push, audience: audience, companion: companion, message: message, clientIDsSince: since, audit: nil)
  }
}
