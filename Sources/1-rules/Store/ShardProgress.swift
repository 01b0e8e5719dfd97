public import Audience
public import Basics

/// A shard of a push that still owes.
public struct OpenShard: Sendable, Hashable {
  public var app: Int64
  public var push: Int64
  public var shard: ShardIndex
  /// Devices that have not ended, at most what is true.
  public var devices: UInt32

  public init(app: Int64, push: Int64, shard: ShardIndex, devices: UInt32) {
    self.app = app
    self.push = push
    self.shard = shard
    self.devices = devices
  }
}

/// The right to work on one shard of one push; at most one is valid at a time.
public struct ShardHold: Sendable, Hashable {
  public var push: Int64
  public var shard: ShardIndex
  public var holder: UInt64

  public init(push: Int64, shard: ShardIndex, holder: UInt64) {
    self.push = push
    self.shard = shard
    self.holder = holder
  }
}

public enum ShardStart: Sendable {
  /// Work on it.
  case begun(BegunShard)
  /// Somebody else works on it.
  case busy
  /// Nothing is owed, or there is no such push. `endedPush`: this call ended the push's last devices; `ended` counts them.
  case finished(endedPush: Bool, ended: [OutcomeKind: Int] = [:])
}

/// A shard to work on.
public struct BegunShard: Sendable {
  public var hold: ShardHold
  public var push: StoredPush
  /// What `setWaiting` noted last.
  public var waiting: String?
  /// Its audience without those that ended.
  public var pending: DeviceSet
  /// The first of them.
  public var claimed: [ClaimedDevice]
  /// Devices that this call ended, since they are not to be sent to.
  public var ended: [OutcomeKind: Int]
  /// Nobody is claimed unless it runs.
  public var control: PushControl
  /// When somebody may be claimed that was not, since it is too early; nil: nobody waits for that.
  public var nextAt: Instant?

  public init(
    hold: ShardHold, push: StoredPush, waiting: String?, pending: DeviceSet, claimed: [ClaimedDevice],
    ended: [OutcomeKind: Int], control: PushControl, nextAt: Instant?
  ) {
    self.hold = hold
    self.push = push
    self.waiting = waiting
    self.pending = pending
    self.claimed = claimed
    self.ended = ended
    self.control = control
    self.nextAt = nextAt
  }
}

/// A device about to be sent to.
public struct ClaimedDevice: Sendable, Equatable {
  public var ordinal: DeviceOrdinal
  public var token: [UInt8]
  /// With the push's arithmetic applied.
  public var badge: Int32
  /// As the device told it last.
  public var appVersion: String?
  /// Where the push differs by what is known of a recipient.
  public var recipient: Recipient?
  /// What this claim did to the badge kept for the device; nil where an earlier one has counted, whose push may have left.
  public var counted: BadgeCount?

  public init(
    ordinal: DeviceOrdinal, token: [UInt8], badge: Int32, appVersion: String? = nil, recipient: Recipient? = nil,
    counted: BadgeCount? = nil
  ) {
    self.ordinal = ordinal
    self.token = token
    self.badge = badge
    self.appVersion = appVersion
    self.recipient = recipient
    self.counted = counted
  }

  /// What is known of it.
  public struct Recipient: Sendable, Hashable {
    public var registrationID: String
    public var alias: String?
    public var facts: DeviceFacts

    public init(registrationID: String, alias: String?, facts: DeviceFacts) {
      self.registrationID = registrationID
      self.alias = alias
      self.facts = facts
    }
  }
}

/// What a claim did to a badge, so that it can be taken back when no phone can have had the push.
public struct BadgeCount: Sendable, Equatable {
  /// By so much it became another.
  public var difference: Int32
  /// Counts how often the badge was set; when it has been set since, there is nothing to take back.
  public var round: Int64

  public init(difference: Int32, round: Int64) {
    self.difference = difference
    self.round = round
  }
}

/// A device that was claimed and whose push certainly did not leave by that. Without `counted` it stays as it is.
public struct ReturnedClaim: Sendable, Equatable {
  public var ordinal: DeviceOrdinal
  public var counted: BadgeCount?

  public init(_ device: ClaimedDevice) {
    ordinal = device.ordinal
    counted = device.counted
  }
}

/// How a device ended in a push.
public enum OutcomeKind: Sendable, Hashable {
  case accepted
  /// Apple's word.
  case refused(String)
  case expired
  case unanswered
  /// Its token died or changed its environment between acceptance and sending.
  case skipped
  /// Its user wants only the scheduled push (D-333), or not the push's channel.
  case skippedByPreference
  /// The push was withdrawn before it left.
  case withdrawn
}

extension OutcomeKind {
  /// Whether devices end so that were not claimed before.
  public var isOfUnclaimed: Bool {
    switch self {
    case .expired, .withdrawn: true
    case .accepted, .refused, .unanswered, .skipped, .skippedByPreference: false
    }
  }
}

public struct DeviceOutcome: Sendable, Equatable {
  public var ordinal: DeviceOrdinal
  public var kind: OutcomeKind
  /// HTTP status of a refusal.
  public var status: Int?
  /// Words for `explain` that `kind` does not hold.
  public var note: String?
  public var evidence: TokenEvidence?
  /// That of the claim; the engine finds it itself where `kind.isOfUnclaimed`.
  public var appVersion: String?
  /// That of the claim, where no phone can have had the push: taken back.
  public var uncounts: BadgeCount?

  public init(
    ordinal: DeviceOrdinal, kind: OutcomeKind, status: Int? = nil, note: String? = nil, evidence: TokenEvidence? = nil,
    appVersion: String? = nil, uncounts: BadgeCount? = nil
  ) {
    self.uncounts = uncounts
    self.ordinal = ordinal
    self.kind = kind
    self.status = status
    self.note = note
    self.evidence = evidence
    self.appVersion = appVersion
  }
}

public struct ShardAdvance: Sendable {
  public var claimed: [ClaimedDevice]
  /// Devices that this call ended, each counted once ever: by their outcome, or because they are not to be sent to.
  public var ended: [OutcomeKind: Int]
  /// As in `BegunShard`.
  public var control: PushControl
  public var nextAt: Instant?
  /// What became of tokens that evidence spoke against: registration ids and words.
  public var retired: [TokenNotice]
  public var kept: [TokenNotice]
  /// Nothing is owed in this shard any more; the hold is gone.
  public var shardFinished: Bool
  /// And in no other of the push.
  public var pushFinished: Bool

  public struct TokenNotice: Sendable, Equatable {
    public var registrationID: String
    public var words: String
    public init(registrationID: String, words: String) {
      self.registrationID = registrationID
      self.words = words
    }
  }

  public init(
    claimed: [ClaimedDevice], ended: [OutcomeKind: Int], retired: [TokenNotice], kept: [TokenNotice],
    shardFinished: Bool, pushFinished: Bool, control: PushControl = .running, nextAt: Instant? = nil
  ) {
    self.claimed = claimed
    self.ended = ended
    self.retired = retired
    self.kept = kept
    self.control = control
    self.nextAt = nextAt
    self.shardFinished = shardFinished
    self.pushFinished = pushFinished
  }
}
