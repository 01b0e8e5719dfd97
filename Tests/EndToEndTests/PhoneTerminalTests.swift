import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// `belfry phone` on a terminal of its own, seen as a person sees it.
@Suite("belfry phone on a terminal")
struct PhoneTerminalTests {
  private static func start(
    _ columns: UInt16 = 110, _ rows: UInt16 = 36, _ environment: [String: String] = [:]
  ) throws -> PseudoTerminal {
    let folder = try TemporaryFolder()
    return try PseudoTerminal(
      ["phone", "--data", folder.path + "data"], columns: columns, rows: rows,
      environment: ["BELFRY_PHONES": folder.path + "run", "TERM": "xterm-256color"].merging(environment) { $1 },
      keep: folder)
  }

  @Test("it draws the phone and the callbacks, obeys keys, and gives the terminal back")
  func session() async throws {
    let terminal = try Self.start(110, 60)
    let before = terminal.attributes
    try await terminal.shows("Would Like to Send You")
    try await terminal.shows("→ application:didFinishLaunchingWithOptions: [inactive]")
    #expect(terminal.isAlternate && terminal.isRaw)
    terminal.type("y")
    try await terminal.shows("the app is on the screen")
    terminal.type("h")
    try await terminal.shows("╭────╮")
    terminal.type("p1")
    try await terminal.shows("╭────╮ 1")
    terminal.type("l")
    try await terminal.shows("locked ")
    terminal.type("p2")
    try await terminal.shows(" Notification ")  // its text is hidden while the phone is locked
    terminal.type("\u{1B}[B\r")  // marks the notification, taps it; the phone asks who it is
    try await terminal.shows("on the lock screen")
    terminal.type("l")
    try await terminal.shows("didReceiveNotificationResponse")
    terminal.type(":push {\"aps\":{\"alert\":\"您好 🔔\"}}\r")
    try await terminal.shows("您好 🔔")
    terminal.type(":nonsense\r")
    try await terminal.shows("there is no 'nonsense'")
    terminal.type("?")
    try await terminal.shows("swipe the app away")
    terminal.type("\u{1B}")
    try await terminal.shows("Callbacks")
    terminal.type("q")
    #expect(try await terminal.end() == 0)
    #expect(!terminal.isAlternate && terminal.isCursorShown)
    #expect(terminal.attributes == before)
  }

  @Test("SIGWINCH: it fills the new size, a tiny one too")
  func resizes() async throws {
    let terminal = try Self.start(100, 30)
    try await terminal.shows("Callbacks")
    terminal.resize(40, 16)
    try await terminal.shows("Would Like to Send")
    #expect(!terminal.text.contains("Callbacks"))
    terminal.type("z")
    try await terminal.shows("Callbacks")
    terminal.resize(10, 3)
    try await terminal.shows("too small")
    terminal.resize(120, 40)
    try await terminal.shows("why: ")
    terminal.type("q")
    #expect(try await terminal.end() == 0)
  }

  @Test("the terminal is as it was after a signal", arguments: [SIGTERM, SIGINT, SIGHUP])
  func signals(number: Int32) async throws {
    let terminal = try Self.start()
    let before = terminal.attributes
    try await terminal.shows("Callbacks")
    terminal.signal(number)
    #expect(try await terminal.end() == 0)
    #expect(!terminal.isAlternate && terminal.isCursorShown && terminal.attributes == before)
  }

  @Test("and after a fault of the process itself", arguments: [SIGSEGV, SIGABRT, SIGQUIT])
  func faults(number: Int32) async throws {
    let terminal = try Self.start()
    let before = terminal.attributes
    try await terminal.shows("Callbacks")
    terminal.signal(number)
    #expect(try await terminal.end() == -number)
    #expect(!terminal.isAlternate && terminal.isCursorShown && terminal.attributes == before)
  }

  @Test("Ctrl-Z gives the terminal back until the process goes on")
  func stops() async throws {
    let terminal = try Self.start()
    let before = terminal.attributes
    try await terminal.shows("Callbacks")
    terminal.type("\u{1A}")
    try await terminal.waits("the terminal is given back") { !$0.isAlternate }
    #expect(terminal.attributes == before)
    try await terminal.waits("the process stands still") { $0.isStopped }
    terminal.signal(SIGCONT)
    try await terminal.waits("the terminal is taken again") { $0.isAlternate }
    try await terminal.shows("Callbacks")
    terminal.type("q")
    #expect(try await terminal.end() == 0)
  }

  @Test("NO_COLOR: no colour is written, and the same is on the screen")
  func withoutColour() async throws {
    let terminal = try Self.start(100, 30, ["NO_COLOR": "1"])
    try await terminal.shows("Callbacks")
    terminal.type("q")
    #expect(try await terminal.end() == 0)
    #expect(!terminal.colours)
    let coloured = try Self.start(100, 30)
    try await coloured.shows("Callbacks")
    coloured.type("q")
    #expect(try await coloured.end() == 0)
    #expect(coloured.colours)
  }

  @Test("TERM=dumb: lines instead of a drawing")
  func dumb() async throws {
    let terminal = try Self.start(100, 30, ["TERM": "dumb"])
    try await terminal.shows("\"event\":\"listening\"")
    #expect(!terminal.isAlternate && !terminal.isRaw)
    terminal.signal(SIGTERM)
    #expect(try await terminal.end() == 0)
  }
}
