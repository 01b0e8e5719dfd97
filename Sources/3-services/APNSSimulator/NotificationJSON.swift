internal import Basics
internal import PushPayload

/// How pushes are told over the control port.
enum NotificationJSON {
  /// One answer to `GET /notifications`.
  struct Page {
    var entries: [LoggedNotification]
    /// The number of the oldest push still in the log.
    var first: UInt64
    /// The number of the newest push that was looked at.
    var last: UInt64
    /// Whether more match than stand in `entries`.
    var hasMore = false
    /// Why the waiting ended; nil when nobody waited.
    var wait: String?

    /// What to give as `since` to go on without missing or repeating one.
    var cursor: UInt64 { hasMore ? entries.last?.number ?? last : last }
  }

  /// A payload that is JSON stands in it byte for byte, so that digits and order stay as they were sent (case C45);
  /// another one is told as base64 in `payloadBase64`.
  static func text(of page: Page) -> [UInt8] {
    var head: JSONObject = [
      "first": .number(JSONNumber(page.first)), "last": .number(JSONNumber(page.last)),
      "cursor": .number(JSONNumber(page.cursor)), "more": .bool(page.hasMore),
    ]
    if let wait = page.wait { head["wait"] = .string(wait) }
    var bytes: [UInt8] = JSONValue.object(head).encoded().dropLast()
    bytes += ",\"notifications\":[".utf8
    for (place, entry) in page.entries.enumerated() {
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
    object["headers"] = .object(JSONObject(entry.headers.map { JSONObject.Member($0.name, .string($0.value)) }))
    object["receivedAt"] = .string("\(push.receivedAt)")
    if let uniqueID = entry.uniqueID { object["uniqueId"] = .string(uniqueID) }
    let (at, why) = words(of: entry.fate)
    object["state"] = .string(NotificationState(entry.fate).rawValue)
    object["stateSince"] = .string("\(at)")
    if let why { object["why"] = .string(why) }
    if !entry.earlier.isEmpty { object["earlier"] = .array(entry.earlier.map(value(of:))) }
    object["size"] = .number(JSONNumber(push.payload.count))
    object["remarks"] = .array(entry.remarks.map { .string($0) })
    object["findings"] = .array(entry.findings.map(\.json))
    return .object(object)
  }

  static func headers(of push: DeliveredPush) -> JSONObject {
    var object: JSONObject = [
      "id": .string(push.id), "token": .string(push.token.hex), "topic": .string(push.topic),
      "bundle": .string(push.bundleID), "environment": .string(push.environment.rawValue),
      "pushType": .string(push.pushType.rawValue), "priority": .number(JSONNumber(push.priority.rawValue)),
    ]
    if let channel = push.channelID { object["channel"] = .string(channel) }
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

  static func words(of fate: LoggedNotification.Fate) -> (at: Instant, why: String?) {
    switch fate {
    case .stored(let at, let cause): (at, words(of: cause))
    case .grouped(let at, let until): (at, "waits for others of low priority until \(until)")
    case .throttled(let at, let until):
      (at, "over the budget of background pushes, which has room again at \(until)")
    case .queued(let at): (at, "waits behind one that the phone has not acknowledged")
    case .sent(let at), .delivered(let at): (at, nil)
    case .replaced(let at): (at, "a newer push for the app took its place")
    case .expired(let at): (at, "expired unsent at \(at)")
    case .dropped(let at, let why): (at, why)
    }
  }

  private static func words(of cause: StoredCause) -> String {
    switch cause {
    case .offline: "the phone has no network"
    case .noCourier: "the phone's courier is away"
    case .asleep: "the phone is asleep, and the priority is not 10"
    case .lowPower: "the phone saves power, and the priority is not 10"
    }
  }

  private static func value(of fate: LoggedNotification.Fate) -> JSONValue {
    let (at, why) = words(of: fate)
    var object: JSONObject = ["state": .string(NotificationState(fate).rawValue), "at": .string("\(at)")]
    if let why { object["why"] = .string(why) }
    return .object(object)
  }
}

extension LoggedNotification {
  /// Its headers as they came, by name; those that were absent are left out, `authorization` is never told.
  var headers: [(name: String, value: String)] {
    var headers: [(String, String)] = []
    if let channel = push.channelID {
      headers.append((PushHeaders.Name.channelID.rawValue, channel))
    } else {
      if sent.hasID { headers.append((PushHeaders.Name.id.rawValue, push.id)) }
      headers.append((PushHeaders.Name.topic.rawValue, push.topic))
    }
    if sent.hasPushType { headers.append((PushHeaders.Name.pushType.rawValue, push.pushType.rawValue)) }
    if sent.hasPriority { headers.append((PushHeaders.Name.priority.rawValue, "\(push.priority.rawValue)")) }
    if let expiration = push.expiration { headers.append((PushHeaders.Name.expiration.rawValue, "\(expiration)")) }
    if let collapseID = push.collapseID { headers.append((PushHeaders.Name.collapseID.rawValue, collapseID)) }
    return headers
  }
}

extension DeliveredPush {
  /// What lint says of one that did not come as a request just now: a broadcast on its way to a phone, or one from
  /// before a restart, of which no more is known than it says.
  var findings: [Finding] {
    var headers = PushHeaders(
      id: id, topic: topic, pushType: pushType.rawValue, priority: "\(priority.rawValue)",
      expiration: expiration.map { "\($0)" }, collapseID: collapseID)
    if let channelID {
      headers.channelID = channelID
      headers.id = nil
      headers.topic = nil
    }
    var context = LintContext()
    context.headers = headers
    context.headersAreComplete = true
    context.isBroadcast = channelID != nil
    context.now = receivedAt
    return Lint.check(payload, context)
  }
}
