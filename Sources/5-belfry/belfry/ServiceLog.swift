import APNSClient
import Audience
import Basics
import PushPayload
import PushService
import Transport

/// One line of JSON an event on standard error, for operators and for what collects logs: `time`, `level`, `event` and
/// `message` first, then what belongs to the event, under keys that stay (docs/serve.md). Holds no secret and no payload;
/// a device token only shortened to its first eight digits.
struct ServiceLog: Sendable {
  enum Level: String {
    /// Usual: told with `--verbose` only.
    case info
    /// Said once when something is over that was told as warning or alarm.
    case notice
    case warning
    /// Nothing of some kind is sent until somebody acts.
    case alarm
  }

  let clock: any WallClock
  /// Whether what is usual is told too, or only what wants a look.
  var isVerbose: Bool
  var write: @Sendable (String) -> Void = { Terminal.complain($0) }

  func service(_ event: ServiceEvent) {
    switch event {
    case .alarm(let app, let message, let reason):
      tell(.alarm, "sending_held", reason, ["app": .string(app), "msg_id": .string("\(message)")])
    case .alarmOver(let app): tell(.notice, "sending_resumed", "sending goes on", ["app": .string(app)])
    case .accepted(let app, let message, let targeted):
      tell(
        .info, "push_accepted", "push accepted",
        ["app": .string(app), "msg_id": .string("\(message)"), "targeted": .number(JSONNumber(targeted))])
    case .finished(let app, let message):
      tell(.info, "push_finished", "push finished", ["app": .string(app), "msg_id": .string("\(message)")])
    case .tokenRetired(let app, let id, let reason):
      tell(.info, "token_retired", reason, ["app": .string(app), "registration_id": .string(id)])
    case .tokenKept(let app, let id, let reason):
      tell(.info, "token_kept", reason, ["app": .string(app), "registration_id": .string(id)])
    case .credentialChanged(let app, let words): tell(.notice, "credential_changed", words, ["app": .string(app)])
    case .scheduleTrouble(let id, let words): tell(.warning, "schedule_trouble", words, ["schedule_id": .string(id)])
    case .webhookTrouble(let app, let id, let words):
      tell(.warning, "webhook_failing", words, ["app": .string(app), "webhook": .string("\(id)")])
    case .webhookEventsDropped(let app, let id, let count):
      var fields: JSONObject = ["app": .string(app), "events": .number(JSONNumber(count))]
      fields["webhook"] = id.map { .string("\($0)") }
      tell(.alarm, "webhook_events_dropped", "\(count) events went untold: nobody took them in time", fields)
    case .storeTrouble(let words): tell(.alarm, "store_trouble", words)
    }
  }

  /// `credential` is the bundle id, or `*`, that the client sends for; nil when many.
  func client(_ event: APNSClientEvent, credential: String? = nil, environment: APNSEnvironment? = nil) {
    if case .refused = event, !isVerbose { return }  // may be many
    var fields: JSONObject = [:]
    fields["credential"] = credential.map { .string($0) }
    fields["environment"] = environment.map { .string("\($0)") }
    switch event {
    case .connected(let endpoint):
      fields["at"] = .string("\(endpoint)")
      tell(.info, "apns_connected", "connected to APNs", fields)
    case .disconnected(let endpoint, let why):
      fields["at"] = .string("\(endpoint)")
      tell(.info, "apns_disconnected", why, fields)
    case .connectFailed(let fault):
      fields["at"] = .string(fault.place)
      tell(.warning, "apns_unreachable", "\(fault)", fields)
    case .goAway(let endpoint, let reason):
      fields["at"] = .string("\(endpoint)")
      fields["reason"] = reason.map { .string($0) }
      tell(.info, "apns_goaway", "APNs ends a connection", fields)
    case .refused(let push):
      fields["apns_id"] = .string(push.id)
      fields["token"] = .string(push.token)
      fields["topic"] = .string(push.topic)
      fields["status"] = .number(JSONNumber(push.status))
      fields["reason"] = .string(push.reason)
      tell(.info, "push_refused", "APNs did not take a push", fields)
    case .alarm(let words): tell(.alarm, "apns_held", words, fields)
    case .credentialRotated(let name):
      tell(.notice, "credential_rotated", "new connections use \(name); the old ones end with what they owe", fields)
    case .certificateUnusable(let words): tell(.alarm, "certificate_unusable", words, fields)
    case .certificateEnding(let words): tell(.warning, "certificate_ending", words, fields)
    }
  }

  func tell(_ level: Level, _ event: String, _ message: String, _ fields: JSONObject = [:]) {
    guard level != .info || isVerbose else { return }
    let head: [JSONObject.Member] = [
      .init("time", .string("\(clock.now)")), .init("level", .string(level.rawValue)), .init("event", .string(event)),
      .init("message", .string(message)),
    ]
    write(JSONValue.object(JSONObject(head + fields.members)).text)
  }
}
