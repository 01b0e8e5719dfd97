import Audience
import Basics
import Store

/// Keeps what devices say became of pushes, and takes a push's counts apart. A row of `push_report` makes a report count
/// once; `push_report_count` is what is read.
struct ReportTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  // MARK: Keeping

  func keep(
    _ reports: [DeviceReport], app: Int64, registrationID: String, at now: Instant
  ) throws(StoreFault) -> [ReportAnswer] {
    let device = try database.first(
      "SELECT id, app_version FROM device WHERE registration_id = ? AND app = ?", .text(registrationID), .int(app)
    ) { (ordinal: DeviceOrdinal(truncatingIfNeeded: $0.int(0)), appVersion: $0.optionalText(1)) }
    guard let device else { return reports.map { _ in .notMeant } }
    var answers: [ReportAnswer] = []
    for report in reports {
      var report = report
      let answer = try keep(&report, app: app, device.ordinal, device.appVersion)
      if answer == .counted { try tell(report, app: app, device.ordinal, registrationID, at: now) }
      answers.append(answer)
    }
    return answers
  }

  /// What was before the push was accepted becomes of then.
  private func keep(
    _ report: inout DeviceReport, app: Int64, _ ordinal: DeviceOrdinal, _ appVersion: String?
  ) throws(StoreFault) -> ReportAnswer {
    let acceptedAt = try database.first(
      """
      SELECT audience, accepted_at FROM push_shard JOIN push ON push.id = push_shard.push
        WHERE push = ? AND shard = ? AND app = ?
      """, .int(report.push), .int(ordinal.shard), .int(app)
    ) { row throws(StoreFault) in
      try DeviceSet(column: 0, of: row).contains(ordinal) ? Instant(milliseconds: row.int(1)) : nil
    }
    guard let acceptedAt = acceptedAt ?? nil else { return .notMeant }
    report.at = max(report.at, acceptedAt)
    try database.run(
      "INSERT OR IGNORE INTO push_report VALUES (?, ?, ?, ?)", .int(report.push), .int(ordinal),
      .int(report.kind.rawValue), .int(report.at.milliseconds))
    guard database.changes > 0 else { return .repeated }
    try database.run(
      """
      INSERT INTO push_report_count VALUES (?1, ?2, ?3, ?4, 1)
        ON CONFLICT (push, kind, hour, app_version) DO UPDATE SET count = count + 1
      """, .int(report.push), .int(report.kind.rawValue), .int(report.at.hour), .text(appVersion ?? ""))
    return .counted
  }

  private func tell(
    _ report: DeviceReport, app: Int64, _ ordinal: DeviceOrdinal, _ registrationID: String, at now: Instant
  ) throws(StoreFault) {
    var news = WebhookNews(database, app: app, push: report.push, at: now)
    switch report.kind {
    case .clicked: try news.tell(.clicked, at: report.at, registrationID: registrationID)
    case .received, .shown:
      guard try news.isWanted(.delivered) else { return }
      let said = try reports(push: report.push, of: ordinal).filter { $0.kind == .received || $0.kind == .shown }
      if said.count == 1 { try news.tell(.delivered, at: report.at, registrationID: registrationID) }
    }
  }

  // MARK: Reading

  /// In the order of their times.
  func reports(push: Int64, of ordinal: DeviceOrdinal) throws(StoreFault) -> [DeviceReport] {
    var reports: [DeviceReport] = []
    try database.each(
      "SELECT kind, at FROM push_report WHERE push = ? AND ordinal = ? ORDER BY at, kind", .int(push), .int(ordinal)
    ) { row in
      guard let kind = ReportKind(rawValue: UInt8(clamping: row.int(0))) else { return }
      reports.append(DeviceReport(push: push, kind: kind, at: Instant(milliseconds: row.int(1))))
    }
    return reports
  }

  func counts(push: Int64) throws(StoreFault) -> [ReportKind: Int] {
    var counts: [ReportKind: Int] = [:]
    try database.each("SELECT kind, sum(count) FROM push_report_count WHERE push = ? GROUP BY kind", .int(push)) {
      if let kind = ReportKind(rawValue: UInt8(clamping: $0.int(0))) { counts[kind] = Int($0.int(1)) }
    }
    return counts
  }

  func reportStandings(app: Int64, push: Int64, registrationIDs: [String]) throws(StoreFault) -> [ReportStanding] {
    let devices = DeviceTable(database)
    let isTheirs = try isPush(push, of: app)
    var audiences: [ShardIndex: DeviceSet] = [:]
    var standings: [ReportStanding] = []
    for name in registrationIDs {
      guard let id = try devices.id(app: app, registrationID: name) else {
        standings.append(.noSuchDevice)
        continue
      }
      let ordinal = DeviceOrdinal(truncatingIfNeeded: id)
      if isTheirs, audiences[ordinal.shard] == nil {
        audiences[ordinal.shard] = try database.first(
          "SELECT audience FROM push_shard WHERE push = ? AND shard = ?", .int(push), .int(ordinal.shard)
        ) { row throws(StoreFault) in try DeviceSet(column: 0, of: row) }
      }
      guard audiences[ordinal.shard]?.contains(ordinal) ?? false else {
        standings.append(.notTargeted)
        continue
      }
      let hasSaid = try database.first(
        "SELECT 1 FROM push_report WHERE push = ? AND ordinal = ? LIMIT 1", .int(push), .int(ordinal)
      ) { _ in true }
      standings.append(hasSaid == nil ? .silent : .reported)
    }
    return standings
  }

  private func isPush(_ push: Int64, of app: Int64) throws(StoreFault) -> Bool {
    try database.first("SELECT 1 FROM push WHERE id = ? AND app = ?", .int(push), .int(app)) { _ in true } ?? false
  }

  func breakdown(app: Int64, push: Int64) throws(StoreFault) -> PushBreakdown? {
    guard try isPush(push, of: app) else { return nil }
    var breakdown = PushBreakdown()
    try database.each(
      "SELECT hour, outcome, sum(count) FROM push_outcome WHERE push = ? GROUP BY hour, outcome", .int(push)
    ) { row in
      breakdown.hours[Instant(hour: row.int(0)), default: PushTally()].outcomes[OutcomeKind(column: row.text(1))] =
        Int(row.int(2))
    }
    try database.each(
      "SELECT app_version, outcome, sum(count) FROM push_outcome WHERE push = ? GROUP BY app_version, outcome",
      .int(push)
    ) { row in
      breakdown.appVersions[row.text(0), default: PushTally()].outcomes[OutcomeKind(column: row.text(1))] =
        Int(row.int(2))
    }
    try database.each(
      "SELECT hour, kind, sum(count) FROM push_report_count WHERE push = ? GROUP BY hour, kind", .int(push)
    ) { row in
      guard let kind = ReportKind(rawValue: UInt8(clamping: row.int(1))) else { return }
      breakdown.hours[Instant(hour: row.int(0)), default: PushTally()].reports[kind] = Int(row.int(2))
    }
    try database.each(
      "SELECT app_version, kind, sum(count) FROM push_report_count WHERE push = ? GROUP BY app_version, kind",
      .int(push)
    ) { row in
      guard let kind = ReportKind(rawValue: UInt8(clamping: row.int(1))) else { return }
      breakdown.appVersions[row.text(0), default: PushTally()].reports[kind] = Int(row.int(2))
    }
    return breakdown
  }
}

extension Instant {
  /// Hours since 1970, in UTC.
  var hour: Int64 { max(0, seconds) / 3600 }

  init(hour: Int64) { self.init(seconds: hour * 3600) }
}
