public import Audience
public import Basics

/// What the services keep: apps, devices, pushes and how far each has come.
///
/// What an engine owes:
/// - **Whole or not at all.** Each operation is one transaction: after a fault, a crash or a full disk nothing of it is
///   there. A fault never leaves the store unusable for the next operation.
/// - **Durable before it returns.** What an operation answered survives the end of the process and of the machine.
/// - **In order.** An operation that begins after another returned sees what that one did.
/// - **Idempotent where it says so**, since callers repeat what they do not know to be done.
/// - **With its note.** An operation that takes an `AuditNote` keeps it in its own transaction when it changed something, and
///   only then; where the note's app or subject is given by the operation, that is filled in.
/// - Times and random values come in as arguments; an engine reads no clock.
/// - Any task may call, at any time, as many as like; a caller waits, but no event loop and no thread of Swift's pool
///   is blocked.
public protocol Store: MessageStore {
  // MARK: Apps

  /// `.taken` when the key is there already. The id in `app` is ignored and given anew.
  func createApp(_ app: StoredApp, audit: AuditNote) async throws(StoreFault) -> StoredApp
  func app(key: String) async throws(StoreFault) -> StoredApp?
  /// By id; also those that were deleted.
  func apps() async throws(StoreFault) -> [StoredApp]
  /// Another secret's hash takes the place of the app's; false, and nothing was done, when it was deleted or never there.
  func renewSecret(app id: Int64, hash: String, audit: AuditNote) async throws(StoreFault) -> Bool
  /// false, and nothing was done, when the app's fingerprint is another than `fingerprint` (nil: whatever it is), when it
  /// was deleted, or was never there.
  func renameApp(
    _ id: Int64, name: String?, ifFingerprint fingerprint: UInt64?, audit: AuditNote
  ) async throws(StoreFault) -> Bool
  /// Notes that the app is no more, withdraws those of its pushes that have not ended, forgets its schedules, credentials and
  /// webhooks, and takes it out of its groups. Its key stays taken. Once more it changes nothing.
  func deleteApp(_ id: Int64, at now: Instant, audit: AuditNote) async throws(StoreFault)

  // MARK: Credentials for APNs

  /// Keeps a credential under a new id, as version 1. An app has one at most for each environment.
  func addCredential(_ credential: StoredCredential, audit: AuditNote) async throws(StoreFault) -> CredentialAnswer
  /// Replaces all of it but id, app and `createdAt`, under the next version, if it is of the version given.
  func rotateCredential(_ credential: StoredCredential, audit: AuditNote) async throws(StoreFault) -> CredentialAnswer
  /// false when there is none.
  func deleteCredential(app: Int64, id: Int64, audit: AuditNote) async throws(StoreFault) -> Bool
  func credential(app: Int64, id: Int64) async throws(StoreFault) -> StoredCredential?
  /// By id, those after the given one; at most `limit`.
  func credentials(app: Int64, after: Int64, limit: Int) async throws(StoreFault) -> [StoredCredential]
  /// Of all apps, by id.
  func credentials() async throws(StoreFault) -> [StoredCredential]
  /// The versions of all by their ids: other than before when any was added, rotated or deleted.
  func credentialVersions() async throws(StoreFault) -> [Int64: Int64]

  // MARK: Groups and developers

  /// `.taken` when the key is there already. The id in `account` is ignored and given anew.
  func createAccount(_ account: StoredAccount, audit: AuditNote) async throws(StoreFault) -> StoredAccount
  func account(_ kind: StoredAccount.Kind, key: String) async throws(StoreFault) -> StoredAccount?
  /// By id.
  func accounts(_ kind: StoredAccount.Kind) async throws(StoreFault) -> [StoredAccount]
  /// Nothing happens when it is there already.
  func add(app: Int64, toGroup group: Int64, audit: AuditNote) async throws(StoreFault)
  /// By id.
  func apps(ofGroup group: Int64) async throws(StoreFault) -> [Int64]
  /// The pushes accepted with that `groupPush`, by app.
  func parts(ofGroupPush id: Int64) async throws(StoreFault) -> [GroupPart]

  // MARK: Devices

