internal import Basics
internal import Phone
internal import PushPayload

/// Local notifications, as an app's code makes them.
enum LocalRows {
  /// A `UNNotificationRequest`: content and trigger in one.
  static let request: [Row<LocalNotification>] = [
    Row("id", \.id, "The request's identifier."),
    text("title", \.title), text("subtitle", \.subtitle), text("body", \.body),
    Row("badge", \.content.badge, "The number at the icon; 0 removes it (D-278)."),
    Row("sound", .any, "As in a payload.") { (request, reading) throws(ScenarioFault) in
      request.content.sound = try reading.sound()
    },
    Row("thread", \.content.threadID, "threadIdentifier."), Row("category", \.content.category, "categoryIdentifier."),
    Row("launchImage", \.content.launchImage, "launchImageName."),
    Row("targetContent", \.content.targetContentID, "targetContentIdentifier."),
    Row("level", \.content.interruptionLevel, "interruptionLevel."),
    Row("relevance", \.content.relevanceScore, "relevanceScore."),
    Row(
      "attachments", .list(.either([.text, ExtensionRows.attachment.shape(required: ["file"])])),
      "Files beside the text; a bad one refuses the request (D-256)."
    ) { (request, reading) throws(ScenarioFault) in
      request.content.attachments = try reading.list().map { (one) throws(ScenarioFault) in try one.attachment() }
    },
    Row("userInfo", \.content.userInfo, "userInfo."),
    Row("in", .span, "UNTimeIntervalNotificationTrigger: so long from now (D-271).") {
      (request, reading) throws(ScenarioFault) in request.trigger = .interval(try reading.span())
    },
    Row("at", pattern.shape(), "UNCalendarNotificationTrigger: whenever the clock shows these (D-272).") {
      (request, reading) throws(ScenarioFault) in
      var calendar = CalendarPattern()
      try pattern.read(reading, into: &calendar, more: ["zone"])
      request.trigger = .calendar(calendar, zone: try reading["zone"]?.zone())
    },
    Row("region", region.shape(required: ["id"]), "UNLocationNotificationTrigger: at the boundary of a region (D-273).")
    {
      (request, reading) throws(ScenarioFault) in request.trigger = .region(try Self.region(reading))
    },
    Row("repeats", .flag, "Comes again and again.") { (request, reading) throws(ScenarioFault) in
      _ = try reading.flag()
    },
  ]

  private static func text(
    _ name: String, _ path: Row<NotificationContent>.Path<Payload.Text?>
  ) -> Row<LocalNotification> {
    Row(name, .text, "Its \(name).") { (request, reading) throws(ScenarioFault) in
      request.content[keyPath: path] = .literal(try reading.text())
    }
  }

  private static let pattern: [Row<CalendarPattern>] = [
    Row("year", \.year, ""), Row("month", \.month, ""), Row("day", \.day, ""),
    Row("weekday", \.weekday, "1 is Sunday."), Row("weekdayOrdinal", \.weekdayOrdinal, ""),
    Row("weekOfMonth", \.weekOfMonth, "Weeks begin on Sunday."), Row("weekOfYear", \.weekOfYear, ""),
    Row("hour", \.hour, ""),
    Row("minute", \.minute, ""), Row("second", \.second, ""),
    Row("zone", .text, "In this zone; default the phone's.") { (_, reading) throws(ScenarioFault) in
      _ = try reading.zone()
    },
  ]

  private static let region: [Row<Region>] = [
    Row("id", \.id, "What the steps enter and leave name."), Row("onEntry", \.notifiesOnEntry, "On entering it."),
    Row("onExit", \.notifiesOnExit, "On leaving it."),
  ]

  private static func region(_ reading: Reading) throws(ScenarioFault) -> Region {
    var made = Region(try reading.id())
    try region.read(reading, into: &made)
    return made
  }

  static func request(_ reading: Reading) throws(ScenarioFault) -> LocalNotification {
    var made = LocalNotification(id: try reading.id(), content: NotificationContent())
    try request.read(reading, into: &made)
    let triggers = ["in", "at", "region"].filter { reading[$0] != nil }
    guard triggers.count < 2 else {
      throw reading.fault("it has the triggers \(triggers.joined(separator: ", "))", "Give one, or none for at once.")
    }
    guard try reading["repeats"]?.flag() == true else { return made }
    switch made.trigger {
    case .interval(let span, _): made.trigger = .interval(span, repeats: true)
    case .calendar(let pattern, let zone, _): made.trigger = .calendar(pattern, zone: zone, repeats: true)
    case .region(let region, _): made.trigger = .region(region, repeats: true)
    case .fireDate, nil: throw reading.fault("it repeats without a trigger", "Give it in, at or region.")
    }
    return made
  }

