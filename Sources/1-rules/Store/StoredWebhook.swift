public import Basics

/// What a webhook may be told of; the numbers are kept in stores.
public enum WebhookEventKind: UInt8, CaseIterable, Sendable {
  /// Every device of a push ended.
  case pushFinished = 1
  /// APNs said that a token is dead, and it is believed.
  case tokenRetired = 2
  /// A device said that its user opened a push.
  case clicked = 3
  /// The first of an app's pushes waits for an operator: a credential is refused or missing, or a topic is wrong for many.
  case sendingHeldBack = 4
  /// More of an app's devices failed lately than `FailureSpike` allows.
  case failuresSpiked = 5
  /// APNs accepted a push for a device.
  case sent = 6
  /// A push ended otherwise for a device.
  case undelivered = 7
  /// A device said that it has a push: its service extension had it, or it was shown.
  case delivered = 8
}

/// An address of an app server's that hears of events.
public struct StoredWebhook: Sendable, Equatable {
  /// Given by the store; never again.
  public var id: Int64
  public var app: Int64
  public var url: String
  public var events: Set<WebhookEventKind>
  /// While it is not, nothing is posted; what happens then is not told later either.
  public var isEnabled: Bool
  /// Sealed by whoever keeps it.
  public var secret: [UInt8]
  /// The one before, which still signs beside it for a while.
  public var former: FormerSecret?
  /// Under which it was asked for, with what was asked for.
  public var clientID: String?
  public var request: [UInt8]
  public var createdAt: Instant
  /// Grows by each edit, from 1.
  public var version: Int64
  /// Attempts in a row that were not taken.
  public var failures: Int
  /// When it is to be posted to; nil: there is nothing to tell.
  public var dueAt: Instant?
  /// Grows each time that somebody takes it.
  public var turn: Int64
  /// Events that it did not take in time, and when such went last.
  public var dropped = 0
  public var droppedAt: Instant?

  public struct FormerSecret: Sendable, Equatable {
    /// Sealed likewise.
    public var secret: [UInt8]
    public var until: Instant

    public init(_ secret: [UInt8], until: Instant) {
      self.secret = secret
      self.until = until
    }
  }

  public init(
    id: Int64 = 0, app: Int64, url: String, events: Set<WebhookEventKind>, isEnabled: Bool, secret: [UInt8],
    clientID: String? = nil, request: [UInt8] = [], createdAt: Instant, version: Int64 = 1, failures: Int = 0,
    dueAt: Instant? = nil, turn: Int64 = 0
  ) {
    self.id = id
    self.app = app
    self.url = url
    self.events = events
    self.isEnabled = isEnabled
    self.secret = secret
    self.clientID = clientID
    self.request = request
    self.createdAt = createdAt
    self.version = version
    self.failures = failures
    self.dueAt = dueAt
    self.turn = turn
  }
}

public enum WebhookCreation: Sendable, Equatable {
  /// With its id.
  case created(StoredWebhook)
  /// The same client id made this one within the window.
  case repeated(StoredWebhook)
  /// The app has as many as it may; nothing was kept.
  case full
}

/// Where the events of one push go besides the app's webhooks (JPush's `callback`).
public struct PushCallback: Sendable, Equatable {
  /// nil: nowhere besides.
  public var url: String?
  /// Those that go to `url`.
  public var events: Set<WebhookEventKind>
  /// JSON that comes with every event of the push, wherever that goes.
  public var params: [UInt8]?

  public init(url: String?, events: Set<WebhookEventKind>, params: [UInt8]?) {
    self.url = url
    self.events = events
    self.params = params
  }
}

/// An event that a webhook is still to be told.
public struct OutboxEvent: Sendable, Equatable {
  /// The same in every attempt, and never another's, also after a backup was restored: by it a receiver tells repeats.
  public var id: Int64
  public var kind: WebhookEventKind
  public var at: Instant
  public var push: Int64?
  /// JSON that the push's `PushCallback` gave.
  public var params: [UInt8]?
  public var registrationID: String?
  /// How a device ended, of `.undelivered`.
  public var outcome: OutcomeKind?
  /// Why, of `.tokenRetired` and `.sendingHeldBack`.
  public var words: String?
  /// How many devices ended how: all of the push, of `.pushFinished`; within the window, of `.failuresSpiked`.
  public var counts: [OutcomeKind: Int]

  public init(
    id: Int64, kind: WebhookEventKind, at: Instant, push: Int64? = nil, params: [UInt8]? = nil,
    registrationID: String? = nil, outcome: OutcomeKind? = nil, words: String? = nil, counts: [OutcomeKind: Int] = [:]
  ) {
    self.id = id
    self.kind = kind
    self.at = at
    self.push = push
    self.params = params
    self.registrationID = registrationID
    self.outcome = outcome
    self.words = words
    self.counts = counts
  }
}

/// Events that left the outbox of a webhook untold.
public struct DroppedEvents: Sendable, Equatable {
  public var app: Int64
  /// nil: they were for the address that a push brought along.
  public var webhook: Int64?
  public var count: Int

  public init(app: Int64, webhook: Int64?, count: Int) {
    self.app = app
    self.webhook = webhook
    self.count = count
  }
}

/// One attempt to tell a webhook of events.
public struct WebhookAttempt: Sendable, Equatable {
  public var at: Instant
  /// The first of the events, and how many.
  public var firstEvent: Int64
  public var events: Int
  /// The receiver's answer; nil: none.
  public var status: Int?
  /// Why it counts as not taken; nil: it was taken.
  public var fault: String?
  public var took: Instant.Span

  public init(at: Instant, firstEvent: Int64, events: Int, status: Int?, fault: String?, took: Instant.Span) {
    self.at = at
    self.firstEvent = firstEvent
    self.events = events
    self.status = status
    self.fault = fault
    self.took = took
  }
}
