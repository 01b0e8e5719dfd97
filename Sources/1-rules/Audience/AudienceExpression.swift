public import Basics

/// Who is meant by a push, as a tree over what a service knows of its devices.
public indirect enum AudienceExpression: Hashable, Sendable {
  case everyone
  case tag(String)
  case alias(String)
  case registrationID(String)
  /// Whom the lines of a file name, by its id.
  case file(String)
  case appVersion(VersionComparison, String)
  case osVersion(VersionComparison, String)
  /// A language tag; `zh` also means `zh-Hans-CN` (basic filtering, RFC 4647 §3.3.1).
  case language(String)
  /// A zone's name as it was registered.
  case timeZone(String)
  case model(String)
  case permission(NotificationPermission)
  /// Who has such a token, alive.
  case holds(TokenPurpose)
  case lastSeen(TimeComparison)
  case created(TimeComparison)
  /// A saved expression by its id; means nobody until the service has put `saved` in its place.
  case segment(String)
  case saved(segment: String, AudienceExpression)
  /// A variant of an A/B test by both their names; means nobody until the service has put a `share` in its place.
  case variant(test: String, name: String)
  case share(AudienceShare)
  case all([AudienceExpression])
  case any([AudienceExpression])
  case not(AudienceExpression)
}

extension AudienceExpression {
  /// With `change`'s answer in the place of each part that holds no others.
  public func mappingLeaves<Failure: Error>(
    _ change: (AudienceExpression) throws(Failure) -> AudienceExpression
  ) throws(Failure) -> AudienceExpression {
    func mapped(_ parts: [AudienceExpression]) throws(Failure) -> [AudienceExpression] {
      var results: [AudienceExpression] = []
      for part in parts { results.append(try part.mappingLeaves(change)) }
      return results
    }
    switch self {
    case .all(let parts): return .all(try mapped(parts))
    case .any(let parts): return .any(try mapped(parts))
    case .not(let part): return .not(try part.mappingLeaves(change))
    case .saved(let id, let part): return .saved(segment: id, try part.mappingLeaves(change))
    case .everyone, .tag, .alias, .registrationID, .file, .appVersion, .osVersion, .language, .timeZone, .model,
      .permission, .holds, .lastSeen, .created, .segment, .variant, .share:
      return try change(self)
    }
  }

  /// The parts that hold no others, in order.
  public var leaves: [AudienceExpression] {
    var leaves: [AudienceExpression] = []
    _ = mappingLeaves {
      leaves.append($0)
      return $0
    }
    return leaves
  }
}

/// What the app may show, as it said last.
public enum NotificationPermission: UInt8, CaseIterable, Sendable {
  case notAsked = 0
  case denied = 1
  case authorized = 2
  case provisional = 3

  public var word: String {
    switch self {
    case .notAsked: "notAsked"
    case .denied: "denied"
    case .authorized: "authorized"
    case .provisional: "provisional"
    }
  }

  public init?(word: String) {
    guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = found
  }
}

/// A moment compared with one given, or with the moment of the evaluation.
public enum TimeComparison: Hashable, Sendable {
  /// Then or later.
  case from(Instant)
  case before(Instant)
  /// So long ago or later.
  case within(Instant.Span)
  case longerAgo(Instant.Span)

  /// As moments: from the first on, before the second.
  func range(at now: Instant) -> (from: Instant?, before: Instant?) {
    switch self {
    case .from(let moment): (moment, nil)
    case .before(let moment): (nil, moment)
    case .within(let span): (now - span, nil)
    case .longerAgo(let span): (nil, now - span)
    }
  }

  func holds(for moment: Instant, at now: Instant) -> Bool {
    let (from, before) = range(at: now)
    return from.map { $0 <= moment } ?? true && before.map { moment < $0 } ?? true
  }
}

/// A part of all devices that an A/B test tries one thing on: the same devices each time, others for another test.
public struct AudienceShare: Hashable, Sendable {
  public var test: String
  public var variant: String
  /// Of the ten thousand slots that devices fall into.
  public var slots: Range<UInt16>

  public static let slotCount: UInt16 = 10_000

  public init(test: String, variant: String, slots: Range<UInt16>) {
    self.test = test
    self.variant = variant
    self.slots = slots
  }

  func contains(_ ordinal: DeviceOrdinal) -> Bool { slots.contains(Self.slot(of: ordinal, seed: seed)) }

  /// FNV-1a of the test's name.
  var seed: UInt64 {
    test.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 }
  }

  /// The finisher of SplitMix64: each bit of the input moves half of the output.
  static func slot(of ordinal: DeviceOrdinal, seed: UInt64) -> UInt16 {
    var bits = seed &+ (UInt64(ordinal) &+ 1) &* 0x9e37_79b9_7f4a_7c15
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    bits ^= bits >> 31
    return UInt16(truncatingIfNeeded: ((bits >> 32) &* UInt64(slotCount)) >> 32)
  }
}
