internal import Basics
internal import PushPayload
internal import PushService

/// Reads what starts, updates or ends a Live Activity: JPush's `live_activity` (jpush.md §4.6) and our own calls. What iOS
/// would make nothing of is refused, since APNs takes it all the same.
struct ActivityReading {
  /// The names that a door has for them.
  private struct Keys {
    var contentState: String
    var attributesType: String
    var dismissalDate: String
    var staleDate: String
    var relevanceScore: String
    var priority: String
  }

  private static let jpush = Keys(
    contentState: "content-state", attributesType: "attributes-type", dismissalDate: "dismissal-date",
    staleDate: "stale-date", relevanceScore: "relevance-score", priority: "apns-priority")
  private static let own = Keys(
    contentState: "contentState", attributesType: "attributesType", dismissalDate: "dismissalDate",
    staleDate: "staleDate", relevanceScore: "relevanceScore", priority: "priority")

  private let fields: Fields
  private let keys: Keys
  private let date: (Field) throws(RequestFault) -> Instant

  // MARK: The doors

  /// `live_activity`; `audience` names the activity, but for a start.
  static func jpush(_ field: Field, to audience: Field?) throws(RequestFault) -> LiveActivityContent {
    let outer = try field.object()
    try outer.refuseUnknown(besides: ["ios"])
    guard let ios = outer["ios"] else { throw outer.missing("ios", "Give {\"event\": \"update\", …}.") }
    let fields = try ios.object()
    try fields.refuseUnknown(besides: [
      "event", "content-state", "attributes-type", "attributes", "alert", "dismissal-date", "stale-date",
      "relevance-score", "apns-priority",
    ])
    guard let event = fields["event"] else { throw fields.missing("event", "Give start, update or end.") }
    let reading = ActivityReading(
      fields: fields, keys: jpush, date: { field throws(RequestFault) in try field.seconds() })
    let activity = try audience.flatMap { audience throws(RequestFault) in try AudienceReading.activity(audience) }
    if try event.word(outOf: ["start", "update", "end"]) == "start" {
      guard activity == nil else {
        throw event.wrong(
          "a start goes to devices, and the audience names an activity", "Give tags, aliases or registration ids.")
      }
      return try reading.start(channel: nil)
    }
    guard let activity else {
      throw RequestFault(
        .missingParameter, at: "audience.live_activity_id", found: "it is missing",
        remedy: "Give the id under which the app told the activity's token: {\"live_activity_id\": \"…\"}.")
    }
    return try event.string() == "end" ? reading.end(activity) : reading.update(activity)
  }

  static let startKeys = [
    "attributesType", "attributes", "contentState", "alert", "staleDate", "relevanceScore", "priority", "channel",
    "wantsToken",
  ]
  static let updateKeys = ["contentState", "alert", "staleDate", "relevanceScore", "priority"]
  static let endKeys = ["contentState", "alert", "dismissalDate", "relevanceScore", "priority"]

  init(own fields: Fields) {
    self.init(fields: fields, keys: Self.own, date: { field throws(RequestFault) in try field.moment() })
  }

  private init(fields: Fields, keys: Keys, date: @escaping (Field) throws(RequestFault) -> Instant) {
    self.fields = fields
    self.keys = keys
    self.date = date
  }

  // MARK: The three

  func start(channel: String?) throws(RequestFault) -> LiveActivityContent {
    guard let type = fields[keys.attributesType] else {
      throw fields.missing(keys.attributesType, "Give the Swift type's name, as the app spells it.")
    }
    guard let attributes = fields["attributes"] else {
      throw fields.missing("attributes", "Give what never changes of the activity, an object.")
    }
    guard let alert = try alert() else {
      throw fields.missing("alert", "iOS starts no activity without: give {\"title\": \"…\", \"body\": \"…\"}.")
    }
    var start = LiveActivityPush.Start(
      attributesType: try type.name(.activity), attributes: try Self.object(attributes), channel: channel)
    start.wantsToken = try fields["wantsToken"]?.bool() ?? false
    return LiveActivityContent(
      .start(
        start, contentState: try contentState(), alert: alert, at: Self.later, staleDate: try date(keys.staleDate),
        relevanceScore: try relevanceScore()), priority: try priority())
  }

