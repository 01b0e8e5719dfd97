import PushPayload

/// One thing that `belfry doctor` looked at, and what it found. Holds no secret: files, ids, names and times only.
struct DoctorCheck: Equatable, Sendable {
  enum Level: String, CaseIterable, Comparable, Sendable {
    case ok
    /// Works now, or in part; will surprise.
    case warn
    /// Pushes do not get through.
    case fail

    static func < (left: Level, right: Level) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  /// What is looked at; stable, one paragraph each in docs/doctor.md.
  enum Name: String, CaseIterable, Sendable {
    case configuration, file, permissions, key, ids, certificate, term, topic, environment, connection, clock
    case credential, token
  }

  var level: Level
  var name: Name
  /// The credential's bundle id, a file, or a server.
  var subject: String
  /// What was found; a sentence without its full stop.
  var found: String
  /// What to do; a sentence. nil when nothing is to be done.
  var remedy: String?

  init(_ level: Level, _ name: Name, _ subject: String, _ found: String, _ remedy: String? = nil) {
    self.level = level
    self.name = name
    self.subject = subject
    self.found = found
    self.remedy = remedy
  }
}

/// All checks, for people and for programs.
struct DoctorReport: Sendable {
  var checks: [DoctorCheck]

  var worst: DoctorCheck.Level { checks.map(\.level).max() ?? .ok }

  var text: String {
    let widths = (checks.map(\.name.rawValue.count).max() ?? 0, checks.map(\.subject.count).max() ?? 0)
    var lines = checks.flatMap { check in
      let start = padded(check.level.rawValue, 4) + "  " + padded(check.name.rawValue, widths.0) + "  "
      return [start + padded(check.subject, widths.1) + "  " + check.found]
        + (check.remedy.map { [String(repeating: " ", count: start.count) + "→ " + $0] } ?? [])
    }
    let counts = DoctorCheck.Level.allCases.map { level in "\(checks.count { $0.level == level }) \(level.rawValue)" }
    lines.append(counts.joined(separator: ", "))
    return lines.joined(separator: "\n")
  }

  var json: JSONValue {
    [
      "worst": .string(worst.rawValue),
      "checks": .array(
        checks.map { check in
          var object: JSONObject = [
            "level": .string(check.level.rawValue), "check": .string(check.name.rawValue),
            "subject": .string(check.subject), "found": .string(check.found),
          ]
          object["remedy"] = check.remedy.map { .string($0) }
          return .object(object)
        }),
    ]
  }
}
