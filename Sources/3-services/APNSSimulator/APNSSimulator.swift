public import Basics
public import PushPayload
public import Transport

/// Apple's push service, simulated: providers connect over TLS and HTTP/2 as they do to Apple, pushes are judged, stored
/// and expired as Apple does, and couriers bring them to phones. Which rules are Apple's and which are our choices is
/// told in docs/apns-simulator.md.
///
/// Everything here may be called from any thread. Runs until `stop`.
public final class APNSSimulator: Sendable {
  /// The sandbox, unless the client asks for the host `api.push.apple.com`.
  public let endpoint: Endpoint
  /// Production whatever the host.
  public let productionEndpoint: Endpoint?
  /// Where channels are managed, of the sandbox and of production.
  public let manageEndpoint: Endpoint?
  public let productionManageEndpoint: Endpoint?
  /// The control API and `/courier`.
  public let controlEndpoint: Endpoint?
  /// The CONNECT proxy.
  public let proxyEndpoint: Endpoint?
  public let credentials: SimulatorCredentials
  public let courier: Courier

  let core: SimulatorCore
  private let loops: LoopGroup
  private let listeners: [HTTP2Listener]
  private let control: ControlAPI?
  private let proxy: ConnectProxy?
  private let keeper: StoreKeeper?
  private let lock: FolderLock?

  private init(
    core: SimulatorCore, credentials: SimulatorCredentials, loops: LoopGroup, sandbox: HTTP2Listener,
    production: HTTP2Listener?, management: [SimulatedEnvironment: HTTP2Listener], control: ControlAPI?,
    proxy: ConnectProxy?, keeper: StoreKeeper?,
    lock: FolderLock?
  ) {
    self.core = core
    self.credentials = credentials
    self.loops = loops
    self.control = control
    self.proxy = proxy
    proxyEndpoint = proxy?.endpoint
    self.keeper = keeper
    self.lock = lock
    endpoint = sandbox.endpoint
    productionEndpoint = production?.endpoint
    controlEndpoint = control?.endpoint
    manageEndpoint = management[.sandbox]?.endpoint
    productionManageEndpoint = management[.production]?.endpoint
    listeners = [sandbox] + (production.map { [$0] } ?? []) + management.values
    courier = Courier(core: core)
  }

  /// Apple's hosts of device pushes, broadcasts and channels.
  static let appleNames = [
    "api.sandbox.push.apple.com", "api.development.push.apple.com", "api.push.apple.com",
    "api-broadcast.sandbox.push.apple.com", "api-broadcast.push.apple.com", ManagementConnection.sandboxName,
    ManagementConnection.productionName,
  ]
  /// The names that the server's certificate is for, beside the address that it listens on.
  static let serverNames = ["localhost", "127.0.0.1", "::1"] + appleNames

