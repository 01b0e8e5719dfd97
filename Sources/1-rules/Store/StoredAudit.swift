public import Basics

/// What somebody did that others may ask about later; the numbers are kept in stores.
public enum AuditKind: UInt8, CaseIterable, Sendable {
  case appMade = 1
  case appDeleted = 2
  case secretRenewed = 3
  case credentialAdded = 4
  case credentialRotated = 5
  case credentialRemoved = 6
  case pushPaused = 7
  case pushResumed = 8
  case pushWithdrawn = 9
  case scheduleMade = 10
  case scheduleChanged = 11
  case scheduleDeleted = 12
  case segmentKept = 13
  case segmentDeleted = 14
  case testMade = 15
  case testDeleted = 16
  case deviceDeleted = 17
  case devicesImported = 18
  case groupMade = 19
  case groupJoined = 20
  case developerMade = 21
  case backupMade = 22
  case sealingKeyRenewed = 23
  /// Phones were to show it no more.
  case pushCleared = 24
  case webhookMade = 25
  case webhookChanged = 26
  case webhookDeleted = 27
  /// By a call; not what a schedule makes.
  case pushSent = 28
  /// By the app's server; not by the device itself.
  case deviceChanged = 29
  /// Given to devices or taken from them.
  case tagChanged = 30
  case tagDeleted = 31
  /// Taken from devices.
  case aliasChanged = 32
  case aliasDeleted = 33
  case fileAdded = 34
  case fileDeleted = 35
  case channelMade = 36
  case channelDeleted = 37
  case appRenamed = 38
  case webhookSecretRenewed = 39
  case messageWithdrawn = 40

  /// As `/v1` and `belfry audit` write it.
  public var word: String {
    switch self {
    case .appMade: "app.made"
    case .appDeleted: "app.deleted"
    case .secretRenewed: "app.secretRenewed"
    case .credentialAdded: "credential.added"
    case .credentialRotated: "credential.rotated"
    case .credentialRemoved: "credential.removed"
    case .pushPaused: "push.paused"
    case .pushResumed: "push.resumed"
    case .pushWithdrawn: "push.withdrawn"
    case .scheduleMade: "schedule.made"
    case .scheduleChanged: "schedule.changed"
    case .scheduleDeleted: "schedule.deleted"
    case .segmentKept: "segment.kept"
    case .segmentDeleted: "segment.deleted"
    case .testMade: "abTest.made"
    case .testDeleted: "abTest.deleted"
    case .deviceDeleted: "device.deleted"
    case .devicesImported: "devices.imported"
    case .groupMade: "group.made"
    case .groupJoined: "group.joined"
    case .developerMade: "developer.made"
    case .backupMade: "backup.made"
    case .sealingKeyRenewed: "sealingKey.renewed"
    case .pushCleared: "push.cleared"
    case .webhookMade: "webhook.made"
    case .webhookChanged: "webhook.changed"
    case .webhookDeleted: "webhook.deleted"
    case .pushSent: "push.sent"
    case .deviceChanged: "device.changed"
    case .tagChanged: "tag.changed"
    case .tagDeleted: "tag.deleted"
    case .aliasChanged: "alias.changed"
    case .aliasDeleted: "alias.deleted"
    case .fileAdded: "file.added"
    case .fileDeleted: "file.deleted"
    case .channelMade: "channel.made"
    case .channelDeleted: "channel.deleted"
    case .appRenamed: "app.renamed"
    case .webhookSecretRenewed: "webhook.secretRenewed"
    case .messageWithdrawn: "message.withdrawn"
    }
  }
}

/// Who did it; the numbers are kept in stores.
public struct AuditDoer: Sendable, Hashable {
  public enum Kind: UInt8, Sendable {
    /// By the app's own key and master secret.
    case app = 1
    case developer = 2
    /// `belfry` on the machine that has the data.
    case command = 3
    /// Nobody asked from outside.
    case service = 4
    /// By a group's key and master secret.
    case group = 5
  }

  public var kind: Kind
  /// Of an app, developer or group its key, of a command the user who ran it.
  public var key: String?

  public init(_ kind: Kind, key: String? = nil) {
    self.kind = kind
    self.key = key
  }
}

/// One line of the audit log. Holds no secret.
public struct AuditNote: Sendable, Hashable {
  public var kind: AuditKind
  public var at: Instant
  /// Whose; nil where it is no app's.
  public var app: Int64?
  public var doer: AuditDoer
  /// From where, as far as the service saw it.
  public var address: String?
  /// The id, key or name of what it was done to.
  public var subject: String?
  public var words: String?

  public init(
    _ kind: AuditKind, at: Instant, app: Int64? = nil, doer: AuditDoer, address: String? = nil, subject: String? = nil,
    words: String? = nil
  ) {
    self.kind = kind
    self.at = at
    self.app = app
    self.doer = doer
    self.address = address
    self.subject = subject
    self.words = words
  }
}

public struct AuditEntry: Sendable, Hashable {
  /// Grows; never again.
  public var id: Int64
  public var note: AuditNote

  public init(id: Int64, note: AuditNote) {
    self.id = id
    self.note = note
  }
}

/// Which lines of the log; nil: whatever it is.
public struct AuditFilter: Sendable, Hashable {
  public var app: Int64?
  public var kind: AuditKind?
  public var from: Instant?
  public var before: Instant?

  public init(app: Int64? = nil, kind: AuditKind? = nil, from: Instant? = nil, before: Instant? = nil) {
    self.app = app
    self.kind = kind
    self.from = from
    self.before = before
  }
}
