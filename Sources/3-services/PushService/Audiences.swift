public import Audience
import Basics
import Store

/// How many devices an audience means, at one moment, exact.
public struct AudienceCount: Sendable, Equatable {
  /// With a living token of Apple's production service.
  public var production: Int
  /// With a living token of Apple's sandbox.
  public var sandbox: Int
  /// Whose token is dead.
  public var deadTokens: Int
  /// What of the audience nobody matches, in words.
  public var unmatched: [String]

  public var devices: Int { production + sandbox + deadTokens }
}

extension PushService {
  /// Whom a push to the audience would mean now. A user's preference counts when a push is sent, not here.
  public func count(_ app: AppRecord, _ audience: AudienceExpression) async throws(RequestFault) -> AudienceCount {
    try AudienceRule.check(audience)
    let audience = try await resolved(audience, app)
    let reach = try await faulting(as: .push, await store.reach(app: app.id, audience, .production, at: clock.now))
    return AudienceCount(
      production: reach.count, sandbox: reach.wrongEnvironment, deadTokens: reach.dead,
      unmatched: reach.unmatched.map(\.words))
  }

  /// Those meant, in the order of their registration, after the device with the ordinal `after`; at most `limit`.
  public func devices(
    _ app: AppRecord, in audience: AudienceExpression, after: DeviceOrdinal?, limit: Int
  ) async throws(RequestFault) -> [DeviceView] {
    try AudienceRule.check(audience)
    let audience = try await resolved(audience, app)
    return try await faulting(
      as: .device,
      await store.devices(app: app.id, in: audience, after: after, limit: limit, at: clock.now).map(DeviceView.init))
  }

  /// With what segments and variants stand for now. One that does not exist is a fault: taken away from an audience it
  /// would mean everybody.
  func resolved(_ audience: AudienceExpression, _ app: AppRecord) async throws(RequestFault) -> AudienceExpression {
    var known: [AudienceExpression: AudienceExpression] = [:]
    for leaf in audience.leaves where known[leaf] == nil {
      switch leaf {
      case .segment(let id):
        guard let segment = try await segment(app, id: id) else { throw Self.unknown("segment", id) }
        // What a segment's own expression names is of no other segment (`keepSegment`), but of tests maybe.
        known[leaf] = .saved(segment: id, try await resolvedVariants(segment.audience, app))
      case .file(let id): try await checkFile(app, id: id)
      case .variant: known[leaf] = try await resolvedVariants(leaf, app)
      case .everyone, .tag, .alias, .registrationID, .appVersion, .osVersion, .language, .timeZone, .model, .permission,
        .holds, .lastSeen, .created, .saved, .share, .all, .any, .not:
        break
      }
    }
    return known.isEmpty ? audience : audience.mappingLeaves { known[$0] ?? $0 }
  }

  private func resolvedVariants(
    _ audience: AudienceExpression, _ app: AppRecord
  ) async throws(RequestFault) -> AudienceExpression {
    var known: [AudienceExpression: AudienceExpression] = [:]
    for case .variant(let test, let name) in audience.leaves {
      guard let found = try await abTest(app, id: test) else { throw Self.unknown("A/B test", test) }
      guard let share = found.variants.first(where: { $0.variant == name }) else {
        throw Self.unknown("variant of the A/B test \(quoted(test))", name)
      }
      known[.variant(test: test, name: name)] = .share(share)
    }
    return audience.mappingLeaves { known[$0] ?? $0 }
  }

  private static func unknown(_ what: String, _ name: String) -> RequestFault {
    RequestFault(
      .invalidParameter, at: "audience", found: "there is no \(what) \(quoted(name))",
      remedy: "Make it first, or leave it out.")
  }
}
