public import Basics

/// How connections of one client come to be: who looks names up, by which proxy, and which addresses were silent lately.
/// Callable from any thread; connections on any loop may share one.
public final class Dialer: Sendable {
  public let proxy: Proxy?
  let resolver: any NameResolver
  /// Between the starts of two attempts, by the loop's own time.
  let stagger: Instant.Span
  private let clock: any WallClock
  private let state: Locked<State>

  private struct State {
    var dice: Dice
    var dark = DarkAddresses()
  }

  /// - Parameters:
  ///   - stagger: how long an address is waited for before the next is tried beside it; RFC 8305 §5 recommends 250 ms.
  ///   - seed: of the chance by which connections spread over a host's addresses.
  ///   - clock: by which dark addresses are forgotten.
  public init(
    proxy: Proxy? = nil, resolver: any NameResolver = SystemResolver(), stagger: Instant.Span = .milliseconds(250),
    seed: UInt64 = .random(in: .min ... .max), clock: any WallClock = SystemClock()
  ) {
    self.proxy = proxy
    self.resolver = resolver
    self.stagger = stagger
    self.clock = clock
    state = Locked(State(dice: Dice(seed: seed)))
  }

  /// What was silent lately and is tried last. With a proxy these are addresses of the proxy.
  public var darkAddresses: [DarkAddress] {
    let uptime = clock.uptime
    return state.withLock { $0.dark.list(uptime: uptime) }
  }

  /// A connection to that address fell silent.
  public func note(dark address: Endpoint, why: String) {
    let (now, uptime) = (clock.now, clock.uptime)
    state.withLock { $0.dark.note(address, why: why, wall: now, uptime: uptime) }
  }

  /// It answered.
  public func note(answered address: Endpoint) { state.withLock { $0.dark.answered(address) } }

  func order(_ addresses: [Endpoint]) -> [Endpoint] {
    let uptime = clock.uptime
    return state.withLock { state in
      let dark = state.dark
      return AddressOrder.spread(addresses, isDark: { dark.isDark($0, uptime: uptime) }, dice: &state.dice)
    }
  }
}

/// The race of one connection, driven on its loop: an attempt is a `StreamConnection` of its own, and the winner's socket
/// and TLS become the connection's.
final class Dial {
  private unowned let owner: StreamConnection  // which holds this until it is open or closed
  private let dialer: Dialer
  private let tls: TLSClientContext?
  private let deadline: Int64
  private var addresses: [Endpoint] = []
  private var race = ConnectionRace(addresses: 0)
  private var attempts: [Int: StreamConnection] = [:]
  private var timer: LoopTimer?
  private var fault: TransportFault?

  /// - Parameter deadline: the loop's time by which some address must have taken the TCP connection.
  init(_ owner: StreamConnection, tls: TLSClientContext?, dialer: Dialer, deadline: Int64) {
    self.owner = owner
    self.tls = tls
    self.dialer = dialer
    self.deadline = deadline
  }

  func start() {
    let loop = owner.loop
    let host = dialer.proxy?.endpoint ?? owner.peer
    dialer.resolver.addresses(of: host, on: loop) { [weak self] result in
      guard let self, self.owner.state == .connecting else { return }
      switch result {
      case .success(let found):
        self.addresses = Array(self.dialer.order(found).prefix(16))
        self.owner.waitForRace()
        self.race = ConnectionRace(addresses: self.addresses.count, delay: self.dialer.stagger.milliseconds)
        if self.addresses.isEmpty { return self.owner.abort(self.noAddress(host)) }
        self.perform(self.race.start(at: loop.turnTime))
      case .failure(let fault): self.owner.abort(fault)
      }
    }
  }

  private func noAddress(_ host: Endpoint) -> TransportFault {
    TransportFault(
      .nameNotFound, at: host.description, what: "the host name has no address",
      remedy: "Check the spelling and the name server.")
  }

  private func handle(_ event: ConnectionRace.Event) { perform(race.handle(event, at: owner.loop.turnTime)) }

