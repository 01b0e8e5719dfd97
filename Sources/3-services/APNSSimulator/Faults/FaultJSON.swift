internal import Basics
internal import PushPayload
internal import Transport

/// Rules as they are written in a file, and what they did, for the control API.
enum FaultJSON {
  static func value(of standing: FaultStanding) -> JSONValue {
    var object = object(of: standing.rule)
    object["matched"] = .number(JSONNumber(standing.matched))
    object["applied"] = .number(JSONNumber(standing.applied))
    if let last = standing.lastApplied { object["lastApplied"] = .string("\(last)") }
    return .object(object)
  }

  static func value(of fault: AppliedFault) -> JSONValue {
    var object: JSONObject = [
      "number": .number(JSONNumber(fault.number)), "at": .string("\(fault.at)"), "rule": .string(fault.rule),
      "what": .string(fault.what), "environment": .string(fault.environment.rawValue),
      "connection": .number(JSONNumber(fault.connection)),
    ]
    if fault.stream != 0 { object["stream"] = .number(JSONNumber(fault.stream)) }
    if !fault.id.isEmpty { object["id"] = .string(fault.id) }
    if !fault.token.isEmpty { object["token"] = .string(fault.token.hex) }
    if !fault.topic.isEmpty { object["topic"] = .string(fault.topic) }
    object["channel"] = fault.channel.map { .string($0) }
    return .object(object)
  }

  /// Reads back as the same rule.
  static func object(of rule: FaultRule) -> JSONObject {
    var object: JSONObject = ["id": .string(rule.id)]
    let when = self.object(of: rule.conditions)
    if !when.members.isEmpty { object["when"] = .object(when) }
    if let limit = rule.limit { object["limit"] = .number(JSONNumber(limit)) }
    object["action"] = .object(self.object(of: rule.action))
    return object
  }

  private static func object(of conditions: FaultRule.Conditions) -> JSONObject {
    var object = JSONObject()
    func list(_ name: String, _ words: [String]?) {
      if let words { object[name] = .array(words.sorted().map { .string($0) }) }
    }
    list("token", conditions.tokens?.map(\.hex))
    list("device", conditions.devices.map(Array.init))
    list("topic", conditions.topics.map(Array.init))
    list("channel", conditions.channels.map(Array.init))
    list("environment", conditions.environments?.map(\.rawValue))
    list("port", conditions.ports?.map(\.rawValue))
    list("pushType", conditions.pushTypes?.map(\.rawValue))
    if conditions.per != .all { object["per"] = .string(conditions.per.rawValue) }
    if conditions.after != 0 { object["after"] = .number(JSONNumber(conditions.after)) }
    if let first = conditions.first { object["first"] = .number(JSONNumber(first)) }
    if conditions.every != 1 { object["every"] = .number(JSONNumber(conditions.every)) }
    if let rate = conditions.rate, let number = JSONNumber(rate) { object["rate"] = .number(number) }
    object["from"] = conditions.schedule.from.map(value(of:))
    object["until"] = conditions.schedule.until.map(value(of:))
    if let every = conditions.schedule.every, let lasting = conditions.schedule.lasting {
      object["repeat"] = ["every": .string(every.text), "for": .string(lasting.text)]
    }
    return object
  }

  private static func value(of time: FaultRule.Time) -> JSONValue {
    switch time {
    case .at(let instant): .string("\(instant)")
    case .after(let span): .string(span.text)
    }
  }

  private static func object(of action: FaultAction) -> JSONObject {
    switch action {
    case .answer(let answer): object(of: answer)
    case .goAway(let goAway): ["goAway": .object(object(of: goAway))]
    case .halfOpen(let answersPings): ["halfOpen": answersPings ? ["pings": true] : true]
    case .resetConnection: ["resetConnection": true]
    case .handshake(let how): ["tls": .string(how.rawValue)]
    case .bandwidth(let rate, let lasting): lasted(["bandwidth": .number(JSONNumber(rate))], lasting)
    case .streams(let limit, let lasting): lasted(["streams": .number(JSONNumber(limit))], lasting)
    }
  }

