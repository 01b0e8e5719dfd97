internal import Basics
internal import Phone
internal import PushPayload

extension Verb {
  /// Events that no step makes: the lab does, or time.
  static let byItself = [
    "push", "tokenIssued", "registrationFailed", "registrationIDReceived", "timePassed",
    "voipTokenIssued", "channelRefused", "pushFate", "messagesConnected", "messageHistory", "preferenceAnswered",
  ]

  static let all: [Verb] = groups.flatMap(\.verbs)

  /// As help for people is ordered.
  static let groups: [(group: StepWords.Group, verbs: [Verb])] = [
    (.pushes, pushing), (.time, time), (.finger, finger), (.settings, settings), (.system, system),
  ]

  static func named(_ name: String) -> Verb? { all.first { $0.name == name } }

  // MARK: pushes

  private static let headers: [Shape.Field] = [
    .init(name: "headers", shape: .map(.text), help: "As a provider sends them: apns-push-type, apns-priority …"),
    .init(name: "name", shape: .text, help: "What later steps and expectations call this push."),
    .init(name: "expires", shape: .span, help: "apns-expiration so long from now; 0s is one attempt."),
    .init(
      name: "channel", shape: .text,
      help: "Broadcast on this channel of the app instead: the name that createChannel gave, or an id."),
    .init(
      name: "formerToken", shape: .flag,
      help: "To the token that the app had before, as by a provider that has not heard of the new one; default false."),
  ]

  private static let serviceName = Shape.Field(
    name: "name", shape: .text, help: "What later steps and expectations call this push.")

  private static let pushing = [
    Verb(
      "push", .either([.object, .text]), of: .app, more: headers,
      "A push of this payload, or of the payload in a file beside the scenario, to the app on each phone by its token."
    ) { (reading, context) throws(ScenarioFault) in
      var push = ScenarioPush(payload: try payload(reading, context), bundleID: try context.bundle())
      if let headers = context.step["headers"] {
        for member in try headers.object().members {
          let value = headers.member(member.key, member.value)
          let name = member.key.lowercased()
          if name.hasPrefix("apns"), PushHeaders.Name(rawValue: name) == nil, name != "apns-channel-id" {
            let near =
              nearest(to: name, in: PushHeaders.Name.allCases.map(\.rawValue)).map { "Did you mean \($0)? " } ?? ""
            throw value.fault("APNs knows no such header", "\(near)Without apns in front it goes as it is.")
          }
          let number = value.value.number?.literal
          push.headers.append((member.key, number == nil ? try value.text() : number ?? ""))
        }
      }
      push.name = try context.step["name"]?.text()
      push.expires = try context.step["expires"]?.span()
      push.channel = try context.step["channel"]?.text()
      push.usesFormerToken = try context.step["formerToken"]?.flag() ?? false
      if push.channel != nil, push.usesFormerToken, let both = context.step["formerToken"] {
        throw both.fault("a broadcast goes to no token", "Leave out channel or formerToken.")
      }
      return [.push(push)]
    },
    Verb(
      "service", .object, more: [serviceName],
      "A call of the push service as app servers make it: the body of POST /v3/push. Without an audience it is for the registration ids of the phones meant."
    ) { (reading, context) throws(ScenarioFault) in
      [.service(try reading.object(), name: try context.step["name"]?.text())]
    },
    Verb(
      "createChannel", .text, of: .app, covers: ["learnChannel"],
      more: [
        .init(
          name: "keepsNewest", shape: .flag, help: "message-storage-policy 1: for phones that are away; default false.")
      ],
      "Makes a broadcast channel of the app at APNs; the name stands for its id in channel, in startActivity, and in input-push-channel (D-189)."
    ) { (reading, context) throws(ScenarioFault) in
      [
        .createChannel(
          try reading.text(), of: try context.bundle(), keepsNewest: try context.step["keepsNewest"]?.flag() ?? false)
      ]
    },
    Verb(
      "message", .fields(ActivityRows.message.map(\.field) + [ActivityRows.messagePush], required: ["content"]),
      of: .app, covers: ["message"],
      "The push service sends an in-app message: down the app's connection, or when it connects again (D-300 … D-308)."
    ) { (reading, context) throws(ScenarioFault) in
      var message = InAppMessage(sequence: 0, content: "")
      try ActivityRows.message.read(reading, into: &message, more: [ActivityRows.messagePush.name])
      guard reading["content"] != nil else { throw reading.fault("there is no content", "Write content: \"…\".") }
      return [
        .message(
          ScenarioMessage(
            bundleID: try context.bundle(), message: message, push: try reading[ActivityRows.messagePush.name]?.text()))
      ]
    },
    Verb(
      "cutMessages", .either([.yes, .text]), of: .app, covers: ["messagesDisconnected"],
      "The connection for in-app messages breaks; the SDK makes another a second later (D-304)."
    ) { (reading, context) throws(ScenarioFault) in [.cutMessages(try context.bundle(reading))] },
    Verb(
      "renewTokens", .either([.yes, .text]), of: .app,
      "APNs gives the app other tokens in the place of those that it has (D-046)."
    ) { (reading, context) throws(ScenarioFault) in [.renewTokens(try context.bundle(reading))] },
  ]