  /// Returns once every port is open. Throws `TransportFault` for an address that cannot be had, `SimulatorFault` for a
  /// data folder that cannot be used, `TLSFault` and `KeyFault` for files in it that cannot be read; nothing runs then.
  public static func start(_ configuration: Configuration = Configuration()) async throws -> APNSSimulator {
    let folder = try configuration.dataFolder.map { path throws(SimulatorFault) in try PrivateFolder(path) }
    let lock = try folder.map { folder throws(SimulatorFault) in try FolderLock(folder) }
    let store = try folder.map { folder throws(SimulatorFault) in
      try folder.prepare("simulator.sqlite")
      return try SimulatorStore(path: folder.path(of: "simulator.sqlite"))
    }
    let seed = configuration.seed ?? UInt64.random(in: 0...UInt64.max)
    let time = SystemClock().now
    let credentials = try SimulatorCredentials.load(
      folder: folder, store: store, bundleID: configuration.bundleID, now: time)
    var state = ServiceState(rules: configuration.stateRules, seed: seed)
    try store?.restore(into: &state, now: configuration.clock.now)
    let keeper = store.map { StoreKeeper($0) }
    let core = SimulatorCore(
      configuration: configuration, seed: seed, state: state, keys: [credentials.providerKey] + configuration.keys,
      kept: try store?.providers() ?? .init(), keeper: keeper)
    keeper?.serve(core)
    core.wake()
    let loops = LoopGroup(count: configuration.loops)
    do {
      let tls = try tlsContext(credentials.authority, listen: configuration.listen, now: time)
      func bind(_ endpoint: Endpoint, _ environment: SimulatedEnvironment) async throws(TransportFault) -> HTTP2Listener
      {
        try await listener(
          endpoint, environment, core: core, loops: loops, tls: tls, limits: configuration.limits, seed: seed)
      }
      let sandbox = try await bind(configuration.listen, .sandbox)
      var production: HTTP2Listener?
      if let endpoint = configuration.productionListen { production = try await bind(endpoint, .production) }
      var management: [SimulatedEnvironment: HTTP2Listener] = [:]
      for (endpoint, environment) in [
        (configuration.channels.listen, SimulatedEnvironment.sandbox),
        (configuration.channels.productionListen, .production),
      ] {
        guard let endpoint else { continue }
        management[environment] = try await manager(
          endpoint, environment, core: core, loops: loops, tls: tls, seed: seed)
      }
      var control: ControlAPI?
      if let endpoint = configuration.control {
        var listening: JSONObject = ["apns": .string("https://\(sandbox.endpoint.reachable)")]
        listening["production"] = production.map { .string("https://\($0.endpoint.reachable)") }
        for (environment, name) in [(SimulatedEnvironment.sandbox, "manage"), (.production, "productionManage")] {
          listening[name] = management[environment].map { .string("https://\($0.endpoint.reachable)") }
        }
        control = try ControlAPI.start(
          endpoint, core: core, credentials: credentials, keeper: keeper, loops: loops, listening: listening)
      }
      var proxy: ConnectProxy?
      if let endpoint = configuration.proxy {
        let places: [SimulatedEnvironment: Endpoint] = [
          .sandbox: sandbox.endpoint.reachable, .production: (production ?? sandbox).endpoint.reachable,
        ]
        let managers = management.mapValues(\.endpoint.reachable)
        proxy = try await .bind(endpoint, loops: loops) { wanted in
          if wanted.host == ManagementConnection.sandboxName { return managers[.sandbox] }
          if wanted.host == ManagementConnection.productionName { return managers[.production] }
          return SimulatedEnvironment(host: Array(wanted.host.utf8)[...]).flatMap { places[$0] }
        }
      }
      return APNSSimulator(
        core: core, credentials: credentials, loops: loops, sandbox: sandbox, production: production,
        management: management, control: control, proxy: proxy, keeper: keeper, lock: lock)
    } catch {
      core.stop()
      await loops.stop()
      await keeper?.stop()
      throw error
    }
  }

  /// Says GOAWAY to providers, lets them finish for at most `grace`, writes what is not written, and closes all.
  public func stop(grace: Instant.Span = .seconds(1)) async {
    core.stop()
    core.faults.stop()
    await control?.stop()
    await proxy?.stop()
    for listener in listeners { await listener.stop(grace: grace) }
    await keeper?.stop()
    await loops.stop()
    lock?.release()
  }

  // MARK: In-process control

  /// The token of an app on a device: the same as before while the app stays installed.
  public func issueToken(
    device: String, bundle: String, environment: SimulatedEnvironment = .sandbox, kind: TokenKind = .app
  ) -> [UInt8] {
    courier.issueToken(device: device, bundle: bundle, environment: environment, kind: kind)
  }

  /// Ends one token as of `since`; false for one that was never issued. 410 at the very next push when `isToldAtOnce`,
  /// else the next push that reaches the phone is still taken and 410 begins within `Configuration.goneDelay` after it.
  @discardableResult
  public func end(
    token: [UInt8], reason: RefusalReason = .unregistered, since: Instant? = nil, isToldAtOnce: Bool = false
  ) -> Bool {
    core.withState { state, now in
      state.end(token, reason: reason, since: since ?? now, isToldAtOnce: isToldAtOnce, now: now) != nil
    }
  }

  /// Pushes taken, oldest first, at most `Configuration.logCapacity`.
  public var notifications: [LoggedNotification] {
    core.withState { state, now in
      return state.notifications.all
    }
  }

