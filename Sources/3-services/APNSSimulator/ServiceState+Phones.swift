internal import Basics

/// Phones come and go, sleep and wake, acknowledge; and time passes.
extension ServiceState {
  /// Every device that was ever named.
  var devices: [String: SimulatedDevice] { schedule.lanes.mapValues(\.device) }

  func device(_ id: String) -> SimulatedDevice? { schedule.device(id) }

  /// A courier came for the device: what waits is due, as far as nothing else holds it back. `keepsBudget` for a phone
  /// that counts its background pushes by itself; `keepsInFlight` for one whose acknowledgement may never come;
  /// `keepsActivities` for one that follows its Live Activities by itself.
  mutating func connect(
    device: String, keepsBudget: Bool = false, keepsInFlight: Bool = true, keepsActivities: Bool = false,
    hearsFates: Bool = false, now: Instant
  ) -> Outcome {
    var outcome = self.device(device)?.isOnline == false ? Outcome() : learnAlerts(of: device, now: now)
    outcome += self.outcome(
      schedule.connect(
        device, keepsBudget: keepsBudget, keepsInFlight: keepsInFlight, keepsActivities: keepsActivities,
        hearsFates: hearsFates, now: now),
      now: now)
    findDueBroadcasts(device: device, now: now)
    return outcome
  }

  /// The courier left. What it did not acknowledge waits again, by the same rules as any push.
  mutating func disconnect(device: String, now: Instant) -> Outcome {
    outcome(schedule.disconnect(device, now: now), now: now)
  }

  /// The phone got or lost its network.
  mutating func setOnline(device: String, _ isOnline: Bool, now: Instant) -> Outcome {
    var outcome = Outcome()
    if isOnline, let known = self.device(device), known.isConnected || !known.usesCourier {
      outcome = learnAlerts(of: device, now: now)
    }
    outcome += self.outcome(schedule.setOnline(device, isOnline, now: now), now: now)
    findDueBroadcasts(device: device, now: now)
    return outcome
  }

  mutating func setPower(device: String, _ power: PhonePower, now: Instant) -> Outcome {
    outcome(schedule.setPower(device, power, now: now), now: now)
  }

  /// No budget of background pushes, as when the app is run from Xcode.
  mutating func setUnlimited(device: String, _ isUnlimited: Bool, now: Instant) -> Outcome {
    outcome(schedule.setUnlimited(device, isUnlimited, now: now), now: now)
  }

  /// From now on by other rules, also for what waits.
  mutating func setDelivery(_ rules: DeliveryRules, now: Instant) -> Outcome {
    outcome(schedule.setRules(rules, now: now), now: now)
  }

  /// The phone has it; what comes next for this device is handed over by the caller. Nothing for one not in flight.
  mutating func acknowledge(device: String, number: UInt64, now: Instant) -> Outcome {
    outcome(schedule.acknowledge(number, device: device, now: now), now: now)
  }

  /// When `advance` is due though nothing else happens.
  var nextDue: Instant? {
    guard let change = activities.nextDue else { return schedule.nextDue }
    return schedule.nextDue.map { min($0, change) } ?? change
  }

  /// Time has passed: what is over ends, what has waited long enough goes.
  mutating func advance(now: Instant) -> Outcome {
    settleActivities(now: now)
    return outcome(schedule.advance(now: now), now: now)
  }

  private mutating func outcome(_ effects: [DeliverySchedule.Effect], now: Instant) -> Outcome {
    var outcome = Outcome()
    apply(effects, to: &outcome, now: now)
    return outcome
  }
}
