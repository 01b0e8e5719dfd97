import Store

/// What a webhook may be told of (docs/webhooks.md).
public enum WebhookEvent: String, CaseIterable, Sendable {
  case pushFinished = "push.finished"
  case tokenRetired = "token.retired"
  case clicked = "push.clicked"
  case sendingHeldBack = "sending.held_back"
  case failuresSpiked = "failures.spiked"
  case sent = "push.sent"
  case undelivered = "push.undelivered"
  case delivered = "push.delivered"

  /// What a webhook hears of that names nothing: not what becomes of each device of each push, which may be millions.
  public static let usual: Set<WebhookEvent> = [
    .pushFinished, .tokenRetired, .clicked, .sendingHeldBack, .failuresSpiked,
  ]

  init(_ kind: WebhookEventKind) {
    switch kind {
    case .pushFinished: self = .pushFinished
    case .tokenRetired: self = .tokenRetired
    case .clicked: self = .clicked
    case .sendingHeldBack: self = .sendingHeldBack
    case .failuresSpiked: self = .failuresSpiked
    case .sent: self = .sent
    case .undelivered: self = .undelivered
    case .delivered: self = .delivered
    }
  }

  var kind: WebhookEventKind {
    switch self {
    case .pushFinished: .pushFinished
    case .tokenRetired: .tokenRetired
    case .clicked: .clicked
    case .sendingHeldBack: .sendingHeldBack
    case .failuresSpiked: .failuresSpiked
    case .sent: .sent
    case .undelivered: .undelivered
    case .delivered: .delivered
    }
  }
}
