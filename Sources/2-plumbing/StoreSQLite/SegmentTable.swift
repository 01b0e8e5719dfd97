import Audience
import Basics
import Store

/// Keeps saved audiences and A/B tests.
struct SegmentTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  // MARK: Segments

  func segments(app: Int64, after: String?, limit: Int) throws(StoreFault) -> [StoredSegment] {
    var segments: [StoredSegment] = []
    try database.each(
      """
      SELECT id, document, audience, updated_at, version FROM segment WHERE app = ? AND id > ? ORDER BY id LIMIT ?
      """, .int(app), .text(after ?? ""), .int(limit)
    ) { row throws(StoreFault) in segments.append(try Self.segment(row)) }
    return segments
  }

  func segment(app: Int64, id: String) throws(StoreFault) -> StoredSegment? {
    try database.first(
      "SELECT id, document, audience, updated_at, version FROM segment WHERE app = ? AND id = ?", .int(app), .text(id)
    ) { row throws(StoreFault) in try Self.segment(row) }
  }

  private static func segment(_ row: Row) throws(StoreFault) -> StoredSegment {
    StoredSegment(
      id: row.text(0), document: row.blob(1), audience: try AudienceExpression(column: 2, of: row),
      updatedAt: Instant(milliseconds: row.int(3)), version: row.int(4))
  }

  func keep(app: Int64, _ segment: StoredSegment, ifVersion: Int64?) throws(StoreFault) -> StoredSegment? {
    let known = try self.segment(app: app, id: segment.id)
    if let ifVersion, ifVersion != known?.version { return nil }
    var kept = segment
    kept.version = (known?.version ?? 0) + 1
    try database.run(
      "INSERT OR REPLACE INTO segment VALUES (?, ?, ?, ?, ?, ?)", .int(app), .text(kept.id), .blob(kept.document),
      .blob(kept.audience.encoded()), .int(kept.updatedAt.milliseconds), .int(kept.version))
    return kept
  }

  func delete(app: Int64, id: String) throws(StoreFault) -> Bool {
    try database.run("DELETE FROM segment WHERE app = ? AND id = ?", .int(app), .text(id))
    return database.changes > 0
  }

  // MARK: A/B tests

  func tests(app: Int64, after: String?, limit: Int) throws(StoreFault) -> [StoredABTest] {
    var tests: [StoredABTest] = []
    try database.each(
      "SELECT id, variants, created_at FROM ab_test WHERE app = ? AND id > ? ORDER BY id LIMIT ?", .int(app),
      .text(after ?? ""), .int(limit)
    ) { row throws(StoreFault) in tests.append(try Self.test(row)) }
    return tests
  }

  func test(app: Int64, id: String) throws(StoreFault) -> StoredABTest? {
    try database.first(
      "SELECT id, variants, created_at FROM ab_test WHERE app = ? AND id = ?", .int(app), .text(id)
    ) { row throws(StoreFault) in try Self.test(row) }
  }

  /// The variants are kept as the audience that any of them makes.
  private static func test(_ row: Row) throws(StoreFault) -> StoredABTest {
    let shares = try AudienceExpression(column: 1, of: row).leaves.compactMap { leaf in
      if case .share(let share) = leaf { share } else { nil }
    }
    return StoredABTest(id: row.text(0), variants: shares, createdAt: Instant(milliseconds: row.int(2)))
  }

  func keep(app: Int64, _ test: StoredABTest) throws(StoreFault) -> StoredABTest? {
    if let known = try self.test(app: app, id: test.id) { return known }
    try database.run(
      "INSERT INTO ab_test VALUES (?, ?, ?, ?)", .int(app), .text(test.id),
      .blob(AudienceExpression.any(test.variants.map(AudienceExpression.share)).encoded()),
      .int(test.createdAt.milliseconds))
    return nil
  }

  func deleteTest(app: Int64, id: String) throws(StoreFault) -> Bool {
    try database.run("DELETE FROM ab_test WHERE app = ? AND id = ?", .int(app), .text(id))
    return database.changes > 0
  }

  /// One whose audience names a variant.
  func note(_ push: StoredPush) throws(StoreFault) {
    guard let audience = push.audience else { return }
    for case .share(let share) in audience.leaves {
      try database.run(
        "INSERT OR IGNORE INTO push_variant VALUES (?, ?, ?, ?)", .int(push.app), .text(share.test), .int(push.id),
        .text(share.variant))
    }
  }

  func pushes(app: Int64, ofTest id: String, limit: Int) throws(StoreFault) -> [VariantPush] {
    var pushes: [VariantPush] = []
    try database.each(
      "SELECT variant, push FROM push_variant WHERE app = ? AND test = ? ORDER BY push LIMIT ?", .int(app), .text(id),
      .int(limit)
    ) { pushes.append(VariantPush(variant: $0.text(0), push: $0.int(1))) }
    return pushes
  }
}

extension AudienceExpression {
  init(column: Int32, of row: Row) throws(StoreFault) {
    guard let expression = AudienceExpression(encoded: row.blob(column)) else {
      throw .corrupt("an audience cannot be read")
    }
    self = expression
  }
}
