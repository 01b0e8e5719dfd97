internal import Audience
internal import PushPayload
internal import PushService

/// Reads `audience` (jpush.md §4.3): keys combine by AND; within tag, alias and registration_id any one suffices; an
/// empty array is as if the key were not there; but never does "nothing said" become "everybody" (case C35).
enum AudienceReading {
  private static let mostTags = 20
  private static let mostNames = 1000
  private static let known = [
    "tag", "tag_and", "tag_not", "alias", "registration_id", "segment", "abtest", "live_activity_id", "file",
  ]

  static func read(_ field: Field) throws(RequestFault) -> AudienceExpression {
    if case .string(let text) = field.value {
      guard text == "all" else {
        throw field.wrong(
          "\(quoted(text)) is no audience", "Give \"all\", or an object such as {\"alias\": [\"lin\"]}.")
      }
      return .everyone
    }
    let fields = try field.object()
    try fields.refuseUnknown(besides: known)
    if let activity = fields["live_activity_id"] {
      throw activity.wrong(
        "it goes with live_activity alone", "Send live_activity, or use tags, aliases or registration ids.")
    }
    var parts: [AudienceExpression] = []
    if let tags = try names(fields["tag"], most: mostTags, .tag) {
      parts.append(.any(tags.map(AudienceExpression.tag)))
    }
    if let tags = try names(fields["tag_and"], most: mostTags, .tag) {
      parts.append(.all(tags.map(AudienceExpression.tag)))
    }
    if let tags = try names(fields["tag_not"], most: mostTags, .tag) {
      parts.append(.not(.any(tags.map(AudienceExpression.tag))))
    }
    if let aliases = try names(fields["alias"], most: mostNames, .alias) {
      parts.append(.any(aliases.map(AudienceExpression.alias)))
    }
    if let ids = try names(fields["registration_id"], most: mostNames, .registrationID) {
      parts.append(.any(ids.map(AudienceExpression.registrationID)))
    }
    if let id = try single(fields["segment"]) { parts.append(.segment(try id.name(.resource))) }
    if let name = try single(fields["abtest"]) { parts.append(try variant(name)) }
    if let file = fields["file"] { parts.append(.file(try fileID(file))) }
    guard let first = parts.first else {
      throw field.wrong(
        "it names nobody",
        "Fill one of tag, tag_and, tag_not, alias, registration_id, segment, abtest, file; or give \"all\".")
    }
    return parts.count == 1 ? first : .all(parts)
  }

  /// The Live Activity that an audience names, alone; nil: it names none.
  static func activity(_ field: Field) throws(RequestFault) -> String? {
    guard case .object = field.value else { return nil }
    let fields = try field.object()
    try fields.refuseUnknown(besides: known)
    guard let id = fields["live_activity_id"] else { return nil }
    guard fields.members.allSatisfy({ $0.key == "live_activity_id" || $0.field.value == .null }) else {
      throw id.wrong("other keys stand beside it", "Leave them out: the activity's devices are meant, all of them.")
    }
    return try id.name(.activity)
  }

  /// `{"file_id": "…"}`.
  private static func fileID(_ field: Field) throws(RequestFault) -> String {
    let fields = try field.object()
    try fields.refuseUnknown(besides: ["file_id"])
    guard let id = fields["file_id"] else { throw fields.missing("file_id", "Give what the upload answered.") }
    return try id.name(.resource)
  }

  /// The one element that JPush allows; nil for a key that is absent or empty.
  private static func single(_ field: Field?) throws(RequestFault) -> Field? {
    guard let field else { return nil }
    let elements = try field.array()
    guard elements.count <= 1 else {
      throw field.wrong("it has \(elements.count) entries", "One is allowed in a push.")
    }
    return elements.first
  }

  /// `test:variant`.
  private static func variant(_ field: Field) throws(RequestFault) -> AudienceExpression {
    let text = try field.string()
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else {
      throw field.wrong("\(quoted(text)) names no variant", "Give the A/B test and one of its variants: test:variant.")
    }
    try NameRule.resource.check(parts[0], field.codes.invalid, at: field.path.description)
    try NameRule.resource.check(parts[1], field.codes.invalid, at: field.path.description)
    return .variant(test: parts[0], name: parts[1])
  }

  /// nil for a key that is absent or empty.
  private static func names(_ field: Field?, most: Int, _ rule: NameRule) throws(RequestFault) -> [String]? {
    guard let field else { return nil }
    let elements = try field.array()
    guard elements.count <= most else {
      throw field.wrong("it has \(elements.count) entries", "At most \(most) are allowed in one push.")
    }
    var names: [String] = []
    for element in elements { names.append(try element.name(rule)) }
    return names.isEmpty ? nil : names
  }
}
