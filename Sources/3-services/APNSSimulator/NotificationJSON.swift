internal import Basics
internal import PushPayload

/// How pushes are told over the control port.
enum NotificationJSON {
  /// `{"last": …, "notifications": [ … ]}`. A payload that is JSON stands in it byte for byte, so that digits and order
  /// stay as they were sent (case C45); another one is told as base64 in `payloadBase64`.
  static func list(_ entries: [LoggedNotification], last: UInt64) -> [UInt8] {
    var bytes = Array("{\"last\":\(last),\"notifications\":[".utf8)
    for (place, entry) in entries.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += value(of: entry).encoded().dropLast()
      if (try? JSONReader.read(entry.push.payload)) != nil {
        bytes += ",\"payload\":".utf8
        bytes += entry.push.payload
      } else {
        bytes += ",\"payloadBase64\":".utf8
        bytes += JSONValue.string(entry.push.payload.base64).encoded()
      }
      bytes.append(UInt8(ascii: "}"))
    }
    bytes += "]}".utf8
    return bytes
  }

  /// Everything but the payload.
  private static func value(of entry: LoggedNotification) -> JSONValue {
    let push = entry.push
    var object = headers(of: push)
    object.members.insert(JSONObject.Member("number", .number(JSONNumber(entry.number))), at: 0)
    object["device"] = .string(entry.device)
    object["receivedAt"] = .string("\(push.receivedAt)")
    if let uniqueID = entry.uniqueID { object["uniqueId"] = .string(uniqueID) }
    let (state, at, why) = words(of: entry.fate)
    object["state"] = .string(state)
    if let at { object["stateSince"] = .string("\(at)") }
    if let why { object["why"] = .string(why) }
    object["size"] = .number(JSONNumber(push.payload.count))
    object["remarks"] = .array(entry.remarks.map { .string($0) })
    object["findings"] = .array(findings(of: push).map(value(of:)))
    return .object(object)
  }

  static func headers(of push: DeliveredPush) -> JSONObject {
    var object: JSONObject = [
      "id": .string(push.id), "token": .string(push.token.hex), "topic": .string(push.topic),
      "bundle": .string(push.bundleID), "environment": .string(push.environment.rawValue),
      "pushType": .string(push.pushType.rawValue), "priority": .number(JSONNumber(push.priority.rawValue)),
    ]
    if let collapseID = push.collapseID { object["collapseId"] = .string(collapseID) }
    if let expiration = push.expiration { object["expiration"] = .number(JSONNumber(expiration)) }
    return object
  }

  static func value(of entry: LoggedRefusal) -> JSONValue {
    var object: JSONObject = [
      "number": .number(JSONNumber(entry.number)), "at": .string("\(entry.at)"), "id": .string(entry.id),
      "path": .string(entry.path), "topic": .string(entry.topic),
      "status": .number(JSONNumber(entry.refusal.reason.status)), "reason": .string(entry.refusal.reason.rawValue),
      "why": .string(entry.refusal.explanation),
    ]
    if let since = entry.refusal.since { object["timestamp"] = .number(JSONNumber(since.milliseconds)) }
    return .object(object)
  }

  private static func words(of fate: LoggedNotification.Fate) -> (String, Instant?, String?) {
    switch fate {
    case .stored: ("stored", nil, nil)
    case .sent(let at): ("sent", at, nil)
    case .delivered(let at): ("delivered", at, nil)
    case .replaced(let at): ("replaced", at, "a newer push for the app took its place")
    case .expired(let at): ("expired", at, "expired unsent at \(at)")
    case .dropped(let at, let why): ("dropped", at, why)
    }
  }

  /// What lint has to say, asked only when somebody looks.
  private static func findings(of push: DeliveredPush) -> [Finding] {
    var context = LintContext()
    context.headers = PushHeaders(
      id: nil, topic: push.topic, pushType: push.pushType.rawValue, priority: "\(push.priority.rawValue)",
      expiration: push.expiration.map { "\($0)" }, collapseID: push.collapseID)
    context.now = push.receivedAt
    return Lint.check(push.payload, context)
  }

  private static func value(of finding: Finding) -> JSONValue {
    [
      "code": .string(finding.code.rawValue), "severity": .string(finding.severity.rawValue),
      "path": .string("\(finding.path)"), "message": .string(finding.message), "fix": .string(finding.fix),
    ]
  }
}
