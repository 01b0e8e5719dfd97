internal import Phone
internal import PushPayload

/// Something that an app's own code does, by its name in `AppAct`.
struct ActRow: Sendable {
  let name: String
  /// What stands behind the name; `.yes` for nothing, then the name alone will do.
  let shape: Shape
  let help: String
  let read: @Sendable (Reading) throws(ScenarioFault) -> AppAct

  init(
    _ name: String, _ shape: Shape = .yes, _ help: String,
    _ read: @escaping @Sendable (Reading) throws(ScenarioFault) -> AppAct
  ) {
    self.name = name
    self.shape = shape
    self.help = help
    self.read = read
  }

  /// One without a value.
  init(_ act: AppAct, _ name: String, _ help: String) {
    self.init(name, .yes, help) { (reading) throws(ScenarioFault) in
      try reading.yes()
      return act
    }
  }

  /// One with options of authorization.
  private init(_ name: String, _ help: String, _ make: @escaping @Sendable (NotificationOptions) -> AppAct) {
    self.init(name, Self.options, help) { (reading) throws(ScenarioFault) in make(try reading.options()) }
  }

  private static let options = Shape.either([.word(["usual"]), .list(.word(NotificationOptions.table.map(\.name)))])

  static let all = registration + LocalRows.acts + ActivityRows.acts

  private static let registration: [ActRow] = [
    ActRow("registerForRemoteNotificationTypes", "iOS 3–7: asks and registers in one call (D-020).") {
      .registerForRemoteNotificationTypes($0)
    },
    ActRow("registerUserNotificationSettings", "iOS 8 and later: asks only (D-012).") {
      .registerUserNotificationSettings($0)
    },
    ActRow("requestAuthorization", "iOS 10 and later: asks only (D-021).") { .requestAuthorization($0) },
    ActRow(.registerForRemoteNotifications, "registerForRemoteNotifications", "iOS 8 and later: wants a token."),
    ActRow(.unregisterForRemoteNotifications, "unregisterForRemoteNotifications", "Wants no more pushes (D-029)."),
    ActRow("askAndRegister", "Asks and registers as this iOS wants it.") { .askAndRegister($0) },
    ActRow(.registerAsSeed, "registerAsSeed", "The article's code: settings only from iOS 8 on (D-012)."),
    ActRow(
      .handTokenToService, "handTokenToService",
      "Gives its token, and PushKit's if it has one, to the push service (D-016)."),
    ActRow(.readPermission, "readPermission", "Asks for its own permission (D-024, D-029)."),
    ActRow("setBadge", .whole, "Sets the number at its icon (D-230 … D-233).") { (reading) throws(ScenarioFault) in
      .setBadge(Int(try reading.whole()))
    },
    ActRow("setBadgeCount", .whole, "iOS 16 and later: setBadgeCount(_:) (D-238).") { (reading) throws(ScenarioFault) in
      .setBadgeCount(Int(try reading.whole()))
    },
    ActRow("setCategories", .list(.named("category")), "Registers its categories in place of the former (D-242).") {
      (reading) throws(ScenarioFault) in .setCategories(try CategoryRows.list(reading))
    },
    ActRow(.getDelivered, "getDelivered", "Reads its notifications in the centre (D-236)."),
    ActRow("removeDelivered", .list(.text), "Removes these of them (D-236).") { (reading) throws(ScenarioFault) in
      .removeDelivered(try reading.texts())
    },
    ActRow(.removeAllDelivered, "removeAllDelivered", "Removes all of them (D-236)."),
    ActRow(
      .removeWithdrawn, "removeWithdrawn",
      "In a push's callback: removes those whose _j_msgid is the payload's _j_withdraw, as the push service asks (D-236)."
    ),
    ActRow(
      "beginBackgroundTask", .either([.yes, .whole]),
      "Goes on running behind for so many seconds; true: until ended (D-172)."
    ) {
      (reading) throws(ScenarioFault) in
      .beginBackgroundTask(seconds: reading.value.bool == true ? nil : try reading.whole(0...100_000))
    },
    ActRow(.endBackgroundTask, "endBackgroundTask", "Ends the task that was begun last."),
    ActRow(.readBackgroundRefreshStatus, "readBackgroundRefreshStatus", "backgroundRefreshStatus (D-181)."),
    ActRow("setActivationConditions", .list(.text), "Target content ids of the scene in front (D-226).") {
      (reading) throws(ScenarioFault) in .setActivationConditions(try reading.texts())
    },
    ActRow(.refreshUI, "refreshUI", "Refreshes its UI (D-183)."),
    ActRow("showPage", .text, "Goes to a page (D-183).") { (reading) throws(ScenarioFault) in
      .showPage(try reading.text())
    },
    ActRow("download", .text, "Downloads something (D-183).") { (reading) throws(ScenarioFault) in
      .download(try reading.text())
    },
    ActRow(.fetchContent, "fetchContent", "Fetches content (D-183)."),
  ]

  /// A name alone, or `{name: value}`.
  static func read(_ reading: Reading) throws(ScenarioFault) -> AppAct {
    let names = all.map(\.name)
    if let name = reading.value.string {
      guard let row = all.first(where: { $0.name == name }) else {
        _ = try reading.word(of: names)
        throw reading.wrong("")
      }
      guard row.shape.takesNothing else {
        throw reading.fault("\(name) needs a value", "Write {\(name): …}; docs/scenarios.md says what.")
      }
      return try row.read(reading.with(true))
    }
    let members = try reading.members(known: names)
    guard members.count == 1, let row = all.first(where: { $0.name == members[0].name }) else {
      throw reading.fault("found \(members.count) acts", "Write one act in an object, several in a list.")
    }
    return try row.read(members[0].reading)
  }

  static func list(_ reading: Reading) throws(ScenarioFault) -> [AppAct] {
    var acts: [AppAct] = []
    for element in reading.oneOrMore { acts.append(try read(element)) }
    return acts
  }

  static var shape: Shape {
    .either([
      .word(all.filter(\.shape.takesNothing).map(\.name)),
      .fields(all.map { .init(name: $0.name, shape: $0.shape, help: $0.help) }, required: []),
    ])
  }
}

extension Reading {
  /// `"usual"`, or names of options.
  func options() throws(ScenarioFault) -> NotificationOptions {
    value.string == "usual" ? .usual : try list().named(in: NotificationOptions.table)
  }

  func texts() throws(ScenarioFault) -> [String] {
    var texts: [String] = []
    for element in oneOrMore { texts.append(try element.text()) }
    return texts
  }
}

extension [Reading] {
  /// Those of a table that they name.
  func named<Options: SetAlgebra>(
    in table: [(option: Options.Element, name: String)]
  ) throws(ScenarioFault) -> Options {
    let names = table.map(\.name)
    var options = Options()
    for element in self {
      let name = try element.word(of: names)
      for row in table where row.name == name { options.insert(row.option) }
    }
    return options
  }
}
