import Audience
import Basics
import Schedule
import Store

/// Accepts pushes and tells how they stand.
struct PushTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  // MARK: Accepting

  func accept(
    _ push: StoredPush, audience: [AudienceReach.ShardAudience], companion: PlannedPush?, message: MessageDraft?,
    clientIDsSince since: Instant
  ) throws(StoreFault) -> Acceptance {
    if let name = push.clientID {
      if let (known, targeted) = try self.push(app: push.app, clientID: name, since: since) {
        return .repeated(known, targeted: targeted)
      }
      try database.run(
        """
        INSERT INTO client_id VALUES (?1, ?2, ?3, ?4) ON CONFLICT (app, name) DO UPDATE SET push = ?3, at = ?4
        """, .int(push.app), .text(name), .int(push.id), .int(push.acceptedAt.milliseconds))
    }
    try insert(push, audience)
    if let companion { try insert(companion.push, companion.audience) }
    if let message {
      try MessageTable(database).insert(message, id: push.id, app: push.app, at: push.acceptedAt)
    }
    if let former = push.replaces { try withdraw(former, replacedBy: push) }
    return .accepted
  }

  /// What of it has not left would come after the push, and take its place on the phone.
  private func withdraw(_ former: Int64, replacedBy push: StoredPush) throws(StoreFault) {
    var owing: [Int64] = []
    try database.each(
      """
      UPDATE push SET control = ?1 WHERE (id = ?2 OR companion_of = ?2) AND app = ?3 AND finished_at IS NULL
        AND control <> ?1 RETURNING id
      """, .int(PushControl.withdrawn.rawValue), .int(former), .int(push.app)
    ) { owing.append($0.int(0)) }
    for id in owing {
      try TraceTable(database).keep(PushStep(at: push.acceptedAt, kind: .control(.withdrawn)), push: id)
    }
    _ = try MessageTable(database).withdraw(app: push.app, id: former, at: push.acceptedAt)
  }

  private func insert(
    _ push: StoredPush, _ audience: [AudienceReach.ShardAudience]
  ) throws(StoreFault) {
    let (kind, amount) = push.badge.columns
    try database.run(
      """
      INSERT INTO push (id, app, accepted_at, environment, request, payload, push_type, priority, expiration, deadline,
        collapse_id, badge_kind, badge_amount, send_number, client_id, wrong_environment, dead_tokens, warnings,
        unmatched, targeted, open_shards, finished_at, is_scheduled, pace_devices, pace_per, pace_anchor, pace_released,
        meant, local_due, quiet, quiet_drops, timing_zone, personal, group_push, address_kind, address_name,
        companion_of, quiet_of_users, channel, callback, callback_events, callback_params)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
          ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .int(push.id), .int(push.app), .int(push.acceptedAt.milliseconds), .int(push.environment.rawValue),
      .blob(push.request), .blob(push.payload), .text(push.pushType), .int(push.priority),
      .optional(push.expiration), .optional(push.deadline?.milliseconds), .optional(push.collapseID), .int(kind),
      .int(amount), .int(push.sendNumber), .optional(push.clientID), .int(push.wrongEnvironment),
      .int(push.deadTokens), .text(joined(push.warnings)), .text(joined(push.unmatched)),
      .int(audience.reduce(0) { $0 + $1.devices.count }), .int(audience.count),
      audience.isEmpty ? .int(push.acceptedAt.milliseconds) : .null, .int(push.isScheduled ? 1 : 0),
      .optional(push.pace?.devices), .optional(push.pace?.per.milliseconds),
      push.pace == nil ? .null : .int(push.acceptedAt.milliseconds), push.pace == nil ? .null : .int(0),
      push.audience.map { .blob($0.encoded()) } ?? .null,
      .optional(push.timing?.due?.description), .optional(push.timing?.quiet?.description),
      .optional(push.timing.map { $0.dropsInQuiet ? 1 : 0 }), .optional(push.timing?.timeZone),
      .optional(push.personal), .optional(push.groupPush), .int(push.address.columns.kind),
      .optional(push.address.columns.name), .optional(push.companionOf),
      .int(push.timing?.heedsUsers == true ? 1 : 0), .optional(push.channel),
      .optional(try WebhookTable(database).callback(of: push)), .optional(push.callback?.events.mask),
      .optional(push.callback?.params))
    try SegmentTable(database).note(push)
    for part in audience {
      try database.run(
        "INSERT INTO push_shard (push, shard, owed, audience) VALUES (?, ?, ?, ?)", .int(push.id), .int(part.shard),
        .int(part.devices.count), .blob(part.devices.serialized()))
    }
  }

  // MARK: Reading

  func push(app: Int64, clientID: String, since: Instant) throws(StoreFault) -> (push: StoredPush, targeted: Int)? {
    let known = try database.first(
      "SELECT push FROM client_id WHERE app = ? AND name = ? AND at >= ?", .int(app), .text(clientID),
      .int(since.milliseconds)
    ) { $0.int(0) }
    return try known.flatMap { id throws(StoreFault) in try read(id, app: app) }
  }

  func read(_ id: Int64, app: Int64?) throws(StoreFault) -> (push: StoredPush, targeted: Int)? {
    try database.first(
      """
      SELECT app, accepted_at, environment, request, payload, push_type, priority, expiration, deadline, collapse_id,
        badge_kind, badge_amount, send_number, client_id, wrong_environment, dead_tokens, warnings, unmatched, targeted,
        is_scheduled, pace_devices, pace_per, meant, local_due, quiet, quiet_drops, timing_zone, group_push, personal,
        address_kind, address_name, companion_of, quiet_of_users, channel,
        (SELECT url FROM webhook WHERE webhook.id = callback), callback_events, callback_params FROM push
        WHERE id = ?1 AND (?2 IS NULL OR app = ?2)
      """, .int(id), .optional(app)
    ) { row throws(StoreFault) in
      guard let environment = APNSEnvironment(rawValue: UInt8(clamping: row.int(2))),
        let badge = BadgeArithmetic(kind: row.int(10), amount: row.int(11))
      else { throw .corrupt("push \(id) cannot be read") }
      var push = StoredPush(
        id: id, app: row.int(0), acceptedAt: Instant(milliseconds: row.int(1)), environment: environment,
        request: row.blob(3), payload: row.blob(4), personal: row.optionalBlob(28), pushType: row.text(5),
        priority: UInt8(clamping: row.int(6)),
        expiration: row.optionalInt(7), deadline: row.optionalInt(8).map(Instant.init(milliseconds:)),
        collapseID: row.optionalText(9), badge: badge, sendNumber: Int32(clamping: row.int(12)),
        isScheduled: row.int(19) != 0, pace: SendPace(devices: row.optionalInt(20), per: row.optionalInt(21)),
        timing: row.optionalText(26).map {
          LocalTiming(
            due: row.optionalText(23).flatMap(LocalTime.init), quiet: row.optionalText(24).flatMap(QuietHours.init),
            heedsUsers: row.int(32) != 0, dropsInQuiet: row.int(25) != 0, timeZone: $0)
        },
        clientID: row.optionalText(13), wrongEnvironment: Int(row.int(14)),
        deadTokens: Int(row.int(15)),
        warnings: split(row.text(16)), unmatched: split(row.text(17)),
        audience: row.isNull(22) ? nil : try AudienceExpression(column: 22, of: row))
      push.groupPush = row.optionalInt(27)
      push.address = try PushAddress(kind: row.int(29), name: row.text(30))
      push.companionOf = row.optionalInt(31)
      push.channel = row.optionalText(33)
      push.callback = row.optionalInt(35).map {
        PushCallback(url: row.optionalText(34), events: Set(mask: $0), params: row.optionalBlob(36))
      }
      return (push, Int(row.int(18)))
    }
  }

  func unfinished(after: OpenShard?, limit: Int) throws(StoreFault) -> [OpenShard] {
    var shards: [OpenShard] = []
    try database.each(
      """
      SELECT push.app, push, shard, owed FROM push_shard JOIN push ON push.id = push_shard.push
        WHERE owed > 0 AND (push, shard) > (?, ?) ORDER BY push, shard LIMIT ?
      """, .int(after?.push ?? -1), .int(after.map { Int64($0.shard) } ?? -1), .int(limit)
    ) { row in
      shards.append(
        OpenShard(
          app: row.int(0), push: row.int(1), shard: ShardIndex(truncatingIfNeeded: row.int(2)),
          devices: UInt32(clamping: row.int(3))))
    }
    return shards
  }

  func progress(app: Int64, push id: Int64) throws(StoreFault) -> PushProgress? {
    guard let (push, targeted) = try read(id, app: app) else { return nil }
    var progress = PushProgress(push: push, targeted: targeted, counts: [:], waiting: nil, finishedAt: nil)
    try database.each("SELECT waiting, finished_at, control FROM push WHERE id = ?", .int(id)) { row in
      progress.waiting = row.optionalText(0)
      progress.control = PushControl(rawValue: UInt8(clamping: row.int(2))) ?? .running
      progress.finishedAt = row.optionalInt(1).map(Instant.init(milliseconds:))
    }
    progress.counts = try counts(push: id)
    progress.companion = try database.first("SELECT id FROM push WHERE companion_of = ?", .int(id)) { $0.int(0) }
    progress.reports = try ReportTable(database).counts(push: id)
    progress.message = try MessageTable(database).progress(app: app, id: id)
    return progress
  }

  func counts(push id: Int64) throws(StoreFault) -> [OutcomeKind: Int] {
    var counts: [OutcomeKind: Int] = [:]
    try database.each("SELECT outcome, sum(count) FROM push_outcome WHERE push = ? GROUP BY outcome", .int(id)) {
      counts[OutcomeKind(column: $0.text(0))] = Int($0.int(1))
    }
    return counts
  }

  func pushes(app: Int64, before: Int64, limit: Int) throws(StoreFault) -> [PushProgress] {
    var ids: [Int64] = []
    try database.each(
      "SELECT id FROM push WHERE app = ? AND id < ? ORDER BY id DESC LIMIT ?", .int(app), .int(before), .int(limit)
    ) { ids.append($0.int(0)) }
    var pushes: [PushProgress] = []
    for id in ids {
      if let push = try progress(app: app, push: id) { pushes.append(push) }
    }
    return pushes
  }

  // MARK: Controlling

  func control(
    app: Int64, push: Int64, _ control: PushControl, at now: Instant, _ audit: AuditNote
  ) throws(StoreFault) -> PushControlAnswer {
    let found = try database.first(
      "SELECT control, finished_at IS NOT NULL FROM push WHERE id = ? AND app = ?", .int(push), .int(app)
    ) { (control: PushControl(rawValue: UInt8(clamping: $0.int(0))), isFinished: $0.int(1) != 0) }
    guard let found else { return .noSuchPush }
    if found.control == control { return .done }
    if found.control == .withdrawn { return .withdrawn }
    if found.isFinished { return .finished }
    try database.run("UPDATE push SET control = ? WHERE id = ?", .int(control.rawValue), .int(push))
    try TraceTable(database).keep(PushStep(at: now, kind: .control(control)), push: push)
    try AuditTable(database).write(audit)
    return .done
  }

  func pacedPushes(app: Int64) throws(StoreFault) -> Int {
    try database.first(
      "SELECT count(*) FROM push WHERE app = ? AND pace_devices IS NOT NULL AND finished_at IS NULL", .int(app)
    ) { Int($0.int(0)) } ?? 0
  }

  /// Lists are kept as lines; what is listed holds no line breaks that matter.
  private func joined(_ lines: [String]) -> String {
    lines.map { $0.replacing("\n", with: " ") }.joined(separator: "\n")
  }

  private func split(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
}

extension BadgeArithmetic {
  var columns: (kind: Int64, amount: Int64) {
    switch self {
    case .none: (0, 0)
    case .set(let value): (1, Int64(value))
    case .add(let amount): (2, Int64(amount))
    }
  }

  init?(kind: Int64, amount: Int64) {
    switch kind {
    case 0: self = .none
    case 1: self = .set(Int32(clamping: amount))
    case 2: self = .add(Int32(clamping: amount))
    default: return nil
    }
  }
}

extension PushAddress {
  var columns: (kind: Int64, name: String?) {
    switch self {
    case .device: (0, nil)
    case .special(let purpose): (Int64(purpose.kind), purpose.name)
    case .channel(let id): (Self.channelKind, id)
    }
  }

  /// Beside those of `TokenPurpose`; 0 is `.device`. An index and who reads by it have it written out.
  static let channelKind: Int64 = 64

  init(kind: Int64, name: String) throws(StoreFault) {
    guard kind != 0 else {
      self = .device
      return
    }
    guard kind != Self.channelKind else {
      self = .channel(name)
      return
    }
    guard let purpose = TokenPurpose(kind: UInt8(clamping: kind), name: name) else {
      throw .corrupt("a push to no known kind of token")
    }
    self = .special(purpose)
  }
}

extension OutcomeKind {
  var column: String {
    switch self {
    case .accepted: "accepted"
    case .refused(let reason): "refused:\(reason)"
    case .expired: "expired"
    case .unanswered: "unanswered"
    case .skipped: "skipped"
    case .skippedByPreference: "preference"
    case .withdrawn: "withdrawn"
    }
  }

  init(column: String) {
    switch column {
    case "accepted": self = .accepted
    case "expired": self = .expired
    case "unanswered": self = .unanswered
    case "skipped": self = .skipped
    case "preference": self = .skippedByPreference
    case "withdrawn": self = .withdrawn
    default: self = .refused(String(column.dropFirst("refused:".count)))
    }
  }
}

extension SendPace {
  init?(devices: Int64?, per: Int64?) {
    guard let devices, let per else { return nil }
    self.init(devices: devices, per: .milliseconds(per))
  }
}
