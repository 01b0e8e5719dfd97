internal import Basics

/// What is kept beyond a restart.
extension ServiceState {
  /// What a store has to write; emptied by `takeChanges`.
  struct Changes: Sendable {
    var tokens: Set<[UInt8]> = []
    var devices: Set<String> = []
    var channels = ChannelRegistry.Changes()
    var activities: Set<String> = []

    var isEmpty: Bool { tokens.isEmpty && devices.isEmpty && channels.isEmpty && activities.isEmpty }
  }

  var hasChanges: Bool {
    !changedTokens.isEmpty || !schedule.changed.isEmpty || !channels.changes.isEmpty || !activities.changed.isEmpty
  }

  mutating func takeChanges() -> Changes {
    defer {
      changedTokens = []
      schedule.changed = []
    }
    var changes = Changes(tokens: changedTokens, devices: schedule.changed)
    changes.channels = channels.takeChanges()
    changes.activities = activities.takeChanges()
    return changes
  }

  /// They could not be written: they are still to do.
  mutating func giveBack(_ changes: Changes) {
    changedTokens.formUnion(changes.tokens)
    schedule.changed.formUnion(changes.devices)
    channels.giveBack(changes.channels)
    activities.giveBack(changes.activities)
  }

  /// Everything that was kept, to begin with.
  struct Kept: Sendable {
    var tokens: [TokenRecord] = []
    var devices: [String: SimulatedDevice] = [:]
    /// In the order of their numbers before the restart; they get new ones.
    var waiting: [(device: String, push: WaitingPush)] = []
    var budgets: [(device: String, app: InstalledApp, BackgroundBudget)] = []
  }

  /// Puts back what a store kept. Nobody is connected after a restart, so what was in flight waits again.
  mutating func restore(_ kept: Kept, now: Instant) {
    for record in kept.tokens { registry.adopt(record) }
    var waiting = kept.waiting
    for index in waiting.indices {
      let (device, entry) = waiting[index]
      waiting[index].push.number = log(entry, device: device)
      waiting[index].push.isGone = registry.records[entry.push.token]?.end != nil
    }
    let effects = schedule.restore(devices: kept.devices, waiting: waiting, budgets: kept.budgets, now: now)
    var outcome = Outcome()
    apply(effects, to: &outcome, now: now)
    for device in channels.owedDevices.sorted() { findDueBroadcasts(device: device, now: now) }
  }
}
