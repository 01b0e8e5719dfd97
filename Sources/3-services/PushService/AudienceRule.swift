import Audience

/// What an audience may be, whoever made it.
enum AudienceRule {
  private static let mostNames = 10_000
  private static let deepest = 32
  /// Bytes of UTF-8 of a fact's value.
  static let longestFact = 64

  static func check(_ audience: AudienceExpression) throws(RequestFault) {
    var names = 0
    var open = [(audience, depth: 1)]
    while let (part, depth) = open.popLast() {
      guard depth <= deepest, names <= mostNames else {
        throw RequestFault(
          .invalidParameter, at: "audience", found: "too many conditions",
          remedy: "Use at most 10,000 names, nested at most \(deepest) deep.")
      }
      names += 1
      switch part {
      case .everyone, .permission, .lastSeen, .created, .share: break
      case .tag(let name): try NameRule.tag.check(name, .invalidParameter, at: "audience.tag")
      case .alias(let name): try NameRule.alias.check(name, .invalidParameter, at: "audience.alias")
      case .registrationID(let name):
        try NameRule.registrationID.check(name, .invalidParameter, at: "audience.registration_id")
      case .appVersion(_, let value): try check(value, "app version")
      case .osVersion(_, let value): try check(value, "iOS version")
      case .language(let value): try check(value, "language")
      case .timeZone(let value): try check(value, "time zone")
      case .model(let value): try check(value, "model")
      case .holds(let purpose): try check(purpose, .invalidParameter)
      case .file(let id): try NameRule.resource.check(id, .invalidParameter, at: "audience.file.file_id")
      case .segment(let id): try NameRule.resource.check(id, .invalidParameter, at: "audience.segment")
      case .variant(let test, let name):
        try NameRule.resource.check(test, .invalidParameter, at: "audience.abtest")
        try NameRule.resource.check(name, .invalidParameter, at: "audience.abtest")
      case .saved(_, let inner), .not(let inner): open.append((inner, depth + 1))
      case .all(let parts), .any(let parts): open += parts.map { ($0, depth + 1) }
      }
    }
  }

  static func check(_ purpose: TokenPurpose, _ code: RequestFault.Code) throws(RequestFault) {
    switch purpose {
    case .voip: break
    case .activityStart(let type): try NameRule.activity.check(type, code, at: "attributes-type")
    case .activity(let id): try NameRule.activity.check(id, code, at: "live_activity_id")
    }
  }

  private static func check(_ value: String, _ fact: String) throws(RequestFault) {
    guard value.isEmpty || value.utf8.count > longestFact else { return }
    throw RequestFault(
      .invalidParameter, at: "audience", found: "\(quoted(value)) as \(fact)",
      remedy: "Give 1 to \(longestFact) bytes.")
  }
}