  private static func payload(_ reading: Reading, _ context: StepContext) throws(ScenarioFault) -> [UInt8] {
    guard let path = reading.value.string else {
      return JSONValue.object(try reading.object(like: "a payload such as {aps: {alert: \"Hello\"}}, or a file"))
        .encoded()
    }
    let bytes: [UInt8]
    do { bytes = try reading.sources.file(path) } catch {
      throw reading.fault("the file \(path) cannot be read (\(error))", "Give a path from the scenario's own folder.")
    }
    // Apple's form for the Simulator names the app in a key of its own, which is not sent (D-340)
    guard var object = try? JSONReader.read(bytes).value.object, object["Simulator Target Bundle"] != nil else {
      return bytes
    }
    object["Simulator Target Bundle"] = nil
    return JSONValue.object(object).encoded()
  }

  // MARK: time

  private static let time = [
    Verb("wait", .span, "Lets so much time pass.") { (reading, _) throws(ScenarioFault) in
      [.wait(try reading.span())]
    },
    Verb("until", .time, "Lets time pass until then.") { (reading, _) throws(ScenarioFault) in
      [.until(try reading.time())]
    },
  ]

  // MARK: what a finger does

  private static let finger = [
    app("launch", "Opens the app by its icon.") { .launch(bundleID: $0) },
    entry("tap", "Uses a notification: banner, lock screen, centre, or View of an alert.") {
      .tap(bundleID: $0, id: $1)
    },
    app("closeAlert", "Close on a modal alert, or lets the banner go.") { .closeAlert(bundleID: $0) },
    Verb(
      "action", .text, of: .app, covers: ["action"],
      more: [
        .init(name: "text", shape: .text, help: "What the user types (D-144)."),
        .init(name: "entry", shape: .text, help: "The notification meant; default the newest of the app."),
      ], "Presses a button of a notification, by its identifier (D-141 … D-144)."
    ) { (reading, context) throws(ScenarioFault) in
      let (bundleID, action) = (try context.bundle(), try reading.text())
      let (text, entry) = (try context.step["text"]?.text(), try context.step["entry"]?.text())
      return [
        .event { _, names in
          .action(bundleID: bundleID, id: entry.map(names.push), action: action, text: text)
        }
      ]
    },
    entry("dismiss", "X or a swipe: takes a notification away (D-145).") { .dismiss(bundleID: $0, id: $1) },
    app("flickAway", "Flicks the banner off the screen (D-146).") { .flickAway(bundleID: $0) },
    entry("openNotificationSettings", "The in-app settings button of a notification; true: in Settings (D-031).") {
      .openNotificationSettings(bundleID: $0, id: $1)
    },
    entry("keep", covers: "keepProvisional", "Keep, on a notification that came by provisional permission (D-025).") {
      .keepProvisional(bundleID: $0, id: $1)
    },
    entry("keepInSummary", covers: "keepProvisional", "Keep, and deliver in the scheduled summary (D-025).") {
      .keepProvisional(bundleID: $0, id: $1, inSummary: true)
    },
    entry("turnOff", "Turn Off, on such a notification (D-025).") { .turnOff(bundleID: $0, id: $1) },
    Verb(
      "answerTimeSensitive", .word(["keep", "turnOff"]), of: .app, covers: ["answerTimeSensitive"],
      "Answers the question below an app's first time-sensitive notification (D-266)."
    ) { (reading, context) throws(ScenarioFault) in
      let bundleID = try context.bundle()
      let keep = try reading.word(of: ["keep", "turnOff"]) == "keep"
      return [.event { _, _ in .answerTimeSensitive(bundleID: bundleID, keep: keep) }]
    },
    entry("clear", "Clears a notification, or all of the app, from the centre.") { .clear(bundleID: $0, id: $1) },
    phone("lock", .lock, "Locks the phone."),
    phone("unlock", .unlock, "Unlocks it, or authenticates for what was tapped on the lock screen."),
    phone("cancelUnlock", .cancelUnlock, "Turns away from the authentication."),
    phone("failUnlock", .failUnlock, "A wrong passcode: it stays locked and goes on asking."),
    app("openScene", "Opens one more window of the app (iOS 13 and later).") { .openScene(bundleID: $0) },
    scene("showScene", "Goes to the window of that number.") { .showScene(bundleID: $0, $1) },
    scene("closeScene", "Closes the window of that number in the app switcher.") { .closeScene(bundleID: $0, $1) },
    entry("dismissActivity", "Swipes a Live Activity away; true: all of the app.") {
      .dismissActivity(bundleID: $0, id: $1)
    },
    entry("openActivity", "Opens the app by touching a Live Activity; true: the one on top.") {
      .openActivity(bundleID: $0, id: $1)
    },
    phone("answerCall", .answerCall, "Answers the call on the screen (D-186)."),
    phone("declineCall", .declineCall, "Declines it."),
    phone("hangUp", .hangUp, "Ends the call that was answered."),
    Verb("enter", .text, covers: ["cross"], "Goes into the region of that name (D-273).") {
      (reading, _) throws(ScenarioFault) in
      let region = try reading.text()
      return [.event { _, _ in .cross(region: region, entering: true) }]
    },
    Verb("leave", .text, covers: ["cross"], "Leaves it.") { (reading, _) throws(ScenarioFault) in
      let region = try reading.text()
      return [.event { _, _ in .cross(region: region, entering: false) }]
    },
    Verb("changeZone", .text, covers: ["changeZone"], "Another time zone, by travel or in Settings (D-272).") {
      (reading, _) throws(ScenarioFault) in
      let zone = try reading.zone()
      return [.event { _, _ in .changeZone(zone) }]
    },
    phone("home", .home, "Leaves the app in front."),
    phone("background", .home, covers: "home", "The same: the app in front goes to the background."),
    phone("openCentre", .openCentre, "Pulls the notification centre over the app in front."),
    phone("closeCentre", .closeCentre, "Closes it."),
    entry("expand", "Opens the long look of a notification: its whole text, actions, content extension (D-258).") {
      .expand(bundleID: $0, id: $1)
    },
    app("collapse", "Closes it.") { .collapse(bundleID: $0) },
    app("forceQuit", "Swipes the app away in the app switcher.") { .forceQuit(bundleID: $0) },
    phone("allow", .answerPrompt(allow: true), covers: "answerPrompt", "Allow, on the prompt."),
    phone("deny", .answerPrompt(allow: false), covers: "answerPrompt", "Don't Allow, on the prompt."),
  ]

