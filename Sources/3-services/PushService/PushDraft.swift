import Audience
import Basics
import PushPayload
import Store

/// An order turned into what APNs takes, with all checks that need no device.
struct PushDraft {
  var payload: JSONObject
  var pushType: PushType
  var priority: PushPriority
  var expiration: Int64 = 0
  var deadline = Instant(milliseconds: 0)
  var badge = BadgeArithmetic.none
  /// Bytes of the finished payload, the largest where it differs by language.
  var size = 0

  /// Seconds; JPush's longest.
  static let longestTimeToLive: Int64 = 864_000
  static let usualTimeToLive: Int64 = 86_400
  /// A push with time to live 0 is one attempt for APNs; it waits this long for its turn here.
  static let shortestWait = Instant.Span.minutes(10)

  init(payload: JSONObject, pushType: PushType, priority: PushPriority) {
    self.payload = payload
    self.pushType = pushType
    self.priority = priority
  }

  init(_ order: PushOrder, at now: Instant) throws(RequestFault) {
    try AudienceRule.check(order.meant)
    try Self.checkCollapseID(order.collapseID)
    if let channel = order.channel { try NameRule.tag.check(channel, .invalidParameter, at: "options.belfry_channel") }
    if let content = order.special {
      self = try .special(content, order, at: now)
      return
    }
    badge = try Self.arithmetic(order.badge)
    payload = try Self.payload(of: order)
    var whole = payload
    if order.badge != nil {
      var aps = whole["aps"]?.object ?? JSONObject()
      aps["badge"] = 0
      whole["aps"] = .object(aps)
    }
    pushType = .inferred(from: .object(whole))
    priority = pushType == .background ? .considerate : .immediate
    if let personal = order.personal {
      size = try Self.size(personal, payload, pushType, badge)
    } else {
      size = try Self.size(payload, pushType, badge)
    }
    try setEnd(order.timeToLive ?? Self.usualTimeToLive, at: now, wait: Self.shortestWait)
  }

  /// `wait` is how long a push that is one attempt for APNs waits for its turn here.
  mutating func setEnd(_ seconds: Int64, at now: Instant, wait: Instant.Span) throws(RequestFault) {
    guard 0...Self.longestTimeToLive ~= seconds else {
      throw RequestFault(
        .invalidParameter, at: "options.time_to_live", found: "\(seconds) seconds",
        remedy: "Give seconds from 0 to \(Self.longestTimeToLive), which are ten days.")
    }
    expiration = seconds == 0 ? 0 : max(0, now.seconds) + seconds
    deadline = now + max(.seconds(seconds), wait)
  }

  // MARK: Payload

  private static func payload(of order: PushOrder) throws(RequestFault) -> JSONObject {
    var aps = JSONObject()
    aps["alert"] = order.alert
    aps["sound"] = order.sound
    if order.contentAvailable { aps["content-available"] = 1 }
    if order.mutableContent { aps["mutable-content"] = 1 }
    aps["category"] = order.category.map(JSONValue.string)
    aps["thread-id"] = order.threadID.map(JSONValue.string)
    if let level = order.interruptionLevel {
      guard ["active", "critical", "passive", "time-sensitive"].contains(level) else {
        throw RequestFault(
          .invalidParameter, at: "notification.ios.interruption-level", found: "“\(level.prefix(30))”",
          remedy: "Use active, critical, passive or time-sensitive.")
      }
      aps["interruption-level"] = .string(level)
    }
    guard order.alert != nil || order.sound != nil || order.badge != nil || order.contentAvailable else {
      throw RequestFault(
        .invalidParameter, at: "notification.ios", found: "no alert, sound, badge or content-available",
        remedy: "Give at least one of them; without any the phone does nothing.")
    }
    var payload = JSONObject([.init("aps", .object(aps))])
    for member in order.extras.members {
      guard member.key != "aps", !member.key.hasPrefix("_j_") else {
        throw RequestFault(
          .invalidParameter, at: "notification.ios.extras.\(member.key.prefix(30))", found: "a reserved name",
          remedy: "Extras stand beside aps in the payload: use another name than aps and none that begins with _j_.")
      }
      payload.members.append(member)
    }
    return payload
  }

