internal import Audience
internal import PushPayload
internal import PushService
internal import Schedule
internal import Store

/// Reads what changes a device (jpush.md §7).
enum DeviceReading {
  private static let mostEntries = 100
  private static let mostBytes = 1000

  /// What a device tells of itself.
  private static let facts = ["osVersion", "appVersion", "language", "timeZone", "model", "permission"]

  /// `tags`, `alias`, `mobile`.
  static func change(_ body: [UInt8]) throws(RequestFault) -> DeviceChange {
    let fields = try RequestBody.object(body, codes: .device)
    try fields.refuseUnknown(besides: ["tags", "alias", "mobile"])
    return try change(fields)
  }

  /// What an app server edits over `/v1`: also `badge` and `onlyScheduled`.
  static func edit(_ body: [UInt8]) throws(RequestFault) -> DeviceChange {
    let fields = try RequestBody.object(body, codes: .device)
    try fields.refuseUnknown(besides: ["tags", "alias", "mobile", "badge", "onlyScheduled"])
    return try change(fields)
  }

  /// What the device itself says: also `badge`, `onlyScheduled`, its facts, a new token with its environment, and tokens for
  /// calls and Live Activities.
  static func ownChange(_ body: [UInt8]) throws(RequestFault) -> DeviceChange {
    let fields = try RequestBody.object(body, codes: .device)
    try fields.refuseUnknown(
      besides: ["tags", "alias", "mobile", "badge", "onlyScheduled", "token", "environment", "quietHours", "channels"]
        + specialTokens + facts)
    var change = try change(fields)
    change.tokens = try tokens(fields)
    change.quietHours = try fields["quietHours"].map(quietHours)
    change.channels = try fields["channels"].map(channels)
    if let token = fields["token"] {
      change.token = DeviceChange.Token(try token.string(), try environment(fields))
    } else if let environment = fields["environment"] {
      throw environment.wrong("it stands without a token", "Send both: the environment is that of the token.")
    }
    return change
  }

  /// `22:00-07:00`; `""` for the app's own.
  private static func quietHours(_ field: Field) throws(RequestFault) -> DeviceChange.Choice<QuietHours> {
    let text = try field.string()
    if text.isEmpty { return .clear }
    guard let hours = QuietHours(text) else {
      throw field.wrong("\(quoted(text)) is no stretch of a day", "Give HH:MM-HH:MM, as 22:00-07:00.")
    }
    return .set(hours)
  }

  /// A list of those that are wanted, or `"all"`.
  private static func channels(_ field: Field) throws(RequestFault) -> DeviceChange.Choice<[String]> {
    if case .string = field.value {
      _ = try field.word(outOf: ["all"])
      return .clear
    }
    return .set(try names(field))
  }

  private static let specialTokens = ["voipToken", "activityStartTokens", "activities"]
  private static let mostTokens = 20

  /// `""`: there is none any more.
  private static func tokens(_ fields: Fields) throws(RequestFault) -> [TokenPurpose: String?] {
    var tokens: [TokenPurpose: String?] = [:]
    func take(_ field: Field, _ purpose: TokenPurpose) throws(RequestFault) {
      let text = try field.string()
      tokens[purpose] = .some(text.isEmpty ? nil : text)
    }
    if let voip = fields["voipToken"] { try take(voip, .voip) }
    for (key, purpose) in [
      ("activityStartTokens", TokenPurpose.activityStart(type:)), ("activities", TokenPurpose.activity(id:)),
    ] {
      guard let field = fields[key] else { continue }
      let members = try field.object().members
      guard members.count <= mostTokens else {
        throw field.wrong("it has \(members.count) entries", "At most \(mostTokens) are allowed in one call.")
      }
      for member in members where member.field.value != .null {
        try NameRule.activity.check(member.key, field.codes.invalid, at: member.field.path.description)
        try take(member.field, purpose(member.key))
      }
    }
    return tokens
  }

  static func change(_ fields: Fields) throws(RequestFault) -> DeviceChange {
    var change = DeviceChange()
    if let tags = fields["tags"] { try readTags(tags, into: &change) }
    if let alias = fields["alias"] {
      change.alias = alias.value == "" ? .clear : .set(try alias.name(.alias))
    }
    if fields.object["mobile"] == .null {
      change.mobile = .clear
    } else if let mobile = fields["mobile"] {
      change.mobile = mobile.value == "" ? .clear : .set(try mobile.mobile())
    }
    change.badge = try fields["badge"].map { field throws(RequestFault) in Int(try field.integer(0...99_999)) }
    change.onlyScheduled = try fields["onlyScheduled"]?.bool()
    change.facts = try description(fields)
    return change
  }

