import APNSSimulator
import Basics
import Phone
import PhoneLab
import PushPayload
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let phoneCommand = Command(
  name: "phone",
  summary: "A simulated iPhone in this terminal: its screen, its callbacks, and keys for what a finger does",
  discussion: """
    Without a terminal it reads commands from standard input, one a line, and prints the timeline; 'help' lists them, \
    the end of the input ends the phone. Scripts reach a running phone by 'belfry phone push booted payload.apns' and \
    the other verbs, which are those of Apple's simctl.
    Without --apns a simulated APNs runs in the same process; keys and device tokens are kept in DIR, so that they are \
    the same the next time. One line of JSON says where providers push to; a drawn phone tells it under 'i'.
    docs/phone.md lists keys, commands and verbs.
    """,
  options: PhoneOptions.options + [
    .flag("lines", "Line mode, also on a terminal"), .flag("json", "Line mode: print the timeline as lines of JSON"),
    .flag("headless", "Neither draw nor read: stay until a signal or 'belfry phone shutdown'"),
  ],
  run: { parsed in try await PhoneRun(PhoneOptions(parsed), parsed).run() })

/// What a phone is started with.
struct PhoneOptions {
  static let options: [Command.Option] = [
    .init(name: "ios", value: "VERSION", help: "The iOS that it runs, 3.0 and later; default 17.5"),
    .init(
      name: "app", value: "BUNDLE|FILE",
      help: "An app to install, by its bundle id or as a JSON5 file describes it; default \(UsualApp.bundleID)",
      repeats: true, completion: .file),
    .init(name: "name", value: "NAME", help: "By which verbs find it; default iPhone"),
    .init(
      name: "environment", value: "WHICH", help: "Of the apps' tokens: sandbox or production; default sandbox",
      completion: .words(["sandbox", "production"])),
    .init(name: "set", value: "NAME=VALUE", help: "A switch of the phone, as in mute=on", repeats: true),
    .flag("allow", "Notifications are allowed from the start: no prompt"),
    .init(
      name: "apns", value: "URL", help: "The control API of a 'belfry apns' that runs, as http://127.0.0.1:2198"),
    .init(name: "listen", value: "HOST:PORT", help: "The sandbox, for providers; default a free port of 127.0.0.1"),
    .init(name: "production-listen", value: "HOST:PORT", help: "Production; default a free port of 127.0.0.1"),
    .init(
      name: "control", value: "HOST:PORT", help: "The simulated APNs' control API; default a free port of 127.0.0.1"),
    .init(
      name: "data", value: "DIR",
      help: "Where keys and tokens are kept; default belfry/phone/NAME in the user's cache folder"),
  ]

  var name: String
  var settings: PhoneSettings
  var apps: [DescribedApp]
  var environment: AppDescription.APSEnvironment
  var isAllowed: Bool
  /// The control API of a simulated APNs that runs elsewhere.
  var apns: String?
  var ports = PhoneConnection.Ports()
  var data: String

  /// Throws `UsageFault` for words, `CommandFault` for a file that describes no app.
  init(_ parsed: ParsedCommand, environment variables: [String: String] = processEnvironment()) throws {
    let version = parsed.value("ios") ?? "17.5"
    guard let ios = IOSVersion(version), ios >= IOSVersion(3) else {
      throw UsageFault("--ios takes a version from 3.0 on, as in 17.5, not '\(version)'")
    }
    name = parsed.value("name") ?? "iPhone"
    guard !name.isEmpty, name.utf8.count <= 64, TextWidth.harmless(name) == name, !name.contains("/"), name != "booted",
      name != "all"
    else { throw UsageFault("--name takes up to 64 letters without '/', and not 'booted' or 'all'") }
    settings = PhoneSettings(iosVersion: ios)
    settings.name = name
    for word in parsed.all("set") {
      do throws(ScenarioFault) { try PhoneWord.steps.set(word, in: &settings) } catch {
        throw UsageFault("--set: \(error)")
      }
    }
    switch parsed.value("environment") {
    case nil, "sandbox": environment = .development
    case "production": environment = .production
    case let word?: throw UsageFault("--environment takes sandbox or production, not '\(word)'")
    }
    var apps: [DescribedApp] = []
    for word in parsed.all("app").isEmpty ? [UsualApp.bundleID] : parsed.all("app") {
      let app = try AppSource(word).read(environment, ios)
      guard !apps.contains(where: { $0.description.bundleID == app.description.bundleID }) else {
        throw UsageFault("--app: \(app.description.bundleID) is there twice")
      }
      apps.append(app)
    }
    self.apps = apps
    isAllowed = parsed.flag("allow")
    apns = parsed.value("apns")
    for name in ["listen", "production-listen", "control", "data"] where apns != nil && parsed.value(name) != nil {
      throw UsageFault("'--\(name)' is of the simulated APNs in this process; it does not go with --apns")
    }
    ports.listen = try Self.endpoint(parsed, "listen") ?? ports.listen
    ports.production = try Self.endpoint(parsed, "production-listen") ?? ports.production
    ports.control = try Self.endpoint(parsed, "control") ?? ports.control
    data = Files.absolute(
      parsed.value("data") ?? "\(defaultFolder(of: "phone", variables))/\(PhoneIdentity.udid(of: name))")
  }