  /// Counts what is sent: UTF-8, with a message id and, where a badge is counted, the longest number (case C10).
  static func size(
    _ payload: JSONObject, _ type: PushType, _ badge: BadgeArithmetic, place: String = "notification"
  ) throws(RequestFault) -> Int {
    let size = PayloadRenderer(payload).size(
      badge: longest(badge), messageID: type.carriesMessageID ? longestID : nil)
    guard size > type.sizeLimit else { return size }
    let ours = type.carriesMessageID ? overhead(hasBadge: false) : 0
    throw RequestFault(
      .tooLarge, at: place,
      found: "a payload of \(size) bytes, \(size - type.sizeLimit) more than APNs takes",
      remedy: "Shorten it: the limit is \(type.sizeLimit) bytes of UTF-8 JSON, \(ours) of them ours.")
  }

  private static let longestID: Int64 = 100_000_000_000_000_000

  private static func longest(_ badge: BadgeArithmetic) -> Int64? {
    switch badge {
    case .none: nil
    case .set(let value): Int64(value)
    case .add: Int64(BadgeArithmetic.range.upperBound)
    }
  }

  /// Bytes that a message id, and a badge where one is counted, add to a payload at most: `,"_j_msgid":` and 18 digits,
  /// `"badge":` with a comma and 5 digits.
  static func overhead(hasBadge: Bool) -> Int { hasBadge ? 44 : 30 }

  /// Every variant must be readable and, with nothing but the defaults in its places, fit or be shortened to fit.
  private static func size(
    _ content: PersonalContent, _ payload: JSONObject, _ type: PushType, _ badge: BadgeArithmetic
  ) throws(RequestFault) -> Int {
    let variants: PersonalPayload
    do { variants = try content.payload(payload) } catch {
      throw RequestFault(
        .invalidParameter, at: error.path.description, found: "\(error.fault)",
        remedy: "Write {{name|default}}, and {{{{ for two braces.")
    }
    for place in variants.places.sorted(by: { $0.name < $1.name })
    where place.fallback == nil && place.name != PersonalContent.DeviceName.registrationID.rawValue {
      throw RequestFault(
        .invalidParameter, at: "places", found: "{{\(place.name)}} has no default",
        remedy: "Write {{\(place.name)|…}}: not every recipient need have it, and nobody is sent a text with a hole.")
    }
    var largest = 0
    for variant in variants.variants {
      let plain = variants.payload(variant) { _ in nil }
      let limit = type.sizeLimit - overhead(hasBadge: badge != .none)
      largest = max(
        largest, try size(content.shortens ? plain.shortened(to: limit) ?? plain : plain, type, badge))
    }
    return largest
  }

  // MARK: Other fields

  private static func arithmetic(_ change: BadgeChange?) throws(RequestFault) -> BadgeArithmetic {
    let limit = Int(BadgeArithmetic.range.upperBound)
    switch change {
    case nil: return .none
    case .set(let value) where 0...limit ~= value: return .set(Int32(value))
    case .add(let amount) where -limit...limit ~= amount: return .add(Int32(amount))
    case .set(let value), .add(let value):
      throw RequestFault(
        .invalidParameter, at: "notification.ios.badge", found: "\(value)",
        remedy: "Give 0 to \(limit), or +n or -n with n up to \(limit).")
    }
  }

  /// APNs counts bytes, not characters, and cutting would let two pushes replace each other (case C15).
  private static func checkCollapseID(_ collapseID: String?) throws(RequestFault) {
    guard let collapseID else { return }
    let place = "options.apns_collapse_id"
    guard 1...64 ~= collapseID.utf8.count else {
      throw RequestFault(
        .invalidParameter, at: place,
        found: "\(collapseID.utf8.count) bytes in UTF-8 (\(collapseID.count) characters); the limit is 64 bytes",
        remedy: collapseID.isEmpty ? "Leave it out." : "Shorten it; it is never cut, since two would become one.")
    }
    guard collapseID.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
      throw RequestFault(
        .invalidParameter, at: place, found: "a control character", remedy: "Use letters, digits and punctuation.")
    }
  }
}
