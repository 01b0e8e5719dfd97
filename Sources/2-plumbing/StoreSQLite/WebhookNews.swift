import Audience
import Basics
import Store

/// What happens to an app within one transaction, put into the outbox of each webhook that wants to hear of it. Who wants
/// what is read once, when the first thing happens.
struct WebhookNews {
  private let database: Database
  private let app: Int64
  private let push: Int64?
  private let now: Instant
  private var listeners: [(webhook: Int64, events: Set<WebhookEventKind>)]?
  private var woken: Set<Int64> = []

  /// `push`: the one that it is all about, if it is about one.
  init(_ database: Database, app: Int64, push: Int64? = nil, at now: Instant) {
    self.database = database
    self.app = app
    self.push = push
    self.now = now
  }

  mutating func isWanted(_ kind: WebhookEventKind) throws(StoreFault) -> Bool {
    try everyListener().contains { $0.events.contains(kind) }
  }

  mutating func tell(
    _ kind: WebhookEventKind, at time: Instant? = nil, registrationID: String? = nil, words: String? = nil
  ) throws(StoreFault) {
    for (webhook, events) in try everyListener() where events.contains(kind) {
      // Ids grow with time, so that a file that was restored from a backup gives none that were given after the backup.
      try database.run(
        """
        INSERT INTO outbox (id, webhook, kind, at, kept_at, push, registration_id, words) VALUES
          (max(?4 * 1024, 1 + (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'outbox')),
            ?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """, .int(webhook), .int(kind.rawValue), .int((time ?? now).milliseconds), .int(now.milliseconds),
        .optional(push), .optional(registrationID), .optional(words))
      guard woken.insert(webhook).inserted else { continue }
      try database.run(
        "UPDATE webhook SET due_at = ? WHERE id = ? AND due_at IS NULL", .int(now.milliseconds), .int(webhook))
    }
  }

  private mutating func everyListener() throws(StoreFault) -> [(webhook: Int64, events: Set<WebhookEventKind>)] {
    if let listeners { return listeners }
    var found: [(webhook: Int64, events: Set<WebhookEventKind>)] = []
    try database.each(
      """
      SELECT id, events FROM webhook WHERE NOT is_callback AND app = ?1 AND is_enabled
        UNION ALL SELECT webhook.id, callback_events FROM push JOIN webhook ON webhook.id = callback WHERE push.id = ?2
      """, .int(app), .optional(push)
    ) { found.append(($0.int(0), Set(mask: $0.int(1)))) }
    listeners = found
    return found
  }
}

/// Counts how devices of an app ended, by the minute, for those that want to hear when too many failed.
struct SpikeTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  func count(_ counts: [OutcomeKind: Int], app: Int64, at now: Instant) throws(StoreFault) {
    for (kind, count) in counts {
      try database.run(
        """
        INSERT INTO ended_lately VALUES (?1, ?2, ?3, ?4)
          ON CONFLICT (app, minute, outcome) DO UPDATE SET count = count + ?4
        """, .int(app), .int(Self.minute(of: now)), .text(kind.column), .int(count))
    }
  }

  func tell(_ spike: FailureSpike, at now: Instant) throws(StoreFault) {
    let first = Self.minute(of: now) - Int64(spike.minutes) + 1
    try database.run("DELETE FROM ended_lately WHERE minute < ?", .int(first))
    var counts: [Int64: [OutcomeKind: Int]] = [:]
    try database.each("SELECT app, outcome, sum(count) FROM ended_lately GROUP BY app, outcome") {
      counts[$0.int(0), default: [:]][OutcomeKind(column: $0.text(1))] = Int($0.int(2))
    }
    var told: Set<Int64> = []
    try database.each("SELECT app FROM failure_spike") { told.insert($0.int(0)) }
    for app in told where !spike.isReached(counts[app] ?? [:]) {
      try database.run("DELETE FROM failure_spike WHERE app = ?", .int(app))
    }
    for (app, counts) in counts where !told.contains(app) && spike.isReached(counts) {
      try database.run("INSERT INTO failure_spike VALUES (?)", .int(app))
      var news = WebhookNews(database, app: app, at: now)
      try news.tell(.failuresSpiked, words: OutboxTable.column(counts))
    }
  }

  private static func minute(of instant: Instant) -> Int64 { instant.seconds / 60 }
}
