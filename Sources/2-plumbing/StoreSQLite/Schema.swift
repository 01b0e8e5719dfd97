import Store

/// The tables, made and changed step by step; each step runs once per file, and all that a file lacks in one
/// transaction with the notes of it.
///
/// - A device's id is `app << 32 | ordinal`, so that a shard is a range of rows.
/// - Sets of devices (tags, the dead, those in the sandbox) are kept as one roaring bitmap per shard under
///   `set << 16 | shard`; see `DeviceSetKey`. `device_tag` says the same by device.
/// - `tag` has a row only while somebody has the tag, and counts them. Deleting one moves its id to `dropped_tag`: what it
///   has in `device_tag` and `device_set` means nothing from then on, and is swept in pieces (`TagTable.sweep`).
/// - `dropped_push` has the pushes that were removed and whose shards, troubles, outcomes and reports are not yet swept
///   (`ForgettingTable`).
/// - `outbox` has a row for each event that a webhook is still to be told; `webhook.due_at` is set while there is one, and so
///   lies ahead while somebody is at it. Rows of `webhook` with `is_callback` are the addresses that pushes brought along
///   (`push.callback`); `dropped_webhook` those that are gone and whose rows are not yet swept. `ended_lately` counts the
///   devices that ended by minute, for apps that want to hear of spikes; `failure_spike` has those that were told.
/// - `fact` has a row for each value of a fact that somebody has (`FactKey`), whose set is kept likewise.
/// - `special_token` has the living tokens beside a device's own, by what they are for (`TokenPurpose`).
/// - `push_outcome` and `push_report_count` count by hour (since 1970, UTC) and app version ("" for none), and are summed
///   up for a push's totals; `push_report` has who said what, so that it counts once.
/// - `device.changed_after` is the highest message id at the last change of tags, alias or facts, noted by triggers.
/// - `device.channels` has a line for each channel that the user wants; null for all. `push.clearing` is 1 from when phones are
///   to clear it, and 2 once they were told.
/// - A message's `place` is `app << 40 | position`. `inbox` has a row for each device that is one of few, `message_shard` the
///   set of those that are many (`MessageTable`); `position` in `inbox` is another than the message's where it moved with
///   its alias. `alias_inbox` has what waits for the next device of an alias. `dropped_message` is as `dropped_push`.
/// - `device.badge_round` counts how often the badge was set, so that what a push added is taken back only as long as it is in it.
/// - `push_shard.owed` counts the devices that have not ended; `done` and `badged` are bitmaps, and gone once it is 0.
///   `badged` are those that were claimed, where the push counts them by badge or pace.
enum Schema {
  private static let migrations = [
    """
    CREATE TABLE app (
      id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, bundle_id TEXT NOT NULL, name TEXT, secret_hash TEXT NOT NULL,
      created_at INTEGER NOT NULL, next_ordinal INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE device (
      id INTEGER PRIMARY KEY, app INTEGER NOT NULL, registration_id TEXT NOT NULL, token BLOB NOT NULL,
      environment INTEGER NOT NULL, secret_hash BLOB NOT NULL, alias TEXT, mobile TEXT, badge INTEGER NOT NULL DEFAULT 0,
      registered_at INTEGER NOT NULL, dead_at INTEGER, dead_since INTEGER, dead_reason TEXT,
      os_version TEXT, app_version TEXT, language TEXT, time_zone TEXT);
    CREATE UNIQUE INDEX device_token ON device (token, app);
    CREATE UNIQUE INDEX device_registration_id ON device (registration_id);
    CREATE INDEX device_alias ON device (alias, app) WHERE alias IS NOT NULL;
    CREATE TABLE tag (id INTEGER PRIMARY KEY, app INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE (app, name));
    CREATE TABLE device_tag (device INTEGER NOT NULL, tag INTEGER NOT NULL, PRIMARY KEY (device, tag)) WITHOUT ROWID;
    CREATE TABLE device_set (id INTEGER PRIMARY KEY, members BLOB NOT NULL);
    CREATE TABLE push (
      id INTEGER PRIMARY KEY, app INTEGER NOT NULL, accepted_at INTEGER NOT NULL, environment INTEGER NOT NULL,
      request BLOB NOT NULL, payload BLOB NOT NULL, push_type TEXT NOT NULL, priority INTEGER NOT NULL,
      expiration INTEGER, deadline INTEGER, collapse_id TEXT, badge_kind INTEGER NOT NULL, badge_amount INTEGER NOT NULL,
      send_number INTEGER NOT NULL, client_id TEXT, wrong_environment INTEGER NOT NULL, dead_tokens INTEGER NOT NULL,
      warnings TEXT NOT NULL, unmatched TEXT NOT NULL, targeted INTEGER NOT NULL, open_shards INTEGER NOT NULL,
      waiting TEXT, finished_at INTEGER);
    CREATE TABLE client_id (
      app INTEGER NOT NULL, name TEXT NOT NULL, push INTEGER NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (app, name)) WITHOUT ROWID;
    CREATE TABLE push_shard (
      push INTEGER NOT NULL, shard INTEGER NOT NULL, owed INTEGER NOT NULL, audience BLOB NOT NULL, done BLOB,
      badged BLOB, PRIMARY KEY (push, shard)) WITHOUT ROWID;
    CREATE INDEX push_shard_owing ON push_shard (push, shard) WHERE owed > 0;
    CREATE TABLE push_outcome (
      push INTEGER NOT NULL, shard INTEGER NOT NULL, outcome TEXT NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (push, shard, outcome)) WITHOUT ROWID;
    CREATE TABLE push_trouble (
      push INTEGER NOT NULL, ordinal INTEGER NOT NULL, outcome TEXT NOT NULL, status INTEGER, note TEXT,
      at INTEGER NOT NULL, PRIMARY KEY (push, ordinal)) WITHOUT ROWID;
    """,
    """
    ALTER TABLE device ADD COLUMN only_scheduled INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE push ADD COLUMN is_scheduled INTEGER NOT NULL DEFAULT 0;
    """,
    """
    ALTER TABLE device ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE device ADD COLUMN seen_at INTEGER NOT NULL DEFAULT 0;
    UPDATE device SET created_at = registered_at, seen_at = registered_at;
    ALTER TABLE tag ADD COLUMN devices INTEGER NOT NULL DEFAULT 0;
    UPDATE tag SET devices = counted.devices
      FROM (SELECT tag, count(*) AS devices FROM device_tag GROUP BY tag) AS counted WHERE tag.id = counted.tag;
    DELETE FROM tag WHERE devices = 0;
    CREATE TABLE dropped_tag (id INTEGER PRIMARY KEY, app INTEGER NOT NULL);
    """,
    """
    ALTER TABLE device ADD COLUMN model TEXT;
    ALTER TABLE device ADD COLUMN permission INTEGER;
    CREATE TABLE fact (
      id INTEGER PRIMARY KEY, app INTEGER NOT NULL, kind INTEGER NOT NULL, value TEXT NOT NULL,
      UNIQUE (app, kind, value));
    """,
    """
    CREATE TABLE schedule (
      number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, app INTEGER NOT NULL, name TEXT NOT NULL,
      is_enabled INTEGER NOT NULL, rule TEXT NOT NULL, time_zone TEXT NOT NULL, request BLOB NOT NULL, client_id TEXT,
      created_at INTEGER NOT NULL, version INTEGER NOT NULL, last TEXT, due_at INTEGER);
    CREATE INDEX schedule_app ON schedule (app, number);
    CREATE INDEX schedule_due ON schedule (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX schedule_client_id ON schedule (app, client_id) WHERE client_id IS NOT NULL;
    CREATE TABLE schedule_firing (
      id INTEGER PRIMARY KEY, schedule INTEGER NOT NULL, wall TEXT NOT NULL, at INTEGER NOT NULL, push INTEGER,
      code INTEGER NOT NULL, words TEXT NOT NULL);
    CREATE INDEX schedule_firing_of ON schedule_firing (schedule, id);
    """,
    """
    ALTER TABLE push_outcome RENAME TO former_outcome;
    CREATE TABLE push_outcome (
      push INTEGER NOT NULL, outcome TEXT NOT NULL, hour INTEGER NOT NULL, app_version TEXT NOT NULL,
      count INTEGER NOT NULL, PRIMARY KEY (push, outcome, hour, app_version)) WITHOUT ROWID;
    INSERT INTO push_outcome
      SELECT push, outcome, coalesce(finished_at, accepted_at) / 3600000, '', sum(count)
        FROM former_outcome JOIN push ON push.id = push GROUP BY push, outcome;
    DROP TABLE former_outcome;
    CREATE TABLE push_report (
      push INTEGER NOT NULL, ordinal INTEGER NOT NULL, kind INTEGER NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (push, ordinal, kind)) WITHOUT ROWID;
    CREATE TABLE push_report_count (
      push INTEGER NOT NULL, kind INTEGER NOT NULL, hour INTEGER NOT NULL, app_version TEXT NOT NULL,
      count INTEGER NOT NULL, PRIMARY KEY (push, kind, hour, app_version)) WITHOUT ROWID;
    """,
    """
    ALTER TABLE push ADD COLUMN control INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE push ADD COLUMN pace_devices INTEGER;
    ALTER TABLE push ADD COLUMN pace_per INTEGER;
    ALTER TABLE push ADD COLUMN pace_anchor INTEGER;
    ALTER TABLE push ADD COLUMN pace_released INTEGER;
    CREATE INDEX push_paced ON push (app) WHERE pace_devices IS NOT NULL AND finished_at IS NULL;
    """,
    """
    CREATE TABLE segment (
      app INTEGER NOT NULL, id TEXT NOT NULL, document BLOB NOT NULL, audience BLOB NOT NULL,
      updated_at INTEGER NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (app, id)) WITHOUT ROWID;
    CREATE TABLE ab_test (
      app INTEGER NOT NULL, id TEXT NOT NULL, variants BLOB NOT NULL, created_at INTEGER NOT NULL,
      PRIMARY KEY (app, id)) WITHOUT ROWID;
    CREATE TABLE push_variant (
      app INTEGER NOT NULL, test TEXT NOT NULL, push INTEGER NOT NULL, variant TEXT NOT NULL,
      PRIMARY KEY (app, test, push, variant)) WITHOUT ROWID;
    ALTER TABLE push ADD COLUMN meant BLOB;
    """,
    """
    ALTER TABLE push ADD COLUMN local_due TEXT;
    ALTER TABLE push ADD COLUMN quiet TEXT;
    ALTER TABLE push ADD COLUMN quiet_drops INTEGER;
    ALTER TABLE push ADD COLUMN timing_zone TEXT;
    """,
    """
    CREATE TABLE usage (
      app INTEGER NOT NULL, unit INTEGER NOT NULL, start INTEGER NOT NULL, new INTEGER NOT NULL,
      active INTEGER NOT NULL, PRIMARY KEY (app, unit, start)) WITHOUT ROWID;
    """,
    """
    CREATE TABLE account (
      id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, name TEXT,
      secret_hash TEXT NOT NULL, created_at INTEGER NOT NULL);
    CREATE TABLE group_app (
      group_id INTEGER NOT NULL, app INTEGER NOT NULL, PRIMARY KEY (group_id, app)) WITHOUT ROWID;
    ALTER TABLE push ADD COLUMN group_push INTEGER;
    CREATE INDEX push_of_group ON push (group_push) WHERE group_push IS NOT NULL;
    """,
    """
    ALTER TABLE push ADD COLUMN personal BLOB;
    CREATE INDEX push_app ON push (app);
    """,
    """
    CREATE TABLE push_accepted (
      id INTEGER PRIMARY KEY, push INTEGER NOT NULL, shard INTEGER NOT NULL, at INTEGER NOT NULL,
      members BLOB NOT NULL);
    CREATE INDEX push_accepted_of ON push_accepted (push, shard);
    CREATE TABLE push_step (
      id INTEGER PRIMARY KEY, push INTEGER NOT NULL, at INTEGER NOT NULL, kind INTEGER NOT NULL, words TEXT);
    CREATE INDEX push_step_of ON push_step (push);
    CREATE INDEX push_collapse_id ON push (app, collapse_id, id) WHERE collapse_id IS NOT NULL;
    ALTER TABLE device ADD COLUMN changed_after INTEGER NOT NULL DEFAULT 0;
    CREATE TRIGGER device_changed AFTER UPDATE OF
      alias, os_version, app_version, language, time_zone, model, permission ON device
      WHEN (OLD.alias, OLD.os_version, OLD.app_version, OLD.language, OLD.time_zone, OLD.model, OLD.permission) IS NOT
        (NEW.alias, NEW.os_version, NEW.app_version, NEW.language, NEW.time_zone, NEW.model, NEW.permission)
      BEGIN UPDATE device SET changed_after = (SELECT coalesce(max(id), 0) FROM push) WHERE id = NEW.id; END;
    CREATE TRIGGER device_tagged AFTER INSERT ON device_tag BEGIN
      UPDATE device SET changed_after = (SELECT coalesce(max(id), 0) FROM push)
        WHERE id = NEW.device AND changed_after < (SELECT max(id) FROM push); END;
    CREATE TRIGGER device_untagged AFTER DELETE ON device_tag BEGIN
      UPDATE device SET changed_after = (SELECT coalesce(max(id), 0) FROM push)
        WHERE id = OLD.device AND changed_after < (SELECT max(id) FROM push); END;
    """,
    """
    CREATE TABLE file (
      number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, app INTEGER NOT NULL, kind INTEGER NOT NULL,
      name TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL);
    CREATE INDEX file_of_app ON file (app, number);
    CREATE TABLE file_part (
      file INTEGER NOT NULL, part INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (file, part));
    """,
    """
    ALTER TABLE app ADD COLUMN deleted_at INTEGER;
    """,
    """
    CREATE TABLE device_import (
      app INTEGER NOT NULL, source TEXT NOT NULL, position INTEGER NOT NULL, lines INTEGER NOT NULL,
      PRIMARY KEY (app, source)) WITHOUT ROWID;
    """,
    """
    CREATE TABLE dropped_push (id INTEGER PRIMARY KEY);
    CREATE INDEX push_finished ON push (finished_at) WHERE finished_at IS NOT NULL;
    CREATE INDEX push_variant_push ON push_variant (push);
    CREATE INDEX client_id_at ON client_id (at);
    CREATE INDEX device_dead ON device (dead_at) WHERE dead_at IS NOT NULL;
    """,
    """
    CREATE TABLE apns_credential (
      id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, environments INTEGER NOT NULL, name TEXT NOT NULL,
      key_id TEXT, team_id TEXT, topics TEXT NOT NULL, not_before INTEGER, not_after INTEGER, fingerprint TEXT NOT NULL,
      secret BLOB NOT NULL, created_at INTEGER NOT NULL, uploaded_at INTEGER NOT NULL, version INTEGER NOT NULL);
    CREATE INDEX apns_credential_app ON apns_credential (app, id);
    """,
    """
    CREATE TABLE special_token (
      device INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, token BLOB NOT NULL,
      registered_at INTEGER NOT NULL, PRIMARY KEY (device, kind, name)) WITHOUT ROWID;
    CREATE INDEX special_token_of ON special_token (token);
    ALTER TABLE push ADD COLUMN address_kind INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE push ADD COLUMN address_name TEXT;
    ALTER TABLE push ADD COLUMN companion_of INTEGER;
    CREATE INDEX push_companion ON push (companion_of) WHERE companion_of IS NOT NULL;
    """,
    """
    ALTER TABLE device ADD COLUMN quiet TEXT;
    ALTER TABLE device ADD COLUMN channels TEXT;
    ALTER TABLE push ADD COLUMN quiet_of_users INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE push ADD COLUMN channel TEXT;
    ALTER TABLE push ADD COLUMN clearing INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX push_clearing ON push (id) WHERE clearing = 1;
    """,
    """
    CREATE TABLE webhook (
      id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, url TEXT NOT NULL, events INTEGER NOT NULL,
      is_enabled INTEGER NOT NULL, is_callback INTEGER NOT NULL DEFAULT 0, secret BLOB NOT NULL, client_id TEXT,
      request BLOB NOT NULL, created_at INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 1,
      failures INTEGER NOT NULL DEFAULT 0, due_at INTEGER, turn INTEGER NOT NULL DEFAULT 0);
    CREATE INDEX webhook_app ON webhook (app, id) WHERE NOT is_callback;
    CREATE UNIQUE INDEX webhook_callback ON webhook (app, url) WHERE is_callback;
    CREATE INDEX webhook_due ON webhook (due_at) WHERE due_at IS NOT NULL;
    CREATE TABLE outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT, webhook INTEGER NOT NULL, kind INTEGER NOT NULL, at INTEGER NOT NULL,
      kept_at INTEGER NOT NULL, push INTEGER, registration_id TEXT, words TEXT);
    CREATE INDEX outbox_of ON outbox (webhook, id);
    CREATE INDEX outbox_kept ON outbox (kept_at);
    CREATE TABLE webhook_attempt (
      id INTEGER PRIMARY KEY AUTOINCREMENT, webhook INTEGER NOT NULL, at INTEGER NOT NULL, first_event INTEGER NOT NULL,
      events INTEGER NOT NULL, status INTEGER, fault TEXT, took INTEGER NOT NULL);
    CREATE INDEX webhook_attempt_of ON webhook_attempt (webhook, id);
    CREATE TABLE dropped_webhook (id INTEGER PRIMARY KEY);
    CREATE TABLE ended_lately (
      app INTEGER NOT NULL, minute INTEGER NOT NULL, outcome TEXT NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (app, minute, outcome)) WITHOUT ROWID;
    CREATE TABLE failure_spike (app INTEGER PRIMARY KEY);
    ALTER TABLE push ADD COLUMN callback INTEGER;
    ALTER TABLE push ADD COLUMN callback_events INTEGER;
    ALTER TABLE push ADD COLUMN callback_params BLOB;
    CREATE INDEX push_callback ON push (callback) WHERE callback IS NOT NULL;
    CREATE INDEX push_waiting ON push (app) WHERE waiting IS NOT NULL;
    """,
    """
    ALTER TABLE app ADD COLUMN message_position INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE app ADD COLUMN messages_forgotten INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE message (
      place INTEGER PRIMARY KEY, app INTEGER AS (place >> 40), id INTEGER NOT NULL, kind INTEGER NOT NULL,
      accepted_at INTEGER NOT NULL, expires_at INTEGER, withdrawn_at INTEGER, targeted INTEGER NOT NULL,
      delivered INTEGER NOT NULL DEFAULT 0, read INTEGER NOT NULL DEFAULT 0, body BLOB NOT NULL);
    CREATE UNIQUE INDEX message_id ON message (id, kind);
    CREATE INDEX message_of_app ON message (app, id) WHERE kind = 0;
    CREATE INDEX message_accepted ON message (accepted_at);
    CREATE TABLE inbox (
      device INTEGER NOT NULL, position INTEGER NOT NULL, message INTEGER NOT NULL, alias TEXT,
      PRIMARY KEY (device, position)) WITHOUT ROWID;
    CREATE INDEX inbox_message ON inbox (message, device);
    CREATE TABLE message_shard (
      app INTEGER NOT NULL, shard INTEGER NOT NULL, position INTEGER NOT NULL, members BLOB NOT NULL,
      PRIMARY KEY (app, shard, position)) WITHOUT ROWID;
    CREATE TABLE inbox_cursor (device INTEGER PRIMARY KEY, position INTEGER NOT NULL, at INTEGER NOT NULL);
    CREATE TABLE alias_inbox (
      app INTEGER NOT NULL, alias TEXT NOT NULL, message INTEGER NOT NULL, device INTEGER NOT NULL,
      PRIMARY KEY (app, alias, message)) WITHOUT ROWID;
    CREATE INDEX alias_inbox_message ON alias_inbox (message);
    CREATE TABLE message_read (
      message INTEGER NOT NULL, ordinal INTEGER NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (message, ordinal)) WITHOUT ROWID;
    CREATE TABLE dropped_message (place INTEGER PRIMARY KEY);
    """,
    """
    CREATE TABLE audit (
      id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind INTEGER NOT NULL, app INTEGER,
      doer INTEGER NOT NULL, doer_key TEXT, address TEXT, subject TEXT, words TEXT);
    CREATE INDEX audit_app ON audit (app, id) WHERE app IS NOT NULL;
    CREATE INDEX audit_app_kind ON audit (app, kind, id) WHERE app IS NOT NULL;
    """,
    """
    CREATE INDEX push_channel ON push (app, address_name, id) WHERE address_kind = 64;
    """,
    """
    ALTER TABLE device ADD COLUMN badge_round INTEGER NOT NULL DEFAULT 0;
    """,
    """
    ALTER TABLE webhook ADD COLUMN former_secret BLOB;
    ALTER TABLE webhook ADD COLUMN former_until INTEGER;
    ALTER TABLE webhook ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE webhook ADD COLUMN dropped_at INTEGER;
    CREATE INDEX special_token_told ON special_token (registered_at) WHERE kind = 3;
    """,
  ]