  private func perform(_ effects: [ConnectionRace.Effect]) {
    for effect in effects {
      switch effect {
      case .connect(let number): connect(number)
      case .cancel(let number): attempts.removeValue(forKey: number)?.letGo()
      case .silent(let number):
        if let attempt = attempts[number], !attempt.isBeyondProxy {
          dialer.note(dark: addresses[number], why: "said nothing while another address answered")
        }
      case .won(let number):
        guard let attempt = attempts.removeValue(forKey: number) else { return }
        timer?.cancel()
        dialer.note(answered: addresses[number])
        return owner.takeOver(attempt)
      case .lost:
        return owner.abort(fault ?? noAddress(owner.peer))
      }
    }
    guard let due = race.nextDue else { return }
    let loop = owner.loop
    timer?.cancel()
    timer = LoopTimer(loop: loop) { [weak self] in self?.handle(.tick) }
    timer?.start(after: .milliseconds(max(0, due - loop.turnTime)))
  }

  private func connect(_ number: Int) {
    let (loop, address) = (owner.loop, addresses[number])
    guard loop.turnTime < deadline || number == 0 else {
      nonisolated(unsafe) let dial = self  // runs on this loop
      return loop.execute { dial.handle(.failed(number)) }
    }
    attempts[number] = .attempt(
      at: address, for: owner.peer, place: place(address), tls: tls, proxy: dialer.proxy, on: loop,
      limits: owner.limits, deadline: deadline, handler: DialAttempt(self, number))
  }

  /// `api.push.apple.com:443 at 17.188.1.2:443`; by a proxy, the proxy is named.
  private func place(_ address: Endpoint) -> String {
    if let proxy = dialer.proxy {
      return address == proxy.endpoint
        ? "\(owner.peer) by proxy \(address)" : "\(owner.peer) by proxy \(proxy.endpoint) at \(address)"
    }
    return address == owner.peer ? "\(address)" : "\(owner.peer) at \(address)"
  }

  fileprivate func opened(_ number: Int) { handle(.through(number)) }

  fileprivate func failed(_ number: Int, _ fault: TransportFault) {
    guard let attempt = attempts.removeValue(forKey: number) else { return }
    defer { attempt.letGo() }
    switch fault.kind {
    case .timedOut, .connectionRefused, .unreachable, .connectionLost:
      if !attempt.isBeyondProxy { dialer.note(dark: addresses[number], why: fault.what) }
    case .addressInUse, .addressNotAvailable, .permissionDenied, .nameNotFound, .closedByPeer, .certificateExpired,
      .certificateNotYetValid, .certificateUntrusted, .certificateNameMismatch, .certificateRefused, .handshakeFailed,
      .applicationProtocolRefused, .proxyAuthentication, .proxyRefused, .protocolViolation, .limitExceeded,
      .outOfDescriptors, .stopped, .system:
      break
    }
    // the first that says more than "no answer" tells most
    if self.fault == nil || !fault.isSilence { self.fault = fault }
    handle(.failed(number))
  }

  /// Nobody waits any longer: what was tried has been silent.
  func note(silence why: String) {
    for (number, attempt) in attempts where !attempt.isBeyondProxy { dialer.note(dark: addresses[number], why: why) }
  }

  /// The connection is over: no attempt is of use any more.
  func cancel() {
    timer?.cancel()
    timer = nil
    let left = attempts
    attempts = [:]
    for attempt in left.values { attempt.letGo() }
  }
}

extension TransportFault {
  fileprivate var isSilence: Bool { if case .timedOut = kind { true } else { false } }
}

/// Hears one attempt until it wins or ends.
private final class DialAttempt: StreamHandler {
  private weak var dial: Dial?
  private let number: Int
  private var stream: StreamConnection?
  /// What came before our last words were out.
  private var early: [UInt8] = []

  init(_ dial: Dial, _ number: Int) {
    self.dial = dial
    self.number = number
  }

  func opened(_ stream: StreamConnection) {
    guard stream.isWritable else {
      self.stream = stream
      return stream.tellWhenWritable()
    }
    dial?.opened(number)
  }

  func received(_ bytes: UnsafeRawBufferPointer) { early.append(contentsOf: bytes) }

  func writable() {
    guard let stream else { return }
    self.stream = nil
    dial?.opened(number)
    guard let heir = stream.heir, !early.isEmpty else { return }
    early.withUnsafeBytes { heir.handler?.received($0) }
  }

  func receivedEnd() {
    dial?.failed(
      number, TransportFault(.closedByPeer, at: "connection", what: "the peer closed it", remedy: "Connect again."))
  }

  func timeCheck(now: Int64) -> Int64 { .max }

  func closed(_ fault: TransportFault) { dial?.failed(number, fault) }
}