  private static func lasted(_ object: JSONObject, _ lasting: Instant.Span?) -> JSONObject {
    var object = object
    object["for"] = lasting.map { .string($0.text) }
    return object
  }

  private static func object(of answer: FaultAction.Answer) -> JSONObject {
    var object = JSONObject()
    switch answer.reply {
    case .natural: break
    case .refuse(let refuse):
      object["refuse"] = .string(refuse.reason)
      if RefusalReason(rawValue: refuse.reason)?.status != refuse.status {
        object["status"] = .number(JSONNumber(refuse.status))
      }
      switch refuse.timestamp {
      case .usual: break
      case .at(let instant): object["timestamp"] = .number(JSONNumber(instant.milliseconds))
      case .absent: object["timestamp"] = false
      }
    case .raw(let status, let body, let contentType):
      var own: JSONObject = ["status": .number(JSONNumber(status))]
      if !body.isEmpty { own["body"] = .string(String(decoding: body, as: UTF8.self)) }
      own["contentType"] = contentType.map { .string($0) }
      object["answer"] = .object(own)
    case .resetStream(let code): object["resetStream"] = value(of: code)
    case .none: object["noAnswer"] = true
    }
    object["delay"] = answer.delay.map { .string($0.text) }
    object["jitter"] = answer.jitter.map { .string($0.text) }
    object["deliver"] = answer.delivers.map { .bool($0) }
    if answer.isSplit { object["split"] = true }
    object["retryAfter"] = answer.retryAfter.map { .string($0) }
    return object
  }

  private static func object(of goAway: FaultAction.GoAway) -> JSONObject {
    var object = JSONObject()
    switch goAway.lastStream {
    case .newest: object["lastStream"] = "newest"
    case .none: object["lastStream"] = "none"
    case .noticeThenNewest: object["lastStream"] = "notice"
    case .below(let count): object["below"] = .number(JSONNumber(count))
    }
    object["code"] = value(of: goAway.code)
    switch goAway.words {
    case .reason(let reason): object["reason"] = .string(reason)
    case .text(let text): object["text"] = .string(text)
    case .none: object["text"] = ""
    }
    object["then"] = .string(goAway.ending.rawValue)
    return object
  }

  private static func value(of code: HTTP2ErrorCode) -> JSONValue {
    let name = FaultAction.name(of: code)
    return UInt32(name).map { .number(JSONNumber($0)) } ?? .string(name)
  }
}

extension FaultAction {
  /// What it does, for logs.
  var words: String {
    switch self {
    case .answer(let answer): answer.words
    case .goAway(let goAway):
      switch goAway.lastStream {
      case .newest: "GOAWAY"
      case .below(let count): "GOAWAY, \(count) not served"
      case .none: "GOAWAY, none served"
      case .noticeThenNewest: "two GOAWAYs"
      }
    case .halfOpen(let answersPings): answersPings ? "half open, answers PINGs" : "half open"
    case .resetConnection: "connection reset"
    case .handshake(.never): "TLS never answered"
    case .handshake(.reset): "reset in the TLS handshake"
    case .bandwidth(let rate, _): "\(rate) bytes a second at most"
    case .streams(let limit, _): "\(limit) streams at most"
    }
  }
}

extension FaultAction.Answer {
  var words: String {
    var words: [String] = []
    switch reply {
    case .natural: break
    case .refuse(let refuse): words.append("answered \(refuse.status) \(refuse.reason)")
    case .raw(let status, let body, _): words.append("answered \(status) and \(body.count) bytes")
    case .resetStream(let code): words.append("RST_STREAM \(FaultAction.name(of: code))")
    case .none: words.append("no answer")
    }
    if delay != nil || jitter != nil { words.append("held back") }
    switch delivers {
    case nil: break
    case true: words.append("delivered all the same")
    case .some: words.append("never delivered")
    }
    if isSplit { words.append("in frames of one byte") }
    if retryAfter != nil { words.append("with retry-after") }
    return words.joined(separator: ", ")
  }
}
