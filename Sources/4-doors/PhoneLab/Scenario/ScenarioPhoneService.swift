public import APNSSimulator
internal import Basics
public import Phone

/// The push service as the apps of a scenario's phones see it: tokens and the preference are its own affair, in-app
/// messages are kept here, all of them for ever (D-302), and go down each app's line in order (D-305).
public final class ScenarioPhoneService: PhoneService {
  private struct Mailbox {
    var messages: [InAppMessage] = []
    var line: MessageLine?

    var newest: Int64 { messages.last?.sequence ?? 0 }
  }

  private let mailboxes = Locked([LabApp: Mailbox]())
  private let service: (any ScenarioService)?
  /// The library that the apps link, where messages come by a real one.
  private let library: (any PhoneService)?
  private let beforeRegistering: @Sendable () async -> Void

  /// With a push service that keeps tokens and preferences; without one every token and every wish is taken.
  /// `beforeRegistering` is waited for first, each time. With a `library`, all that apps want of their service goes by it.
  public init(
    _ service: (any ScenarioService)?, library: (any PhoneService)? = nil,
    beforeRegistering: @escaping @Sendable () async -> Void = {}
  ) {
    self.service = service
    self.library = library
    self.beforeRegistering = beforeRegistering
  }

  /// Sends a message to an app on a phone, now or when it connects; sequence 0 takes the next number.
  func send(_ message: InAppMessage, to bundleID: String, on phone: String) {
    mailboxes.withLock { mailboxes in
      let app = LabApp(phone, bundleID)
      var message = message
      var mailbox = mailboxes[app] ?? Mailbox()
      if message.sequence == 0 { message.sequence = mailbox.newest + 1 }
      if message.sequence > mailbox.newest { mailbox.messages.append(message) }
      mailbox.line?.send(message)
      mailboxes[app] = mailbox
    }
  }

  func cut(_ bundleID: String, on phone: String) {
    mailboxes.withLock { $0[LabApp(phone, bundleID)]?.line.take()?.cut() }
  }

  public func register(_ app: LabApp, token: [UInt8], environment: SimulatedEnvironment) async -> String? {
    await beforeRegistering()
    if let library { return await library.register(app, token: token, environment: environment) }
    guard let service else { return "\(app.bundleID) on \(app.phone)" }
    return await service.register(
      phone: app.phone, bundleID: app.bundleID, token: token, environment: environment)
  }

  public func take(
    _ token: [UInt8], kind: Phone.TokenKind, environment: SimulatedEnvironment, of app: LabApp
  ) async {
    if let library { return await library.take(token, kind: kind, environment: environment, of: app) }
    await service?.take(token, kind: kind, for: app)
  }

  public func connect(_ line: MessageLine, after: Int64) async -> Bool {
    if let library { return await library.connect(line, after: after) }
    mailboxes.withLock { mailboxes in
      for message in mailboxes[line.app]?.messages ?? [] where message.sequence > after { line.send(message) }
      mailboxes[line.app, default: Mailbox()].line = line
    }
    return true
  }

  public func closed(_ line: MessageLine) {
    if let library { return library.closed(line) }
    mailboxes.withLock { mailboxes in
      if mailboxes[line.app]?.line?.id == line.id { mailboxes[line.app]?.line = nil }
    }
  }

  public func messageHistory(of app: LabApp) async -> [InAppMessage]? {
    if let library { return await library.messageHistory(of: app) }
    return mailboxes.withLock { $0[app]?.messages ?? [] }
  }

  public func setOnlyScheduled(_ onlyScheduled: Bool, for app: LabApp) async -> Bool {
    if let library { return await library.setOnlyScheduled(onlyScheduled, for: app) }
    return await service?.setOnlyScheduled(onlyScheduled, for: app) ?? true
  }
}
