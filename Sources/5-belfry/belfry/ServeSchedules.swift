import Basics
import HTTPAPI
import PushService
import Schedule
import Transport

extension ServeConfiguration {
  /// `schedules` in the file: whose clocks, and what becomes of due times that were missed.
  struct Schedules: Equatable, Sendable, Decodable {
    /// A name of the tz database. Default Asia/Shanghai, as JPush's users know it.
    var timeZone: String?
    /// The same for single apps, by bundle id.
    var timeZones: [String: String]?
    /// `catch-up`: of due times that passed while the service was down, the last makes its push at once; `skip`: none does.
    /// Default `catch-up`.
    var missed: String?
    /// How many schedules that are not over an app may have. Default 100.
    var perApp: Int?

    /// `22:00-07:00` by bundle id, or `*` for all apps that are not named: nobody is to see or hear anything then, where they
    /// are. Default: never.
    var quietHours: [String: String]?

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.strict(["timeZone", "timeZones", "missed", "perApp", "quietHours"])
      quietHours = try container.decodeIfPresent([String: String].self, forKey: "quietHours")
      timeZone = try container.decodeIfPresent(String.self, forKey: "timeZone")
      timeZones = try container.decodeIfPresent([String: String].self, forKey: "timeZones")
      missed = try container.decodeIfPresent(String.self, forKey: "missed")
      perApp = try container.decodeIfPresent(Int.self, forKey: "perApp")
    }

    /// - Throws: a zone that the machine does not know, a word or a number that is none of its values.
    func settings() throws(CommandFault) -> Scheduling.Settings {
      var settings = Scheduling.Settings()
      for (place, zone) in [("timeZone", timeZone)] + (timeZones ?? [:]).map({ ("timeZones.\($0)", $1) }) {
        guard let zone else { continue }
        do { _ = try ZoneDatabase.usual.zone(named: zone) } catch { throw CommandFault("schedules.\(place): \(error)") }
      }
      settings.timeZone = timeZone ?? settings.timeZone
      settings.timeZoneOfApp = timeZones ?? [:]
      if let missed {
        guard let known = MissedFirings(rawValue: missed) else {
          let words = MissedFirings.allCases.map(\.rawValue).joined(separator: " or ")
          throw CommandFault("schedules.missed: '\(missed)' is not \(words)")
        }
        settings.missed = known
      }
      for (bundle, text) in quietHours ?? [:] {
        guard let hours = QuietHours(text) else {
          throw CommandFault("schedules.quietHours.\(bundle): '\(text)' is no HH:MM-HH:MM, as 22:00-07:00")
        }
        settings.quietHours[bundle] = hours
      }
      if let perApp {
        guard 1...100_000 ~= perApp else { throw CommandFault("schedules.perApp: give 1 to 100000") }
        settings.perApp = perApp
      }
      return settings
    }
  }
}

extension Scheduling {
  /// By this machine's time zones, with pushes as the REST API reads them.
  init(_ settings: Settings) {
    self.init(
      settings: settings, zone: { try? ZoneDatabase.usual.zone(named: $0).rules },
      order: { request throws(RequestFault) in try HTTPAPI.scheduledPush(request) })
  }
}

extension Scheduling.Settings {
  /// For `belfry config`.
  var words: String {
    let ofApps = timeZoneOfApp.sorted { $0.key < $1.key }.map { ", \($0.key) \($0.value)" }.joined()
    let quiet = quietHours.sorted { $0.key < $1.key }.map { "; quiet \($0.key) \($0.value)" }.joined()
    return "\(timeZone)\(ofApps); \(missed.rawValue); \(perApp) an app\(quiet)"
  }
}
