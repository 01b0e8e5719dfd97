import APNSClient
import APNSSimulator
import Audience
import Basics
import Bus
import Delivery
import Gateway
import HTTPAPI
import Messages
import PushPayload
import PushService
import Store
import StoreSQLite
import Transport

/// The parts of `belfry serve`, joined: the only place that knows which engine stands behind which contract.
struct ServiceHost {
  let store: StoreSQLite
  let service: PushService
  let server: HTTPServer
  /// Of `/device/v1` alone; nil: none is wanted.
  let deviceServer: HTTPServer?
  /// nil: none is wanted.
  let gateway: Gateway?
  /// `http` or `https`.
  let deviceScheme: String
  /// `ws` or `wss`.
  let gatewayScheme: String
  let senders: Senders
  /// In this process; nil when pushes go elsewhere.
  let simulator: APNSSimulator?
  /// What is known of pushes after the simulator took them.
  let witness: SimulatedWitness?
  let loops: LoopGroup
  let clock: any WallClock
  let log: ServiceLog
  /// Credentials that come from no file and no store: the simulator's own.
  let madeEntries: [Senders.Entry]
  let keys: ProviderKeys
  /// An element for each change of the credentials in the store by this process.
  let credentialChanges: AsyncStream<Void>

  /// Starts everything, lowest first; what was started is stopped again when a later part fails.
  static func start(_ configuration: ServeConfiguration, log: ServiceLog) async throws -> ServiceHost {
    let listen = try endpoint(configuration.listen.value, of: "listen")
    let deviceListen = try configuration.deviceListen.value.map { try endpoint($0, of: "deviceListen") }
    let deviceIdentity = try identity(configuration.deviceIdentity.value, of: "deviceIdentity")
    let clock = SystemClock()
    let data = Files.absolute(configuration.data.value)  // what is told of its files holds for every reader
    try Files.makeFolder(data)
    let store: StoreSQLite
    do { store = try await StoreSQLite.open(folder: data) } catch {
      throw CommandFault(dataFolder: data, error)
    }
    let loops = LoopGroup(count: 2)
    var simulator: APNSSimulator?
    do {
      let keys = ProviderKeys()
      let (destination, named, made, started) = try await destination(configuration, keys, data: data)
      simulator = started
      var retry = RetryPolicy.Settings()
      if let minutes = configuration.serverFaultMinutes.value, minutes > 0 {
        retry.serverFaults = .after(.minutes(Int64(minutes)))
      }
      let senders = Senders(destination, named + made, retry: retry, clock: clock, loops: loops) { event, key in
        log.client(event, credential: key?.name, environment: key?.environment)
      }
      let (credentialChanges, credentialChanged) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      let witness = started.map(SimulatedWitness.init)
      let gateway = Locked<Gateway?>(nil)  // it authenticates by the service, and is asked by it
      let service = PushService(
        store: store, bus: InProcessBus(clock: clock), clock: clock,
        seed: UInt64.random(in: 0...UInt64.max), limits: configuration.limits.value.devices,
        scheduling: Scheduling(configuration.schedules.value),
        retention: configuration.retention.value,
        senders: { await senders.sender(for: $0, $1) }, broadcasts: { await senders.channels(for: $0, $1) },
        inApp: configuration.gateway.value == nil
          ? nil
          : InAppWay(
            connected: { app in gateway.withLock { $0 }?.connected(app: app) ?? DeviceSet() },
            isConnected: { app, ordinal in
              gateway.withLock { $0 }?.isConnected(SessionDevice(app: app, ordinal: ordinal))
            }), witness: witness,
        sealing: try SealingKey.read(SealingKey.Source(processEnvironment()), dataFolder: data),
        credentialReader: CredentialFiles(), webhooking: Webhooking(configuration.webhooks.value),
        onEvent: { event in
          log.service(event)
          if case .credentialChanged = event { credentialChanged.yield() }
        })
      let stored = try await entries(inStoreOf: service, keys)
      _ = await senders.replace(named + stored + made)
      if (named + stored + made).isEmpty { log.noCredentials(configuration) }
      try await service.start()
      do {
        var settings = HTTPAPI.Settings()
        settings.rateLimits = configuration.limits.value.rates
        if let zone = service.scheduling?.zone(configuration.schedules.value.timeZone) { settings.jpushZone = zone }
        settings.health = { ["apns": .array(await senders.health())] }
        let started = try await startGateway(configuration, service, store, loops: loops, clock: clock)
        gateway.withLock { $0 = started }
        settings.metrics = { await senders.metrics() + (started?.metrics ?? []) }
        let api = HTTPAPI(service: service, clock: clock, settings: settings)
        let deviceServer = try deviceListen.map { try api.serve(.devices, on: $0, tls: deviceIdentity) }
        let server: HTTPServer
        do { server = try api.serve(on: listen) } catch {
          await deviceServer?.stop()
          throw error
        }
        return ServiceHost(
          store: store, service: service, server: server, deviceServer: deviceServer, gateway: started,
          deviceScheme: deviceIdentity == nil ? "http" : "https",
          gatewayScheme: configuration.gatewayIdentity.value == nil ? "ws" : "wss", senders: senders,
          simulator: simulator, witness: witness,
          loops: loops, clock: clock, log: log,
          madeEntries: made, keys: keys, credentialChanges: credentialChanges)
      } catch {
        await service.stop()
        throw error
      }
    } catch {
      await simulator?.stop()
      await loops.stop()
      await store.close()
      throw error
    }
  }