  /// Apple's `UILocalNotification`, of iOS 4–9.
  static let older: [Row<UILocalNotification>] = [
    Row("alertBody", \.alertBody, ""), Row("alertTitle", \.alertTitle, ""), Row("alertAction", \.alertAction, ""),
    Row("hasAction", \.hasAction, ""), Row("alertLaunchImage", \.alertLaunchImage, ""),
    Row("soundName", \.soundName, ""), Row("category", \.category, ""),
    Row("applicationIconBadgeNumber", \.applicationIconBadgeNumber, "0 changes nothing (D-278)."),
    Row("fireDate", \.fireDate, "Default at once (D-274)."),
    Row("timeZone", \.timeZone, "The fire date moves with the phone's zone (D-274)."),
    Row("repeatInterval", \.repeatInterval, ""), Row("regionTriggersOnce", \.regionTriggersOnce, ""),
    Row("region", region.shape(required: ["id"]), "iOS 8 and later (D-273).") { (note, reading) throws(ScenarioFault) in
      note.region = try Self.region(reading)
    },
    Row("userInfo", \.userInfo, ""),
  ]

  static func older(_ reading: Reading) throws(ScenarioFault) -> UILocalNotification {
    var made = UILocalNotification()
    try older.read(reading, into: &made)
    return made
  }

  static let acts: [ActRow] = [
    ActRow("addNotification", .named("request"), "UNUserNotificationCenter.add, iOS 10 and later (D-270).") {
      (reading) throws(ScenarioFault) in .addNotification(try request(reading))
    },
    ActRow("removePending", .list(.text), "Removes these of those that wait (D-280).") {
      (reading) throws(ScenarioFault) in .removePending(try reading.texts())
    },
    ActRow(.removeAllPending, "removeAllPending", "Removes all that wait (D-280)."),
    ActRow(.getPending, "getPending", "Reads those that wait."),
    ActRow("scheduleLocalNotification", .named("localNotification"), "iOS 4 and later (D-274).") {
      (reading) throws(ScenarioFault) in .scheduleLocalNotification(try older(reading))
    },
    ActRow("presentLocalNotificationNow", .named("localNotification"), "Whatever its fire date says.") {
      (reading) throws(ScenarioFault) in .presentLocalNotificationNow(try older(reading))
    },
    ActRow("cancelLocalNotification", .named("localNotification"), "Takes back one that is equal.") {
      (reading) throws(ScenarioFault) in .cancelLocalNotification(try older(reading))
    },
    ActRow(.cancelAllLocalNotifications, "cancelAllLocalNotifications", "Takes back all, shown ones too (D-237)."),
    ActRow(
      "setPushTypes",
      .either([
        types,
        .fields(
          [.init(name: "types", shape: types, help: ""), .init(name: "delegateFirst", shape: .flag, help: "")],
          required: ["types"]),
      ]), "PKPushRegistry.desiredPushTypes, iOS 8 and later (D-048)."
    ) { (reading) throws(ScenarioFault) in
      var set: Set<PushKitType> = []
      for element in try (reading["types"] ?? reading).list() { set.insert(try element.word()) }
      return .setPushTypes(set, delegateFirst: try reading["delegateFirst"]?.flag() ?? true)
    },
    ActRow("reportIncomingCall", .text, "CXProvider.reportNewIncomingCall, from somebody (D-186).") {
      (reading) throws(ScenarioFault) in .reportIncomingCall(from: try reading.text())
    },
    ActRow(.reportCallEnded, "reportCallEnded", "The other side is gone."),
  ]

  private static let types = Shape.list(.word(PushKitType.allCases.map(\.rawValue)))
}

extension Reading {
  /// A zone of the world, with its rules.
  func zone() throws(ScenarioFault) -> Zone {
    let name = try text(like: "a zone such as \"Europe/Berlin\"")
    guard let zone = sources.zone(name) else {
      throw wrong("Write a zone that this machine knows, such as \"Europe/Berlin\".")
    }
    return zone
  }
}
