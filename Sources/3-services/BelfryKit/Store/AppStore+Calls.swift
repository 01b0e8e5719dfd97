internal import Foundation

/// What the app wants of the service, kept while it cannot be said.
enum DeviceCall: Hashable, Sendable, Codable {
  /// nil: none.
  case alias(String?)
  case addTags([String])
  case removeTags([String])
  /// In the place of all that there are.
  case setTags([String])
  case badge(Int)
  case mobile(String?)
  case voipToken(String?)
  /// nil: none any more.
  case activityStartToken(type: String, token: String?)
  case activityToken(id: String, token: String?)

  /// A newer one makes an older one of the topic needless.
  fileprivate var topic: String? {
    switch self {
    case .alias: "alias"
    case .badge: "badge"
    case .mobile: "mobile"
    case .voipToken: "voipToken"
    case .activityStartToken(let type, _): "activityStart \(type)"
    case .activityToken(let id, _): "activity \(id)"
    case .addTags, .removeTags, .setTags: nil
    }
  }
}

/// What became of a push on this phone.
public enum PushReport: String, Hashable, Sendable, Codable {
  /// The service extension, or the app's code, was given it.
  case received
  case shown
  case clicked
}

extension AppStore {
  struct QueuedCall: Hashable, Sendable {
    var position: Int64
    var call: DeviceCall
  }

  struct QueuedReport: Hashable, Sendable, Codable {
    var message: String
    var kind: PushReport
    /// Milliseconds since 1970.
    var at: Int64
  }

  /// Answers its place in the queue.
  func queue(_ call: DeviceCall) async throws(BelfryFault) -> Int64 {
    try await perform { database throws(DatabaseFault) in
      try database.run(
        "INSERT OR REPLACE INTO calls (topic, call) VALUES (?, ?)",
        [call.topic.map { .text($0) } ?? .null, .text(encoded(call))])
      return try database.run("SELECT max(position) FROM calls") { $0.integer(0) }.first ?? 0
    }
  }

  /// The oldest.
  func nextCall() async throws(BelfryFault) -> QueuedCall? {
    try await perform { database throws(DatabaseFault) in
      while true {
        let row = try database.run("SELECT position, call FROM calls ORDER BY position LIMIT 1") {
          ($0.integer(0), $0.text(1) ?? "")
        }.first
        guard let (position, text) = row else { return nil }
        if let call = decoded(text, as: DeviceCall.self) { return QueuedCall(position: position, call: call) }
        try database.run("DELETE FROM calls WHERE position = ?", [.integer(position)])
      }
    }
  }

  func removeCall(_ position: Int64) async throws(BelfryFault) {
    try await perform { database throws(DatabaseFault) in
      try database.run("DELETE FROM calls WHERE position = ?", [.integer(position)])
    }
  }

  // MARK: Reports

  /// false: it was noted before, by another callback of the same push.
  func note(_ report: QueuedReport) async throws(BelfryFault) -> Bool {
    try await perform { database throws(DatabaseFault) in
      try database.run(
        "INSERT OR IGNORE INTO reports (message, kind, at) VALUES (?, ?, ?)",
        [.text(report.message), .text(report.kind.rawValue), .integer(report.at)])
      guard database.changes == 1 else { return false }
      try database.run(
        "DELETE FROM reports WHERE position <= (SELECT max(position) FROM reports) - \(AppStore.mostReports)")
      return true
    }
  }

  /// Those that the service does not know of yet, oldest first; the service takes 100 in one call.
  func reportsToSay() async throws(BelfryFault) -> [QueuedReport] {
    try await perform { database throws(DatabaseFault) in
      try database.run("SELECT message, kind, at FROM reports WHERE sent = 0 ORDER BY position LIMIT 100") { row in
        PushReport(rawValue: row.text(1) ?? "").map {
          QueuedReport(message: row.text(0) ?? "", kind: $0, at: row.integer(2))
        }
      }.compactMap { $0 }
    }
  }

  func reportsTaken(_ reports: [QueuedReport]) async throws(BelfryFault) {
    try await perform { database throws(DatabaseFault) in
      for report in reports {
        try database.run(
          "UPDATE reports SET sent = 1 WHERE message = ? AND kind = ?",
          [.text(report.message), .text(report.kind.rawValue)])
      }
    }
  }
}