  /// Keeps a new device under the next ordinal of its app, or, when the app has one with this token, makes that one new:
  /// environment, secret, facts and time of registration are replaced and its token lives; it keeps its registration
  /// id, alias, tags, badge and preference. `.taken` when a new device's registration id is there already.
  func register(_ draft: DeviceDraft) async throws(StoreFault) -> StoredDevice
  func device(app: Int64, registrationID: String) async throws(StoreFault) -> StoredDevice?
  /// Those of the ids that the app has, in the order given, each once.
  func devices(app: Int64, registrationIDs: [String]) async throws(StoreFault) -> [StoredDevice]
  /// Who has the alias, whatever became of their tokens, oldest first.
  func devices(app: Int64, alias: String) async throws(StoreFault) -> [StoredDevice]
  /// A token belongs to one device: another that had it under the same purpose has it no more. A new token of the device's
  /// own that is of the other environment takes those beside it away, since they are of the former. Without `audit` where the
  /// device changes itself.
  func changeDevice(
    app: Int64, registrationID: String, _ edit: DeviceEdit, limits: DeviceLimits, audit: AuditNote?
  ) async throws(StoreFault) -> DeviceEditAnswer

  /// Names of living tokens of the purpose's kind, in the order of their bytes, those after the given one; at most `limit`.
  func tokenNames(
    app: Int64, like purpose: TokenPurpose, after: String?, limit: Int
  ) async throws(StoreFault) -> [TokenName]

  /// The tokens that devices have beside their own, by the ordinals of those that have any; each device's by kind and name.
  func purposeTokens(
    app: Int64, of ordinals: ClosedRange<DeviceOrdinal>
  ) async throws(StoreFault) -> [DeviceOrdinal: [PurposeToken]]

  /// Notes that the device was heard of; may leave out what is less than a minute newer than what it has and of the same
  /// hour, and an older time always. Nothing happens without such a device.
  func noteSeen(app: Int64, registrationID: String, at now: Instant) async throws(StoreFault)

  /// How many registered and how many were heard of, by the units of time that begin in the range; units without anybody
  /// are not there. A device that is deleted later stays counted.
  func usage(
    app: Int64, _ unit: UsageUnit, from: Instant, before: Instant
  ) async throws(StoreFault) -> [Instant: UsageCount]

  /// The device is gone with all that was kept of it; its ordinal is never given again. false without such a device.
  func deleteDevice(app: Int64, registrationID: String, audit: AuditNote) async throws(StoreFault) -> Bool

  // MARK: Removing what is old

  /// Removes a piece of what is old, some milliseconds' work; false when nothing is left. A push is gone at once, also
  /// what devices report of it; pushes with devices that have not ended stay, and so does the last push of all. What is a
  /// deleted app's goes whatever its age.
  func forget(_ ages: Forgetting) async throws(StoreFault) -> Bool

  // MARK: Importing devices

  /// Keeps those of the devices that the app does not have, in this order, each as if it had registered and been edited;
  /// and with them how far their source has come. One answer for each.
  func importDevices(
    app: Int64, _ devices: [ImportedDevice], limits: DeviceLimits, mark: ImportMark
  ) async throws(StoreFault) -> [ImportAnswer]
  /// nil when nothing of the source is dealt with, or its import was finished.
  func importMark(app: Int64, source: String) async throws(StoreFault) -> ImportMark?
  /// The source is dealt with whole.
  func finishImport(app: Int64, source: String, audit: AuditNote) async throws(StoreFault)

  // MARK: Tags and aliases

  /// The app's tags in the order of their bytes, those after the given one; at most `limit`.
  func tags(app: Int64, after: String?, limit: Int) async throws(StoreFault) -> [StoredTag]
  func tag(app: Int64, name: String) async throws(StoreFault) -> StoredTag?
  func changeTag(
    app: Int64, name: String, _ edit: TagEdit, limits: DeviceLimits, audit: AuditNote
  ) async throws(StoreFault) -> MembershipAnswer
  /// Nobody has the tag from here on; takes as long for millions as for one.
  func deleteTag(app: Int64, name: String, audit: AuditNote) async throws(StoreFault)
  /// Takes the alias from those of the devices that have it.
  func removeAlias(
    app: Int64, alias: String, from registrationIDs: [String], audit: AuditNote
  ) async throws(StoreFault) -> MembershipAnswer
  func deleteAlias(app: Int64, alias: String, audit: AuditNote) async throws(StoreFault)

