public import Basics

/// What a service knows of one device, as far as audiences ask for it.
public struct AudienceSubject: Sendable, Equatable {
  public var ordinal: DeviceOrdinal
  public var registrationID: String
  public var tags: Set<String>
  public var alias: String?
  /// Those of the files that an audience names which name it.
  public var files: Set<String> = []
  /// Those of the files that an audience names which are not kept any more.
  public var lostFiles: Set<String> = []
  /// Tokens that it has beside its own, alive.
  public var purposes: Set<TokenPurpose> = []
  /// By what they are facts of; what is not known is not there.
  public var facts: [DeviceFact: String]
  public var lastSeen: Instant
  public var created: Instant

  public init(
    ordinal: DeviceOrdinal, registrationID: String, tags: Set<String>, alias: String?, facts: [DeviceFact: String],
    lastSeen: Instant, created: Instant
  ) {
    self.ordinal = ordinal
    self.registrationID = registrationID
    self.tags = tags
    self.alias = alias
    self.facts = facts
    self.lastSeen = lastSeen
    self.created = created
  }
}

/// What a device tells of itself and many have in common; the numbers are kept in stores.
public enum DeviceFact: UInt8, CaseIterable, Sendable {
  case appVersion = 1
  case osVersion = 2
  case language = 3
  case timeZone = 4
  case model = 5
  /// `NotificationPermission.word`.
  case permission = 6

  public var words: String {
    switch self {
    case .appVersion: "app version"
    case .osVersion: "iOS version"
    case .language: "language"
    case .timeZone: "time zone"
    case .model: "model"
    case .permission: "permission"
    }
  }
}

/// A condition on a fact's value: one rule for one device and for an index of all.
struct FactCondition: Hashable {
  var fact: DeviceFact
  var rule: Rule

  enum Rule: Hashable {
    case version(VersionComparison, String)
    case languageRange(String)
    case exactly(String)
  }

  func holds(for value: String) -> Bool {
    switch rule {
    case .version(let comparison, let other): comparison.holds(value, other)
    case .languageRange(let range): Self.language(value, isIn: range)
    case .exactly(let other): value == other
    }
  }

  private static func language(_ tag: String, isIn range: String) -> Bool {
    let tag = tag.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    let range = range.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    guard tag.starts(with: range) else { return false }
    return tag.count == range.count || tag[range.count] == UInt8(ascii: "-")
  }

  var words: String {
    switch rule {
    case .version(let comparison, let other): "\(fact.words) \(comparison.words) \(other)"
    case .languageRange(let other), .exactly(let other): "\(fact.words) \(other)"
    }
  }
}

extension VersionComparison {
  var words: String {
    switch self {
    case .equal: "equal to"
    case .notEqual: "other than"
    case .atLeast: "at least"
    case .above: "above"
    case .atMost: "at most"
    case .below: "below"
    }
  }
}

extension AudienceExpression {
  /// nil for what is no condition on a fact.
  var factCondition: FactCondition? {
    switch self {
    case .appVersion(let comparison, let version): FactCondition(fact: .appVersion, rule: .version(comparison, version))
    case .osVersion(let comparison, let version): FactCondition(fact: .osVersion, rule: .version(comparison, version))
    case .language(let range): FactCondition(fact: .language, rule: .languageRange(range))
    case .timeZone(let name): FactCondition(fact: .timeZone, rule: .exactly(name))
    case .model(let name): FactCondition(fact: .model, rule: .exactly(name))
    case .permission(let permission): FactCondition(fact: .permission, rule: .exactly(permission.word))
    case .everyone, .tag, .alias, .registrationID, .file, .holds, .lastSeen, .created, .segment, .saved, .variant,
      .share, .all, .any, .not:
      nil
    }
  }
}
