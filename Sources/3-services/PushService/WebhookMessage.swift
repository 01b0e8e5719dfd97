import Basics
import PushPayload
import Store

/// What is posted: some events of one app, each under an id that stays the same in every attempt (docs/webhooks.md).
struct WebhookMessage {
  var first: Int64
  var count: Int
  var body: [UInt8]

  static let mostEvents = 100

  init(_ events: [OutboxEvent], of app: AppRecord) {
    first = events.first?.id ?? 0
    count = events.count
    body = Self.body(app, events.map(Self.object))
  }

  /// The test button's.
  init(test app: AppRecord, at now: Instant) {
    (first, count) = (0, 1)
    let id = "test_\(Sodium.randomHex(digits: 16))"
    body = Self.body(app, [["id": .string(id), "type": "test", "at": .string(now.description)]])
  }

  private static func body(_ app: AppRecord, _ events: [JSONValue]) -> [UInt8] {
    JSONValue.object(["app": .string(app.key), "events": .array(events)]).encoded()
  }

  static func id(_ event: Int64) -> String { "evt_\(event)" }

  private static func object(_ event: OutboxEvent) -> JSONValue {
    var object: JSONObject = [
      "id": .string(id(event.id)), "type": .string(WebhookEvent(event.kind).rawValue),
      "at": .string(event.at.description),
    ]
    object["msg_id"] = event.push.map { .string(String($0)) }
    object["registrationId"] = event.registrationID.map(JSONValue.string)
    switch event.kind {
    case .tokenRetired, .sendingHeldBack: object["reason"] = event.words.map(JSONValue.string)
    case .undelivered: if let outcome = event.outcome { object.members += members(outcome) }
    case .pushFinished: object["devices"] = counts(event.counts)
    case .failuresSpiked:
      let (failed, ended) = FailureSpike.figures(event.counts)
      object["failed"] = .number(JSONNumber(failed))
      object["ended"] = .number(JSONNumber(ended))
      object["devices"] = counts(event.counts)
    case .clicked, .sent, .delivered: break
    }
    object["params"] = event.params.flatMap { try? JSONReader.read($0).value }
    return .object(object)
  }

  private static func members(_ outcome: OutcomeKind) -> [JSONObject.Member] {
    let (word, reason) = outcome.words
    return [.init("outcome", .string(word))] + (reason.map { [.init("reason", .string($0))] } ?? [])
  }

  /// As `GET /v1/pushes/{msg_id}` counts them.
  private static func counts(_ counts: [OutcomeKind: Int]) -> JSONValue {
    var object: JSONObject = [
      "accepted": 0, "expired": 0, "unanswered": 0, "skipped": 0, "skippedByPreference": 0, "withdrawn": 0,
    ]
    var refused: [(reason: String, count: Int)] = []
    for (kind, count) in counts {
      let (word, reason) = kind.words
      if let reason { refused.append((reason, count)) } else { object[word] = .number(JSONNumber(count)) }
    }
    object["refused"] = .array(
      refused.sorted { $0.reason < $1.reason }.map {
        ["reason": .string($0.reason), "count": .number(JSONNumber($0.count))]
      })
    return .object(object)
  }

  /// `Belfry-Signature: t=<seconds since 1970>,v1=<hex of HMAC-SHA256 over "t.body">`, with a `v1` for each secret.
  func signed(_ secrets: [[UInt8]], for url: String, at now: Instant) -> Webhooking.Request {
    let signed = Array("\(now.seconds).".utf8) + body
    let signatures = secrets.map { ",v1=\(Sodium.hmacSHA256(signed, key: $0).hex)" }.joined()
    return Webhooking.Request(
      url: url,
      headers: [
        "Content-Type": "application/json", "User-Agent": "Belfry-Webhooks",
        "Belfry-Signature": "t=\(now.seconds)\(signatures)",
      ], body: body)
  }
}

extension OutcomeKind {
  /// The words of `/v1`; of a refusal Apple's reason too.
  fileprivate var words: (outcome: String, reason: String?) {
    switch self {
    case .accepted: ("accepted", nil)
    case .refused(let reason): ("refused", reason)
    case .expired: ("expired", nil)
    case .unanswered: ("unanswered", nil)
    case .skipped: ("skipped", nil)
    case .skippedByPreference: ("skippedByPreference", nil)
    case .withdrawn: ("withdrawn", nil)
    }
  }
}