  // MARK: Audiences

  /// Evaluates an audience on one state of the app's devices: what was changed before the call counts, what is changed
  /// after the answer does not.
  func reach(
    app: Int64, _ audience: AudienceExpression, _ environment: APNSEnvironment, at now: Instant
  ) async throws(StoreFault) -> AudienceReach
  /// Those meant, in the order of their ordinals, after the given one; at most `limit`.
  func devices(
    app: Int64, in audience: AudienceExpression, after: DeviceOrdinal?, limit: Int, at now: Instant
  ) async throws(StoreFault) -> [StoredDevice]

  // MARK: Segments and A/B tests

  /// By id, those after the given one; at most `limit`.
  func segments(app: Int64, after: String?, limit: Int) async throws(StoreFault) -> [StoredSegment]
  func segment(app: Int64, id: String) async throws(StoreFault) -> StoredSegment?
  /// Keeps a new segment or replaces the one of its id, and answers it with its new version; nil, and nothing is kept, when
  /// `ifVersion` is not the one that is there.
  func keepSegment(
    app: Int64, _ segment: StoredSegment, ifVersion: Int64?, audit: AuditNote
  ) async throws(StoreFault) -> StoredSegment?
  /// false when there is none.
  func deleteSegment(app: Int64, id: String, audit: AuditNote) async throws(StoreFault) -> Bool

  /// By id, those after the given one; at most `limit`.
  func tests(app: Int64, after: String?, limit: Int) async throws(StoreFault) -> [StoredABTest]
  func test(app: Int64, id: String) async throws(StoreFault) -> StoredABTest?
  /// Keeps a new test; answers the one that is there already, and then keeps nothing.
  func keepTest(app: Int64, _ test: StoredABTest, audit: AuditNote) async throws(StoreFault) -> StoredABTest?
  /// false when there is none. Its pushes stay.
  func deleteTest(app: Int64, id: String, audit: AuditNote) async throws(StoreFault) -> Bool
  /// The pushes to variants of the test, oldest first; at most `limit`.
  func pushes(app: Int64, ofTest id: String, limit: Int) async throws(StoreFault) -> [VariantPush]

  // MARK: Files

  /// Keeps a file with its lines, pieces that end with a line feed each; forgets those that have expired. false, and
  /// nothing was kept, when its app (or all developers together) has `limit` that have not.
  func keepFile(_ file: StoredFile, parts: [[UInt8]], limit: Int, audit: AuditNote) async throws(StoreFault) -> Bool
  /// nil when it has expired.
  func file(id: String, at now: Instant) async throws(StoreFault) -> StoredFile?
  /// Those of an app, or of developers, that have not expired; oldest first.
  func files(app: Int64?, at now: Instant) async throws(StoreFault) -> [StoredFile]
  /// Nothing happens unless it is theirs.
  func deleteFile(app: Int64?, id: String, audit: AuditNote) async throws(StoreFault)

  // MARK: Pushes

  /// The highest message id ever accepted; 0 when there is none.
  func lastPushID() async throws(StoreFault) -> Int64

  /// Keeps a push with its audience, its companion with it if there is one, and the in-app message that comes in it; what the
  /// app's push `replaces` and its companion still owe is withdrawn, and its message. With a
  /// `clientID` that the app used no earlier than `since`, answers that push and keeps nothing; an older use is forgotten.
  /// `.taken` when the message id is there already. Without `audit` where nobody asked for the push.
  func accept(
    _ push: StoredPush, audience: [AudienceReach.ShardAudience], companion: PlannedPush?, message: MessageDraft?,
    clientIDsSince since: Instant, audit: AuditNote?
  ) async throws(StoreFault) -> Acceptance

  /// The push that the app accepted under this `cid` no earlier than `since`.
  func push(
    app: Int64, clientID: String, since: Instant
  ) async throws(StoreFault) -> (push: StoredPush, targeted: Int)?

  /// Shards that still owe, by push and shard, those after the given one; at most `limit`.
  func unfinished(after: OpenShard?, limit: Int) async throws(StoreFault) -> [OpenShard]

