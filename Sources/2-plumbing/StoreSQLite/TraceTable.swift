import Audience
import Basics
import Store

/// Keeps what `explain` tells of devices and pushes beside their outcomes, and reads it.
///
/// `push_accepted` has a row for each batch of answers: one time for a set of devices. Neighbours in the set cost nothing,
/// strangers two bytes each, so that a broadcast to ten million devices keeps well below a megabyte, and 20 MB at worst.
struct TraceTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  // MARK: Keeping

  func keep(accepted ordinals: [DeviceOrdinal], _ hold: ShardHold, at now: Instant) throws(StoreFault) {
    guard !ordinals.isEmpty else { return }
    try database.run(
      "INSERT INTO push_accepted (push, shard, at, members) VALUES (?, ?, ?, ?)", .int(hold.push), .int(hold.shard),
      .int(now.milliseconds), .blob(DeviceSet(ordinals).serialized()))
  }

  func setWaiting(push: Int64, _ reason: String?, at now: Instant) throws(StoreFault) {
    try database.run("UPDATE push SET waiting = ?1 WHERE id = ?2 AND waiting IS NOT ?1", .optional(reason), .int(push))
    guard database.changes > 0 else { return }
    try keep(PushStep(at: now, kind: reason.map { .waits($0) } ?? .goesOn), push: push)
    guard let reason, let app = try onlyWaiting(push) else { return }
    var news = WebhookNews(database, app: app, push: push, at: now)
    try news.tell(.sendingHeldBack, words: reason)
  }

  /// Its app; nil when another of the app's pushes waits too.
  private func onlyWaiting(_ push: Int64) throws(StoreFault) -> Int64? {
    try database.first(
      """
      SELECT app FROM push AS this WHERE id = ?1
        AND NOT EXISTS (SELECT 1 FROM push WHERE app = this.app AND waiting IS NOT NULL AND id <> ?1)
      """, .int(push)
    ) { $0.int(0) }
  }

  func keep(_ step: PushStep, push: Int64) throws(StoreFault) {
    let (kind, words) = step.kind.columns
    try database.run(
      "INSERT INTO push_step (push, at, kind, words) VALUES (?, ?, ?, ?)", .int(push), .int(step.at.milliseconds),
      .int(kind), .optional(words))
  }

  // MARK: Reading

  func trace(app: Int64, push id: Int64, registrationID: String) throws(StoreFault) -> DeviceTraceAnswer {
    guard let (push, targeted) = try PushTable(database).read(id, app: app) else { return .noSuchPush }
    guard let device = try DeviceTable(database).device(app: app, registrationID: registrationID) else {
      return .noSuchDevice
    }
    let state = try state(of: device.ordinal, push: id)
    let isAccepted = if case .accepted = state { true } else { false }
    return .found(
      DeviceTrace(
        push: push, targeted: targeted, steps: try steps(of: id), device: device,
        subject: try subject(device, push.audience),
        changedSince: try wasChanged(device, after: id), state: state,
        replacedBy: isAccepted ? try replacement(of: push, device.ordinal) : nil,
        reports: try ReportTable(database).reports(push: id, of: device.ordinal)))
  }

  private func subject(
    _ device: StoredDevice, _ audience: AudienceExpression?
  ) throws(StoreFault) -> AudienceSubject {
    var subject = device.subject
    let files = FileTable(database)
    for leaf in audience?.leaves ?? [] {
      guard case .file(let id) = leaf else { continue }
      if try !files.isKept(id) {
        subject.lostFiles.insert(id)
      } else if try files.members(of: id, app: device.app).contains(device.ordinal) {
        subject.files.insert(id)
      }
    }
    return subject
  }

  private func state(of ordinal: DeviceOrdinal, push: Int64) throws(StoreFault) -> DeviceTrace.State {
    let shard = try database.first(
      "SELECT owed, audience, done FROM push_shard WHERE push = ? AND shard = ?", .int(push), .int(ordinal.shard)
    ) { row throws(StoreFault) in
      (
        isFinished: row.int(0) == 0, audience: try DeviceSet(column: 1, of: row),
        done: try DeviceSet(column: 2, of: row)
      )
    }
    guard let shard, shard.audience.contains(ordinal) else { return .notTargeted }
    guard shard.isFinished || shard.done.contains(ordinal) else {
      let waiting = try database.first("SELECT waiting FROM push WHERE id = ?", .int(push)) { $0.optionalText(0) }
      return .pending(waiting: waiting ?? nil)
    }
    let trouble = try database.first(
      "SELECT outcome, status, note, at FROM push_trouble WHERE push = ? AND ordinal = ?", .int(push), .int(ordinal)
    ) { row in
      DeviceTrace.State.ended(
        DeviceOutcome(
          ordinal: ordinal, kind: OutcomeKind(column: row.text(0)), status: row.optionalInt(1).map(Int.init),
          note: row.optionalText(2)), at: Instant(milliseconds: row.int(3)))
    }
    if let trouble { return trouble }
    return .accepted(at: try acceptance(of: ordinal, push: push))
  }

  private func acceptance(of ordinal: DeviceOrdinal, push: Int64) throws(StoreFault) -> Instant? {
    var found: Instant?
    try database.each(
      "SELECT at, members FROM push_accepted WHERE push = ? AND shard = ? ORDER BY id", .int(push),
      .int(ordinal.shard)
    ) { row throws(StoreFault) in
      if found == nil, try DeviceSet(column: 1, of: row).contains(ordinal) {
        found = Instant(milliseconds: row.int(0))
      }
    }
    return found
  }

  private func steps(of push: Int64) throws(StoreFault) -> [PushStep] {
    var steps: [PushStep] = []
    try database.each("SELECT at, kind, words FROM push_step WHERE push = ? ORDER BY id", .int(push)) { row in
      guard let kind = PushStep.Kind(kind: row.int(1), words: row.text(2)) else { return }
      steps.append(PushStep(at: Instant(milliseconds: row.int(0)), kind: kind))
    }
    return steps
  }

  /// By the highest message id there was at the last change, which triggers note: it needs no clock, and says exactly
  /// whether the change came after the push.
  private func wasChanged(_ device: StoredDevice, after push: Int64) throws(StoreFault) -> Bool {
    try database.first(
      "SELECT changed_after >= ? FROM device WHERE id = ?", .int(push),
      .int(DeviceTable.id(app: device.app, device.ordinal))
    ) { $0.int(0) != 0 } ?? false
  }

  /// Looks at the next few pushes only: what was replaced is replaced by the first of them that arrived.
  private func replacement(
    of push: StoredPush, _ ordinal: DeviceOrdinal
  ) throws(StoreFault) -> DeviceTrace.Replacement? {
    guard let collapseID = push.shownID else { return nil }
    var later: [DeviceTrace.Replacement] = []
    try database.each(
      "SELECT id, accepted_at FROM push WHERE app = ? AND collapse_id = ? AND id > ? ORDER BY id LIMIT 100",
      .int(push.app), .text(collapseID), .int(push.id)
    ) { later.append(.init(push: $0.int(0), acceptedAt: Instant(milliseconds: $0.int(1)))) }
    for candidate in later {
      if case .accepted = try state(of: ordinal, push: candidate.push) { return candidate }
    }
    return nil
  }
}

extension PushStep.Kind {
  fileprivate var columns: (kind: Int64, words: String?) {
    switch self {
    case .waits(let reason): (1, reason)
    case .goesOn: (2, nil)
    case .control(let control): (10 + Int64(control.rawValue), nil)
    }
  }

  fileprivate init?(kind: Int64, words: String) {
    switch kind {
    case 1: self = .waits(words)
    case 2: self = .goesOn
    default:
      guard let control = PushControl(rawValue: UInt8(clamping: kind - 10)), kind >= 10 else { return nil }
      self = .control(control)
    }
  }
}
