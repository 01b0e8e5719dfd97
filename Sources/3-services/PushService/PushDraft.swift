import Audience
import Basics
import PushPayload
import Store

/// An order turned into what APNs takes, with all checks that need no device.
struct PushDraft {
  var payload: JSONObject
  var pushType: PushType
  var priority: PushPriority
  var expiration: Int64
  var deadline: Instant
  var badge: BadgeArithmetic

  /// Seconds; JPush's longest.
  static let longestTimeToLive: Int64 = 864_000
  static let usualTimeToLive: Int64 = 86_400
  /// A push with time to live 0 is one attempt for APNs; it waits this long for its turn here.
  static let shortestWait = Instant.Span.minutes(10)

  init(_ order: PushOrder, at now: Instant) throws(RequestFault) {
    try AudienceRule.check(order.audience)
    badge = try Self.arithmetic(order.badge)
    try Self.checkCollapseID(order.collapseID)
    payload = try Self.payload(of: order)
    var whole = payload
    if order.badge != nil {
      var aps = whole["aps"]?.object ?? JSONObject()
      aps["badge"] = 0
      whole["aps"] = .object(aps)
    }
    pushType = .inferred(from: .object(whole))
    priority = pushType == .background ? .considerate : .immediate
    try Self.checkSize(payload, pushType, hasBadge: order.badge != nil, badge)
    let seconds = order.timeToLive ?? Self.usualTimeToLive
    guard 0...Self.longestTimeToLive ~= seconds else {
      throw RequestFault(
        .invalidParameter, at: "options.time_to_live", found: "\(seconds) seconds",
        remedy: "Give seconds from 0 to \(Self.longestTimeToLive), which are ten days.")
    }
    expiration = seconds == 0 ? 0 : max(0, now.seconds) + seconds
    deadline = now + max(.seconds(seconds), Self.shortestWait)
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
  private static func checkSize(
    _ payload: JSONObject, _ type: PushType, hasBadge: Bool, _ badge: BadgeArithmetic
  ) throws(RequestFault) {
    let longest: Int64? =
      switch badge {
      case .none: nil
      case .set(let value): Int64(value)
      case .add: Int64(BadgeArithmetic.range.upperBound)
      }
    let size = PayloadRenderer(payload).size(badge: longest, messageID: 100_000_000_000_000_000)
    guard size > type.sizeLimit else { return }
    throw RequestFault(
      .tooLarge, at: "notification",
      found: "a payload of \(size) bytes, \(size - type.sizeLimit) more than APNs takes",
      remedy: "Shorten alert or extras: the limit is \(type.sizeLimit) bytes of UTF-8 JSON, \(overhead) of them ours.")
  }

  /// `,"_j_msgid":` and 18 digits.
  private static let overhead = 30

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