  /// Takes hold of a shard for `holder` and claims up to `claiming` of its pending devices, lowest first. `holder` is
  /// new for each call. A hold lasts until the shard is finished, it is released, or the process (on an engine for many
  /// machines: the machine) of its holder died.
  ///
  /// **Claiming** a device for a push applies the push's badge arithmetic to the badge kept for the device, once per
  /// device and message id however often it is claimed, and answers the badge as it is now. A claim that is returned counts
  /// no more: what it added is taken away, unless the badge was set since. A device whose token died
  /// or moved to the other environment since, or that has no token of the push's address any more, is not answered but ends
  /// as `.skipped` in the same transaction, and one
  /// whose user wants only the scheduled push, or not the push's channel, as `.skippedByPreference` when the push heeds that;
  /// no badge is counted for
  /// either. Past the push's deadline `begin` claims nobody, and neither does anybody claim for a push that is paused or
  /// withdrawn, nor more devices that were not claimed before than the push's pace allows at `now`.
  ///
  /// A push to a channel is claimed for `PushAddress.channelRecipient`, with the channel's id in the place of a token; it ends as
  /// `.skipped` when APNs accepted a later one of the app for that channel, which the channel must not forget for it.
  ///
  /// With a push that has a timing, devices for whose place it is too early are neither claimed nor in `pending`; where it is
  /// quiet and that drops the push they end as `.skipped`. A device's place is what it told, by its name's rules in `zones`;
  /// one that told none, or none that is known, is where the timing says.
  func begin(
    push: Int64, shard: ShardIndex, holder: UInt64, claiming: Int, at now: Instant,
    zones: @escaping @Sendable (String) -> TimeZoneRules?
  ) async throws(StoreFault) -> ShardStart

  /// In one transaction: takes back the claims of `returning`, marks the devices of `outcomes` as ended, counts them, keeps for `explain` what became of each
  /// and when (of those `.accepted` a set with one time for the call), retires tokens by `TokenEvidence.verdict`, and claims `claiming`. An outcome for a device that has ended
  /// already changes nothing. When nothing is owed any more the shard is finished and, if it was the last, the push.
  /// nil when the hold is not valid (any more); then nothing was done.
  func advance(
    _ hold: ShardHold, outcomes: [DeviceOutcome], returning: [ReturnedClaim], claiming: [DeviceOrdinal],
    at now: Instant
  ) async throws(StoreFault) -> ShardAdvance?

  /// Gives a shard back; nothing happens when the hold is not valid.
  func release(_ hold: ShardHold) async

  /// Notes why a push waits; nil when it goes on. A change of it is kept as a step.
  func setWaiting(push: Int64, _ reason: String?, at now: Instant) async throws(StoreFault)

  /// Pauses a push, withdraws it, or has it go on. Counts for every claim from its return on; nothing is ended by it.
  func control(
    app: Int64, push: Int64, _ control: PushControl, at now: Instant, audit: AuditNote
  ) async throws(StoreFault) -> PushControlAnswer

  /// Notes that what phones show of the push is to be cleared, once every device of it has ended. false without the push.
  func askToClear(app: Int64, push: Int64, audit: AuditNote) async throws(StoreFault) -> Bool
  /// Those for which that was asked and `noteCleared` was not called.
  func pushesToClear() async throws(StoreFault) -> [PushToClear]
  func noteCleared(push: Int64) async throws(StoreFault)
  /// The devices that APNs accepted the push for, as far as their token lives and is of its environment.
  func recipients(app: Int64, push: Int64) async throws(StoreFault) -> [AudienceReach.ShardAudience]

  /// Pushes of the app that have a pace and are not finished.
  func pacedPushes(app: Int64) async throws(StoreFault) -> Int

  func progress(app: Int64, push: Int64) async throws(StoreFault) -> PushProgress?
  /// Those with an id below `before`, the highest first; at most `limit`.
  func pushes(app: Int64, before: Int64, limit: Int) async throws(StoreFault) -> [PushProgress]
  func trace(app: Int64, push: Int64, registrationID: String) async throws(StoreFault) -> DeviceTraceAnswer

  // MARK: Schedules

