/// The app's own switch "only the scheduled push" (spec section L); the service keeps its value.
struct SchedulePreference: Hashable, Sendable {
  /// As the service has it, as far as the app knows.
  var value = false
  /// What the user asked for, until the service has answered.
  var wanted: Bool?
}

extension Phone {
  mutating func setPreference(_ onlyScheduled: Bool, of app: Int) {
    record(.user("sets “only the scheduled push” to \(onlyScheduled)"), app, "D-331")
    guard isOnline else { return preferenceFails("there is no network", app) }
    apps[app].preference.wanted = onlyScheduled
    effects.append(
      .changePreference(
        bundleID: apps[app].description.bundleID, registrationID: apps[app].registration.registrationID,
        onlyScheduled: onlyScheduled))
  }

  mutating func preferenceAnswered(_ onlyScheduled: Bool, accepted: Bool, for app: Int) {
    guard apps[app].preference.wanted == onlyScheduled else {
      return record(.system("an answer about the preference that nobody waits for"), app, "D-332")
    }
    guard accepted else { return preferenceFails("the push service refused", app) }
    apps[app].preference = SchedulePreference(value: onlyScheduled)
    record(.system("the push service has stored “only the scheduled push”: \(onlyScheduled)"), app, "D-332")
    if apps[app].state.isExecuting {
      call(.preferenceAnswer, of: app, .preference(onlyScheduled: onlyScheduled, failure: nil), "D-332")
    }
  }

  /// The network went: a request without an answer has failed, nothing is sent later in silence (D-332).
  mutating func preferencesLoseNetwork() {
    for app in apps.indices where apps[app].preference.wanted != nil {
      preferenceFails("the network went before the answer", app)
    }
  }

  /// The switch returns to its old value.
  private mutating func preferenceFails(_ why: String, _ app: Int) {
    apps[app].preference.wanted = nil
    let value = apps[app].preference.value
    record(.system("the change failed: \(why); the switch returns to \(value), nothing is queued"), app, "D-332")
    if apps[app].state.isExecuting {
      call(.preferenceAnswer, of: app, .preference(onlyScheduled: value, failure: why), "D-332")
    }
  }

  /// What the app's switch "only the scheduled push" shows (D-331).
  public func onlyScheduled(of bundleID: String) -> Bool {
    index(of: bundleID).map { apps[$0].preference.wanted ?? apps[$0].preference.value } ?? false
  }
}
