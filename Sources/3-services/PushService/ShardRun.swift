import Audience
import Basics
import Delivery
import PushPayload
import Store

/// How far the work on a shard has come.
struct ShardRun {
  let hold: ShardHold
  let push: StoredPush
  let app: AppRecord
  /// Why the push waits, as the store has it.
  var waiting: String?
  /// Devices that had not ended when the work began.
  let pending: DeviceSet
  /// When somebody was claimed last, or could have been.
  var lookedAt: Instant
  /// Ended, but not committed yet.
  var unsaved: [DeviceOutcome] = []
  /// Claimed, and not given to the sender yet.
  private var unsent: [ClaimedDevice] = []
  /// Claims whose pushes never left, not committed yet.
  var returning: [ReturnedClaim] = []
  var isFinished = false

  private var lastClaimed: DeviceOrdinal?
  private var batch = ShardSender.firstBatch

  init(_ shard: BegunShard, app: AppRecord, at now: Instant) {
    lookedAt = now
    hold = shard.hold
    push = shard.push
    self.app = app
    waiting = shard.waiting
    pending = shard.pending
    claimed(shard.claimed)
  }

  var hasUnsent: Bool { !unsent.isEmpty }

  /// For the sender; from here on they may have left.
  mutating func taken() -> [ClaimedDevice] {
    defer { unsent = [] }
    return unsent
  }

  /// Nothing leaves for now.
  mutating func giveBack(_ devices: [ClaimedDevice] = []) {
    returning += (devices + unsent).map(ReturnedClaim.init)
    unsent = []
  }

  mutating func claimed(_ devices: [ClaimedDevice]) {
    unsent = devices
    guard let last = devices.last?.ordinal else { return }
    lastClaimed = max(lastClaimed ?? last, last)
  }

  /// The devices to claim next: more each time, up to the largest batch.
  mutating func next() -> [DeviceOrdinal] {
    batch = min(batch * 4, ShardSender.largestBatch)
    let ordinals = pending.ordinals(after: lastClaimed, limit: batch)
    lastClaimed = ordinals.last ?? lastClaimed
    return ordinals
  }
}

/// The answers to a batch, sorted by what follows from them.
struct Answers {
  /// All that need no second thought.
  var ended: [DeviceOutcome] = []
  /// Refused for a topic that may be wrong for the whole app.
  var wrongTopic: [DeviceOutcome] = []
  var wrongTopicReason: String?
  /// Whose pushes never left, or were refused; owed still unless they are in `wrongTopic` and that ends them.
  var unsent: [ClaimedDevice] = []
  var accepted = 0
  /// The sender waits for an operator; those devices are owed still.
  var suspended: String?
  /// The sender ends; those devices are owed still.
  var isClosing = false

  init(_ outcomes: [PushOutcome], _ batch: [ClaimedDevice], _ push: StoredPush, at now: Instant) {
    for (device, outcome) in zip(batch, outcomes) {
      switch outcome {
      case .accepted:
        accepted += 1
        ended.append(DeviceOutcome(ordinal: device.ordinal, kind: .accepted, appVersion: device.appVersion))
      case .refused(let refusal): refused(refusal, device, push, at: now)
      case .unanswered(.expired): ended.append(DeviceOutcome(ordinal: device.ordinal, kind: .expired))
      case .unanswered(.retriesExhausted(let words)):
        ended.append(
          DeviceOutcome(ordinal: device.ordinal, kind: .unanswered, note: words, appVersion: device.appVersion))
      case .unanswered(.closed), .unanswered(.cancelled): isClosing = true
      case .unanswered(.suspended(let reason)):
        suspended = reason
        unsent.append(device)
      }
    }
    if outcomes.count < batch.count { isClosing = true }
  }

  private mutating func refused(
    _ refusal: PushOutcome.Refusal, _ device: ClaimedDevice, _ push: StoredPush, at now: Instant
  ) {
    let reason = refusal.reason.isEmpty ? "HTTP \(refusal.status)" : refusal.reason
    var outcome = DeviceOutcome(
      ordinal: device.ordinal, kind: .refused(reason), status: refusal.status, appVersion: device.appVersion,
      uncounts: device.counted)
    if SendingGate.isWrongTopic(reason) {
      wrongTopicReason = reason
      wrongTopic.append(outcome)
      unsent.append(device)
      return
    }
    let kind: TokenEvidence.Kind? =
      switch (refusal.status, reason) {
      case (410, _): .gone(since: refusal.since)
      case (400, "BadDeviceToken"): .unknownToken
      default: nil
      }
    outcome.evidence = kind.map {
      TokenEvidence(
        kind: $0, reason: reason, token: device.token, environment: push.environment, answeredAt: now)
    }
    ended.append(outcome)
  }
}
