internal import Audience
internal import Basics
internal import PushPayload
internal import PushService

/// Reads an audience as our own calls have it: `"everyone"`, or an object. The keys of one object combine by AND; a list
/// under a name means any of them; `and`, `or` and `not` nest.
enum ExpressionReading {
  private static let known = [
    "and", "or", "not", "tag", "alias", "registrationId", "appVersion", "osVersion", "language", "timeZone", "model",
    "permission", "lastSeen", "created", "segment", "abTest", "file",
  ]

  private static let comparisons: [(key: String, comparison: VersionComparison)] = [
    ("is", .equal), ("isNot", .notEqual), ("atLeast", .atLeast), ("above", .above), ("atMost", .atMost),
    ("below", .below),
  ]

  private static let longestDays: Int64 = 36_500

  /// Of a body that must have one.
  static func audience(_ fields: Fields) throws(RequestFault) -> AudienceExpression {
    guard let audience = fields["audience"] else {
      throw fields.missing("audience", "Give \"everyone\", or an object such as {\"tag\": \"vip\"}.")
    }
    return try read(audience)
  }

  static func read(_ field: Field) throws(RequestFault) -> AudienceExpression {
    if case .string(let text) = field.value {
      guard text == "everyone" else {
        throw field.wrong(
          "\(quoted(text)) is no audience", "Give \"everyone\", or an object such as {\"tag\": \"vip\"}.")
      }
      return .everyone
    }
    let fields = try field.object()
    try fields.refuseUnknown(besides: known)
    var parts: [AudienceExpression] = []
    for key in known {
      guard let member = fields[key] else { continue }
      parts += try clause(key, member)
    }
    guard let first = parts.first else {
      throw field.wrong("it names nobody", "Give \"everyone\", or one of \(known.joined(separator: ", ")).")
    }
    return parts.count == 1 ? first : .all(parts)
  }

  private static func clause(_ key: String, _ field: Field) throws(RequestFault) -> [AudienceExpression] {
    switch key {
    case "and": return [.all(try list(field))]
    case "or": return [.any(try list(field))]
    case "not": return [.not(try read(field))]
    case "tag": return [try any(field) { name throws(RequestFault) in .tag(try name.name(.tag)) }]
    case "alias": return [try any(field) { name throws(RequestFault) in .alias(try name.name(.alias)) }]
    case "registrationId":
      return [try any(field) { name throws(RequestFault) in .registrationID(try name.name(.registrationID)) }]
    case "appVersion": return try versions(field) { .appVersion($0, $1) }
    case "osVersion": return try versions(field) { .osVersion($0, $1) }
    case "language": return [try any(field) { name throws(RequestFault) in .language(try value(name)) }]
    case "timeZone": return [try any(field) { name throws(RequestFault) in .timeZone(try value(name)) }]
    case "model": return [try any(field) { name throws(RequestFault) in .model(try value(name)) }]
    case "permission": return [try any(field, permission)]
    case "lastSeen": return try times(field) { .lastSeen($0) }
    case "created": return try times(field) { .created($0) }
    case "segment": return [try any(field) { name throws(RequestFault) in .segment(try name.name(.resource)) }]
    case "file": return [try any(field) { name throws(RequestFault) in .file(try name.name(.resource)) }]
    default: return [try variant(field)]
    }
  }

  private static func list(_ field: Field) throws(RequestFault) -> [AudienceExpression] {
    let elements = try field.array()
    guard !elements.isEmpty else {
      throw field.wrong("the list is empty", "Give at least one condition, or leave it out.")
    }
    var parts: [AudienceExpression] = []
    for element in elements { parts.append(try read(element)) }
    return parts
  }

  /// One, or a list of which any suffices; an empty list is refused, since it might mean nobody or everybody.
  private static func any(
    _ field: Field, _ one: (Field) throws(RequestFault) -> AudienceExpression
  ) throws(RequestFault) -> AudienceExpression {
    guard case .array = field.value else { return try one(field) }
    let elements = try field.array()
    guard !elements.isEmpty else { throw field.wrong("the list is empty", "Give at least one, or leave it out.") }
    var parts: [AudienceExpression] = []
    for element in elements { parts.append(try one(element)) }
    return .any(parts)
  }

  private static func value(_ field: Field) throws(RequestFault) -> String {
    let text = try field.string()
    guard 1...64 ~= text.utf8.count else {
      throw field.wrong("it has \(text.utf8.count) bytes", "Give 1 to 64 bytes.")
    }
    return text
  }

  private static func permission(_ field: Field) throws(RequestFault) -> AudienceExpression {
    let word = try field.word(outOf: NotificationPermission.allCases.map(\.word))
    return .permission(NotificationPermission(word: word) ?? .notAsked)
  }

  /// `"2.1"`, or `{"atLeast": "2.1", "below": "3"}`.
  private static func versions(
    _ field: Field, _ make: (VersionComparison, String) -> AudienceExpression
  ) throws(RequestFault) -> [AudienceExpression] {
    if case .string = field.value { return [make(.equal, try value(field))] }
    let fields = try field.object()
    try fields.refuseUnknown(besides: comparisons.map(\.key))
    var parts: [AudienceExpression] = []
    for (key, comparison) in comparisons {
      if let member = fields[key] { parts.append(make(comparison, try value(member))) }
    }
    guard !parts.isEmpty else {
      throw field.wrong("it compares nothing", "Give one of \(comparisons.map(\.key).joined(separator: ", ")).")
    }
    return parts
  }

  /// `{"from": time}`, `{"before": time}`, `{"withinDays": n}`, `{"longerAgoThanDays": n}`, or several.
  private static func times(
    _ field: Field, _ make: (TimeComparison) -> AudienceExpression
  ) throws(RequestFault) -> [AudienceExpression] {
    let fields = try field.object()
    let keys = ["from", "before", "withinDays", "longerAgoThanDays"]
    try fields.refuseUnknown(besides: keys)
    var parts: [AudienceExpression] = []
    if let moment = fields["from"] { parts.append(make(.from(try time(moment)))) }
    if let moment = fields["before"] { parts.append(make(.before(try time(moment)))) }
    if let days = fields["withinDays"] { parts.append(make(.within(.days(try days.integer(0...longestDays))))) }
    if let days = fields["longerAgoThanDays"] {
      parts.append(make(.longerAgo(.days(try days.integer(0...longestDays)))))
    }
    guard !parts.isEmpty else { throw field.wrong("it says no time", "Give one of \(keys.joined(separator: ", ")).") }
    return parts
  }

  private static func time(_ field: Field) throws(RequestFault) -> Instant {
    let text = try field.string()
    guard let instant = Instant(rfc3339: text) else {
      throw field.wrong("\(quoted(text)) is no time", "Give one of RFC 3339, such as 2026-11-30T09:00:00Z.")
    }
    return instant
  }

  /// `{"id": "summer", "variant": "a"}`.
  private static func variant(_ field: Field) throws(RequestFault) -> AudienceExpression {
    let fields = try field.object()
    try fields.refuseUnknown(besides: ["id", "variant"])
    guard let id = fields["id"] else { throw fields.missing("id", "Name the A/B test.") }
    guard let variant = fields["variant"] else { throw fields.missing("variant", "Name one of the test's variants.") }
    return .variant(test: try id.name(.resource), name: try variant.name(.resource))
  }
}