  /// Whose tables are filled from what the file has, by more than SQL can say.
  private static let factsVersion = 4

  /// The number of the last step.
  static let newest = migrations.count

  /// Takes the steps that the file lacks, up to the given one.
  static func prepare(_ database: Database, upTo last: Int = newest) throws(StoreFault) {
    try database.execute("CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY)")
    guard try version(of: database) < last else { return }
    // Only now for this process alone: another may have opened the folder beside and be at it.
    try database.execute("BEGIN IMMEDIATE")
    for (index, migration) in migrations.prefix(last).enumerated().dropFirst(try version(of: database)) {
      try database.execute("\(migration) INSERT INTO migration VALUES (\(index + 1));")
      if index + 1 == factsVersion { try FactTable(database).build() }
    }
    try database.execute("COMMIT")
  }

  /// - Throws: `.unusable` for a file of a newer Belfry, or of none.
  static func check(_ database: Database) throws(StoreFault) {
    let isOurs = try database.first(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('migration', 'app', 'device', 'push')"
    ) { $0.int(0) == 4 }
    guard isOurs == true else { throw .unusable("no database of Belfry") }
    _ = try version(of: database)
  }

  private static func version(of database: Database) throws(StoreFault) -> Int {
    let version = try database.first("SELECT coalesce(max(version), 0) FROM migration") { Int($0.int(0)) } ?? 0
    guard version <= newest else {
      throw .unusable("made by a newer Belfry (schema \(version); this one knows \(newest))")
    }
    return version
  }
}
