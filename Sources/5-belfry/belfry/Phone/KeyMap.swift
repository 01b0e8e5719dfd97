import Basics
import Phone

/// What each key does, in one table: pressing, help and the line of hints read it.
struct KeyBinding: Sendable {
  enum Effect: Equatable, Sendable {
    case act(PhoneAct)
    case menu(KeyMenu)
    case show(Page)
    case typing
    case nextApp(Int)
    case select(Int)
    case scroll(Int)
    case filter
    case turn
    case quit
    case suspend
    case nothing
  }

  /// What may stand in the place of the timeline.
  enum Page: Equatable, Sendable {
    case help, info
    case text([String])
  }

  var keys: [Key]
  /// How the key is written; nil: not in the help.
  var label: String?
  var words: String
  var effect: @Sendable (Pointing) -> Effect
}

/// What the keys are about: what is on the screen, and what is marked on it.
struct Pointing: Sendable {
  var sight: PhoneSight
  var app: String?
  var selection: ScreenDrawing.Selection?
}

/// A few choices, each by its digit.
struct KeyMenu: Equatable, Sendable {
  var title: String
  var choices: [Choice]

  struct Choice: Equatable, Sendable {
    var words: String
    var result: Result
  }

  enum Result: Equatable, Sendable {
    case act(PhoneAct)
    /// Asks for a text first; the act is made of it by `PhoneConsole`.
    case reply(bundleID: String, id: String, action: String, placeholder: String)
  }
}

extension KeyBinding {
  private static func key(
    _ letter: Character, _ words: String, _ effect: @escaping @Sendable (Pointing) -> Effect
  ) -> KeyBinding {
    KeyBinding(keys: [.character(letter)], label: String(letter), words: words, effect: effect)
  }

  private static func events(_ events: Phone.Event...) -> Effect { .act(.events(events)) }

  private static func forApp(_ make: @escaping @Sendable (String) -> Phone.Event) -> @Sendable (Pointing) -> Effect {
    { pointing in pointing.app.map { events(make($0)) } ?? .nothing }
  }

  private static func toggle(
    _ setting: any WritableKeyPath<PhoneSettings, Bool> & Sendable
  ) -> @Sendable (Pointing) -> Effect {
    { pointing in
      var settings = pointing.sight.settings
      settings[keyPath: setting].toggle()
      return events(.change(settings))
    }
  }

  static let finger: [KeyBinding] = [
    key("l", "lock, unlock") { $0.sight.screen.isLocked ? events(.unlock) : events(.lock) },
    key("h", "home") { _ in events(.home) },
    key("o", "open the marked app by its icon", forApp { .launch(bundleID: $0) }),
    KeyBinding(keys: [.enter], label: "Enter", words: "tap the marked one, else open the app") { pointing in
      if let selection = pointing.selection { return use(selection) }
      return pointing.app.map { events(.launch(bundleID: $0)) } ?? .nothing
    },
    key("t", "tap the marked notification, else the newest of the app") { pointing in
      if let selection = pointing.selection { return use(selection) }
      return pointing.app.map { events(.tap(bundleID: $0, id: nil)) } ?? .nothing
    },
    key("c", "pull the notification centre, close it") {
      $0.sight.screen.isCentreOpen ? events(.closeCentre) : events(.openCentre)
    },
    key("x", "clear the marked notification or Live Activity") { pointing in
      guard let one = pointing.selection else { return .nothing }
      return one.isActivity
        ? events(.dismissActivity(bundleID: one.bundleID, id: one.id))
        : events(.dismiss(bundleID: one.bundleID, id: one.id))
    },
    key("X", "clear all of the app") { pointing in
      (pointing.selection?.bundleID ?? pointing.app).map { events(.clear(bundleID: $0, id: nil)) } ?? .nothing
    },
    key("f", "flick the banner away, close the alert") { pointing in
      if let alert = pointing.sight.screen.alert { return events(.closeAlert(bundleID: alert.notification.bundleID)) }
      return pointing.sight.screen.banners.first.map { events(.flickAway(bundleID: $0.bundleID)) } ?? .nothing
    },
    key("a", "the buttons of the marked or only notification") { actions($0) },
    key("E", "open the long look of the marked notification, close it") { pointing in
      guard let one = pointing.selection, !one.isActivity else { return .nothing }
      return pointing.sight.screen.expanded?.id == one.id
        ? events(.collapse(bundleID: one.bundleID)) : events(.expand(bundleID: one.bundleID, id: one.id))
    },
    key("g", "answer the call") { _ in events(.answerCall) },
    key("d", "decline the call, or end it") {
      $0.sight.screen.call?.isAnswered == true ? events(.hangUp) : events(.declineCall)
    },
    key("y", "allow, on the prompt") { _ in events(.answerPrompt(allow: true)) },
    key("n", "don't allow") { _ in events(.answerPrompt(allow: false)) },
    key("k", "swipe the app away (force-quit)", forApp { .forceQuit(bundleID: $0) }),
    key("W", "open one more window of the app", forApp { .openScene(bundleID: $0) }),
    key("u", "a wrong passcode") { _ in events(.failUnlock) },
    key("S", "the app's page in Settings") { AppMenus.settings($0) },
    KeyBinding(keys: [.escape], label: "Esc", words: "turn away from the unlock, close the centre") { pointing in
      if pointing.sight.screen.isLocked { return events(.cancelUnlock) }
      return pointing.sight.screen.isCentreOpen ? events(.closeCentre) : .nothing
    },
  ]

  /// What a tap on it does.
  private static func use(_ one: ScreenDrawing.Selection) -> Effect {
    one.isActivity
      ? events(.openActivity(bundleID: one.bundleID, id: one.id)) : events(.tap(bundleID: one.bundleID, id: one.id))
  }