  /// Pushes refused, oldest first, at most 1,000.
  public var refusals: [LoggedRefusal] { core.withState { state, _ in state.refusals.all } }

  public func clearNotifications() { core.withState { state, _ in state.clearNotifications() } }

  /// Delivers by other rules from now on, also what waits.
  public func setDelivery(_ rules: DeliveryRules) { core.setDelivery(rules) }

  /// Makes another key known, as the developer site would.
  public func add(_ key: ProviderKey) {
    core.providers.add(key)
    keeper?.writeLater()
  }

  /// Connections that already use the key go on until they close. With a data folder it stays revoked after a restart.
  @discardableResult
  public func revokeKey(_ keyID: String) -> Bool {
    defer { keeper?.writeLater() }
    return core.providers.revokeKey(keyID)
  }

  // MARK: Faults

  /// Puts these troubles in place of all that were; counters begin anew. Takes effect for the next request, and at once
  /// for lasting states (bandwidth, stream limits).
  public func setFaults(_ rules: [FaultRule]) { core.faults.set(rules) }

  /// The rules in force, in their order, with how often each applied.
  public var faults: [FaultStanding] { core.faults.standings }

  /// What `Configuration.Faults.seed` was, or the one that was thrown: given again, it repeats the faults.
  public var faultSeed: UInt64 { core.faults.seed }

  /// Faults that happened, oldest first, at most 1,000.
  public var appliedFaults: [AppliedFault] { core.faults.applied }

  /// Reads the rules again from where they came (`Configuration.Faults.reload`); throws what is wrong there and then
  /// leaves the former in force. nil when they came from no file.
  @discardableResult
  public func reloadFaults() throws -> [FaultRule]? { try core.faults.readAgain() }

  // MARK: Start

  private static func tlsContext(
    _ authority: CertificateAuthority, listen: Endpoint, now: Instant
  ) throws(TLSFault) -> TLSServerContext {
    let names = serverNames + (serverNames.contains(listen.host) ? [] : [listen.host])
    let identity = try authority.issueServer(names: names, notBefore: now - .days(1), notAfter: now + .days(800))
    return try TLSServerContext(
      identity: identity, clientCertificates: .optional(authorities: authority.pem))
  }

  private static func listener(
    _ endpoint: Endpoint, _ environment: SimulatedEnvironment, core: SimulatorCore, loops: LoopGroup,
    tls: TLSServerContext, limits: Limits, seed: UInt64
  ) async throws(TransportFault) -> HTTP2Listener {
    var settings = HTTP2Settings.server
    settings.maximumConcurrentStreams = limits.standing.firstLimit
    var http = HTTP2Limits()
    http.idleTimeout = limits.idleTimeout
    http.refusesOverrun = limits.overrun == .refuse
    let seeds = Locked(Dice(seed: seed ^ UInt64(environment == .sandbox ? 1 : 2)))
    return try await HTTP2Listener.bind(
      endpoint, loops: loops, tls: tls, settings: settings, limits: http,
      admit: { _ in core.faults.admission(to: environment, .push) },
      makeHandler: { connection in
        ProviderConnection(
          connection, core: core, environment: environment, limits: limits,
          seed: seeds.withLock { $0.next() })
      })
  }

  private static func manager(
    _ endpoint: Endpoint, _ environment: SimulatedEnvironment, core: SimulatorCore, loops: LoopGroup,
    tls: TLSServerContext, seed: UInt64
  ) async throws(TransportFault) -> HTTP2Listener {
    var settings = HTTP2Settings.server
    settings.maximumConcurrentStreams = ManagementConnection.streams
    let seeds = Locked(Dice(seed: seed ^ UInt64(environment == .sandbox ? 3 : 4)))
    return try await HTTP2Listener.bind(
      endpoint, loops: loops, tls: tls, settings: settings,
      admit: { _ in core.faults.admission(to: environment, .manage) },
      makeHandler: { connection in
        ManagementConnection(connection, core: core, environment: environment, seed: seeds.withLock { $0.next() })
      })
  }
}
