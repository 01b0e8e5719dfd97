internal import PushPayload
internal import PushService

/// Reads the body of `POST /v1/pushes` (docs/api.md): flat, every key known, and the kind of push said by its name.
enum NativePushReading {
  /// The seeds' three kinds. What each needs is checked here; push type, priority and `content-available` follow from it.
  private enum Kind: String, CaseIterable {
    /// Shown; the app runs when the user opens it.
    case normal
    /// Shown, and the app is woken (if it may).
    case background
    /// Nothing is shown; the app is woken (if it may).
    case silent
    /// To PushKit, with `data` alone.
    case voip
  }

  private static let known = [
    "audience", "kind", "alert", "sound", "badge", "category", "threadId", "interruptionLevel", "attachments",
    "mutableContent", "data", "languages", "places", "recipients", "shorten", "timeToLive", "collapseId", "environment",
    "scheduled", "perSecond", "overMinutes", "quietHours", "channel", "replaces", "message",
  ]

  static func read(_ body: [UInt8]) throws(RequestFault) -> PushOrder {
    let fields = try RequestBody.object(body, codes: .push)
    try fields.refuseUnknown(besides: known)
    var order = PushOrder(audience: try ExpressionReading.audience(fields), original: body)
    var notification = NotificationReading()
    order.alert = try fields["alert"].map { field throws(RequestFault) in try notification.alert(field) }
    order.sound = try fields["sound"].map { field throws(RequestFault) in try notification.sound(field) }
    order.badge = try fields["badge"].map(NotificationReading.badge)
    order.category = try fields["category"]?.string()
    order.threadID = try fields["threadId"]?.string()
    order.interruptionLevel = try fields["interruptionLevel"]?.word(outOf: NotificationReading.levels)
    order.mutableContent = try fields["mutableContent"]?.bool() ?? false
    order.extras = try fields["data"].map(NotificationReading.extras) ?? JSONObject()
    if let attachments = fields["attachments"] { try read(attachments, into: &order) }
    try readKind(fields, into: &order)
    if let field = fields["message"] {
      let message = try field.object()
      try message.refuseUnknown(besides: MessageReading.keys)
      order.message = try MessageReading.read(message)
    }
    order.personal = try personal(fields)
    try readSending(fields, into: &order)
    order.warnings = notification.warnings
    return order
  }

  /// What a call may have.
  private static let calling = [
    "audience", "kind", "data", "timeToLive", "environment", "perSecond", "overMinutes",
  ]

  private static func refuse(
    _ keys: [String], in fields: Fields, _ found: String, _ remedy: String
  ) throws(RequestFault) {
    for key in keys {
      if let field = fields[key] { throw field.wrong(found, remedy) }
    }
  }

  // MARK: What is shown

  private static func readKind(_ fields: Fields, into order: inout PushOrder) throws(RequestFault) {
    let word = try fields["kind"]?.word(outOf: Kind.allCases.map(\.rawValue))
    switch word.flatMap(Kind.init) ?? .normal {
    case .normal: break
    case .background: order.contentAvailable = true
    case .silent:
      try refuse(
        ["alert", "sound", "badge", "languages"], in: fields, "a silent push shows nothing",
        "Leave it out, or send kind \"background\", which is shown and wakes the app.")
      order.contentAvailable = true
      return
    case .voip:
      try refuse(
        known.filter { !calling.contains($0) }, in: fields, "a VoIP push carries data alone",
        "Leave it out, and put what the app needs into data.")
      guard fields["data"] != nil else { throw fields.missing("data", "Say what the app is to be called with.") }
      order.special = .voip(order.extras)
      order.extras = JSONObject()
      return
    }
    guard order.alert == nil else { return }
    guard fields["languages"] == nil else {
      throw fields.missing("alert", "Say it for those whose language has no texts.")
    }
    guard order.sound == nil, order.badge == nil else { return }
    throw fields.missing("alert", "Say what to show: alert, sound or badge; kind \"silent\" needs none.")
  }

  /// URLs for the app's service extension, which fetches them; it runs only for what can be changed (D-250).
  private static func read(_ attachments: Field, into order: inout PushOrder) throws(RequestFault) {
    var urls: [JSONValue] = []
    for element in try attachments.array() {
      let url = try element.string()
      guard url.hasPrefix("https://"), url.count > "https://".count else {
        throw element.wrong("\(quoted(url)) is no address that iOS fetches", "Give an https:// address.")
      }
      urls.append(.string(url))
    }
    guard order.extras["attachments"] == nil else {
      throw attachments.wrong("data has attachments too", "Give one of the two: they come to the app under one key.")
    }
    order.extras["attachments"] = .array(urls)
    order.mutableContent = true
  }

  // MARK: Who gets what

  private static func personal(_ fields: Fields) throws(RequestFault) -> PersonalContent? {
    var content = PersonalContent()
    for member in try fields["languages"]?.object().members ?? [] {
      content.languages[member.key] = try texts(member.field)
    }
    content.shortens = try fields["shorten"]?.bool() ?? false
    content.hasPlaces = try fields["places"]?.bool() ?? false
    if let recipients = fields["recipients"] {
      guard content.hasPlaces else {
        throw recipients.wrong("no text has places for it", "Set places to true, and write {{name|default}} in a text.")
      }
      for recipient in try recipients.object().members {
        content.recipients[recipient.key] = try values(recipient.field)
      }
    }
    return content == PersonalContent() ? nil : content
  }

  private static func texts(_ field: Field) throws(RequestFault) -> PersonalPayload.Texts {
    let fields = try field.object()
    try fields.refuseUnknown(besides: ["title", "subtitle", "body"])
    let texts = PersonalPayload.Texts(
      title: try fields["title"]?.string(), subtitle: try fields["subtitle"]?.string(),
      body: try fields["body"]?.string())
    guard texts != PersonalPayload.Texts() else { throw fields.missing("body", "Give a title, subtitle or body.") }
    return texts
  }

  private static func values(_ field: Field) throws(RequestFault) -> [String: String] {
    var values: [String: String] = [:]
    for member in try field.object().members {
      switch member.field.value {
      case .string(let text): values[member.key] = text
      case .number(let number): values[member.key] = number.literal
      case .null, .bool, .array, .object:
        throw member.field.wrong("\(member.field.value.kindInWords) stands here", "It must be a string or a number.")
      }
    }
    return values
  }

  // MARK: How it is sent

  private static func readSending(_ fields: Fields, into order: inout PushOrder) throws(RequestFault) {
    order.timeToLive = try fields["timeToLive"]?.integer(0...OptionsReading.longestTimeToLive)
    order.collapseID = try fields["collapseId"].map(OptionsReading.collapseID)
    order.channel = try fields["channel"].map { field throws(RequestFault) in try field.name(.tag) }
    order.replaces = try fields["replaces"].map { field throws(RequestFault) in try field.messageID() }
    order.production = try fields.isForProduction()
    order.isScheduled = try fields["scheduled"]?.bool()
    if let quiet = fields["quietHours"] { order.inQuietHours = try OptionsReading.quietChoice(quiet) }
    order.rate = try OptionsReading.rate(fields, minutes: "overMinutes", perSecond: "perSecond")
  }
}