  func update(_ activity: String?) throws(RequestFault) -> LiveActivityContent {
    LiveActivityContent(
      .update(
        contentState: try contentState(), at: Self.later, alert: try alert(), staleDate: try date(keys.staleDate),
        relevanceScore: try relevanceScore()), priority: try priority(), activity: activity)
  }

  func end(_ activity: String?) throws(RequestFault) -> LiveActivityContent {
    var push = LiveActivityPush.end(
      contentState: try fields[keys.contentState].map(Self.object), at: Self.later,
      dismissal: try date(keys.dismissalDate).map { .at($0) } ?? .standard)
    push.alert = try alert()
    push.relevanceScore = try relevanceScore()
    return LiveActivityContent(push, priority: try priority(), activity: activity)
  }

  // MARK: Their parts

  /// The time is set when the push is accepted.
  private static let later = Instant(seconds: 0)

  private static func object(_ field: Field) throws(RequestFault) -> JSONValue {
    _ = try field.object()
    return field.value
  }

  private func contentState() throws(RequestFault) -> JSONValue {
    guard let field = fields[keys.contentState] else {
      throw fields.missing(keys.contentState, "Give the app's ContentState, an object.")
    }
    return try Self.object(field)
  }

  private func alert() throws(RequestFault) -> LiveActivityPush.Alert? {
    guard let field = fields["alert"] else { return nil }
    let alert = try field.object()
    try alert.refuseUnknown(besides: ["title", "body", "sound"])
    guard let title = alert["title"] else { throw alert.missing("title", "An alert has a title and a body.") }
    guard let body = alert["body"] else { throw alert.missing("body", "An alert has a title and a body.") }
    return LiveActivityPush.Alert(
      title: try Self.text(title), body: try Self.text(body), sound: try alert["sound"]?.string())
  }

  /// A text, or the key of one with what fills it (spec apns.md §9.4).
  private static func text(_ field: Field) throws(RequestFault) -> Payload.Text {
    guard case .object = field.value else { return .literal(try field.string()) }
    let fields = try field.object()
    try fields.refuseUnknown(besides: ["loc-key", "loc-args"])
    guard let key = fields["loc-key"] else { throw fields.missing("loc-key", "Give the key, or a text.") }
    return .localized(
      key: try key.string(), arguments: try fields["loc-args"]?.strings() ?? [], fallback: nil)
  }

  private func date(_ key: String) throws(RequestFault) -> Instant? { try fields[key].map(date) }

  private func relevanceScore() throws(RequestFault) -> Double? {
    try fields[keys.relevanceScore].map { field throws(RequestFault) in
      guard let number = field.value.number else {
        throw field.wrong("\(field.value.kindInWords) stands here", "It must be a number.")
      }
      return number.double
    }
  }

  private func priority() throws(RequestFault) -> PushPriority {
    guard let field = fields[keys.priority] else { return .immediate }
    switch try field.integer(5...10) {
    case 10: return .immediate
    case 5: return .considerate
    case let other: throw field.wrong("\(other) stands here", "It must be 10, or 5, which iOS does not count.")
    }
  }
}

extension SpecialContent {
  /// Whether it goes to the devices of an activity rather than to an audience.
  var isForActivity: Bool {
    switch self {
    case .voip, .broadcast: false
    case .liveActivity(let content): content.activity != nil
    }
  }
}

extension Field {
  /// Seconds since 1970.
  fileprivate func seconds() throws(RequestFault) -> Instant {
    Instant(seconds: try integer(0...253_402_300_799))  // the end of the year 9999; milliseconds are beyond
  }
}