  /// Keeps a schedule, unless the app has `limit` that are not over. With a `clientID` that the app used no earlier than
  /// `since` for one that is still there, answers that one and keeps nothing. `.taken` when the id is there already.
  func createSchedule(
    _ schedule: StoredSchedule, limit: Int, clientIDsSince since: Instant, audit: AuditNote
  ) async throws(StoreFault) -> ScheduleCreation

  func schedule(app: Int64, id: String) async throws(StoreFault) -> StoredSchedule?

  /// Those with a number above `after`, by number; with `onlyLive` only those that are not over. `total` counts what lies
  /// on other pages too, but not what `after` leaves out.
  func schedules(
    app: Int64, onlyLive: Bool, after: Int64, skipping: Int, limit: Int
  ) async throws(StoreFault) -> SchedulePage

  /// Replaces what may change of the schedule with that id: all but number, app, `clientID` and `createdAt`, under the next
  /// version. false, and nothing was done, unless version and `last` are those of `old`.
  func changeSchedule(
    _ old: StoredSchedule, to new: StoredSchedule, audit: AuditNote
  ) async throws(StoreFault) -> Bool

  /// false when there is none. Its firings go with it; the pushes stay.
  func deleteSchedule(app: Int64, id: String, audit: AuditNote) async throws(StoreFault) -> Bool

  /// Of all apps, those with `dueAt` no later than `now`, the longest overdue first.
  func dueSchedules(at now: Instant, limit: Int) async throws(StoreFault) -> [StoredSchedule]

  /// When the next of all apps is due; nil: none is.
  func nextScheduleDue() async throws(StoreFault) -> Instant?

  /// In one transaction: notes the step with its firing and, with a push, accepts that and its companion. So each due time makes one push at
  /// most, whoever else is at it and whenever the process ends. false, and nothing was done, when the schedule is gone or
  /// its version or `last` is not what the step was reckoned from. `.taken` when the message id is there already.
  func take(
    _ step: ScheduleStep, push: StoredPush?, audience: [AudienceReach.ShardAudience], companion: PlannedPush?,
    message: MessageDraft?
  ) async throws(StoreFault) -> Bool

  /// Oldest first; at most 1,000, the newest ones.
  func firings(app: Int64, schedule id: String) async throws(StoreFault) -> [ScheduleFiring]

  // MARK: Reports

  /// Keeps what a device says became of pushes on it, each answered in the order given. A kind counts once for a device
  /// and a push, however often it is said. What was before the push was accepted counts as then.
  func keep(
    _ reports: [DeviceReport], app: Int64, registrationID: String, at now: Instant
  ) async throws(StoreFault) -> [ReportAnswer]

  /// Whether each device has said that it had the push, in the order given.
  func reportStandings(
    app: Int64, push: Int64, registrationIDs: [String]
  ) async throws(StoreFault) -> [ReportStanding]

  /// nil when the app has no such push.
  func breakdown(app: Int64, push: Int64) async throws(StoreFault) -> PushBreakdown?

  // MARK: Webhooks

  /// Keeps a webhook under a new id, unless the app has `limit`. With a `clientID` that the app used no earlier than `since`
  /// for one that is still there, answers that one and keeps nothing.
  func createWebhook(
    _ webhook: StoredWebhook, limit: Int, clientIDsSince since: Instant, audit: AuditNote
  ) async throws(StoreFault) -> WebhookCreation
  /// By id, those after the given one; at most `limit`.
  func webhooks(app: Int64, after: Int64, limit: Int) async throws(StoreFault) -> [StoredWebhook]
  func webhook(app: Int64, id: Int64) async throws(StoreFault) -> StoredWebhook?
  /// Replaces address, events, `isEnabled` and both secrets, and forgets its failures: what it is still to be told is due now.
  /// false, and nothing was done, unless the version is that of `old`.
  func changeWebhook(
    _ old: StoredWebhook, to new: StoredWebhook, at now: Instant, audit: AuditNote
  ) async throws(StoreFault) -> Bool
  /// With all that it was still to be told. false when there is none.
  func deleteWebhook(app: Int64, id: Int64, audit: AuditNote) async throws(StoreFault) -> Bool

  // What happens is put into the outbox of each webhook of its app that wants it, in the transaction in which it happens: by
  // `advance` and `begin` what became of devices, pushes and tokens; by `keep` what devices say; by `setWaiting` that the
  // first push of the app waits. What becomes of a push with a `PushCallback` goes to its address too, signed by the
  // secret of the app's oldest webhook.