  /// Of a window of an app, by its number.
  private static func scene(
    _ name: String, _ help: String, _ event: @escaping @Sendable (String, SceneID) -> Phone.Event
  ) -> Verb {
    Verb(name, .whole, of: .app, covers: [name], help) { (reading, context) throws(ScenarioFault) in
      let (bundleID, number) = (try context.bundle(), SceneID(Int(try reading.whole(1...1_000_000))))
      return [.event { _, _ in event(bundleID, number) }]
    }
  }

  // MARK: settings

  private static let settings = [
    Verb(
      "change", SettingRows.phone.shape(), covers: ["change"],
      "Changes switches of the phone; those that are not named stay."
    ) { (reading, _) throws(ScenarioFault) in
      var tried = PhoneSettings()
      try SettingRows.phone.read(reading, into: &tried)
      for name in ["online", "locked"] where reading[name] != nil {
        throw ScenarioFault(
          path: reading.path.appending(name), found: "it is no switch to change",
          remedy: "Use the steps \(name == "online" ? "online and offline" : "lock and unlock").")
      }
      return [
        .event { phone, _ in
          var settings = phone.settings
          try? SettingRows.phone.read(reading, into: &settings)  // was read above
          return .change(settings)
        }
      ]
    },
    Verb(
      "userSettings", SettingRows.user.shape(), of: .app, covers: ["changePermission"],
      "Changes the user's switches for the app in Settings; those that are not named stay."
    ) { (reading, context) throws(ScenarioFault) in
      let bundleID = try context.bundle()
      var tried = Phone.UserSettings()
      try SettingRows.user.read(reading, into: &tried)
      return [
        .event { phone, _ in
          var settings = phone.userSettings(of: bundleID) ?? Phone.UserSettings()
          try? SettingRows.user.read(reading, into: &settings)  // was read above
          return .changePermission(bundleID: bundleID, settings)
        }
      ]
    },
  ]

