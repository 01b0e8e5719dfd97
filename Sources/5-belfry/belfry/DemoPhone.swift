import Phone
import PushPayload

/// The demo's app and phones, and how a phone is brought to the place where a step wants it.
enum DemoPhone {
  static let bundleID = "com.example.belfry.demo"

  /// One phone a generation, each as the articles describe phones (`strictSeed`).
  static let versions = [IOSVersion(6, 1), IOSVersion(9, 3), IOSVersion(17, 0)]

  static func settings(_ version: IOSVersion) -> PhoneSettings {
    var settings = PhoneSettings(iosVersion: version)
    settings.name = "iPhone on iOS \(version)"
    settings.strictSeed = true
    // Two or three silent pushes an hour are a phone's budget; the demo rings more often.
    settings.developerAttached = true
    return settings
  }

  /// An app as S0 and S4 write it: it registers at launch, hands its token on, and sets the badge to 0 whenever it
  /// comes to front. In front it shows nothing.
  static var app: AppDescription {
    var app = AppDescription(bundleID: bundleID, name: "Belfry Demo", apsEnvironment: .production)
    app.delegate = .beforeLaunchEnds
    app.backgroundModes = [.remoteNotification]
    app.script = [
      .didFinishLaunching: [.askAndRegister(.usual)],
      .didRegisterForRemoteNotifications: [.handTokenToService],
      .didBecomeActive: [.setBadge(0)],
    ]
    return app
  }

  static let firstLaunch: [Phone.Event] = [
    .installApp(app), .launch(bundleID: bundleID), .answerPrompt(allow: true),
  ]

  /// From wherever the step before ended.
  static func bring(to place: DemoPlace) -> [Phone.Event] {
    let front: [Phone.Event] = [.unlock, .closeCentre, .launch(bundleID: bundleID)]
    let behind: [Phone.Event] = [.home, .suspend(bundleID: bundleID)]
    let gone: [Phone.Event] = behind + [.endBySystem(bundleID: bundleID)]
    return front
      + {
        switch place {
        case .active: []
        case .inactive: [.openCentre]
        case .background: [.home]
        case .suspended: behind
        case .notRunning: gone
        case .forceQuit: [.forceQuit(bundleID: bundleID)]
        case .lockedActive: [.lock]
        case .lockedSuspended: behind + [.lock]
        case .lockedNotRunning: gone + [.lock]
        }
      }()
  }

  static func events(of act: DemoAct) -> [Phone.Event] {
    switch act {
    case .nothing: []
    case .tap: [.tap(bundleID: bundleID, id: nil)]
    case .icon: [.launch(bundleID: bundleID)]
    case .unlock: [.unlock]
    }
  }
}

/// What one phone did in one step, and whether that is what the articles say.
struct DemoResult: Sendable {
  var step: DemoStep
  var version: IOSVersion
  var atArrival: [TimelineEntry]
  var atAct: [TimelineEntry]

  var claim: SeedClaim { SeedClaim(step, version.generation) }

  /// Each fault in words; empty when all is as claimed. `checks` counts what was looked at.
  func faults() -> (checks: Int, faults: [String]) {
    var faults: [String] = []
    var checks = 0
    func check(_ name: String, _ expected: String, _ actual: String) {
      checks += 1
      if expected != actual { faults.append("\(name): the seeds say \(expected), the phone did \(actual)") }
    }
    check("shown", claim.shown.letters, shown.letters)
    check("code at arrival", words(claim.atArrival), words(methods(atArrival)))
    check("code when the user \(step.act.rawValue)", words(claim.atAct), words(methods(atAct)))
    for callback in callbacks(atArrival) + callbacks(atAct) {
      let extras = (callback.arguments.userInfo ?? [:]).members.filter { $0.key != "aps" && !$0.key.hasPrefix("_j_") }
      check("custom keys in \(callback.method.short)", "\(step.push.extras.members)", "\(extras)")
    }
    return (checks, faults)
  }

  /// Without the screen's waking, of which the articles say nothing.
  var shown: TimelineEntry.Shown.Parts {
    var parts: TimelineEntry.Shown.Parts = []
    for entry in atArrival {
      if case .shown(let shown) = entry.what { parts.formUnion(shown.parts) }
    }
    return parts.subtracting(.wakesScreen)
  }

  /// The calls that carried the payload.
  func callbacks(_ entries: [TimelineEntry]) -> [Callback] {
    entries.compactMap { entry in
      guard case .callback(let callback) = entry.what, callback.arguments.userInfo != nil else { return nil }
      return callback
    }
  }

  private func methods(_ entries: [TimelineEntry]) -> [Callback.Method] { callbacks(entries).map(\.method) }

  private func words(_ methods: [Callback.Method]) -> String {
    methods.isEmpty ? "nothing" : methods.map(\.short).joined(separator: ", ")
  }
}
