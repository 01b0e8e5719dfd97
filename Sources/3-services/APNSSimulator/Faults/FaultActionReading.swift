internal import Basics
internal import PushPayload
internal import Transport

extension FaultAction {
  /// What may stand alone in an action, one of them; and what goes with an answer.
  static let kinds = [
    "refuse", "answer", "noAnswer", "resetStream", "goAway", "halfOpen", "resetConnection", "tls", "bandwidth",
    "streams",
  ]
  static let answerFields = ["delay", "jitter", "deliver", "split", "retryAfter"]

  init(_ value: JSONValue, at path: JSONPath) throws(FaultReadingFault) {
    let fields = try FaultFields(
      value, at: path, known: Self.kinds + ["status", "timestamp", "for"] + Self.answerFields,
      like: "{\"refuse\": \"ServiceUnavailable\"}")
    let kinds = Self.kinds.filter(fields.has)
    guard kinds.count <= 1 else {
      throw fields.fault(
        kinds[1], "it stands beside '\(kinds[0])'", "Keep one of them, or write two rules with the same conditions.")
    }
    let kind = kinds.first
    switch kind {
    case nil, "refuse", "answer", "noAnswer", "resetStream": self = .answer(try Answer(fields, kind))
    case "goAway": self = .goAway(try GoAway(fields["goAway"] ?? .null, at: path.appending("goAway")))
    case "halfOpen": self = .halfOpen(answersPings: try Self.answersPings(fields))
    case "resetConnection":
      try Self.requireTrue(fields, "resetConnection")
      self = .resetConnection
    case "tls": self = .handshake(try fields.word("tls", Handshake.never))
    case "bandwidth":
      let rate = try fields.integer("bandwidth", 1...1 << 40, like: "20000") ?? 1
      self = .bandwidth(bytesPerSecond: Int(rate), lasting: try fields.span("for"))
    case .some:
      let limit = try fields.integer("streams", 0...Int64(UInt32.max), like: "1") ?? 0
      self = .streams(UInt32(limit), lasting: try fields.span("for"))
    }
    try Self.check(fields, kind)
  }

  /// A field that has no meaning beside this kind of action must not be silently without effect.
  private static func check(_ fields: FaultFields, _ kind: String?) throws(FaultReadingFault) {
    var allowed: Set<String> = []
    switch kind {
    case "refuse": allowed = Set(answerFields + ["status", "timestamp"])
    case nil, "answer": allowed = Set(answerFields)
    case "noAnswer": allowed = ["deliver"]
    case "resetStream": allowed = ["delay", "jitter", "deliver"]
    case "bandwidth", "streams": allowed = ["for"]
    case .some: break
    }
    for member in fields.object.members where member.key != kind && !allowed.contains(member.key) {
      let with = kind.map { "beside '\($0)'" } ?? "in an answer without 'refuse'"
      throw fields.fault(member.key, "it has no meaning \(with)", "Leave it out.")
    }
  }

  fileprivate static func requireTrue(_ fields: FaultFields, _ name: String) throws(FaultReadingFault) {
    guard try fields.flag(name) == true else { throw fields.wrong(name, "Write true, or leave the rule out.") }
  }

  private static func answersPings(_ fields: FaultFields) throws(FaultReadingFault) -> Bool {
    guard let value = fields["halfOpen"], value.bool == nil else {
      try requireTrue(fields, "halfOpen")
      return false
    }
    let own = try FaultFields(
      value, at: fields.path.appending("halfOpen"), known: ["pings"], like: "true or {\"pings\": true}")
    return try own.flag("pings") ?? false
  }

  fileprivate static func refuse(_ fields: FaultFields) throws(FaultReadingFault) -> Refuse {
    let reason = try fields.text("refuse", like: "a reason such as \"ServiceUnavailable\"") ?? ""
    let known = RefusalReason(rawValue: reason)
    guard let status = try fields.integer("status", 200...599, like: "503").map({ Int($0) }) ?? known?.status else {
      let known = RefusalReason.allCases.map(\.rawValue)
      let near = nearest(to: reason, in: known).map { "Did you mean \"\($0)\"? " } ?? ""
      throw fields.wrong("refuse", "\(near)For a reason that Apple does not have, give its 'status' too.")
    }
    var timestamp = Refuse.Timestamp.usual
    switch fields["timestamp"] {
    case nil: break
    case .some(.bool(false)): timestamp = .absent
    case .some(.number(let number)):
      guard let milliseconds = number.int64 else { fallthrough }
      timestamp = .at(Instant(milliseconds: milliseconds))
    case .some: throw fields.wrong("timestamp", "Write milliseconds since 1970, or false for none.")
    }
    return Refuse(reason: reason, status: status, timestamp: timestamp)
  }

