public import Basics

/// A clause of an audience that a device does not meet, and why.
public struct AudienceExclusion: Sendable, Equatable {
  /// The way to the clause from the top: `and[1].not`; empty for the whole.
  public var place: String
  /// For people: `it has no tag “vip”`.
  public var words: String
}

extension AudienceExpression {
  /// Whether the device is meant: what an evaluation over all devices would say of it.
  public func contains(_ device: AudienceSubject, at now: Instant) -> Bool { exclusion(of: device, at: now) == nil }

  /// The first clause that keeps the device out; nil when it is meant.
  public func exclusion(of device: AudienceSubject, at now: Instant) -> AudienceExclusion? {
    exclusion(of: device, at: now, place: "")
  }

  private func exclusion(of device: AudienceSubject, at now: Instant, place: String) -> AudienceExclusion? {
    func unless(_ holds: Bool, _ words: @autoclosure () -> String) -> AudienceExclusion? {
      holds ? nil : AudienceExclusion(place: place, words: words())
    }
    func inner(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }
    switch self {
    case .everyone: return nil
    case .tag(let name): return unless(device.tags.contains(name), "it has no tag “\(name)”")
    case .alias(let name):
      return unless(device.alias == name, "its alias is \(device.alias.map { "“\($0)”" } ?? "not set"), not “\(name)”")
    case .registrationID(let name): return unless(device.registrationID == name, "it is not “\(name)”")
    case .file(let id):
      return unless(
        device.files.contains(id),
        device.lostFiles.contains(id)
          ? "whether the file “\(id)” named it is not known: the file is not kept any more"
          : "the file “\(id)” does not name it")
    case .appVersion, .osVersion, .language, .timeZone, .model, .permission:
      guard let condition = factCondition else { return nil }
      let value = device.facts[condition.fact]
      return unless(
        value.map(condition.holds(for:)) ?? false,
        "its \(condition.fact.words) is \(value ?? "not known"), not \(condition.words.dropFirst(condition.fact.words.count + 1))"
      )
    case .holds(let purpose): return unless(device.purposes.contains(purpose), "it has no \(purpose.words)")
    case .lastSeen(let comparison):
      return unless(comparison.holds(for: device.lastSeen, at: now), "it was last seen at \(device.lastSeen)")
    case .created(let comparison):
      return unless(comparison.holds(for: device.created, at: now), "it was created at \(device.created)")
    case .segment(let id): return unless(false, "there is no segment “\(id)”")
    case .variant(let test, let name): return unless(false, "there is no variant “\(name)” of an A/B test “\(test)”")
    case .saved(let id, let expression):
      return expression.exclusion(of: device, at: now, place: inner("segment(\(id))"))
    case .share(let share):
      return unless(
        share.contains(device.ordinal), "it is not in variant “\(share.variant)” of A/B test “\(share.test)”")
    case .all(let parts):
      for (index, part) in parts.enumerated() {
        if let found = part.exclusion(of: device, at: now, place: inner("and[\(index)]")) { return found }
      }
      return nil
    case .any(let parts):
      var reasons: [String] = []
      for (index, part) in parts.enumerated() {
        guard let found = part.exclusion(of: device, at: now, place: inner("or[\(index)]")) else { return nil }
        if parts.count == 1 { return found }
        if reasons.count < 3 { reasons.append(found.words) }
      }
      let more = parts.count > reasons.count ? ", and \(parts.count - reasons.count) more" : ""
      return AudienceExclusion(
        place: place, words: reasons.isEmpty ? "nothing is named" : reasons.joined(separator: ", ") + more)
    case .not(let part):
      guard part.contains(device, at: now) else { return nil }
      var meant = part
      if case .any(let parts) = part { meant = parts.first { $0.contains(device, at: now) } ?? part }
      return AudienceExclusion(place: inner("not"), words: "it is among those left out: \(meant.words)")
    }
  }

  /// For people, in short.
  public var words: String {
    switch self {
    case .everyone: "everyone"
    case .tag(let name): "tag “\(name)”"
    case .alias(let name): "alias “\(name)”"
    case .registrationID(let name): "registration id “\(name)”"
    case .file(let id): "file “\(id)”"
    case .appVersion, .osVersion, .language, .timeZone, .model, .permission: factCondition?.words ?? ""
    case .holds(let purpose): "who has a \(purpose.words)"
    case .lastSeen(let comparison): "last seen \(comparison.words)"
    case .created(let comparison): "created \(comparison.words)"
    case .segment(let id), .saved(let id, _): "segment “\(id)”"
    case .variant(let test, let name): "variant “\(name)” of A/B test “\(test)”"
    case .share(let share): "variant “\(share.variant)” of A/B test “\(share.test)”"
    case .all(let parts): Self.joined(parts, "and")
    case .any(let parts): Self.joined(parts, "or")
    case .not(let part): "not \(part.words)"
    }
  }

  private static func joined(_ parts: [AudienceExpression], _ word: String) -> String {
    let shown = parts.prefix(3).map(\.words).joined(separator: " \(word) ")
    let more = parts.count > 3 ? " \(word) \(parts.count - 3) more" : ""
    return parts.count == 1 ? shown : "(\(shown)\(more))"
  }
}

extension TimeComparison {
  var words: String {
    switch self {
    case .from(let moment): "at \(moment) or later"
    case .before(let moment): "before \(moment)"
    case .within(let span): "within the last \(span.milliseconds / 1000) s"
    case .longerAgo(let span): "more than \(span.milliseconds / 1000) s ago"
    }
  }
}