  private static func endpoint(_ parsed: ParsedCommand, _ name: String) throws(UsageFault) -> Endpoint? {
    guard let word = parsed.value(name) else { return nil }
    guard let endpoint = Endpoint(word) else {
      throw UsageFault("--\(name) takes HOST:PORT, as in 127.0.0.1:2197, not '\(word)'")
    }
    return endpoint
  }

  /// What happens before anybody sees the phone: its apps are there, and the first one is opened.
  var beginning: [Phone.Event] {
    var events: [Phone.Event] = apps.map { .installApp($0.description) }
    if isAllowed { events += bundleIDs.map { .changePermission(bundleID: $0, Phone.UserSettings()) } }
    events += apps.flatMap(\.beginning)
    if let first = apps.first, first.beginning.isEmpty, !settings.locked {
      events.append(.launch(bundleID: first.description.bundleID))
    }
    return events
  }

  var bundleIDs: [String] { apps.map(\.description.bundleID) }
}

/// One run of `belfry phone`, from the options to the end.
struct PhoneRun {
  enum Face: Equatable { case drawn, lines, headless }

  var options: PhoneOptions
  var face: Face
  var json: Bool

  init(_ options: PhoneOptions, _ parsed: ParsedCommand) throws(UsageFault) {
    self.options = options
    json = parsed.flag("json")
    let wantsLines = parsed.flag("lines") || json
    guard !(wantsLines && parsed.flag("headless")) else { throw UsageFault("give either --headless or line mode") }
    let isTerminal = Terminal.isDrawable(1) && Terminal.isAnswering
    face = parsed.flag("headless") ? .headless : wantsLines || !isTerminal ? .lines : .drawn
  }

  func run() async throws -> ExitStatus {
    await openTimerDescriptors()
    let folder = try PhoneFolder(processEnvironment())
    let signals = ProcessSignals(
      rereads: true, watched: face == .drawn ? [SIGWINCH, SIGCONT, SIGTSTP] : [])
    let clock = PhoneClock(SystemClock())
    let connection = try await PhoneConnection.start(options, clock: clock)
    let host = await PhoneHost(
      name: options.name, settings: options.settings, connection: connection, clock: clock,
      environment: options.environment)
    let shutdown = AsyncStream<Void>.makeStream()
    let door: PhoneDoor
    do throws(CommandFault) {
      door = try PhoneDoor(folder, udid: host.udid, name: options.name) { request, send in
        await PhoneAnswering(host: host, shutdown: { shutdown.continuation.yield() }).answer(request, send)
      }
    } catch {
      await host.stop()
      throw error
    }
    _ = try await host.perform(.events(options.beginning))
    let status: ExitStatus
    switch face {
    case .drawn: status = await PhoneTerminal(host: host, signals: signals).run(until: shutdown.stream)
    case .lines:
      announce("listening", await host.places())
      status = await LineMode(host: host, json: json).run(until: shutdown.stream, signals)
    case .headless:
      announce("listening", await host.places())
      await Self.wait(for: shutdown.stream, signals)
      status = .success
    }
    door.end()
    await host.stop()
    return status
  }

  /// Returns with the first of them: a verb's word, a signal, the end of the session.
  static func wait(for shutdown: AsyncStream<Void>, _ signals: ProcessSignals) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in shutdown { break } }
      group.addTask { await signals.end() }
      group.addTask { for await _ in signals.hangups { break } }
      await group.next()
      group.cancelAll()
    }
  }
}
