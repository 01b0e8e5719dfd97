import Basics
import PushPayload
import Testing

@testable import Phone
@testable import belfry

@Suite("Keys of the interactive phone")
struct PhoneConsoleTests {
  private static let app = "com.example.app"

  private static func sight(_ change: (inout Screen) -> Void = { _ in }) -> PhoneSight {
    PhoneSight(
      name: "iPhone", ios: "17.5", screen: Screen.plain.with(change), now: ScreenDrawingTests.now,
      apps: [.init(bundleID: app, state: .active), .init(bundleID: "com.example.chat", state: .notRunning)],
      places: ["belfry phone push booted payload.apns"])
  }

  static let rows: [(Key, PhoneAct)] = [
    (.character("l"), .events([.lock])), (.character("h"), .events([.home])),
    (.character("o"), .events([.launch(bundleID: app)])), (.enter, .events([.launch(bundleID: app)])),
    (.character("t"), .events([.tap(bundleID: app, id: nil)])), (.character("c"), .events([.openCentre])),
    (.character("y"), .events([.answerPrompt(allow: true)])), (.character("n"), .events([.answerPrompt(allow: false)])),
    (.character("k"), .events([.forceQuit(bundleID: app)])), (.character("R"), .events([.restart])),
    (.character("s"), .events([.suspend(bundleID: app)])), (.character("e"), .events([.endBySystem(bundleID: app)])),
    (.character("A"), .events([.airplane(true)])), (.character("N"), .events([.setNetwork(.none)])),
    (.character("m"), .events([.terminateForMemory(bundleID: nil)])), (.character("g"), .events([.answerCall])),
    (.character("d"), .events([.declineCall])),
    (.character("X"), .events([.clear(bundleID: app, id: nil)])),
  ]

  @Test("each key is one thing that a finger does", arguments: rows)
  func finger(key: Key, act: PhoneAct) {
    var console = PhoneConsole()
    #expect(console.press(key, Self.sight()) == [.perform(act)])
  }

