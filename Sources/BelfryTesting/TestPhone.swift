public import Basics
public import Phone
public import PushPayload

/// An iPhone for your own tests: a value with a clock of its own that moves only in `wait`, joined to a stand-in for APNs
/// that gives tokens at once and keeps the newest push of each app for a phone without network, until its expiration.
/// Pushes are not judged; where APNs' checks matter, push to the simulated APNs (`APNSSimulator`) or play a scenario.
///
///     var phone = TestPhone(ios: IOSVersion(17, 5))
///     phone.install(app)
///     phone.push(["aps": ["alert": "Hello"]])
///     try phone.expect(.exactly(["shown BC"], of: ["shown"]))
///     phone.tap()
///     try phone.expect(.contains(["didReceiveResponse(default)"]))
///
/// An act without a bundle id means the app that was installed last. Expectations look at what happened since the act
/// before, unless they are asked for everything.
public struct TestPhone: Sendable {
  public private(set) var phone: Phone
  public private(set) var now: Instant
  /// What the phone asked of the outside, in order.
  public private(set) var effects: [Phone.Effect] = []
  private var acts: [Int] = [0]
  private var bundleID = ""
  private var pushes = 0
  private var tokens = 0
  /// The newest of each app, while the phone is offline.
  private var waiting: [String: DeliveredPayload] = [:]

  public init(
    ios version: IOSVersion = IOSVersion(17), start: Instant = Instant(seconds: 1_796_029_200),
    _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) {
    var settings = PhoneSettings(iosVersion: version)
    adjust(&settings)
    phone = Phone(settings)
    now = start
  }

  // MARK: acts

  /// Lets events happen now, one after the other; they count as one act.
  public mutating func happens(_ events: Phone.Event...) { happens(events) }

  public mutating func happens(_ events: [Phone.Event]) {
    acts.append(phone.timeline.count)
    for event in events { feed(event) }
  }

  /// How an app stands once it is installed.
  public enum Start: Sendable { case neverOpened, active, background, suspended, notRunning, forceQuit }

  /// Installs the app and brings it there. Unless it was never to be opened, it is opened once and asked for permission by
  /// itself, which the user answers; an app that does not ask is allowed or denied in Settings. Nothing of that is left in
  /// what expectations look at.
  public mutating func install(_ app: AppDescription, start: Start = .suspended, allowed: Bool = true) {
    bundleID = app.bundleID
    happens(.installApp(app))
    guard start != .neverOpened else { return forget() }
    feed(.launch(bundleID: bundleID))
    if phone.promptedApp == bundleID {
      feed(.answerPrompt(allow: allowed))
    } else {
      var settings = Phone.UserSettings()
      settings.allowed = allowed
      feed(.changePermission(bundleID: bundleID, settings))
    }
    switch start {
    case .neverOpened, .active: break
    case .background: feed(.home)
    case .suspended:
      feed(.home)
      feed(.suspend(bundleID: bundleID))
    case .notRunning:
      feed(.home)
      feed(.suspend(bundleID: bundleID))
      feed(.endBySystem(bundleID: bundleID))
    case .forceQuit: feed(.forceQuit(bundleID: bundleID))
    }
    forget()
  }

  /// A push arrives, or waits at APNs while the phone is offline. Answers the identifier of its notification: the collapse
  /// id, else the id of the push, which is `push-1`, `push-2` … where none is given.
  @discardableResult
  public mutating func push(
    _ payload: JSONValue, to bundleID: String? = nil, type: PushType? = nil, priority: PushPriority? = nil,
    collapseID: String? = nil, expiration: Instant? = nil, id: String? = nil
  ) -> String {
    push(
      bytes: payload.encoded(), to: bundleID, type: type ?? PushType.inferred(from: payload), priority: priority,
      collapseID: collapseID, expiration: expiration, id: id)
  }

  /// The same with the bytes of a payload, as your server makes them.
  @discardableResult
  public mutating func push(
    bytes: [UInt8], to bundleID: String? = nil, type: PushType = .alert, priority: PushPriority? = nil,
    collapseID: String? = nil, expiration: Instant? = nil, id: String? = nil
  ) -> String {
    pushes += 1
    let push = DeliveredPayload(
      id: id ?? "push-\(pushes)", bundleID: bundleID ?? self.bundleID, pushType: type,
      priority: priority ?? type.priorities.first ?? .immediate, collapseID: collapseID, expiration: expiration,
      acceptedAt: now, bytes: bytes)
    acts.append(phone.timeline.count)
    if phone.isOnline { feed(.push(push)) } else { waiting[push.bundleID] = push }
    return collapseID ?? push.id
  }

  public mutating func launch(_ bundleID: String? = nil) { happens(.launch(bundleID: bundleID ?? self.bundleID)) }

  /// Uses a notification; nil: the newest of the app.
  public mutating func tap(_ id: String? = nil, of bundleID: String? = nil) {
    happens(.tap(bundleID: bundleID ?? self.bundleID, id: id))
  }

  /// Presses a button of a notification, with what is typed into its field.
  public mutating func action(
    _ action: String, on id: String? = nil, text: String? = nil, of bundleID: String? = nil
  ) {
    happens(.action(bundleID: bundleID ?? self.bundleID, id: id, action: action, text: text))
  }

  public mutating func dismiss(_ id: String? = nil, of bundleID: String? = nil) {
    happens(.dismiss(bundleID: bundleID ?? self.bundleID, id: id))
  }

