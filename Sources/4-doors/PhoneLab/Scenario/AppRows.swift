internal import Basics
internal import Phone
internal import PushPayload

/// An app of a scenario, and how it stands on every phone when the first step comes.
struct ScenarioApp: Sendable {
  var description: AppDescription
  var start = Start.suspended
  var permission = Asked.allowed

  enum Start: String, CaseIterable, Sendable {
    /// Not on the phone.
    case absent
    /// Never opened.
    case installed
    case active, inactive, background, suspended, notRunning, forceQuit

    var isFront: Bool { self == .active || self == .inactive }
  }

  enum Asked: String, CaseIterable, Sendable {
    case allowed, denied, provisional
    /// The app has not asked.
    case notAsked
  }

  /// What brings it to its start, after a first launch.
  var bringing: [Phone.Event] {
    let bundleID = description.bundleID
    return switch start {
    case .absent, .installed: []
    case .active: [.launch(bundleID: bundleID)]
    case .inactive: [.launch(bundleID: bundleID), .openCentre]
    case .background: [.launch(bundleID: bundleID), .home]
    case .suspended: [.suspend(bundleID: bundleID)]
    case .notRunning: [.suspend(bundleID: bundleID), .endBySystem(bundleID: bundleID)]
    case .forceQuit: [.forceQuit(bundleID: bundleID)]
    }
  }

  static let rows: [Row<ScenarioApp>] =
    [
      Row("start", \.start, "Where it stands when the first step comes; default suspended, after a first launch."),
      Row("permission", \.permission, "What became of its question about notifications; default allowed."),
    ]
    + AppRows.all.map { row in
      Row(row.name, row.shape, row.help) { (app, reading) throws(ScenarioFault) in
        try row.read(&app.description, reading)
      }
    }

  /// An app as most are: every callback implemented, the delegate set in time, the background mode, showing all in front;
  /// registers at launch and hands its token on.
  static func read(_ reading: Reading, named name: String) throws(ScenarioFault) -> ScenarioApp {
    let bundleID = try reading["bundle"]?.text() ?? "com.example.\(name)"
    var app = ScenarioApp(
      description: AppDescription(bundleID: bundleID, name: name.prefix(1).uppercased() + name.dropFirst()))
    app.description.delegate = .beforeLaunchEnds
    app.description.backgroundModes = [.remoteNotification]
    app.description.presentation = [.banner, .list, .sound, .badge]
    try rows.read(reading, into: &app)
    if reading["script"] == nil {
      app.description.script[.didFinishLaunching] = registration(app.permission)
      app.description.script[.didRegisterForRemoteNotifications] = [.handTokenToService]
    }
    return app
  }

  private static func registration(_ permission: Asked) -> [AppAct] {
    switch permission {
    case .allowed, .denied: [.askAndRegister(.usual)]
    case .provisional: [.askAndRegister(NotificationOptions.usual.union(.provisional))]
    case .notAsked: [.registerForRemoteNotifications]
    }
  }
}

