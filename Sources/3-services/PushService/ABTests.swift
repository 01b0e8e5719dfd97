public import Audience
public import Basics
import Store

/// An A/B test: different pushes to parts of all devices, which stay the same for as long as the test is there.
public struct ABTestView: Sendable, Equatable {
  public var id: String
  public var variants: [AudienceShare]
  public var createdAt: Instant

  init(_ test: StoredABTest) {
    id = test.id
    variants = test.variants
    createdAt = test.createdAt
  }
}

/// What became of the pushes to one variant, added up.
public struct VariantReport: Sendable, Equatable {
  public var variant: String
  public var pushes: [Int64]
  public var targeted = 0
  public var accepted = 0
  public var refused = 0
  public var expired = 0
  public var unanswered = 0
  public var skipped = 0
}

extension PushService {
  private static let mostVariants = 20
  /// So many pushes of a test are told of.
  private static let mostPushes = 1000

  /// By id, those after the given one; at most `limit`.
  public func abTests(_ app: AppRecord, after: String?, limit: Int) async throws(RequestFault) -> [ABTestView] {
    try await faulting(
      as: .push, await store.tests(app: app.id, after: after, limit: limit).map(ABTestView.init))
  }

  public func abTest(_ app: AppRecord, id: String) async throws(RequestFault) -> ABTestView? {
    try await faulting(as: .push, await store.test(app: app.id, id: id).map(ABTestView.init))
  }

  /// Makes a test of variants, each with its part in percent of all devices; who is in none is left alone. What is there
  /// under this id must be the same, since its devices are never dealt anew (9409).
  public func makeABTest(
    _ app: AppRecord, id: String, _ variants: [(name: String, percent: Double)]
  ) async throws(RequestFault) -> ABTestView {
    try NameRule.resource.check(id, .invalidParameter, at: "id")
    let test = StoredABTest(id: id, variants: try Self.shares(id, variants), createdAt: clock.now)
    let known = try await faulting(as: .push, await store.keepTest(app: app.id, test, audit: note(.testMade, app, id)))
    guard let known, known.variants != test.variants else { return ABTestView(known ?? test) }
    throw RequestFault(
      .conflict, at: "id", found: "there is another A/B test \(quoted(id))",
      remedy: "Its devices are never dealt anew: make a test under another id.")
  }

  private static func shares(
    _ test: String, _ variants: [(name: String, percent: Double)]
  ) throws(RequestFault) -> [AudienceShare] {
    guard 1...mostVariants ~= variants.count else {
      throw RequestFault(
        .invalidParameter, at: "variants", found: "it has \(variants.count) entries",
        remedy: "Give 1 to \(mostVariants) variants.")
    }
    var shares: [AudienceShare] = []
    var next = 0.0
    for (index, (name, percent)) in variants.enumerated() {
      try NameRule.resource.check(name, .invalidParameter, at: "variants[\(index)].name")
      guard !shares.contains(where: { $0.variant == name }) else {
        throw RequestFault(
          .invalidParameter, at: "variants[\(index)].name", found: "\(quoted(name)) comes twice",
          remedy: "Give each variant a name of its own.")
      }
      let slots = (percent * Double(AudienceShare.slotCount) / 100).rounded()
      guard percent > 0, slots >= 1, next + slots <= Double(AudienceShare.slotCount) else {
        throw RequestFault(
          .invalidParameter, at: "variants[\(index)].percent", found: "\(percent)",
          remedy: "Give at least 0.01, and at most 100 for all together.")
      }
      shares.append(AudienceShare(test: test, variant: name, slots: UInt16(next)..<UInt16(next + slots)))
      next += slots
    }
    return shares
  }

  /// By variant, in the order of the test; pushes to it that were accepted so far.
  public func results(_ app: AppRecord, of test: ABTestView) async throws(RequestFault) -> [VariantReport] {
    var reports = test.variants.map { VariantReport(variant: $0.variant, pushes: []) }
    do throws(StoreFault) {
      for push in try await store.pushes(app: app.id, ofTest: test.id, limit: Self.mostPushes) {
        guard let index = reports.firstIndex(where: { $0.variant == push.variant }),
          let progress = try await store.progress(app: app.id, push: push.push)
        else { continue }
        reports[index].add(PushReport(progress))
      }
    } catch {
      throw RequestFault(error, .push)
    }
    return reports
  }

  public func deleteABTest(_ app: AppRecord, id: String) async throws(RequestFault) {
    let wasThere = try await faulting(
      as: .push, await store.deleteTest(app: app.id, id: id, audit: note(.testDeleted, app, id)))
    guard wasThere else { throw Self.noSuch("A/B test", id) }
  }
}

extension VariantReport {
  fileprivate mutating func add(_ report: PushReport) {
    pushes.append(report.messageID)
    targeted += report.targeted
    accepted += report.accepted
    refused += report.refused.reduce(0) { $0 + $1.count }
    expired += report.expired
    unanswered += report.unanswered
    skipped += report.skipped + report.skippedByPreference
  }
}
