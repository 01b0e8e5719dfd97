import Basics
import PushPayload
import Testing

@testable import Phone
@testable import belfry

@Suite("The drawn screen")
struct ScreenDrawingTests {
  static let now = Instant(seconds: 1_796_029_200)

  private func text(_ screen: Screen, _ columns: Int, _ rows: Int, _ selected: ScreenDrawing.Selection? = nil) -> String
  {
    var drawing = ScreenDrawing(screen, now: Self.now)
    drawing.selected = selected
    return drawing.lines(TerminalSize(columns: columns, rows: rows)).map { line in
      String(line.plain.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }

  @Test("the home screen: icons, badges, and what the phone stands in")
  func home() {
    var screen = Screen.plain
    screen.icons = [
      .init(bundleID: "com.example.app", name: "App", badge: 3),
      .init(bundleID: "com.example.chat", name: "聊天", badge: 0),
    ]
    screen.indicators.focus = "Work"
    screen.indicators.isOnline = false
    #expect(
      text(screen, 34, 12) == """
        ╭────────────────────────────────╮
        │ 09:41        no network ☾ Work │
        │                                │
        │ ╭────╮ 3  ╭────╮               │
        │ │ Ap │    │聊天│               │
        │ ╰────╯    ╰────╯               │
        │ App       聊天                 │
        │                                │
        │                                │
        │                                │
        │           ━━━━━━━━━━           │
        ╰────────────────────────────────╯
        """)
  }

  @Test("the lock screen: newest first, a stack shows its newest and how many lie beneath")
  func lockScreen() {
    var screen = Screen.plain
    screen.isLocked = true
    screen.lockScreen = [
      .init(
        bundleID: "com.example.chat", title: "聊天", threadID: "lin",
        notifications: [.note("Lin", "您有一条新的通知 🔔", "c2", age: 90), .note("Lin", "Hi", "c1", age: 7200)],
        summary: "1 more message from Lin"),
      .init(bundleID: "com.example.app", title: "App", notifications: [.note("App", "Hello", "a1", age: 10)]),
    ]
    #expect(
      text(screen, 34, 17) == """
        ╭────────────────────────────────╮
        │ 09:41                          │
        │                                │
        │             09:41              │
        │                                │
        │ 聊天                    1m ago │
        │ Lin                            │
        │ 您有一条新的通知 🔔            │
        │  ▾ 1 more message from Lin     │
        │                                │
        │ App                        now │
        │ Hello                          │
        │                                │
        │                                │
        │             locked             │
        │           ━━━━━━━━━━           │
        ╰────────────────────────────────╯
        """)
  }

  @Test("D-189 Live Activities: cards above the notifications, and a pill at the top of the unlocked screen")
  func activities() {
    var screen = Screen.plain
    screen.icons = [.init(bundleID: "com.example.app", name: "外卖", badge: 0)]
    screen.island = [.activity("Ride-1", ["driver": "林", "eta": 5]), .activity("Ride-2", [:])]
    #expect(text(screen, 34, 12).split(separator: "\n")[2] == "│ (外卖 driver 林 · eta…) (外卖) │")
    (screen.isLocked, screen.activities, screen.island) = (true, screen.island, [])
    let mark = ScreenDrawing.Selection(bundleID: "com.example.app", id: "Ride-2", isActivity: true)
    #expect(ScreenDrawing.selectable(screen).last == mark)
    let drawn = text(screen, 34, 17, mark).split(separator: "\n")
    #expect(drawn[5] == "│ ● 外卖                    live │")
    #expect(drawn[6...7] == ["│ Ride                           │", "│ driver 林 · eta 5              │"])
    #expect(drawn[9].hasPrefix("│▌● 外卖"))
  }

  @Test("marking one below unfolds its stack and moves the list up until it is seen")
  func selection() {
    var screen = Screen.plain
    screen.isCentreOpen = true
    screen.centre = [
      .init(
        bundleID: "com.example.app", title: "App",
        notifications: (1...9).map { .note("Title \($0)", "Body \($0)", "a\($0)", age: $0 * 60) })
    ]
    #expect(!text(screen, 30, 14).contains("Title 2"))
    let marked = text(screen, 30, 14, .init(bundleID: "com.example.app", id: "a9"))
    #expect(marked.contains("▌Title 9") && marked.contains("▌Body 9"))
    #expect(!marked.contains("Title 1"))
  }