  // MARK: the system

  private static let system = [
    phone("online", .networkChanged(online: true), covers: "networkChanged", "The network is back."),
    phone("offline", .networkChanged(online: false), covers: "networkChanged", "The network is gone."),
    Verb("network", .word(Network.allCases.map(\.rawValue)), covers: ["setNetwork"], "What the phone is connected to.")
    {
      (reading, _) throws(ScenarioFault) in
      let network: Network = try reading.word()
      return [.event { _, _ in .setNetwork(network) }]
    },
    Verb("airplane", .flag, covers: ["airplane"], "Airplane mode.") { (reading, _) throws(ScenarioFault) in
      let isOn = try reading.flag()
      return [.event { _, _ in .airplane(isOn) }]
    },
    Verb(
      "backgroundRefresh", .flag, of: .app, covers: ["changeBackgroundRefresh"],
      "The user's switch Background App Refresh for the app (D-180)."
    ) { (reading, context) throws(ScenarioFault) in
      let (bundleID, isOn) = (try context.bundle(), try reading.flag())
      return [.event { _, _ in .changeBackgroundRefresh(bundleID: bundleID, isOn) }]
    },
    app("offload", covers: "offloadApp", "The app goes, its icon and its data stay.") { .offloadApp(bundleID: $0) },
    app("reinstallOffloaded", "The offloaded app is downloaded again.") { .reinstallOffloaded(bundleID: $0) },
    Verb(
      "restoreFromBackup", .word(["samePhone", "newPhone"]), covers: ["restoreFromBackup"],
      "All apps come back from a backup, with new tokens (D-044)."
    ) { (reading, _) throws(ScenarioFault) in
      let isNew = try reading.word(of: ["samePhone", "newPhone"]) == "newPhone"
      return [.event { _, _ in .restoreFromBackup(toNewPhone: isNew) }]
    },
    Verb("updateIOS", .text, covers: ["updateIOS"], "Installs another iOS, such as \"18.0\", and restarts.") {
      (reading, _) throws(ScenarioFault) in
      guard let version = IOSVersion(try reading.text()) else {
        throw reading.wrong("Write a version such as \"18.0\".")
      }
      return [.event { _, _ in .updateIOS(version) }]
    },
    Verb(
      "terminateForMemory", .either([.yes, .text]), of: .app, covers: ["terminateForMemory"],
      "The system needs memory: it ends the app named, or, for true, the one it would choose (D-162)."
    ) { (reading, context) throws(ScenarioFault) in
      let bundleID = reading.value.bool == true ? nil : try context.bundle(reading)
      return [.event { _, _ in .terminateForMemory(bundleID: bundleID) }]
    },
    app("prewarm", "Prepares a process before the user opens the app, iOS 15 and later (D-165).") {
      .prewarm(bundleID: $0)
    },
    Verb(
      "disconnectScene", .either([.yes, .whole]), of: .app, covers: ["disconnectScene"],
      "The system takes back the memory of a window behind, or, for true, of all of the app's (D-137)."
    ) { (reading, context) throws(ScenarioFault) in
      let bundleID = try context.bundle()
      let scene = reading.value.bool == true ? nil : SceneID(Int(try reading.whole(1...1_000_000)))
      return [.event { _, _ in .disconnectScene(bundleID: bundleID, scene) }]
    },
    phone("restart", .restart, "Turns the phone off and on."),
    Verb("install", .either([.yes, .text]), of: .app, covers: ["installApp"], "Installs the app, or updates it.") {
      (reading, context) throws(ScenarioFault) in [.install(try context.bundle(reading))]
    },
    app("uninstall", covers: "uninstallApp", "Deletes the app.") { .uninstallApp(bundleID: $0) },
    app("voipTokenInvalidated", "The system takes the app's VoIP token back (D-048).") {
      .voipTokenInvalidated(bundleID: $0)
    },
    app("suspend", "Suspends the app in the background now, not only after its seconds.") { .suspend(bundleID: $0) },
    app("endBySystem", "The system ends the app, for memory.") { .endBySystem(bundleID: $0) },
    Verb(
      "app", .oneOrMore(.named("act")), of: .app, covers: ["app"], "The app's code does something outside a callback."
    ) { (reading, context) throws(ScenarioFault) in
      let bundleID = try context.bundle()
      return try ActRow.list(reading).map { act in
        .event { _, _ in .app(bundleID: bundleID, act) }
      }
    },
  ]
}
