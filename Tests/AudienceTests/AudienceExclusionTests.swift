import Audience
import Basics
import Testing

@Suite("Why a device is not meant")
struct AudienceExclusionTests {
  static let now = Instant(seconds: 1_796_040_000)
  static let device = AudienceSubject(
    ordinal: 7, registrationID: "r7", tags: ["vip", "beta"], alias: "lin",
    facts: [.appVersion: "2.9", .language: "zh-Hans-CN", .permission: "denied"], lastSeen: now - .days(3),
    created: now - .days(100))

  struct Row: Sendable {
    var place: String
    var words: String
    var expression: AudienceExpression
  }

  static var rows: [Row] {
    [
      Row(place: "", words: "it has no tag “x”", expression: .tag("x")),
      Row(
        place: "and[1]", words: "its app version is 2.9, not at least 2.10",
        expression: .all([.tag("vip"), .appVersion(.atLeast, "2.10")])),
      Row(
        place: "and[1]", words: "its iOS version is not known, not below 18",
        expression: .all([
          .everyone, .osVersion(.below, "18"),
        ])),
      Row(
        place: "and[0].not", words: "it is among those left out: tag “beta”",
        expression: .all([.not(.any([.tag("x"), .tag("beta")])), .tag("vip")])),
      Row(
        place: "", words: "its alias is “lin”, not “wu”, it is not “r1”",
        expression: .any([.alias("wu"), .registrationID("r1")])),
      Row(place: "or[0]", words: "its alias is “lin”, not “wu”", expression: .any([.alias("wu")])),
      Row(
        place: "segment(s).and[0]", words: "its permission is denied, not authorized",
        expression: .saved(segment: "s", .all([.permission(.authorized)]))),
      Row(
        place: "", words: "it was last seen at 2026-11-27T12:00:00.000Z", expression: .lastSeen(.within(.days(1)))),
      Row(place: "", words: "there is no segment “gone”", expression: .segment("gone")),
      Row(place: "", words: "nothing is named", expression: .any([])),
    ]
  }

  @Test("the clause is named, and what the device has instead", arguments: rows.indices)
  func named(index: Int) {
    let row = Self.rows[index]
    let found = row.expression.exclusion(of: Self.device, at: Self.now)
    #expect(found?.place == row.place)
    #expect(found?.words == row.words)
  }

  @Test("who is meant is not excluded")
  func meant() {
    let expression = AudienceExpression.all([
      .tag("vip"), .alias("lin"), .language("zh"), .appVersion(.above, "2.8.9"), .created(.longerAgo(.days(99))),
      .not(.tag("x")), .any([.tag("x"), .registrationID("r7")]),
    ])
    #expect(expression.exclusion(of: Self.device, at: Self.now) == nil)
  }

  static let versions = ["", "0.9", "1", "1.0-beta", "1.2", "1.9.9", "1.10", "2.0b1", "2.0b2", "2.0", "2.0.1", "10"]

  @Test("versions are in the order of their numbers")
  func versionOrder() {
    let order = ["0.9", "1.0-beta", "1", "1.2", "1.9.9", "1.10", "2.0b1", "2.0b2", "2.0", "2.0.1", "10"]
    for (left, first) in order.enumerated() {
      for (right, second) in order.enumerated() {
        let compared = VersionOrder(first).compared(to: VersionOrder(second))
        #expect(compared.signum() == (left - right).signum(), "\(first) \(second)")
      }
    }
    #expect(VersionComparison.equal.holds("1.0.0", "1"))
    #expect(VersionComparison.equal.holds("01.2", "1.02"))
    #expect(VersionComparison.below.holds("9999999999999999999998", "9999999999999999999999"))
  }

  @Test("an A/B test's shares are stable, about as large as told, disjoint, and independent of other tests'")
  func shares() {
    func share(_ test: String, _ slots: Range<UInt16>) -> Set<DeviceOrdinal> {
      let expression = AudienceExpression.share(AudienceShare(test: test, variant: "", slots: slots))
      var device = Self.device
      return Set(
        (0..<40_000 as Range<DeviceOrdinal>).filter {
          device.ordinal = $0
          return expression.contains(device, at: Self.now)
        })
    }
    let (a, b, other) = (share("one", 0..<3_000), share("one", 3_000..<10_000), share("two", 0..<3_000))
    #expect(a.count + b.count == 40_000 && a.isDisjoint(with: b))
    #expect(11_600...12_400 ~= a.count)
    #expect(a.sorted().prefix(5) == [3, 4, 10, 16, 18], "for ever: \(a.sorted().prefix(5))")
    #expect(3_300...3_900 ~= a.intersection(other).count, "\(a.intersection(other).count)")
  }

  @Test("what is no stored expression is not read, and never trusted")
  func damaged() {
    let bytes = AudienceExpression.all([.tag("vip"), .not(.appVersion(.atLeast, "2.10"))]).encoded()
    for end in 0..<bytes.count { #expect(AudienceExpression(encoded: Array(bytes[..<end])) == nil) }
    #expect(AudienceExpression(encoded: bytes + [0]) == nil)
    #expect(AudienceExpression(encoded: [16, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]) == nil)
    #expect(AudienceExpression(encoded: [UInt8](repeating: 18, count: 1_000_000)) == nil)
    #expect(AudienceExpression(encoded: [1, 1, 0xFF]) == nil)
  }
}