  public mutating func forceQuit(_ bundleID: String? = nil) { happens(.forceQuit(bundleID: bundleID ?? self.bundleID)) }

  public mutating func home() { happens(.home) }
  public mutating func lock() { happens(.lock) }
  public mutating func unlock() { happens(.unlock) }
  public mutating func goOffline() { happens(.networkChanged(online: false)) }
  public mutating func goOnline() { happens(.networkChanged(online: true)) }

  /// The app's code does something outside a callback.
  public mutating func app(_ act: AppAct, of bundleID: String? = nil) {
    happens(.app(bundleID: bundleID ?? self.bundleID, act))
  }

  /// Changes switches of the phone.
  public mutating func change(_ change: (inout PhoneSettings) -> Void) {
    var settings = phone.settings
    change(&settings)
    happens(.change(settings))
  }

  /// Lets time pass, and everything happen that is due until then.
  public mutating func wait(_ span: Instant.Span) {
    acts.append(phone.timeline.count)
    let end = now + max(span, .milliseconds(0))
    while let due = phone.due, due <= end {
      now = max(now, due)
      feed(.timePassed)
    }
    now = end
    feed(.timePassed)
  }

  // MARK: what happened

  /// Everything, from the start.
  public var timeline: [TimelineEntry] { phone.timeline }

  /// Since the act before.
  public var recent: [TimelineEntry] { Array(phone.timeline[min(acts[acts.count - 1], phone.timeline.count)...]) }

  /// What happened until now is no part of what `Scope.everything` looks at.
  public mutating func forget() { acts = [phone.timeline.count] }

  public enum Scope: Sendable {
    case lastAct
    /// Since the start, the last `install` or `forget`.
    case everything
  }

  /// nil when it is so: `#expect(phone.failure(of: .never(["fault"])) == nil)`.
  public func failure(of expectation: TimelineExpectation, in scope: Scope = .lastAct) -> ExpectationFailure? {
    switch scope {
    case .lastAct: expectation.failure(in: recent)
    case .everything: expectation.failure(in: Array(phone.timeline[min(acts[0], phone.timeline.count)...]))
    }
  }

  /// Throws what was expected beside what happened, to be read: whichever framework runs the test prints it.
  public func expect(_ expectation: TimelineExpectation, in scope: Scope = .lastAct) throws(ExpectationFailure) {
    if let failure = failure(of: expectation, in: scope) { throw failure }
  }

  /// The callbacks are exactly these, in this order.
  public func expectCallbacks(_ patterns: EntryPattern..., in scope: Scope = .lastAct) throws(ExpectationFailure) {
    try expect(.exactly(patterns, of: ["callback"]), in: scope)
  }

  /// Exactly these things were shown or sounded: `try phone.expectShown("BCSN")`; nothing for nothing.
  public func expectShown(_ letters: String..., in scope: Scope = .lastAct) throws(ExpectationFailure) {
    try expect(.exactly(letters.map { EntryPattern(stringLiteral: "shown \($0)") }, of: ["shown"]), in: scope)
  }

  /// Where the app is in its life; nil: not on the phone.
  public func state(of bundleID: String? = nil) -> AppState? { phone.state(of: bundleID ?? self.bundleID) }
  /// The number at its icon; 0: none.
  public func badge(of bundleID: String? = nil) -> Int { phone.badge(of: bundleID ?? self.bundleID) }
  /// Its notifications in the centre, newest first.
  public func centre(of bundleID: String? = nil) -> [String] { phone.centre(of: bundleID ?? self.bundleID) }
  /// Those on the lock screen.
  public func lockScreen(of bundleID: String? = nil) -> [String] { phone.lockScreen(of: bundleID ?? self.bundleID) }
  /// What the user sees now.
  public var screen: Screen { phone.screen }

  // MARK: the outside

  private mutating func feed(_ event: Phone.Event) {
    for effect in phone.handle(event, at: now) {
      effects.append(effect)
      perform(effect)
    }
  }

  private mutating func perform(_ effect: Phone.Effect) {
    switch effect {
    case .registerForRemoteNotifications(let bundleID, _, let kind, let fresh):
      if fresh || tokens == 0 || phone.token(of: bundleID) == nil { tokens += 1 }
      let token = (0..<32).map { UInt8(truncatingIfNeeded: tokens &* 7 &+ $0) }
      feed(.issued(token, kind, to: bundleID))
    case .handTokenToService(let bundleID, _, .remote):
      feed(.registrationIDReceived(bundleID: bundleID, registrationID: "registration-\(tokens)"))
    case .connectionChanged(let online):
      guard online else { return }
      let kept = waiting.values.sorted { $0.id < $1.id }
      waiting = [:]
      for push in kept where push.expiration.map({ $0 > now }) ?? true { feed(.push(push)) }
    case .connectForMessages(let bundleID, _, _): feed(.messagesConnected(bundleID: bundleID))
    case .fetchMessageHistory(let bundleID, _): feed(.messageHistory(bundleID: bundleID, []))
    case .changePreference(let bundleID, _, let onlyScheduled):
      feed(.preferenceAnswered(bundleID: bundleID, onlyScheduled: onlyScheduled, accepted: true))
    case .tokenAbandoned, .tokenEnded, .handTokenToService, .subscribe, .unsubscribe, .disconnectFromMessages,
      .notReached, .alertsAllowed:
      break
    }
  }
}