  @Test("what a key does depends on what is on the screen")
  func byScreen() throws {
    var console = PhoneConsole()
    #expect(console.press(.character("l"), Self.sight { $0.isLocked = true }) == [.perform(.events([.unlock]))])
    #expect(console.press(.escape, Self.sight { $0.isLocked = true }) == [.perform(.events([.cancelUnlock]))])
    #expect(
      console.press(.character("c"), Self.sight { $0.isCentreOpen = true }) == [.perform(.events([.closeCentre]))])
    #expect(
      console.press(.character("N"), Self.sight { $0.indicators.isOnline = false })
        == [.perform(.events([.setNetwork(.online)]))])
    #expect(
      console.press(.character("f"), Self.sight { $0.banners = [.note("A", "a", "1", age: 1)] })
        == [.perform(.events([.flickAway(bundleID: Self.app)]))])
    var settings = PhoneSettings()
    settings.focus = Focus()
    #expect(console.press(.character("F"), Self.sight()) == [.perform(.events([.change(settings)]))])
    #expect(console.press(.escape, Self.sight()).isEmpty)
    settings = PhoneSettings()
    settings.mute = true
    #expect(console.press(.character("M"), Self.sight()) == [.perform(.events([.change(settings)]))])
  }

  @Test("arrows mark a notification, Enter taps that one, x clears it; a mark goes with its notification")
  func marking() {
    var console = PhoneConsole()
    let sight = Self.sight { screen in
      screen.isCentreOpen = true
      screen.centre = [
        .init(
          bundleID: Self.app, title: "App", notifications: [.note("A", "a", "1", age: 1), .note("B", "b", "2", age: 2)])
      ]
    }
    #expect(console.press(.down, sight).isEmpty && console.press(.down, sight).isEmpty)
    #expect(console.press(.enter, sight) == [.perform(.events([.tap(bundleID: Self.app, id: "2")]))])
    #expect(console.press(.character("x"), sight) == [.perform(.events([.dismiss(bundleID: Self.app, id: "2")]))])
    #expect(console.press(.up, sight).isEmpty && console.selection?.id == "1")
    #expect(console.press(.up, sight).isEmpty && console.selection == nil)
    _ = console.press(.down, sight)
    #expect(console.press(.character("x"), Self.sight()).isEmpty, "nothing is there to clear")
  }

  @Test(
    "D-189 a marked Live Activity is opened by Enter and swiped away by x; D-266 the question below is answered by a")
  func activities() {
    var console = PhoneConsole()
    let sight = Self.sight { screen in
      screen.island = [.activity("Ride-1", [:])]
      var asked = Screen.Notification.note("A", "a", "1", age: 1)
      asked.choices = ["Leave On", "Turn Off"]
      screen.banners = [asked]
    }
    _ = console.press(.down, sight)
    #expect(console.press(.enter, sight) == [.perform(.events([.openActivity(bundleID: Self.app, id: "Ride-1")]))])
    #expect(
      console.press(.character("x"), sight)
        == [.perform(.events([.dismissActivity(bundleID: Self.app, id: "Ride-1")]))])
    _ = console.press(.down, sight)
    _ = console.press(.character("a"), sight)
    #expect(
      console.press(.character("2"), sight)
        == [.perform(.events([.answerTimeSensitive(bundleID: Self.app, keep: false)]))])
  }

  @Test("the app's page in Settings and its code are menus of their own")
  func appMenus() {
    var console = PhoneConsole()
    var sight = Self.sight()
    sight.userSettings[Self.app] = Phone.UserSettings()
    var quiet = Phone.UserSettings()
    quiet.sound = false
    _ = console.press(.character("S"), sight)
    #expect(
      console.press(.character("3"), sight)
        == [.perform(.events([.changePermission(bundleID: Self.app, quiet)]))])
    _ = console.press(.character("C"), sight)
    #expect(
      console.press(.character("1"), sight)
        == [.perform(.events([.app(bundleID: Self.app, .startActivity(UsualApp.activity))]))])
  }

  @Test("Tab marks the next app, round and round")
  func apps() {
    var console = PhoneConsole()
    _ = console.press(.tab, Self.sight())
    #expect(
      console.press(.character("o"), Self.sight()) == [.perform(.events([.launch(bundleID: "com.example.chat")]))])
    _ = console.press(.tab, Self.sight())
    #expect(console.app == Self.app)
    _ = console.press(.backTab, Self.sight())
    #expect(console.app == "com.example.chat")
  }

  @Test("a menu takes a digit, and any other key leaves it")
  func menus() {
    var console = PhoneConsole()
    #expect(console.press(.character("p"), Self.sight()).isEmpty)
    #expect(console.press(.character("3"), Self.sight()) == [.perform(.push(.sample(.k3, Self.app)))])
    #expect(console.press(.character("w"), Self.sight()).isEmpty)
    #expect(console.press(.character("4"), Self.sight()) == [.perform(.forward(.hours(1)))])
    #expect(console.press(.character("w"), Self.sight()).isEmpty)
    #expect(console.press(.character("l"), Self.sight()).isEmpty && console.mode == .watching)
  }

  @Test("D-141 D-144 the buttons of a notification by their digit; one that asks for a text gets it")
  func buttons() {
    var sight = Self.sight { screen in
      screen.isCentreOpen = true
      screen.centre = [.init(bundleID: Self.app, title: "App", notifications: [.note("A", "a", "1", age: 1)])]
    }
    sight.buttons[.init(bundleID: Self.app, id: "1")] = [
      .init(id: "open", title: "Open"), .init(id: "reply", title: "Reply", textInput: .init(placeholder: "Message")),
    ]
    var console = PhoneConsole()
    _ = console.press(.character("a"), sight)
    #expect(
      console.press(.character("1"), sight)
        == [.perform(.events([.action(bundleID: Self.app, id: "1", action: "open", text: nil)]))])
    for key in [Key.character("a"), .character("2"), .character("好")] { #expect(console.press(key, sight).isEmpty) }
    #expect(
      console.press(.enter, sight)
        == [.perform(.events([.action(bundleID: Self.app, id: "1", action: "reply", text: "好")]))])
    #expect(console.press(.character("a"), Self.sight()).isEmpty && console.mode == .watching)
  }

  @Test("a command is typed, mended and sent; Escape forgets it")
  func typing() {
    var console = PhoneConsole()
    _ = console.press(.character(":"), Self.sight())
    for key in "locx".map(Key.character) + [.backspace, .character("k")] {
      #expect(console.press(key, Self.sight()).isEmpty)
    }
    #expect(console.press(.enter, Self.sight()) == [.command("lock")])
    _ = console.press(.character(":"), Self.sight())
    _ = console.press(.character("新"), Self.sight())
    #expect(console.mode == .typing(label: ":", text: "新", .command))
    #expect(console.press(.escape, Self.sight()).isEmpty && console.mode == .watching)
  }

  @Test("q and Ctrl-C end it from anywhere that is no text")
  func quitting() {
    var console = PhoneConsole()
    #expect(console.press(.character("q"), Self.sight()) == [.quit])
    _ = console.press(.character("?"), Self.sight())
    #expect(console.press(.character("q"), Self.sight()).isEmpty, "leaves the help first")
    _ = console.press(.character(":"), Self.sight())
    #expect(console.press(.character("q"), Self.sight()).isEmpty)
    #expect(console.press(.control("c"), Self.sight()) == [.quit])
  }

  @Test("no key does two things, and every one is in the help")
  func table() {
    var keys: Set<Key> = []
    for binding in KeyBinding.all {
      for key in binding.keys { #expect(keys.insert(key).inserted, "\(key)") }
    }
    let help = ConsoleFrame.help(60).map(\.plain).joined(separator: "\n")
    for label in KeyBinding.all.compactMap(\.label) { #expect(help.contains(" \(label) "), "\(label)") }
  }

  @Test("the frame fills every size exactly, in every mode")
  func everySize() {
    var story = Phone()
    _ = story.handle(.installApp(UsualApp.description(Self.app, environment: .development)), at: ScreenDrawingTests.now)
    _ = story.handle(.launch(bundleID: Self.app), at: ScreenDrawingTests.now)
    var sight = Self.sight { $0 = .full }
    sight.log = story.timeline
    for keys in [
      [], [Key.character("?")], [.character("i")], [.character("p")], [.character(":"), .character("新")],
      [.character("v")],
    ] {
      var console = PhoneConsole()
      for key in keys { _ = console.press(key, sight) }
      for (columns, rows) in [
        (0, 0), (1, 1), (19, 3), (20, 4), (40, 10), (63, 9), (64, 24), (80, 24), (132, 50), (300, 90),
      ] {
        let lines = ConsoleFrame(console: console, sight: sight).lines(TerminalSize(columns: columns, rows: rows))
        #expect(lines.count == rows && lines.allSatisfy { $0.width == columns }, "\(columns) × \(rows)")
      }
    }
  }

  @Test("beside the phone stands each callback with its declaration, its arguments and why")
  func log() throws {
    var story = Phone()
    _ = story.handle(.installApp(UsualApp.description(Self.app, environment: .development)), at: ScreenDrawingTests.now)
    _ = story.handle(.launch(bundleID: Self.app), at: ScreenDrawingTests.now)
    var sight = Self.sight()
    sight.log = story.timeline
    let text = ConsoleFrame(console: PhoneConsole(), sight: sight).lines(TerminalSize(columns: 110, rows: 40))
      .map(\.plain).joined(separator: "\n")
    #expect(text.contains("→ application:didFinishLaunchingWithOptions: [inactive]"))
    #expect(text.contains("why: "))
    #expect(text.contains("iPhone · iOS 17.5"))
  }
}
