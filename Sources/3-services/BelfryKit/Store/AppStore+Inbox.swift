internal import Foundation

/// Messages between the connection and the app's code: kept before they are acknowledged, gone once they are handled, each given
/// once (docs/gateway-protocol.md, "At least once on the wire, once in the app").
extension AppStore {
  /// An event that the app has not handled yet.
  struct Waiting: Hashable, Sendable {
    var position: Int64
    var event: MessageEvent
  }

  func cursor() async throws(BelfryFault) -> ClientFrame.Cursor? {
    try await perform { database throws(DatabaseFault) in try database.state("cursor", as: ClientFrame.Cursor.self) }
  }

  /// Keeps what came at `seq`, and the cursor with it. A message that was here before is not kept a second time; one that is
  /// withdrawn before the app's code saw it vanishes. true: there is something new for the app.
  func keep(_ event: MessageEvent, seq: Int64) async throws(BelfryFault) -> Bool {
    try await perform { database throws(DatabaseFault) in
      let isNew: Bool
      switch event {
      case .message(let message): isNew = try database.keep(message, event)
      case .withdrawn(let id): isNew = try database.withdraw(id, event)
      }
      try database.setState("cursor", ClientFrame.Cursor(seq: seq, id: event.messageID))
      return isNew
    }
  }

  /// Forgets the event at `handled`, and answers the next behind it that waits: from here on the app's code has seen it.
  func next(handled: Int64?) async throws(BelfryFault) -> Waiting? {
    try await perform { database throws(DatabaseFault) in
      if let handled { try database.run("DELETE FROM inbox WHERE position = ?", [.integer(handled)]) }
      while true {
        let row = try database.run("SELECT position, event FROM inbox ORDER BY position LIMIT 1") {
          ($0.integer(0), $0.text(1) ?? "")
        }.first
        guard let (position, text) = row else { return nil }
        guard let event = decoded(text, as: MessageEvent.self) else {
          // of a version that wrote it otherwise; nobody will ever read it
          try database.run("DELETE FROM inbox WHERE position = ?", [.integer(position)])
          continue
        }
        try database.run("UPDATE inbox SET given = 1 WHERE position = ?", [.integer(position)])
        return Waiting(position: position, event: event)
      }
    }
  }

  func forget(_ handled: Int64) async throws(BelfryFault) {
    try await perform { database throws(DatabaseFault) in
      try database.run("DELETE FROM inbox WHERE position = ?", [.integer(handled)])
    }
  }

  func waitingCount() async throws(BelfryFault) -> Int {
    try await perform { database throws(DatabaseFault) in
      try database.run("SELECT count(*) FROM inbox") { Int($0.integer(0)) }.first ?? 0
    }
  }

  // MARK: Read

  func noteRead(_ ids: [String]) async throws(BelfryFault) {
    try await perform { database throws(DatabaseFault) in
      for id in ids { try database.run("INSERT OR IGNORE INTO read_marks (id) VALUES (?)", [.text(id)]) }
      try database.run(
        "DELETE FROM read_marks WHERE said = 1 AND position <= (SELECT max(position) FROM read_marks) - \(AppStore.mostRead)"
      )
    }
  }

  /// Those that the service does not know of yet, oldest first.
  func toSayRead() async throws(BelfryFault) -> [String] {
    try await perform { database throws(DatabaseFault) in
      try database.run(
        "SELECT id FROM read_marks WHERE said = 0 ORDER BY position LIMIT ?", [.integer(Int64(ClientFrame.mostRead))]
      ) { $0.text(0) ?? "" }
    }
  }

  func readTaken(_ ids: [String]) async throws(BelfryFault) {
    try await perform { database throws(DatabaseFault) in
      for id in ids { try database.run("UPDATE read_marks SET said = 1 WHERE id = ?", [.text(id)]) }
    }
  }

  /// Those of them that the user has read, of the last 2,048.
  func read(of ids: [String]) async throws(BelfryFault) -> [String] {
    try await perform { database throws(DatabaseFault) in
      var read: [String] = []
      for id in ids {
        read += try database.run("SELECT id FROM read_marks WHERE id = ?", [.text(id)]) { $0.text(0) ?? "" }
      }
      return read
    }
  }
}

extension MessageEvent {
  fileprivate var messageID: String {
    switch self {
    case .message(let message): message.id
    case .withdrawn(let id): id
    }
  }

  fileprivate var isMessage: Bool {
    switch self {
    case .message: true
    case .withdrawn: false
    }
  }
}

extension Database {
  fileprivate func keep(_ message: InAppMessage, _ event: MessageEvent) throws(DatabaseFault) -> Bool {
    try run("INSERT OR IGNORE INTO seen (id) VALUES (?)", [.text(message.id)])
    guard changes == 1 else { return false }
    try run("DELETE FROM seen WHERE position <= (SELECT max(position) FROM seen) - \(AppStore.mostSeen)")
    try append(event)
    return true
  }

  fileprivate func withdraw(_ id: String, _ event: MessageEvent) throws(DatabaseFault) -> Bool {
    try run("DELETE FROM inbox WHERE id = ? AND is_message = 1 AND given = 0", [.text(id)])
    if changes > 0 { return false }
    let isKnown = try run("SELECT 1 FROM seen WHERE id = ?", [.text(id)]) { _ in true }.first ?? false
    // the service sent the withdrawal again
    let isSaid =
      try run("SELECT 1 FROM inbox WHERE id = ? AND is_message = 0", [.text(id)]) { _ in true }.first ?? false
    guard isKnown, !isSaid else { return false }
    try append(event)
    return true
  }

  private func append(_ event: MessageEvent) throws(DatabaseFault) {
    try run(
      "INSERT INTO inbox (id, event, is_message) VALUES (?, ?, ?)",
      [.text(event.messageID), .text(encoded(event)), .integer(event.isMessage ? 1 : 0)])
  }
}
