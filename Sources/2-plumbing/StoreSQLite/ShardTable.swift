import Audience
import Basics
import Schedule
import Store

/// The work on one shard of a push: claiming devices, keeping what became of them.
struct ShardTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  private struct Shard {
    var app: Int64
    var environment: APNSEnvironment
    var badge: BadgeArithmetic
    var heedsPreference: Bool
    var isPersonal: Bool
    var address: PushAddress
    /// Set where a device's choice of channels counts.
    var channel: String?
    var audience: DeviceSet
    var done: DeviceSet
    var badged: DeviceSet
    var control: PushControl
    var waiting: String?
    var pace: SendPace?
    var progress: SendPace.Progress
    /// Set where the pace left somebody unclaimed.
    var nextAt: Instant?

    /// Whether a device that is claimed again must be known.
    var countsClaims: Bool { badge != .none || pace != nil }
  }

  func begin(
    _ hold: ShardHold, claiming limit: Int, at now: Instant, zones: (String) -> TimeZoneRules?
  ) throws(StoreFault) -> ShardStart {
    guard let (push, _) = try PushTable(database).read(hold.push, app: nil), var shard = try read(hold) else {
      return .finished(endedPush: false)
    }
    let limit = push.deadline.map { $0 <= now } == true || shard.control != .running ? 0 : limit
    var claimed: [ClaimedDevice] = []
    var finish = Finish(WebhookNews(database, app: shard.app, push: hold.push, at: now))
    var early = EarlyDevices()
    if limit > 0, let timing = push.timing {
      early = try EarlyDevices(
        among: shard.audience.subtracting(shard.done), of: shard.app, hold.shard, timing, at: now, database,
        zones: zones)
      for ordinal in early.dropped.ordinals(limit: .max) {
        let outcome = DeviceOutcome(ordinal: ordinal, kind: .skipped, note: "quiet hours where it is")
        try end(outcome, hold, &shard, at: now, &finish)
      }
    }
    while limit > 0, claimed.isEmpty, shard.nextAt == nil {
      let next = shard.audience.subtracting(shard.done).subtracting(early.waiting).ordinals(limit: limit)
      if next.isEmpty { break }
      let step = try claim(next, hold, &shard, at: now)
      for outcome in step.skipped { try end(outcome, hold, &shard, at: now, &finish) }
      claimed = step.claimed  // when the first of them all fell away: the next
    }
    if !finish.tally.isEmpty || (shard.countsClaims && !claimed.isEmpty) {
      let finished = try write(hold, shard, &finish, at: now)
      if finished.shardFinished { return .finished(endedPush: finished.pushFinished, ended: finish.counts) }
    }
    return .begun(
      BegunShard(
        hold: hold, push: push, waiting: shard.waiting,
        pending: shard.audience.subtracting(shard.done).subtracting(early.waiting),
        claimed: claimed, ended: finish.counts, control: shard.control,
        nextAt: [shard.nextAt, early.nextAt].compactMap(\.self).min()))
  }

  func advance(
    _ hold: ShardHold, outcomes: [DeviceOutcome], returning: [ReturnedClaim], claiming: [DeviceOrdinal],
    at now: Instant
  ) throws(StoreFault) -> ShardAdvance {
    guard var shard = try read(hold) else {
      return ShardAdvance(claimed: [], ended: [:], retired: [], kept: [], shardFinished: true, pushFinished: true)
    }
    var finish = Finish(WebhookNews(database, app: shard.app, push: hold.push, at: now))
    for claim in returning where claim.counted != nil && !shard.done.contains(claim.ordinal) {
      guard shard.badged.remove(claim.ordinal) else { continue }
      shard.progress.released = max(0, shard.progress.released - 1)
      try uncount(claim.counted, claim.ordinal, shard.app)
    }
    for outcome in outcomes { try end(outcome, hold, &shard, at: now, &finish) }
    let wanted = shard.control == .running ? claiming.filter { !shard.done.contains($0) } : []
    let (claimed, skipped) = try claim(wanted, hold, &shard, at: now)
    for outcome in skipped { try end(outcome, hold, &shard, at: now, &finish) }
    try TraceTable(database).keep(accepted: finish.accepted, hold, at: now)
    try DeviceSets(database).insert(DeviceSet(finish.tokens.dead), into: .dead(app: shard.app))
    let finished = try write(hold, shard, &finish, at: now)
    return ShardAdvance(
      claimed: claimed, ended: finish.counts, retired: finish.tokens.retired, kept: finish.tokens.kept,
      shardFinished: finished.shardFinished, pushFinished: finished.pushFinished, control: shard.control,
      nextAt: shard.nextAt)
  }

  /// nil when nothing is owed.
  private func read(_ hold: ShardHold) throws(StoreFault) -> Shard? {
    try database.first(
      """
      SELECT push.app, push.environment, push.badge_kind, push.badge_amount, audience, done, badged, push.is_scheduled,
        push.push_type, control, pace_devices, pace_per, pace_anchor, pace_released, personal IS NOT NULL, waiting,
        address_kind, address_name, channel
        FROM push_shard JOIN push ON push.id = push_shard.push WHERE push = ? AND shard = ? AND owed > 0
      """, .int(hold.push), .int(hold.shard)
    ) { row throws(StoreFault) in
      guard let environment = APNSEnvironment(rawValue: UInt8(clamping: row.int(1))),
        let badge = BadgeArithmetic(kind: row.int(2), amount: row.int(3))
      else { throw .corrupt("push \(hold.push) cannot be read") }
      return Shard(
        app: row.int(0), environment: environment, badge: badge,
        heedsPreference: StoredPush.heedsPreference(isScheduled: row.int(7) != 0, pushType: row.text(8)),
        isPersonal: row.int(14) != 0, address: try PushAddress(kind: row.int(16), name: row.text(17)),
        channel: StoredPush.isShown(pushType: row.text(8)) ? row.optionalText(18) : nil,
        audience: try DeviceSet(column: 4, of: row),
        done: try DeviceSet(column: 5, of: row), badged: try DeviceSet(column: 6, of: row),
        control: PushControl(rawValue: UInt8(clamping: row.int(9))) ?? .running, waiting: row.optionalText(15),
        pace: SendPace(devices: row.optionalInt(10), per: row.optionalInt(11)),
        progress: SendPace.Progress(anchor: Instant(milliseconds: row.int(12)), released: row.int(13)))
    }
  }

  // MARK: Claiming

  private struct Candidate {
    var ordinal: DeviceOrdinal
    var token: [UInt8]
    var badge: Int32
    var badgeRound: Int64
    var environment: UInt8
    var isDead: Bool
    var onlyScheduled: Bool
    var appVersion: String?
    var channels: [Substring]?

    func outcome(_ kind: OutcomeKind, note: String? = nil) -> DeviceOutcome {
      DeviceOutcome(ordinal: ordinal, kind: kind, note: note, appVersion: appVersion)
    }
  }

  private func claim(
    _ ordinals: [DeviceOrdinal], _ hold: ShardHold, _ shard: inout Shard, at now: Instant
  ) throws(StoreFault) -> (claimed: [ClaimedDevice], skipped: [DeviceOutcome]) {
    if case .channel(let id) = shard.address { return try claim(ordinals, ofChannel: id, hold, shard) }
    var claimed: [ClaimedDevice] = []
    claimed.reserveCapacity(ordinals.count)
    var skipped: [DeviceOutcome] = []
    let found = try candidates(ordinals, app: shard.app)
    if found.count < ordinals.count {
      for ordinal in DeviceSet(ordinals).subtracting(DeviceSet(found.map(\.ordinal))) {
        skipped.append(DeviceOutcome(ordinal: ordinal, kind: .skipped, note: "the device is gone"))
      }
    }
    var allowance = shard.pace?.allowance(&shard.progress, at: now)
    for var candidate in found {
      if candidate.isDead {
        skipped.append(candidate.outcome(.skipped, note: "its token died meanwhile"))
      } else if candidate.environment != shard.environment.rawValue {
        skipped.append(candidate.outcome(.skipped, note: "moved to the other environment meanwhile"))
      } else if candidate.onlyScheduled, shard.heedsPreference {
        skipped.append(candidate.outcome(.skippedByPreference))
      } else if let channel = shard.channel, candidate.channels?.contains(Substring(channel)) == false {
        skipped.append(
          candidate.outcome(.skippedByPreference, note: "the channel “\(channel)” is none that is wanted"))
      } else if let missing = try replaceToken(of: &candidate, by: shard.address, app: shard.app) {
        skipped.append(candidate.outcome(.skipped, note: missing))
      } else {
        var badge = candidate.badge
        var counted: BadgeCount?
        let isNew = shard.countsClaims && !shard.badged.contains(candidate.ordinal)
        if isNew, let left = allowance {
          guard left > 0 else {
            shard.nextAt = shard.pace?.next(shard.progress)
            continue
          }
          allowance = left - 1
          shard.progress.released += 1
        }
        if isNew {
          shard.badged.insert(candidate.ordinal)
          badge = shard.badge.applied(to: candidate.badge)
          let round = candidate.badgeRound + (shard.badge.sets ? 1 : 0)
          if badge != candidate.badge || round != candidate.badgeRound {
            try database.run(
              "UPDATE device SET badge = ?, badge_round = ? WHERE id = ?", .int(badge), .int(round),
              .int(DeviceTable.id(app: shard.app, candidate.ordinal)))
          }
          counted = BadgeCount(difference: badge - candidate.badge, round: round)
        }
        claimed.append(
          ClaimedDevice(
            ordinal: candidate.ordinal, token: candidate.token, badge: badge, appVersion: candidate.appVersion,
            recipient: shard.isPersonal
              ? try DeviceTable(database).recipient(DeviceTable.id(app: shard.app, candidate.ordinal)) : nil,
            counted: counted))
      }
    }
    return (claimed, skipped)
  }

  /// The channel itself, unless APNs has what came later.
  private func claim(
    _ ordinals: [DeviceOrdinal], ofChannel id: String, _ hold: ShardHold, _ shard: Shard
  ) throws(StoreFault) -> (claimed: [ClaimedDevice], skipped: [DeviceOutcome]) {
    let later = try database.first(
      """
      SELECT max(push.id) FROM push JOIN push_outcome ON push_outcome.push = push.id AND outcome = ?
        WHERE app = ? AND address_name = ? AND environment = ? AND push.id > ? AND address_kind = 64
      """, .text(OutcomeKind.accepted.column), .int(shard.app), .text(id), .int(shard.environment.rawValue),
      .int(hold.push)
    ) { $0.optionalInt(0) }
    if let later = later ?? nil {
      return ([], ordinals.map { DeviceOutcome(ordinal: $0, kind: .skipped, note: "push \(later) came first") })
    }
    return (ordinals.map { ClaimedDevice(ordinal: $0, token: Array(id.utf8), badge: 0) }, [])
  }

  /// Takes back what a claim did to the badge, unless it was set since.
  private func uncount(_ count: BadgeCount?, _ ordinal: DeviceOrdinal, _ app: Int64) throws(StoreFault) {
    guard let count, count.difference != 0 else { return }
    let range = BadgeArithmetic.range
    try database.run(
      "UPDATE device SET badge = min(max(badge - ?, ?), ?) WHERE id = ? AND badge_round = ?", .int(count.difference),
      .int(range.lowerBound), .int(range.upperBound), .int(DeviceTable.id(app: app, ordinal)), .int(count.round))
  }

  /// Puts the token of the address in the place of the device's own; answers why it cannot.
  private func replaceToken(
    of candidate: inout Candidate, by address: PushAddress, app: Int64
  ) throws(StoreFault) -> String? {
    switch address {
    case .device, .channel: return nil
    case .special(let purpose):
      let id = DeviceTable.id(app: app, candidate.ordinal)
      guard let found = try SpecialTokenTable(database).token(purpose, of: id) else {
        return "it has no \(purpose.words) any more"
      }
      candidate.token = found.token
      return nil
    }
  }

  /// The rows of `ordinals` (growing, of one shard): one range when they lie close together, else one by one.
  private func candidates(_ ordinals: [DeviceOrdinal], app: Int64) throws(StoreFault) -> [Candidate] {
    guard let first = ordinals.first, let last = ordinals.last else { return [] }
    var found: [Candidate] = []
    found.reserveCapacity(ordinals.count)
    var next = 0
    func read(_ first: DeviceOrdinal, _ last: DeviceOrdinal) throws(StoreFault) {
      try database.each(
        """
        SELECT id, token, badge, environment, dead_at IS NOT NULL, only_scheduled, app_version,
          channels, badge_round FROM device
          WHERE id BETWEEN ? AND ? ORDER BY id
        """,
        .int(DeviceTable.id(app: app, first)), .int(DeviceTable.id(app: app, last))
      ) { row in
        let ordinal = DeviceOrdinal(truncatingIfNeeded: row.int(0))
        while next < ordinals.count, ordinals[next] < ordinal { next += 1 }
        guard next < ordinals.count, ordinals[next] == ordinal else { return }
        found.append(
          Candidate(
            ordinal: ordinal, token: row.blob(1), badge: Int32(clamping: row.int(2)),
            badgeRound: row.int(8), environment: UInt8(clamping: row.int(3)), isDead: row.int(4) != 0,
            onlyScheduled: row.int(5) != 0,
            appVersion: row.optionalText(6), channels: row.optionalText(7)?.split(separator: "\n")))
      }
    }
    if Int(last - first) < 4 * ordinals.count {
      try read(first, last)
    } else {
      for ordinal in ordinals { try read(ordinal, ordinal) }
    }
    return found
  }

  // MARK: Ending

  private struct Tally: Hashable {
    var kind: OutcomeKind
    var appVersion: String?
  }

  private struct Finish {
    var tally: [Tally: Int] = [:]
    var accepted: [DeviceOrdinal] = []
    var tokens = TokenVerdicts()
    var news: WebhookNews

    init(_ news: WebhookNews) { self.news = news }

    var counts: [OutcomeKind: Int] { tally.reduce(into: [:]) { $0[$1.key.kind, default: 0] += $1.value } }
  }

  private func end(
    _ outcome: DeviceOutcome, _ hold: ShardHold, _ shard: inout Shard, at now: Instant, _ finish: inout Finish
  ) throws(StoreFault) {
    guard shard.audience.contains(outcome.ordinal), shard.done.insert(outcome.ordinal) else { return }
    try uncount(outcome.uncounts, outcome.ordinal, shard.app)
    let appVersion =
      outcome.kind.isOfUnclaimed ? try appVersion(of: outcome.ordinal, shard.app) : outcome.appVersion
    finish.tally[Tally(kind: outcome.kind, appVersion: appVersion), default: 0] += 1
    let isAccepted = outcome.kind == .accepted
    if try finish.news.isWanted(isAccepted ? .sent : .undelivered),
      let name = try DeviceTable(database).registrationID(DeviceTable.id(app: shard.app, outcome.ordinal))
    {
      try finish.news.tell(
        isAccepted ? .sent : .undelivered, registrationID: name, words: isAccepted ? nil : outcome.kind.column)
    }
    guard !isAccepted else { return finish.accepted.append(outcome.ordinal) }
    var note = outcome.note
    if let evidence = outcome.evidence {
      let known = finish.tokens.retired.count
      note = try finish.tokens.judge(evidence, shard.address, DeviceTable.id(app: shard.app, outcome.ordinal), database)
      for notice in finish.tokens.retired[known...] {
        try finish.news.tell(.tokenRetired, registrationID: notice.registrationID, words: notice.words)
      }
    }
    try database.run(
      "INSERT OR REPLACE INTO push_trouble VALUES (?, ?, ?, ?, ?, ?)", .int(hold.push), .int(outcome.ordinal),
      .text(outcome.kind.column), .optional(outcome.status.map(Int64.init)), .optional(note), .int(now.milliseconds))
  }

  /// What expires was never claimed, so that nobody has read its row yet.
  private func appVersion(of ordinal: DeviceOrdinal, _ app: Int64) throws(StoreFault) -> String? {
    try database.first("SELECT app_version FROM device WHERE id = ?", .int(DeviceTable.id(app: app, ordinal))) {
      $0.optionalText(0)
    } ?? nil
  }

  @discardableResult
  private func write(
    _ hold: ShardHold, _ shard: Shard, _ finish: inout Finish, at now: Instant
  ) throws(StoreFault) -> (shardFinished: Bool, pushFinished: Bool) {
    let owed = shard.audience.count - shard.done.count
    try database.run(
      "UPDATE push_shard SET owed = ?, done = ?, badged = ? WHERE push = ? AND shard = ?", .int(owed),
      owed == 0 ? .null : .blob(shard.done.serialized()),
      owed == 0 || shard.badged.isEmpty ? .null : .blob(shard.badged.serialized()), .int(hold.push),
      .int(hold.shard))
    if shard.pace != nil {
      try database.run(
        "UPDATE push SET pace_anchor = ?, pace_released = ? WHERE id = ?", .int(shard.progress.anchor.milliseconds),
        .int(shard.progress.released), .int(hold.push))
    }
    if try finish.news.isWanted(.failuresSpiked) {
      try SpikeTable(database).count(finish.counts, app: shard.app, at: now)
    }
    for (key, count) in finish.tally {
      try database.run(
        """
        INSERT INTO push_outcome VALUES (?1, ?2, ?3, ?4, ?5)
          ON CONFLICT (push, outcome, hour, app_version) DO UPDATE SET count = count + ?5
        """, .int(hold.push), .text(key.kind.column), .int(now.hour), .text(key.appVersion ?? ""), .int(count))
    }
    guard owed == 0 else { return (false, false) }
    let open = try database.first(
      "UPDATE push SET open_shards = open_shards - 1 WHERE id = ? RETURNING open_shards", .int(hold.push)
    ) { $0.int(0) }
    guard open == 0 else { return (true, false) }
    try database.run(
      "UPDATE push SET finished_at = ?, waiting = NULL WHERE id = ?", .int(now.milliseconds), .int(hold.push))
    if try finish.news.isWanted(.pushFinished) {
      try finish.news.tell(
        .pushFinished, words: OutboxTable.column(try PushTable(database).counts(push: hold.push)))
    }
    return (true, true)
  }
}