  /// Ends what was started, highest first: no new calls, then no new sends, then every push that left is answered.
  func stop() async {
    await server.stop()
    await deviceServer?.stop()
    await gateway?.stop()
    await service.stop()
    await senders.close()
    await simulator?.stop()
    await loops.stop()
    await store.close()
  }

  /// What replaces credentials while the service runs: the files that `configuration` names, and its own if it has one.
  func watch(_ configuration: ServeConfiguration) -> CredentialWatch {
    let named: @Sendable () throws -> [ServeConfiguration.Credential] = {
      guard case .file(let path) = configuration.credentials.origin else { return configuration.credentials.value }
      return try ServeConfiguration.credentials(inFile: path)
    }
    return CredentialWatch(
      senders: senders, clock: clock, log: log,
      files: {
        var paths: [String] = []
        if case .file(let path) = configuration.credentials.origin { paths.append(path) }
        for credential in (try? named()) ?? [] {
          paths += [credential.key, credential.certificate, credential.passwordFile].compactMap { $0 }
        }
        return paths
      },
      versions: { [service] in try? await service.credentialVersions() },
      read: { [madeEntries, keys, service] in
        try await Senders.entries(try named(), keys) + Self.entries(inStoreOf: service, keys) + madeEntries
      },
      resume: { [senders, service] in
        let resumed = await senders.resume()
        await service.resume()
        return resumed
      })
  }

  var address: String { "http://\(server.endpoint)" }

  /// Throws naming the app when one does not open under the sealing key of this process.
  private static func entries(inStoreOf service: PushService, _ keys: ProviderKeys) async throws -> [Senders.Entry] {
    let open: [OpenCredential]
    do throws(RequestFault) { open = try await service.openCredentials() } catch { throw CommandFault("\(error)") }
    return try Senders.entries(open, keys)
  }

  /// Where pushes go, with the credentials of the configuration, and those of a simulator that was started for it.
  private static func destination(
    _ configuration: ServeConfiguration, _ keys: ProviderKeys, data: String
  ) async throws -> (Senders.Destination, named: [Senders.Entry], made: [Senders.Entry], APNSSimulator?) {
    let trust: TLSClientContext.Trust = try configuration.trust.value.map { .pem(try Files.read($0)) } ?? .system
    let named = try Senders.entries(configuration.credentials.value, keys)
    switch configuration.apns.value {
    case "simulator":
      var settings = APNSSimulator.Configuration()
      settings.dataFolder = data + "/apns"
      let simulator: APNSSimulator
      do { simulator = try await APNSSimulator.start(settings) } catch { throw CommandFault("\(error)") }
      let credentials = simulator.credentials
      let everyApp = try Senders.Entry.everyApp(
        p8: credentials.signingKey.pem, keyID: credentials.keyID, teamID: credentials.teamID,
        name: credentials.files?.signingKey ?? "the simulator's key")
      let destination = Senders.Destination(
        sandbox: APNSServer(simulator.endpoint),
        production: APNSServer(simulator.productionEndpoint ?? simulator.endpoint),
        trust: .pem(credentials.authority.pem),
        manage: simulator.manageEndpoint.map { sandbox in
          (APNSServer(sandbox), APNSServer(simulator.productionManageEndpoint ?? sandbox))
        })
      return (destination, named, [everyApp], simulator)
    case "sandbox", "production":
      // Each device says which of Apple's two services its token is of; a push goes to that one.
      return (
        .init(
          sandbox: .sandbox, production: .production, trust: trust, proxy: configuration.proxy.value,
          manage: (BroadcastServer.sandbox.manage, BroadcastServer.production.manage)), named, [], nil
      )
    default:
      let server = try server(configuration.apns.value, of: "apns")
      let manage = try configuration.apnsManage.value.map { try self.server($0, of: "apnsManage") }
      return (
        .init(
          sandbox: server, production: server, trust: trust, proxy: configuration.proxy.value,
          manage: manage.map { ($0, $0) }), named, [], nil
      )
    }
  }

  static func endpoint(_ address: String, of setting: String) throws(UsageFault) -> Endpoint {
    guard let endpoint = Endpoint(address) else {
      throw UsageFault("\(setting): '\(address)' is no HOST:PORT, as 127.0.0.1:8080 or [::1]:8080")
    }
    return endpoint
  }

  /// Of a PEM file with certificate, chain and key.
  static func identity(_ path: String?, of setting: String) throws -> TLSIdentity? {
    guard let path else { return nil }
    do { return try TLSIdentity(pem: Files.read(path)) } catch let fault as TLSFault {
      throw CommandFault("\(setting): \(path): \(fault)")
    }
  }

  private static func server(_ address: String, of setting: String) throws(UsageFault) -> APNSServer {
    do throws(APNSServerFault) { return try APNSServer(address) } catch { throw UsageFault("\(setting): \(error)") }
  }
}

extension ServiceLog {
  /// Neither the configuration nor the store has any.
  fileprivate func noCredentials(_ configuration: ServeConfiguration) {
    tell(
      .warning, "no_credentials",
      """
      apns is '\(configuration.apns.value)' and there is no credential yet, so pushes wait: 'belfry credentials add' or \
      POST /v1/credentials brings one while the service runs
      """)
  }
}