  /// When the next webhook is due; nil: none is.
  func nextWebhookDue() async throws(StoreFault) -> Instant?
  /// Takes webhooks that are due, the longest first, for whoever asks alone: they are due again at `until`, unless `note` or
  /// `release` says otherwise. One that is due only after `horizon` is taken too: a clock was set back.
  func takeWebhooks(
    at now: Instant, until: Instant, horizon: Instant, limit: Int
  ) async throws(StoreFault) -> [StoredWebhook]
  /// What it is to be told, oldest first; at most `limit`.
  func outbox(webhook: Int64, limit: Int) async throws(StoreFault) -> [OutboxEvent]
  /// Keeps an attempt, of which the last 100 stay. Events up to `last` were taken and leave the outbox; with nil it failed.
  /// What is left is due at `next`. Answers whether something is left; false also, and nothing was done, when another has
  /// taken the webhook since.
  func note(
    _ attempt: WebhookAttempt, of webhook: StoredWebhook, taken last: Int64?, next: Instant
  ) async throws(StoreFault) -> Bool
  /// Gives a webhook back, due at once if something is left; nothing happens when another has taken it since.
  func release(_ webhook: StoredWebhook, at now: Instant) async throws(StoreFault)
  /// Removes some of the events that were kept before `time`, and counts them in the records of their webhooks; empty when
  /// none is left.
  func dropEvents(before time: Instant, at now: Instant) async throws(StoreFault) -> [DroppedEvents]
  /// Newest first.
  func attempts(webhook: Int64) async throws(StoreFault) -> [WebhookAttempt]

  /// Tells the apps of which more devices failed lately than `spike` allows, each once until it is over. How devices ended is
  /// counted by `advance` and `begin` for apps with a webhook that wants to know, by the minute, and forgotten here.
  func tellSpikes(_ spike: FailureSpike, at now: Instant) async throws(StoreFault)

  // MARK: Sealed secrets

  /// Replaces each secret of credentials and webhooks by what `body` makes of it, all or, when it answers nil for one, none.
  /// Versions stay. Answers whether it was done.
  func reseal(
    audit: AuditNote, _ body: @escaping @Sendable (SealedSecret, [UInt8]) -> [UInt8]?
  ) async throws(StoreFault) -> Bool

  // MARK: Audit

  /// Keeps a line of the audit log by itself.
  func note(_ note: AuditNote) async throws(StoreFault)
  /// Newest first, those with an id below `before`; at most `limit`.
  func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws(StoreFault) -> [AuditEntry]

  // MARK: The store itself

  /// Writes and removes something; a fault says why the store takes no writes now.
  func check() async throws(StoreFault)

  /// Finishes what was begun and gives everything back; every later call is answered `.closed`.
  func close() async
}

extension Store {
  /// For pushes without a message, for which nobody asked.
  public func accept(
    _ push: StoredPush, audience: [AudienceReach.ShardAudience], companion: PlannedPush? = nil,
    clientIDsSince since: Instant
  ) async throws(StoreFault) -> Acceptance {
    try await accept(push, audience: audience, companion: companion, message: nil, clientIDsSince: since, audit: nil)
  }

  /// For pushes without a message.
  public func take(
    _ step: ScheduleStep, push: StoredPush?, audience: [AudienceReach.ShardAudience], companion: PlannedPush? = nil
  ) async throws(StoreFault) -> Bool {
    try await take(step, push: push, audience: audience, companion: companion, message: nil)
  }

  /// Where every claim was used.
  public func advance(
    _ hold: ShardHold, outcomes: [DeviceOutcome], claiming: [DeviceOrdinal], at now: Instant
  ) async throws(StoreFault) -> ShardAdvance? {
    try await advance(hold, outcomes: outcomes, returning: [], claiming: claiming, at: now)
  }

  /// For pushes without a timing.
  public func begin(
    push: Int64, shard: ShardIndex, holder: UInt64, claiming: Int, at now: Instant
  ) async throws(StoreFault) -> ShardStart {
    try await begin(push: push, shard: shard, holder: holder, claiming: claiming, at: now, zones: { _ in nil })
  }
}