  @Test("an alert waits in the middle, a prompt before it, a banner at the top")
  func over() {
    var screen = Screen.plain
    screen.front = .init(bundleID: "com.example.app", name: "App")
    screen.banners = [.note("New", "A body that is long enough for two lines", "b", age: 1)]
    #expect(
      text(screen, 30, 10) == """
        ╭────────────────────────────╮
        │ 09:41                      │
        │┌──────────────────────────┐│
        ││ New                      ││
        ││ A body that is long      ││
        ││ enough for two lines     ││
        │└──────────────────────────┘│
        │                            │
        │         ━━━━━━━━━━         │
        ╰────────────────────────────╯
        """)
    screen.alert = .init(notification: .note("App", "Hello", "m", age: 1), buttons: ["Close", "View"])
    #expect(text(screen, 30, 12).contains("[ Close ]  [ View ]"))
    screen.prompt = .init(
      bundleID: "com.example.app", text: "“App” Would Like to Send You Notifications",
      detail: "They may include alerts.",
      buttons: ["Don’t Allow", "Allow"])
    #expect(
      text(screen, 34, 14) == """
        ╭────────────────────────────────╮
        │ 09:41                          │
        │                                │
        │╭──────────────────────────────╮│
        ││ “App” Would Like to Send You ││
        ││        Notifications         ││
        ││   They may include alerts.   ││
        ││                              ││
        ││  [ Don’t Allow ]  [ Allow ]  ││
        │╰──────────────────────────────╯│
        │                                │
        │                                │
        │           ━━━━━━━━━━           │
        ╰────────────────────────────────╯
        """)
  }

  @Test("D-186 a call fills the screen, ringing and answered")
  func call() {
    var drawing = ScreenDrawing(.full, now: Self.now)
    drawing.screen.call = PhoneCall(
      bundleID: "com.example.app1", caller: "林", isAnswered: false, since: Self.now - .seconds(5))
    func text() -> String { drawing.lines(TerminalSize(columns: 34, rows: 12)).map(\.plain).joined(separator: "\n") }
    #expect(text().contains("林") && text().contains("[ Decline ]  [ Accept ]") && !text().contains("标题"))
    drawing.screen.call?.isAnswered = true
    #expect(text().contains("5 s") && text().contains("[ End ]"))
    for columns in 0...20 {
      for rows in 0...12 {
        let lines = drawing.lines(TerminalSize(columns: columns, rows: rows))
        #expect(lines.count == rows && lines.allSatisfy { $0.width == columns })
      }
    }
  }

  @Test("every size gives exactly as many lines, each exactly as wide, down to nothing")
  func everySize() {
    var locked = Screen.full
    locked.isLocked = true
    var centre = Screen.full
    centre.isCentreOpen = true
    var bare = Screen.full
    (bare.prompt, bare.alert) = (nil, nil)
    for screen in [Screen.plain, .full, locked, centre, bare] {
      for columns in 0...50 {
        for rows in 0...20 {
          let lines = ScreenDrawing(screen, now: Self.now).lines(TerminalSize(columns: columns, rows: rows))
          #expect(lines.count == rows && lines.allSatisfy { $0.width == columns }, "\(columns) × \(rows)")
        }
      }
    }
  }

  @Test("a text of a sender cannot leave its place on the screen")
  func hostile() {
    var screen = Screen.plain
    screen.banners = [.note("a\u{1B}[2J", "b\nc\u{202E}d", "x", age: 1)]
    let drawn = text(screen, 30, 10)
    #expect(!drawn.contains("\u{1B}") && !drawn.contains("\u{202E}"))
    #expect(drawn.split(separator: "\n").count == 10)
  }
}

extension Screen {
  static var plain: Screen { Phone().screen.with { $0.clock = "09:41" } }

  func with(_ change: (inout Screen) -> Void) -> Screen {
    var screen = self
    change(&screen)
    return screen
  }

  /// Something of everything.
  static var full: Screen {
    var screen = plain
    screen.indicators = Indicators(focus: "睡眠", isLowPower: true, isOnline: false, isMuted: true)
    let groups = (1...4).map { number in
      Group(
        bundleID: "com.example.app", title: "应用 \(number)",
        notifications: (1...3).map { .note("标题", "您有一条新的通知 🔔 and some more words", "n\(number)\($0)", age: $0 * 4000) })
    }
    screen.lockScreen = groups
    screen.centre = groups
    screen.icons = (1...9).map { .init(bundleID: "com.example.app\($0)", name: "应用 \($0)", badge: $0 * 37) }
    screen.banners = [groups[0].notifications[0]]
    screen.activities = (1...3).map { .activity("活动-\($0)", ["状态": "在路上 🛵", "n": 5]) }
    screen.island = screen.activities
    screen.alert = Alert(notification: groups[1].notifications[0], buttons: ["Close", "查看"])
    screen.prompt = Prompt(
      bundleID: "com.example.app", text: "“应用” Would Like …", detail: "", buttons: ["Don’t Allow", "Allow"])
    return screen
  }
}

extension ShownActivity {
  static func activity(_ id: String, _ state: JSONObject) -> ShownActivity {
    ShownActivity(
      bundleID: "com.example.app", id: id, state: .active,
      activity: LiveActivity(
        attributesType: "Ride", attributes: [:], contentState: state, startedAt: ScreenDrawingTests.now), token: nil)
  }
}

extension Screen.Notification {
  static func note(_ heading: String, _ body: String, _ id: String, age: Int) -> Screen.Notification {
    Screen.Notification(
      bundleID: "com.example.app", appName: "App", id: id, heading: heading, body: body,
      shownAt: ScreenDrawingTests.now - .seconds(Int64(age)))
  }
}