  fileprivate static let codes: [(name: String, code: HTTP2ErrorCode)] = [
    ("NO_ERROR", .noError), ("PROTOCOL_ERROR", .protocolError), ("INTERNAL_ERROR", .internalError),
    ("FLOW_CONTROL_ERROR", .flowControlError), ("SETTINGS_TIMEOUT", .settingsTimeout),
    ("STREAM_CLOSED", .streamClosed), ("FRAME_SIZE_ERROR", .frameSizeError), ("REFUSED_STREAM", .refusedStream),
    ("CANCEL", .cancel), ("COMPRESSION_ERROR", .compressionError), ("CONNECT_ERROR", .connectError),
    ("ENHANCE_YOUR_CALM", .enhanceYourCalm), ("INADEQUATE_SECURITY", .inadequateSecurity),
    ("HTTP_1_1_REQUIRED", .http11Required),
  ]

  /// By the name of RFC 9113 §7, or as a number.
  fileprivate static func code(_ fields: FaultFields, _ name: String) throws(FaultReadingFault) -> HTTP2ErrorCode? {
    guard let value = fields[name] else { return nil }
    if let number = value.number?.int64, let code = UInt32(exactly: number) { return HTTP2ErrorCode(rawValue: code) }
    guard let code = codes.first(where: { $0.name == value.string })?.code else {
      throw fields.wrong(name, FaultFields.choices(codes.map(\.name), for: value.string ?? ""))
    }
    return code
  }

  static func name(of code: HTTP2ErrorCode) -> String {
    codes.first { $0.code == code }?.name ?? "\(code.rawValue)"
  }
}

extension FaultAction.Answer {
  fileprivate init(_ fields: FaultFields, _ kind: String?) throws(FaultReadingFault) {
    self.init()
    switch kind {
    case "refuse": reply = .refuse(try FaultAction.refuse(fields))
    case "answer":
      let own = try FaultFields(
        fields["answer"] ?? .null, at: fields.path.appending("answer"), known: ["status", "body", "contentType"],
        like: "{\"status\": 502, \"body\": \"<html>Bad Gateway</html>\"}")
      guard let status = try own.integer("status", 200...599, like: "502") else {
        throw own.fault("status", "it is missing", "Write the HTTP status, such as 502.")
      }
      let body = try own.text("body", like: "the body as text") ?? ""
      let type = try own.text("contentType", like: "a media type such as \"text/html\"")
      reply = .raw(status: Int(status), body: Array(body.utf8), contentType: type)
    case "noAnswer":
      try FaultAction.requireTrue(fields, "noAnswer")
      reply = .none
    case "resetStream": reply = .resetStream(try FaultAction.code(fields, "resetStream") ?? .internalError)
    case nil, .some:
      guard FaultAction.answerFields.contains(where: fields.has) else {
        throw FaultReadingFault(
          path: fields.path, found: "it says nothing",
          remedy: "Write one of \((FaultAction.kinds + FaultAction.answerFields).joined(separator: ", ")).")
      }
    }
    delay = try fields.span("delay")
    jitter = try fields.span("jitter")
    delivers = try fields.flag("deliver")
    isSplit = try fields.flag("split") ?? false
    retryAfter = try fields.text("retryAfter", like: "seconds or a date of HTTP as text, such as \"30\"")
    if let retryAfter, !retryAfter.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
      throw fields.wrong("retryAfter", "Write seconds or a date of HTTP, in ASCII.")
    }
  }
}

extension FaultAction.GoAway {
  static let fields = ["lastStream", "below", "code", "reason", "text", "then"]

  fileprivate init(_ value: JSONValue, at path: JSONPath) throws(FaultReadingFault) {
    self.init()
    if value == .bool(true) { return }
    let fields = try FaultFields(value, at: path, known: Self.fields, like: "true or {\"reason\": \"Shutdown\"}")
    guard !(fields.has("lastStream") && fields.has("below")) else {
      throw fields.fault("below", "it stands beside 'lastStream'", "Keep one of them.")
    }
    if let below = try fields.integer("below", 1...1000, like: "2") { lastStream = .below(Int(below)) }
    switch try fields.text("lastStream", like: "\"newest\"") {
    case nil: break
    case "newest": lastStream = .newest
    case "none": lastStream = .none
    case "notice": lastStream = .noticeThenNewest
    case .some(let other):
      throw fields.wrong("lastStream", FaultFields.choices(["newest", "none", "notice"], for: other))
    }
    code = try FaultAction.code(fields, "code") ?? .noError
    guard !(fields.has("reason") && fields.has("text")) else {
      throw fields.fault("text", "it stands beside 'reason'", "Keep one of them.")
    }
    if let reason = try fields.text("reason", like: "a reason such as \"Shutdown\"") {
      words = reason.isEmpty ? .none : .reason(reason)
    }
    if let text = try fields.text("text", like: "any text") { words = text.isEmpty ? .none : .text(text) }
    ending = try fields.word("then", .stay)
  }
}
