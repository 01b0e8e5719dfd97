import Basics
import PushService

extension ServeConfiguration {
  /// `keepDays` in the file: after how many days what is over is removed; 0: never.
  struct KeepDays: Equatable, Sendable, Decodable {
    /// Pushes, and what became of them on each device. Default 90.
    var pushes: Int?
    /// What came of due times of schedules. Default 90.
    var schedules: Int?
    /// Devices whose token died. Default 365.
    var deadDevices: Int?
    /// Lines of the audit log. Default 365.
    var audit: Int?
    /// In-app messages. Default: all.
    var messages: Int?

    init(from decoder: any Decoder) throws {
      let container = try decoder.strict(["pushes", "schedules", "deadDevices", "audit", "messages"])
      pushes = try container.decodeIfPresent(Int.self, forKey: "pushes")
      schedules = try container.decodeIfPresent(Int.self, forKey: "schedules")
      deadDevices = try container.decodeIfPresent(Int.self, forKey: "deadDevices")
      audit = try container.decodeIfPresent(Int.self, forKey: "audit")
      messages = try container.decodeIfPresent(Int.self, forKey: "messages")
    }

    func retention() throws(CommandFault) -> Retention {
      var retention = Retention()
      func span(_ days: Int?, _ name: String, or usual: Instant.Span?) throws(CommandFault) -> Instant.Span? {
        guard let days else { return usual }
        // a `cid` is looked up, and a report taken, for days
        guard days == 0 || 7...36_500 ~= days else {
          throw CommandFault("keepDays.\(name): give 7 or more days, or 0 to keep all")
        }
        return days == 0 ? nil : .days(Int64(days))
      }
      retention.pushes = try span(pushes, "pushes", or: retention.pushes)
      retention.firings = try span(schedules, "schedules", or: retention.firings)
      retention.deadDevices = try span(deadDevices, "deadDevices", or: retention.deadDevices)
      retention.audit = try span(audit, "audit", or: retention.audit)
      retention.messages = try span(messages, "messages", or: retention.messages)
      return retention
    }
  }
}

extension Retention {
  /// For `belfry config`.
  var words: String {
    func days(_ span: Instant.Span?) -> String { span.map { "\($0.milliseconds / 86_400_000)" } ?? "all" }
    return
      "pushes \(days(pushes)), schedules \(days(firings)), dead devices \(days(deadDevices)), audit \(days(audit)), "
      + "messages \(days(messages))"
  }
}
