import Basics
import Dispatch
import Phone
import PushPayload
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

func processID() -> Int32 { getpid() }

/// The interactive phone: joins keys, signals and the phone's news to `PhoneConsole`, and shows its frames. All of them
/// come in one stream and are taken one after another.
struct PhoneTerminal {
  var host: PhoneHost
  var signals: ProcessSignals

  private enum Input: Sendable {
    case key(Key)
    case signal(Int32)
    /// Something happened on the phone, or a second has passed.
    case news
    case end
  }

  /// Returns when somebody quits; the terminal is as it was then.
  func run(until shutdown: AsyncStream<Void>) async -> ExitStatus {
    guard let session = TerminalSession() else {
      Terminal.complain("belfry: this terminal cannot be taken over; --lines works without one")
      return .failure
    }
    let keys = TerminalKeys()
    let (inputs, sink) = AsyncStream<Input>.makeStream()
    let (watching, told) = await host.watch()
    let feeding = [
      Task {
        for await key in keys.keys { sink.yield(.key(key)) }
        sink.yield(.end)  // the terminal has gone
      },
      Task { for await number in signals.others { sink.yield(.signal(number)) } },
      Task { for await _ in told { sink.yield(.news) } },
      Task {
        await PhoneRun.wait(for: shutdown, signals)
        sink.yield(.end)
      },
      Task {  // the clock in the status bar, and how long ago something came
        while (try? await SystemClock().sleep(for: .seconds(1))) != nil { sink.yield(.news) }
      },
    ]
    await loop(inputs, session)
    for task in feeding { task.cancel() }
    keys.stop()
    session.end()
    await host.unwatch(watching)
    return .success
  }

  private func loop(_ inputs: AsyncStream<Input>, _ session: TerminalSession) async {
    var console = PhoneConsole()
    var sight = await look()
    let colours = Terminal.wantsColour
    func draw() {
      let size = session.size
      console.settle(sight)
      session.show(ConsoleFrame(console: console, sight: sight).lines(size), size: size, colours: colours)
    }
    draw()
    for await input in inputs {
      switch input {
      case .end: return
      case .news: sight = await look()
      case .signal(let number):
        if number == SIGTSTP { session.suspend() }
        if number == SIGCONT { session.enter() }
      case .key(let key):
        if key == .control("l") { session.enter() }
        for act in console.press(key, sight) {
          if await take(act, &console, session) { return }
        }
        sight = await look()
      }
      draw()
    }
  }

  /// True: that was the end.
  private func take(_ act: PhoneConsole.Act, _ console: inout PhoneConsole, _ session: TerminalSession) async -> Bool {
    do {
      switch act {
      case .quit: return true
      case .suspend: session.suspend()
      case .perform(let act): return try await host.perform(act).ends
      case .command(let line):
        guard let act = try PhoneWord.act(of: line, on: await host.phone(), usualApp: console.app) else { return false }
        let answer = try await host.perform(act)
        if !answer.text.isEmpty { console.show(answer.text) }
        return answer.ends
      }
    } catch let fault as UsageFault {
      console.complaint = fault.words
    } catch {
      console.complaint = "\(error)"
    }
    return false
  }

  private func look() async -> PhoneSight {
    let phone = await host.phone()
    let screen = phone.screen
    var buttons: [ScreenDrawing.Selection: [NotificationAction]] = [:]
    for one in ScreenDrawing.selectable(screen) where !one.isActivity {
      buttons[one] = phone.buttons(of: one.bundleID, id: one.id)
    }
    var userSettings: [String: Phone.UserSettings] = [:]
    for bundleID in phone.bundleIDs { userSettings[bundleID] = phone.userSettings(of: bundleID) }
    return PhoneSight(
      name: host.name, ios: "\(phone.settings.iosVersion)", screen: screen, now: host.clock.now,
      statusBar: await host.statusBar,
      apps: phone.bundleIDs.map { .init(bundleID: $0, state: phone.state(of: $0) ?? .notRunning) },
      settings: phone.settings, userSettings: userSettings, log: await host.newest(400), buttons: buttons,
      places: await PhoneGuide.lines(host))
  }
}

/// How to push to a running phone, for a person.
enum PhoneGuide {
  static func lines(_ host: PhoneHost) async -> [String] {
    let places = await host.places()
    func word(_ name: String) -> String? { places[name]?.string }
    var lines = ["From Apple's tool's sister, in another terminal:", "", "  belfry phone push booted payload.apns", ""]
    if let apns = word("apns") { lines += ["The simulated APNs: \(apns) (sandbox)"] }
    if let production = word("production") { lines += ["  \(production) (production)"] }
    if let control = word("control") { lines += ["Its control API: \(control)"] }
    if let token = word("token") {
      lines += ["Device token: \(token)"]
    } else {
      lines += ["No device token yet: an app gets it when it runs and registers."]
    }
    if let key = word("key"), let id = word("keyId"), let team = word("teamId"), let ca = word("ca"),
      let token = word("token"), let apns = word("apns")
    {
      let bundle = await host.phone().bundleIDs.first ?? UsualApp.bundleID
      lines += [
        "", "As a provider:", "",
        "  belfry push payload.json --token \(token) --topic \(bundle) --key \(key) --key-id \(id) --team-id \(team) "
          + "--apns \(apns) --ca \(ca)",
      ]
    }
    return lines
  }
}