  /// Buttons by their digit, and what the system itself asks below a notification.
  private static func actions(_ pointing: Pointing) -> Effect {
    let found = pointing.sight.selectable
    guard let one = pointing.selection ?? (found.count == 1 ? found[0] : nil), !one.isActivity else { return .nothing }
    var choices = (pointing.sight.buttons[one] ?? []).map { action -> KeyMenu.Choice in
      guard let input = action.textInput else {
        return .init(
          words: action.title,
          result: .act(
            .events([.action(bundleID: one.bundleID, id: one.id, action: action.id, text: nil)])))
      }
      return .init(
        words: action.title + " …",
        result: .reply(bundleID: one.bundleID, id: one.id, action: action.id, placeholder: input.placeholder))
    }
    let screen = pointing.sight.screen
    let listed = (screen.isLocked ? screen.lockScreen : screen.centre).flatMap(\.notifications) + screen.banners
    let asked = listed.first { $0.id == one.id && $0.bundleID == one.bundleID }?.choices ?? []
    if asked.first == "Keep" {
      choices += [
        .init(words: "Keep", result: .act(.events([.keepProvisional(bundleID: one.bundleID, id: one.id)]))),
        .init(
          words: "Deliver in Scheduled Summary",
          result: .act(.events([.keepProvisional(bundleID: one.bundleID, id: one.id, inSummary: true)]))),
        .init(words: "Turn Off", result: .act(.events([.turnOff(bundleID: one.bundleID, id: one.id)]))),
      ]
    } else if !asked.isEmpty {  // the question below a first time-sensitive notification (D-266)
      choices += zip(asked, [true, false]).map { words, keep in
        .init(
          words: words, result: .act(.events([.answerTimeSensitive(bundleID: one.bundleID, keep: keep)])))
      }
    }
    return choices.isEmpty ? .nothing : .menu(KeyMenu(title: "Buttons", choices: Array(choices.prefix(9))))
  }

  static let phone: [KeyBinding] = [
    key("p", "a push comes: K1 to K7") { pointing in
      .menu(
        KeyMenu(
          title: "A push comes",
          choices: SamplePush.allCases.map { sample in
            var push = sample.push
            push.bundleID = pointing.app
            return .init(words: "\(sample.rawValue) \(sample.words)", result: .act(.push(push)))
          }))
    },
    key("C", "the app's code acts: Live Activities, local notifications, badge …") { AppMenus.code($0) },
    key("w", "time goes forward") { _ in .menu(KeyMenu(title: "Time goes forward", choices: spans)) },
    key("A", "airplane mode") { events(.airplane(!$0.sight.screen.indicators.isAirplane)) },
    key("N", "network away, back") { events(.setNetwork($0.sight.screen.indicators.isOnline ? .none : .online)) },
    key("F", "Focus") { pointing in
      var settings = pointing.sight.settings
      settings.focus = settings.focus == nil ? Focus() : nil
      return events(.change(settings))
    },
    key("m", "the system needs memory") { _ in events(.terminateForMemory(bundleID: nil)) },
    key("L", "Low Power Mode", toggle(\.lowPower)),
    key("M", "mute switch", toggle(\.mute)),
    key("B", "Background App Refresh", toggle(\.backgroundRefresh)),
    key("s", "the system suspends the app", forApp { .suspend(bundleID: $0) }),
    key("e", "the system ends the app", forApp { .endBySystem(bundleID: $0) }),
    key("R", "restart the phone") { _ in events(.restart) },
  ]

  private static let spans: [KeyMenu.Choice] = {
    let spans: [(String, Instant.Span)] = [
      ("5 seconds", .seconds(5)), ("30 seconds", .seconds(30)), ("5 minutes", .minutes(5)), ("1 hour", .hours(1)),
      ("1 day", .days(1)),
    ]
    return spans.map { KeyMenu.Choice(words: $0.0, result: .act(.forward($0.1))) }
  }()

  static let view: [KeyBinding] = [
    KeyBinding(keys: [.tab], label: "Tab", words: "mark the next app") { _ in .nextApp(1) },
    KeyBinding(keys: [.backTab], label: nil, words: "mark the app before") { _ in .nextApp(-1) },
    KeyBinding(keys: [.down], label: "↓ ↑", words: "mark a notification") { _ in .select(1) },
    KeyBinding(keys: [.up], label: nil, words: "mark the notification before") { _ in .select(-1) },
    KeyBinding(keys: [.pageUp], label: "PgUp PgDn", words: "older and newer entries") { _ in .scroll(1) },
    KeyBinding(keys: [.pageDown], label: nil, words: "newer entries") { _ in .scroll(-1) },
    KeyBinding(keys: [.end], label: nil, words: "the newest entry") { _ in .scroll(.min) },
    key("v", "callbacks only, or the whole timeline") { _ in .filter },
    key("z", "on a narrow screen: phone or timeline") { _ in .turn },
    key(":", "type a command, as in line mode") { _ in .typing },
    key("i", "how to push to this phone") { _ in .show(.info) },
    key("?", "these keys") { _ in .show(.help) },
    KeyBinding(keys: [.control("z")], label: nil, words: "stop") { _ in .suspend },
    KeyBinding(keys: [.control("l")], label: nil, words: "draw again") { _ in .nothing },
    KeyBinding(keys: [.character("q"), .control("c")], label: "q", words: "quit") { _ in .quit },
  ]

  static let all = finger + phone + view

  static func of(_ key: Key) -> KeyBinding? { all.first { $0.keys.contains(key) } }
}
