internal import Audience
internal import Basics
internal import PushPayload
internal import PushService

/// Reads the body of a push (jpush.md §4.1, §4.10) into what `PushService` takes. Nothing defaults to "everybody, now,
/// production" because a word was wrong: an unknown key, a wrong type, a key that comes twice are refused, each with its
/// place.
enum PushReading {
  static let platforms = ["ios", "android", "hmos", "quickapp", "winphone"]

  private static let known = [
    "platform", "audience", "notification", "message", "live_activity", "inapp_message", "notification_3rd",
    "sms_message", "options", "cid", "callback",
  ]

  static func read(_ body: [UInt8]) throws(RequestFault) -> PushOrder {
    try read(RequestBody.object(body, codes: .push), original: body)
  }

  /// `original` is kept with the push.
  static func read(_ fields: Fields, original: [UInt8]) throws(RequestFault) -> PushOrder {
    try fields.refuseUnknown(besides: known)
    guard let audience = fields["audience"] else {
      if fields["platform"] == nil { throw missingPlatform(fields) }
      throw fields.missing("audience", "Give \"all\", or an object such as {\"alias\": [\"lin\"]}.")
    }
    var order = try order(
      fields, to: { () throws(RequestFault) in try AudienceReading.read(audience) }, original: original)
    order.clientID = try fields["cid"].map(clientID)
    return order
  }

  /// All of a push but its `cid`; `audience` is read when it is its turn, so that of several faults the first is told.
  static func order(
    _ fields: Fields, to audience: () throws(RequestFault) -> AudienceExpression, original: [UInt8]
  ) throws(RequestFault) -> PushOrder {
    guard let platform = fields["platform"] else { throw missingPlatform(fields) }
    try checkContents(fields)
    let reachesIOS = try reachesIOS(platform)
    var order = PushOrder(audience: .everyone, original: original)
    var notification = NotificationReading()
    var options = OptionsReading()
    if let field = fields["live_activity"] {
      order.special = .liveActivity(try ActivityReading.jpush(field, to: fields["audience"]))
    }
    if order.special?.isForActivity != true { order.audience = try audience() }
    if let field = fields["notification"] { try notification.read(field, into: &order) }
    if let field = fields["message"] {
      let message = try message(field)
      order.message = message.content
      order.isMessageAlone = fields["notification"] == nil
      order.warnings = message.warnings
    }
    if let field = fields["options"] { try options.read(field, into: &order) }
    var callback = CallbackReading()
    if let field = fields["callback"] { order.callback = try callback.read(field) }
    order.warnings += try notification.warnings + options.warnings + callback.warnings + warningsOfOthers(fields)
    guard reachesIOS else {
      throw RequestFault(
        .audienceEmpty, at: platform.path.description, found: "ios is not among its platforms",
        remedy: "Add \"ios\" or give \"all\": only iOS devices are served here.")
    }
    return order
  }

  /// That a push at the path of file pushes goes to a file.
  static func checkFile(_ order: PushOrder) throws(RequestFault) {
    guard !order.audience.leaves.contains(where: { if case .file = $0 { true } else { false } }) else { return }
    throw RequestFault(
      .missingParameter, at: "audience.file", found: "it is missing",
      remedy: "Give {\"file\": {\"file_id\": \"…\"}}, or use the path of other pushes.")
  }

  private static func missingPlatform(_ fields: Fields) -> RequestFault {
    fields.missing("platform", "Give \"all\" or an array such as [\"ios\"].")
  }

  private static func reachesIOS(_ field: Field) throws(RequestFault) -> Bool {
    if case .string(let word) = field.value {
      return ["all", "ios"].contains(try field.word(outOf: ["all"] + platforms)) && !word.isEmpty
    }
    let elements = try field.array()
    guard !elements.isEmpty else {
      throw field.wrong("the array is empty", "Give \"all\" or at least one platform.")
    }
    var names: [String] = []
    for element in elements { names.append(try element.word(outOf: platforms)) }
    return names.contains("ios")
  }

  /// What a push must have.
  private static func checkContents(_ fields: Fields) throws(RequestFault) {
    if let activity = fields["live_activity"] {
      for key in ["notification", "message"] where fields[key] != nil {
        throw activity.wrong("\(key) stands beside it", "Send them as two pushes.")
      }
      return
    }
    guard fields["notification"] == nil, fields["message"] == nil else { return }
    throw fields.missing(
      "notification", "Say what to show, for example {\"alert\": \"Hello\"}, or send a message to the app.")
  }

  private static func message(
    _ field: Field
  ) throws(RequestFault) -> (content: MessageContent, warnings: [String]) {
    let message = try field.object()
    try message.refuseUnknown(
      besides: ["msg_content", "title", "content_type", "extras", "alternate_title", "alternate_content"])
    guard let content = message["msg_content"] else {
      throw message.missing("msg_content", "A message must say something.")
    }
    let warnings = ["alternate_title", "alternate_content"].compactMap { key in
      message[key].map { "\($0.path) is ignored: no alternative wording is sent" }
    }
    return (
      MessageContent(
        content: try content.string(), title: try message["title"]?.string(),
        contentType: try message["content_type"]?.string(), extras: try message["extras"]?.object().object), warnings
    )
  }

  private static func warningsOfOthers(_ fields: Fields) throws(RequestFault) -> [String] {
    var warnings: [String] = []
    for (key, why) in [
      ("inapp_message", "in-app reminders come with a later version"),
      ("notification_3rd", "only for Android"),
      ("sms_message", "no text messages are sent"),
    ] {
      guard let field = fields[key] else { continue }
      _ = try field.object()
      warnings.append("\(key) is ignored: \(why)")
    }
    return warnings
  }

  /// As `GET /v3/push/cid` gives them, or of the caller's own making.
  static func clientID(_ field: Field) throws(RequestFault) -> String {
    let text = try field.string()
    let isLegal = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
    guard isLegal, 1...64 ~= text.utf8.count else {
      throw field.wrong("\(quoted(text)) is no cid", "It must be 1 to 64 letters, digits, hyphens and underscores.")
    }
    return text
  }
}
