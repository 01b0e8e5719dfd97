public import Audience
public import Basics

/// An in-app message to be kept with the push that it came in (device.md K).
public struct MessageDraft: Sendable, Equatable {
  /// A JSON object: what the app is given, as it was written (case C45).
  public var body: [UInt8]
  /// From here on nobody gets it, nor finds it in a history; nil: it lasts.
  public var expiresAt: Instant?
  /// Whom it is for, whatever became of their tokens.
  public var audience: [AudienceReach.ShardAudience]
  /// The aliases that it is addressed by: what waits for one of them never reaches a device that has it no more (case C36).
  public var aliases: Set<String>

  public init(
    body: [UInt8], expiresAt: Instant?, audience: [AudienceReach.ShardAudience], aliases: Set<String> = []
  ) {
    self.body = body
    self.expiresAt = expiresAt
    self.audience = audience
    self.aliases = aliases
  }
}

/// Something in a device's inbox.
public struct InboxEntry: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// With its JSON object.
    case message(body: [UInt8])
    /// The message with the id was withdrawn.
    case withdrawal
  }

  /// Where it stands among the app's messages: those of one device come in this order, which is that of their acceptance.
  public var position: Int64
  /// The message id.
  public var id: Int64
  public var at: Instant
  public var kind: Kind

  public init(position: Int64, id: Int64, at: Instant, kind: Kind) {
    self.position = position
    self.id = id
    self.at = at
    self.kind = kind
  }
}

/// A part of a device's inbox, read on one state of the store.
public struct InboxPage: Sendable, Equatable {
  public var entries: [InboxEntry]
  /// There are more in the direction that was asked for.
  public var hasMore: Bool
  /// The app's last position in that state: what is accepted later stands above it.
  public var through: Int64

  public init(entries: [InboxEntry], hasMore: Bool, through: Int64) {
    self.entries = entries
    self.hasMore = hasMore
    self.through = through
  }
}

/// Which part of an inbox: entries between two positions, neither of which is in it.
public struct InboxRange: Sendable, Equatable {
  public var after: Int64
  public var before: Int64
  public var newestFirst: Bool
  public var limit: Int

  public init(after: Int64 = 0, before: Int64 = .max, newestFirst: Bool = false, limit: Int) {
    self.after = after
    self.before = before
    self.newestFirst = newestFirst
    self.limit = limit
  }
}

/// How far a device has come.
public struct InboxState: Sendable, Equatable {
  /// It has said that it has everything up to here.
  public var acknowledged: Int64
  /// Of what stands up to here in the app, some may have been removed for its age.
  public var forgotten: Int64
  /// The app's last position.
  public var last: Int64

  public init(acknowledged: Int64, forgotten: Int64, last: Int64) {
    self.acknowledged = acknowledged
    self.forgotten = forgotten
    self.last = last
  }
}

/// A device says that it has everything up to a position.
public struct InboxAcknowledgement: Sendable, Equatable {
  public var app: Int64
  public var ordinal: DeviceOrdinal
  public var position: Int64
  /// The messages that it had of them, with their positions; nil: all that lie between and have not expired.
  public var delivered: [Delivered]?

  public struct Delivered: Sendable, Equatable {
    public var position: Int64
    /// The message id.
    public var id: Int64

    public init(position: Int64, id: Int64) {
      self.position = position
      self.id = id
    }
  }

  public init(app: Int64, ordinal: DeviceOrdinal, position: Int64, delivered: [Delivered]?) {
    self.app = app
    self.ordinal = ordinal
    self.position = position
    self.delivered = delivered
  }
}

/// What happened to inboxes just now.
public enum InboxNews: Sendable {
  case entry(InboxNotice)
  case end(app: Int64, InboxEnd)
}

/// Credentials that are good no more from here on.
public enum InboxEnd: Sendable, Equatable {
  case appDeleted
  case deviceDeleted(DeviceOrdinal)
  /// The device registered anew, and was given another secret.
  case secretReplaced(DeviceOrdinal)
}

/// Something was put into inboxes.
public struct InboxNotice: Sendable {
  public var app: Int64
  public var entry: InboxEntry
  public var expiresAt: Instant?
  public var audience: [AudienceReach.ShardAudience]

  public init(
    app: Int64, entry: InboxEntry, expiresAt: Instant?, audience: [AudienceReach.ShardAudience]
  ) {
    self.app = app
    self.entry = entry
    self.expiresAt = expiresAt
    self.audience = audience
  }
}

/// How a message stands.
public struct MessageProgress: Sendable, Equatable {
  /// The message id.
  public var id: Int64
  public var acceptedAt: Instant
  public var expiresAt: Instant?
  public var withdrawnAt: Instant?
  /// A JSON object, also of one that was withdrawn.
  public var body: [UInt8]
  public var targeted: Int
  /// Devices that said that they have it, each counted once.
  public var delivered: Int
  /// Devices whose user has read it, likewise.
  public var read: Int

  public init(
    id: Int64, acceptedAt: Instant, expiresAt: Instant?, withdrawnAt: Instant?, body: [UInt8], targeted: Int,
    delivered: Int, read: Int
  ) {
    self.id = id
    self.acceptedAt = acceptedAt
    self.expiresAt = expiresAt
    self.withdrawnAt = withdrawnAt
    self.body = body
    self.targeted = targeted
    self.delivered = delivered
    self.read = read
  }
}

/// One message and one device.
public struct MessageTrace: Sendable, Equatable {
  public var message: MessageProgress
  public var state: State
  public var readAt: Instant?

  public enum State: Sendable, Equatable {
    case notMeant
    /// It waits for the device, unless the message has expired or was withdrawn.
    case waiting
    /// It waits for the next device that takes the alias: this one, whom it was for, has it no more, or was installed
    /// anew and has not taken it since (case C36).
    case waitingForAlias(String)
    /// The device has said that it has everything up to it; `at` is the last time that it said so of anything.
    case delivered(at: Instant)
  }

  public init(message: MessageProgress, state: State, readAt: Instant?) {
    self.message = message
    self.state = state
    self.readAt = readAt
  }
}
