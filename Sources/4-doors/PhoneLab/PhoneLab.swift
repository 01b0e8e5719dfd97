public import APNSSimulator
public import Basics
public import Phone
public import PushPayload

/// Hosts simulated phones and joins each to the simulated APNs and to a push service: what a phone asks of the outside
/// is done, what comes for it is handed in, and its timers are kept.
///
/// Events of one phone are taken one after another, pushes in the order of the courier. Any task may call.
public actor PhoneLab {
  /// Gives an app's token to its push service and answers the registration id; nil when the service did not take it.
  public typealias Registrar =
    @Sendable (_ phone: String, _ bundleID: String, _ token: [UInt8], _ environment: SimulatedEnvironment) async ->
    String?

  let courier: Courier
  let clock: any WallClock
  let service: any PhoneService
  let underway = Underway()
  /// Connections for in-app messages, as apps hold them open.
  var lines: [LabApp: MessageLine] = [:]
  var nextLine: UInt64 = 0
  /// By the number of the line.
  var reconnects: [UInt64: Reconnect] = [:]
  private var residents: [String: Resident] = [:]
  private let (told, teller) = AsyncStream<LabEntry>.makeStream(bufferingPolicy: .bufferingNewest(4096))

  private struct Resident {
    var phone: Phone
    var connection: CourierConnection?
    /// Sleeps until the phone's next own event.
    var alarm: Task<Void, Never>?
    /// What happened since the last `take`.
    var entries: [TimelineEntry] = []
    var waiters: [Waiter] = []
    var environments: [String: SimulatedEnvironment] = [:]
  }

  private struct Waiter {
    var id: UInt64
    var isMet: @Sendable ([TimelineEntry]) -> Bool
    var resume: CheckedContinuation<Bool, Never>
  }

  private var nextWaiter: UInt64 = 0
  private var memory = PushMemory()
  /// Of the push that came last: the phones that a broadcast comes to share it, and it is read once.
  private var lastBody = PayloadBody([])

  public init(courier: Courier, clock: any WallClock, service: any PhoneService) {
    self.courier = courier
    self.clock = clock
    self.service = service
  }

  /// With a push service that takes tokens and does nothing else.
  public init(courier: Courier, clock: any WallClock, register: @escaping Registrar) {
    self.init(courier: courier, clock: clock, service: RegisteringService(registrar: register))
  }

  /// Everything that happens on every phone, for one listener: the last 4,096 entries wait for it. Ends with `close`.
  public nonisolated var entries: AsyncStream<LabEntry> { told }

  /// Names, sorted.
  public var names: [String] { residents.keys.sorted() }

  /// Puts a phone into the lab under a name that is also its device id at the courier. False: the name is taken.
  @discardableResult
  public func add(_ settings: PhoneSettings, named name: String) -> Bool {
    guard residents[name] == nil else { return false }
    residents[name] = Resident(phone: Phone(settings), connection: nil, alarm: nil)
    let (arrivals, stream) = AsyncStream<Arrival>.makeStream()
    let sink = Underway.Sink(underway: underway, stream: stream)
    residents[name]?.connection = courier.connect(
      device: name, keepsBudget: true, keepsActivities: true, onRenewal: { sink.yield(.renewals($0)) },
      onFate: { sink.yield(.fate($0)) }, onPush: { sink.yield(.push($0)) })
    if !settings.online { courier.setOnline(device: name, false) }
    Task { [weak self, underway] in
      for await arrival in arrivals {
        switch arrival {
        case .push(let push): await self?.deliver(push, to: name)
        case .renewals(let renewals): await self?.take(renewals, on: name)
        case .fate(let news): await self?.tell(news, to: name)
        }
        underway.end()
      }
    }
    return true
  }

  /// What the courier brings, in its order.
  private enum Arrival: Sendable {
    case push(DeliveredPush)
    case renewals([TokenRenewal])
    case fate(PushNews)
  }

  /// The phone as it stands, to be asked; nil: no such phone.
  public func phone(_ name: String) -> Phone? { residents[name]?.phone }

  /// The token that a push of that type goes to: PushKit's for VoIP; of Live Activities push-to-start for a `payload` that
  /// starts one, else the newest activity's. For want of one the app's; nil for an app without.
  public func token(
    for type: PushType, of bundleID: String, on name: String, carrying payload: [UInt8] = []
  ) -> [UInt8]? {
    guard let phone = residents[name]?.phone else { return nil }
    let own: [UInt8]? =
      switch type {
      case .voip: phone.voipToken(of: bundleID)
      case .liveactivity:
        Self.startedType(payload).flatMap { phone.pushToStartToken(of: bundleID, attributesType: $0) }
          ?? phone.liveActivities(of: bundleID).last { $0.token != nil }?.token
      case .alert, .background, .complication, .fileprovider, .mdm, .location, .pushtotalk, .controls, .widgets: nil
      }
    return own ?? phone.token(of: bundleID)
  }

  /// The attributes type of the Live Activity that a payload starts.
  private static func startedType(_ payload: [UInt8]) -> String? {
    guard let aps = (try? JSONReader.read(payload))?.value.object?["aps"]?.object, aps["event"]?.string == "start"
    else {
      return nil
    }
    return aps["attributes-type"]?.string
  }

  /// Lets an event happen and performs what the phone asks for. Token requests are answered before this returns.
  /// Nothing happens for a name that is not there.
  public func perform(_ event: Phone.Event, on name: String) {
    guard residents[name] != nil else { return }
    let effects = residents[name]?.phone.handle(event, at: clock.now) ?? []
    collect(name)
    for effect in effects { perform(effect, of: name) }
    setAlarm(name)
  }

  public func perform(_ events: [Phone.Event], on name: String) {
    for event in events { perform(event, on: name) }
  }

  /// APNs gives the app on a phone another token in the place of each that it has (D-046).
  public func renewTokens(of bundleID: String, on name: String) {
    courier.renewTokens(device: name, bundle: bundleID, reason: .osUpdate)
  }

  // MARK: for whoever moves the clock himself

  /// When the next thing happens on a phone by itself; nil: nothing waits for time.
  public var due: Instant? {
    (residents.values.compactMap(\.phone.due) + reconnects.values.map(\.at)).min()
  }

  /// Lets everything happen that is due by the clock, phone after phone by name.
  public func timePassed() {
    for (id, waiting) in reconnects where waiting.at <= clock.now { reconnect(id) }
    for name in names { perform(.timePassed, on: name) }
  }

  /// Returns once everything that couriers and push services had for the phones when it was called, and what came of it,
  /// has happened. Needs no time to pass.
  public func settle() async { await underway.wait() }

  /// What happened on a phone since the last call.
  public func take(from name: String) -> [TimelineEntry] {
    guard let entries = residents[name]?.entries else { return [] }
    residents[name]?.entries = []
    return entries
  }

  /// What all phones did with one push, oldest first, however often `take` was called: arrivals, what showed or did not,
  /// what the app's code was given. Of the last 8,192 such entries. `request` is its notification request's identifier; nil: it
  /// makes none.
  public func entries(of pushID: String, message: Int64, request: String?) -> [LabEntry] {
    memory.entries(of: pushID, message: message, request: request)
  }

  /// Returns true as soon as what happened since the last `take` satisfies `condition`, false when `limit` passes
  /// before, or for a name that is not there.
  public func wait(
    for name: String, within limit: Instant.Span, until condition: @escaping @Sendable ([TimelineEntry]) -> Bool
  ) async -> Bool {
    guard let entries = residents[name]?.entries else { return false }
    if condition(entries) { return true }
    nextWaiter += 1
    let id = nextWaiter
    let timer = Task { [clock, weak self] in
      guard (try? await clock.sleep(for: limit)) != nil else { return }
      await self?.giveUp(id, on: name)
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      residents[name]?.waiters.append(Waiter(id: id, isMet: condition, resume: continuation))
    }
  }

  /// Disconnects every phone and ends `entries`; whoever waits gets false.
  public func close() {
    for (name, resident) in residents {
      resident.connection?.disconnect()
      resident.alarm?.cancel()
      for waiter in resident.waiters { waiter.resume.resume(returning: false) }
      residents[name] = nil
    }
    for line in lines.values { shut(line) }
    lines = [:]
    teller.finish()
  }

  private func deliver(_ push: DeliveredPush, to name: String) {
    if lastBody.bytes != push.payload { lastBody = PayloadBody(push.payload) }
    perform(
      .push(
        DeliveredPayload(
          id: push.id, bundleID: push.bundleID, pushType: push.pushType, priority: push.priority,
          collapseID: push.collapseID, expiration: push.expiration.map { Instant(seconds: $0) },
          acceptedAt: push.receivedAt, token: push.token.isEmpty ? nil : push.token, channel: push.channelID,
          body: lastBody)),
      on: name)
  }

  /// What APNs did with a push before, or instead of, bringing it (D-047, D-349).
  private func tell(_ news: PushNews, to name: String) {
    perform(.pushFate(pushID: news.id, bundleID: news.bundleID, news.metric), on: name)
  }

  /// Apps have other tokens: each that runs is told at once, the others when they run again (D-044, D-046, D-048).
  private func take(_ renewals: [TokenRenewal], on name: String) {
    for renewal in renewals where residents[name]?.environments[renewal.bundleID] == renewal.environment {
      guard let kind = Phone.TokenKind(renewal.kind, renewal.detail) else { continue }
      perform(.issued(renewal.token, kind, to: renewal.bundleID), on: name)
    }
  }

  private func perform(_ effect: Phone.Effect, of name: String) {
    switch effect {
    case .registerForRemoteNotifications(let bundleID, let environment, let kind, let fresh):
      issueToken(to: bundleID, environment, kind, fresh: fresh, on: name)
    case .tokenAbandoned(let bundleID, _, let keepsWorking):
      if !keepsWorking { courier.uninstall(device: name, bundle: bundleID) }
    case .tokenEnded(_, let token, let kind): courier.endToken(token, reason: kind.end)
    case .subscribe(let bundleID, let environment, let channel):
      subscribe(bundleID, environment, to: channel, on: name)
    case .unsubscribe(let bundleID, let environment, let channel):
      guard let place = SimulatedEnvironment(environment) else { return }
      courier.unsubscribe(device: name, bundle: bundleID, environment: place, channel: channel)
    case .alertsAllowed(let bundleID, let isAllowed):
      courier.setAlertsAllowed(device: name, bundle: bundleID, isAllowed)
    case .connectionChanged(let online): courier.setOnline(device: name, online)
    case .handTokenToService(let bundleID, let token, let kind):
      hand(token, kind, residents[name]?.environments[bundleID] ?? .production, of: LabApp(name, bundleID))
    case .connectForMessages(let bundleID, let registrationID, let after):
      connect(LabApp(name, bundleID, registrationID), after: after)
    case .disconnectFromMessages(let bundleID): disconnect(LabApp(name, bundleID))
    case .fetchMessageHistory(let bundleID, let registrationID): fetchHistory(LabApp(name, bundleID, registrationID))
    case .changePreference(let bundleID, let registrationID, let onlyScheduled):
      changePreference(LabApp(name, bundleID, registrationID), onlyScheduled)
    // APNs counts a push as delivered that the phone, offline since a moment, could not take.
    case .notReached: break
    }
  }

  private func issueToken(
    to bundleID: String, _ environment: AppDescription.APSEnvironment, _ kind: Phone.TokenKind, fresh: Bool,
    on name: String
  ) {
    // The phone refuses an app without environment by itself (D-042).
    guard let place = SimulatedEnvironment(environment) else { return }
    residents[name]?.environments[bundleID] = place
    let token = courier.issueToken(
      device: name, bundle: bundleID, environment: place, kind: kind.atAPNs, detail: kind.detail, isFresh: fresh)
    perform(.issued(token, kind, to: bundleID), on: name)
  }

  private func subscribe(
    _ bundleID: String, _ environment: AppDescription.APSEnvironment, to channel: String, on name: String
  ) {
    guard let place = SimulatedEnvironment(environment),
      courier.subscribe(device: name, bundle: bundleID, environment: place, channel: channel)
    else {
      return perform(
        .channelRefused(bundleID: bundleID, channel: channel, reason: "APNs has no such channel of the app"), on: name)
    }
  }

  /// Moves what the phone told to the listener, the collection and the waiters.
  private func collect(_ name: String) {
    guard let new = residents[name]?.phone.takeTimeline(), !new.isEmpty else { return }
    residents[name]?.entries += new
    for entry in new {
      let told = LabEntry(phone: name, entry: entry)
      memory.note(told)
      teller.yield(told)
    }
    guard let resident = residents[name] else { return }
    for waiter in resident.waiters where waiter.isMet(resident.entries) {
      residents[name]?.waiters.removeAll { $0.id == waiter.id }
      waiter.resume.resume(returning: true)
    }
  }

  private func giveUp(_ id: UInt64, on name: String) {
    guard let index = residents[name]?.waiters.firstIndex(where: { $0.id == id }) else { return }
    residents[name]?.waiters.remove(at: index).resume.resume(returning: false)
  }

  private func setAlarm(_ name: String) {
    residents[name]?.alarm?.cancel()
    guard let due = residents[name]?.phone.due else {
      residents[name]?.alarm = nil
      return
    }
    let wait = max(due - clock.now, .milliseconds(0))
    residents[name]?.alarm = Task { [clock, weak self] in
      guard (try? await clock.sleep(for: wait)) != nil else { return }
      await self?.perform(.timePassed, on: name)
    }
  }
}

/// One thing that happened on one phone of the lab.
public struct LabEntry: Hashable, Sendable {
  public var phone: String
  public var entry: TimelineEntry

  public init(phone: String, entry: TimelineEntry) {
    self.phone = phone
    self.entry = entry
  }
}
