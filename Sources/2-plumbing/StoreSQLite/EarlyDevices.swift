import Audience
import Basics
import Schedule
import Store

/// Devices of a shard for whose place it is not time yet: by the sets of devices of each time zone, and of each stretch of
/// quiet hours that users chose, so that no row is read.
struct EarlyDevices {
  private(set) var waiting = DeviceSet()
  private(set) var dropped = DeviceSet()
  /// When the first of them may be sent to.
  private(set) var nextAt: Instant?

  init() {}

  /// Among those that have not ended.
  init(
    among devices: DeviceSet, of app: Int64, _ index: ShardIndex, _ timing: LocalTiming, at now: Instant,
    _ database: Database, zones: (String) -> TimeZoneRules?
  ) throws(StoreFault) {
    let facts = FactTable(database)
    let sets = DeviceSets(database)
    var places: [(rules: TimeZoneRules, devices: DeviceSet)]?
    func add(_ devices: DeviceSet, _ timing: LocalTiming) throws(StoreFault) {
      guard !devices.isEmpty, timing.due != nil || timing.quiet != nil else { return }
      if places == nil {
        var found: [(rules: TimeZoneRules, devices: DeviceSet)] = []
        for (zone, set) in try facts.values(app: app, kind: DeviceFact.timeZone.rawValue) {
          guard let rules = zones(zone) else { continue }
          found.append((rules, try sets.members(ofSet: set, in: index)))
        }
        places = found
      }
      var others = devices
      for place in places ?? [] where !others.isEmpty {
        let here = place.devices.intersection(others)
        others.subtract(here)
        note(here, timing.verdict(at: now, in: place.rules))
      }
      note(others, timing.verdict(at: now, in: zones(timing.timeZone) ?? .utc))
    }
    var others = devices
    if timing.heedsUsers {
      for (text, set) in try facts.values(app: app, kind: FactKey.quietKind) where !others.isEmpty {
        let theirs = try sets.members(ofSet: set, in: index).intersection(others)
        others.subtract(theirs)
        try add(theirs, timing.heeding(QuietHours(text)))
      }
    }
    try add(others, timing)
  }

  private mutating func note(_ devices: DeviceSet, _ verdict: LocalTiming.Verdict) {
    guard !devices.isEmpty else { return }
    switch verdict {
    case .now: break
    case .dropped: dropped.formUnion(devices)
    case .dueAt(let at), .quietUntil(let at):
      waiting.formUnion(devices)
      nextAt = min(nextAt ?? at, at)
    }
  }
}
