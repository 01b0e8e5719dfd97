import HTTPAPI
import PushService
import Store

extension ServeConfiguration {
  /// `limits` in the file: how often may be called, and how much a device may have.
  struct Limits: Equatable, Sendable {
    var rates = RateLimitSettings()
    var devices = DeviceLimits()
  }

  /// The same as written; what is missing is as by default.
  struct LimitsFile: Decodable {
    private var perMinute: [String: Int]
    private var devicesPerAlias: Int?
    private var tagsPerDevice: Int?

    init(from decoder: any Decoder) throws {
      let container = try decoder.strict(["perMinute", "devicesPerAlias", "tagsPerDevice"])
      perMinute = try container.decodeIfPresent([String: Int].self, forKey: "perMinute") ?? [:]
      devicesPerAlias = try container.decodeIfPresent(Int.self, forKey: "devicesPerAlias")
      tagsPerDevice = try container.decodeIfPresent(Int.self, forKey: "tagsPerDevice")
    }

    /// - Throws: a name that is none, or a number out of its range.
    func limits() throws(CommandFault) -> Limits {
      var limits = Limits()
      for (name, value) in perMinute.sorted(by: { $0.key < $1.key }) {
        guard let setting = RateLimitSettings.named.first(where: { $0.name == name }) else {
          let names = RateLimitSettings.named.map(\.name)
          let hint = suggestion(name, among: names)
          throw CommandFault(
            "limits.perMinute.\(name): there is no such setting\(hint.isEmpty ? ";" : hint) all are "
              + names.joined(separator: ", "))
        }
        guard 1...1_000_000_000 ~= value else {
          throw CommandFault("limits.perMinute.\(name): give 1 to 1000000000 calls a minute")
        }
        limits.rates[keyPath: setting.path] = value
      }
      if let value = devicesPerAlias {
        guard 1...1_000_000 ~= value else { throw CommandFault("limits.devicesPerAlias: give 1 to 1000000") }
        limits.devices.devicesPerAlias = value
      }
      if let value = tagsPerDevice {
        guard 1...100_000 ~= value else { throw CommandFault("limits.tagsPerDevice: give 1 to 100000") }
        limits.devices.tagsPerDevice = value
      }
      return limits
    }
  }
}

extension RateLimitSettings {
  fileprivate static var named: [(name: String, path: WritableKeyPath<RateLimitSettings, Int>)] {
    [
      ("push", \.push), ("schedule", \.schedule), ("device", \.device), ("report", \.report),
      ("ownDevice", \.ownDevice), ("address", \.address),
    ]
  }
}

extension ServeConfiguration.Limits {
  /// For `belfry config`.
  var words: String {
    let rates = RateLimitSettings.named.map { "\($0.name) \(self.rates[keyPath: $0.path])" }.joined(separator: ", ")
    return
      "a minute: \(rates); \(devices.devicesPerAlias) devices an alias, \(devices.tagsPerDevice) tags a device"
  }
}
