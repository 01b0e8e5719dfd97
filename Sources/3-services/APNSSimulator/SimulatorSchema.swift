/// The tables, made and changed step by step; each step runs once per file, in a transaction with the note of it
/// (`PRAGMA user_version`). A step that has been released is never changed: add one.
enum SimulatorSchema {
  static let steps = [
    // Files of before the first step had a number are like this already.
    """
    CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS token (
      bytes BLOB PRIMARY KEY, device TEXT NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL,
      kind TEXT NOT NULL, ended TEXT, since INTEGER, told INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS device (
      id TEXT PRIMARY KEY, online INTEGER NOT NULL, courier INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS held (
      device TEXT NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL, id TEXT NOT NULL, token BLOB NOT NULL,
      topic TEXT NOT NULL, type TEXT NOT NULL, priority INTEGER NOT NULL, collapse TEXT, expiration INTEGER,
      payload BLOB NOT NULL, received INTEGER NOT NULL, PRIMARY KEY (device, bundle, environment)) WITHOUT ROWID;
    """,
    // More than one may wait for an app: in the store, for a burst, for the budget, in flight.
    """
    CREATE TABLE waiting (
      device TEXT NOT NULL, number INTEGER NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL, id TEXT NOT NULL,
      token BLOB NOT NULL, topic TEXT NOT NULL, type TEXT NOT NULL, priority INTEGER NOT NULL, collapse TEXT,
      expiration INTEGER, payload BLOB NOT NULL, received INTEGER NOT NULL, place TEXT NOT NULL, cause TEXT,
      since INTEGER NOT NULL, due INTEGER, ripe INTEGER NOT NULL, paid INTEGER NOT NULL,
      PRIMARY KEY (device, number)) WITHOUT ROWID;
    INSERT INTO waiting
      SELECT device, row_number() OVER (ORDER BY received), bundle, environment, id, token, topic, type, priority,
        collapse, expiration, payload, received, 'stored', 'offline', received, NULL, 0, 0 FROM held;
    DROP TABLE held;
    ALTER TABLE device ADD COLUMN power TEXT NOT NULL DEFAULT 'awake';
    ALTER TABLE device ADD COLUMN unlimited INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE background (
      device TEXT NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL, at INTEGER NOT NULL);
    CREATE INDEX background_device ON background (device)
    """,
    // Channels and Live Activities
    """
    CREATE TABLE channel (
      id TEXT NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL, policy INTEGER NOT NULL,
      created INTEGER NOT NULL, published INTEGER NOT NULL, delivered INTEGER NOT NULL, subscriptions INTEGER NOT NULL,
      gone INTEGER NOT NULL, request TEXT, uniqueid TEXT, priority INTEGER, expiration INTEGER, payload BLOB,
      received INTEGER, until INTEGER, PRIMARY KEY (id, bundle, environment)) WITHOUT ROWID;
    CREATE TABLE subscriber (
      channel TEXT NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL, device TEXT NOT NULL, since INTEGER,
      received INTEGER NOT NULL, PRIMARY KEY (channel, bundle, environment, device)) WITHOUT ROWID;
    CREATE TABLE capability (bundle TEXT PRIMARY KEY, broadcast INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE activity (
      id TEXT PRIMARY KEY, device TEXT NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL, token BLOB,
      state TEXT NOT NULL) WITHOUT ROWID;
    ALTER TABLE token ADD COLUMN detail TEXT NOT NULL DEFAULT '';
    """,
    // Keys that were made, and what was revoked or suspended
    """
    CREATE TABLE provider (standing TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (standing, name)) WITHOUT ROWID;
    CREATE TABLE provider_key (
      id TEXT PRIMARY KEY, team TEXT NOT NULL, pem TEXT NOT NULL, environment TEXT, topics TEXT, family TEXT)
      WITHOUT ROWID;
    """,
    // Not which broadcast a phone had last, but whether it has the newest: few rows change with each broadcast.
    """
    ALTER TABLE subscriber ADD COLUMN owed INTEGER NOT NULL DEFAULT 0;
    UPDATE subscriber SET owed = 1 WHERE since IS NOT NULL AND received < (
      SELECT published FROM channel WHERE channel.id = subscriber.channel AND channel.bundle = subscriber.bundle
        AND channel.environment = subscriber.environment AND channel.request IS NOT NULL);
    ALTER TABLE subscriber DROP COLUMN received;
    """,
  ]

  /// Brings a file to the newest form. A file of a newer Belfry is left as it is, and refused.
  static func prepare(_ database: SimulatorDatabase) throws(SimulatorFault) {
    // NORMAL: what is written survives the end of this process; the last writes may not survive a power failure.
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
    var version = 0
    try database.each("PRAGMA user_version") { version = Int($0.integer(0) ?? 0) }
    guard version <= steps.count else {
      throw SimulatorFault(
        what: "\(database.path) was made by a newer Belfry (form \(version); this one knows \(steps.count))",
        remedy: "Use that Belfry, or give another folder (--data DIR).")
    }
    for (place, step) in steps.enumerated().dropFirst(version) {
      try database.execute("BEGIN IMMEDIATE; \(step); PRAGMA user_version = \(place + 1); COMMIT;")
    }
  }
}