/// What a phone knows of an app, by the names in `AppDescription`.
enum AppRows {
  static let all: [Row<AppDescription>] = [
    Row("bundle", \.bundleID, "The bundle id; default com.example. and the app's name here."),
    Row("name", \.name, "Under its icon."),
    Row("environment", \.apsEnvironment, "Its aps-environment entitlement; default production."),
    Row("implements", .either([methods, exceptMethods]), "The callbacks that its code has; default all.") {
      (app, reading) throws(ScenarioFault) in
      guard let except = reading["except"] else {
        app.implements = try set(reading)
        return
      }
      _ = try reading.members(known: ["except"])
      app.implements = Set(Callback.Method.allCases).subtracting(try set(except))
    },
    Row("delegate", \.delegate, "When it sets the delegate of UNUserNotificationCenter; default beforeLaunchEnds."),
    Row("entitlements", .list(.word(Self.entitlements.map(\.name))), "Beside aps-environment.") {
      (app, reading) throws(ScenarioFault) in
      app.entitlements = try reading.list().named(in: entitlements)
    },
    Row("liveActivities", ActivityRows.support.shape(required: ["attributesTypes"]), "It has Live Activities (D-189).")
    {
      (app, reading) throws(ScenarioFault) in
      var support = LiveActivitySupport(attributesTypes: [])
      try ActivityRows.support.read(reading, into: &support)
      app.liveActivities = support
    },
    Row("usesMessages", \.usesMessages, "It receives in-app messages of the push service (D-300)."),
    Row("mayUseLocation", \.mayUseLocation, "It may use the user's place (D-273)."),
    Row("sdk", .text, "The iOS whose SDK it is built with; default the phone's (D-186).") {
      (app, reading) throws(ScenarioFault) in
      guard let version = IOSVersion(try reading.text()) else {
        throw reading.wrong("Write a version such as \"13.0\".")
      }
      app.sdk = version
    },
    Row("appClip", \.isAppClip, "An App Clip that requests ephemeral notifications (D-024)."),
    Row("backgroundModes", \.backgroundModes, "UIBackgroundModes; default [\"remote-notification\"]."),
    Row("backgroundRefresh", \.backgroundRefresh, "The user allows it Background App Refresh (D-180)."),
    Row(
      "enterBackgroundSeconds", \.enterBackgroundSeconds, "How long its code takes in didEnterBackground (D-157)."),
    Row("terminateSeconds", \.terminateSeconds, "How long its code takes in willTerminate (D-162)."),
    Row("exitsOnSuspend", \.exitsOnSuspend, "UIApplicationExitsOnSuspend (D-164)."),
    Row("appGroups", \.appGroups, "com.apple.security.application-groups: what it shares with its extension."),
    Row(
      "sounds", .list(.either([.text, ExtensionRows.sound.shape(required: ["name"])])),
      "Sound files that it brings (D-220 … D-222)."
    ) { (app, reading) throws(ScenarioFault) in app.sounds = try ExtensionRows.sounds(reading) },
    Row("strings", .map(.map(.text)), "Localizable.strings, by language, then by key (D-205).") {
      (app, reading) throws(ScenarioFault) in app.strings = try ExtensionRows.strings(reading)
    },
    Row("developmentLanguage", \.developmentLanguage, "CFBundleDevelopmentRegion (D-205)."),
    Row("sceneManifest", \.hasSceneManifest, "It has a scene manifest (D-136)."),
    Row("multipleScenes", \.supportsMultipleScenes, "The user may open more than one window of it."),
    Row(
      "serviceExtension", .either([.flag, ExtensionRows.service.shape()]),
      "Its notification service extension: true for one that changes nothing (D-250)."
    ) { (app, reading) throws(ScenarioFault) in
      if let flag = reading.value.bool {
        app.serviceExtension = flag ? ServiceExtension() : nil
      } else {
        var service = ServiceExtension()
        try ExtensionRows.service.read(reading, into: &service)
        app.serviceExtension = service
      }
    },
    Row(
      "contentExtensions", .list(ExtensionRows.content.shape(required: ["categories"])),
      "Its notification content extensions (D-258)."
    ) { (app, reading) throws(ScenarioFault) in app.contentExtensions = try ExtensionRows.contents(reading) },
    Row(
      "presentation", .list(.word(PresentationOptions.table.map(\.name))),
      "What willPresent answers; default all (D-101)."
    ) {
      (app, reading) throws(ScenarioFault) in
      app.presentation = try reading.list().named(in: PresentationOptions.table)
    },
    answer("presentationAnswer", \.presentationAnswer, "When it answers willPresent (D-122)."),
    Row("fetchResult", \.fetchResult, "What it tells the fetch handler (D-173)."),
    answer("fetchAnswer", \.fetchAnswer, "When it calls the fetch handler (D-005)."),
    answer("responseAnswer", \.responseAnswer, "When it completes didReceive response (D-005)."),
    Row("script", .named("script"), "What its code does inside a callback; default: registers, hands its token on.") {
      (app, reading) throws(ScenarioFault) in
      app.script = [:]
      for (name, acts) in try reading.members(known: Callback.Method.allCases.map(\.rawValue)) {
        guard let method = Callback.Method(rawValue: name) else { continue }
        app.script[method] = try ActRow.list(acts)
      }
    },
  ]

  private static let entitlements: [(option: AppDescription.Entitlement, name: String)] = [
    (.timeSensitive, "timeSensitive"), (.criticalAlerts, "criticalAlerts"), (.filtering, "filtering"),
    (.communication, "communication"),
  ]

  static let methods = Shape.list(.word(Callback.Method.allCases.map(\.rawValue)))
  private static let exceptMethods = Shape.fields(
    [.init(name: "except", shape: methods, help: "All but these.")], required: ["except"])

  private static func set(_ reading: Reading) throws(ScenarioFault) -> Set<Callback.Method> {
    var set: Set<Callback.Method> = []
    for element in try reading.list() { set.insert(try element.word()) }
    return set
  }

  /// `atOnce`, `never`, `twice`, or a span.
  static func answer(
    _ name: String, _ path: Row<AppDescription>.Path<AppDescription.Answer>, _ help: String
  ) -> Row<AppDescription> {
    Row(name, .named("answer"), help) { (app, reading) throws(ScenarioFault) in
      app[keyPath: path] = try reading.answer()
    }
  }
}

extension Reading {
  func answer() throws(ScenarioFault) -> AppDescription.Answer {
    switch value.string {
    case "atOnce": return .atOnce
    case "never": return .never
    case "twice": return .twice
    default:
      guard let span = value.string.flatMap({ Instant.Span($0) }) else {
        throw wrong("Write \"atOnce\", \"never\", \"twice\", or a span such as \"40s\".")
      }
      return .after(span)
    }
  }
}