  private static func description(_ fields: Fields) throws(RequestFault) -> DeviceDescription {
    let words = NotificationPermission.allCases.map(\.word)
    return DeviceDescription(
      osVersion: try shortText(fields["osVersion"]), appVersion: try shortText(fields["appVersion"]),
      language: try shortText(fields["language"]), timeZone: try shortText(fields["timeZone"]),
      model: try shortText(fields["model"]),
      permission: try fields["permission"].map { field throws(RequestFault) in try field.word(outOf: words) }
        .flatMap(NotificationPermission.init(word:)))
  }

  private static func environment(_ fields: Fields) throws(RequestFault) -> APNSEnvironment {
    try fields.isForProduction() ? .production : .sandbox
  }

  /// `""` clears all; `{"add": […], "remove": […]}` changes, removing first.
  private static func readTags(_ field: Field, into change: inout DeviceChange) throws(RequestFault) {
    if field.value == "" {
      change.clearTags = true
      return
    }
    guard case .object = field.value else {
      throw field.wrong(
        "\(field.value.kindInWords) stands here",
        "Give {\"add\": […], \"remove\": […]}, or \"\" to remove all tags.")
    }
    let tags = try field.object()
    try tags.refuseUnknown(besides: ["add", "remove"])
    change.addTags = try names(tags["add"])
    change.removeTags = try names(tags["remove"])
  }

  private static func names(_ field: Field?) throws(RequestFault) -> [String] {
    guard let field else { return [] }
    let elements = try field.array()
    guard elements.count <= mostEntries else {
      throw field.wrong("it has \(elements.count) entries", "At most \(mostEntries) are allowed in one call.")
    }
    var names: [String] = []
    for element in elements { names.append(try element.name(.tag)) }
    let size = names.reduce(0) { $0 + $1.utf8.count }
    guard size <= mostBytes else {
      throw field.wrong("its names have \(size) bytes", "At most \(mostBytes) bytes are allowed in one call.")
    }
    return names
  }

  /// The body of `POST /v3/devices/status`.
  static func registrationIDs(_ body: [UInt8]) throws(RequestFault) -> [String] {
    let fields = try RequestBody.object(body, codes: .device)
    try fields.refuseUnknown(besides: ["registration_ids"])
    guard let field = fields["registration_ids"] else {
      throw fields.missing("registration_ids", "Give an array of registration ids.")
    }
    return try field.strings()
  }

  /// The body of `POST /device/v1/registrations`.
  static func registration(_ body: [UInt8]) throws(RequestFault) -> (appKey: String, DeviceRegistration) {
    let fields = try RequestBody.object(body, codes: .device)
    try fields.refuseUnknown(besides: ["appKey", "token", "environment", "bundleId"] + facts)
    guard let appKey = try fields["appKey"]?.string() else {
      throw fields.missing("appKey", "Give the app's key, as `belfry app create` printed it.")
    }
    guard let token = try fields["token"]?.string() else {
      throw fields.missing("token", "Give the device token in hex.")
    }
    return (
      appKey,
      DeviceRegistration(
        token: token, environment: try environment(fields), bundleID: try fields["bundleId"]?.string(),
        facts: try description(fields))
    )
  }

  /// `{"reports": [{"msgId", "kind", "at"}]}`.
  static func sayings(_ body: [UInt8]) throws(RequestFault) -> [PushSaying] {
    let fields = try RequestBody.object(body, codes: .device)
    try fields.refuseUnknown(besides: ["reports"])
    guard let list = fields["reports"] else {
      throw fields.missing("reports", "Give an array such as [{\"msgId\": \"…\", \"kind\": \"clicked\"}].")
    }
    var sayings: [PushSaying] = []
    for element in try list.array() {
      let report = try element.object()
      try report.refuseUnknown(besides: ["msgId", "kind", "at"])
      guard let id = report["msgId"] else { throw report.missing("msgId", "Give the push's _j_msgid.") }
      guard let kind = report["kind"] else { throw report.missing("kind", oneOf(PushSaying.Kind.words)) }
      sayings.append(
        PushSaying(
          messageID: try id.messageID(),
          kind: .init(rawValue: try kind.word(outOf: PushSaying.Kind.words)) ?? .received,
          at: try report["at"].map { field throws(RequestFault) in try field.moment() }))
    }
    return sayings
  }

  private static func shortText(_ field: Field?) throws(RequestFault) -> String? {
    guard let field else { return nil }
    let text = try field.string()
    guard text.utf8.count <= 64 else {
      throw field.wrong("it has \(text.utf8.count) bytes", "At most 64 bytes are kept.")
    }
    return text.isEmpty ? nil : text  // what a system answers where it knows nothing
  }
}

extension PushSaying.Kind {
  fileprivate static var words: [String] { allCases.map(\.rawValue) }
}
