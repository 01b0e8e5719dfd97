import APNSClient
import APNSSimulator
import Basics
import Delivery
import Phone
import PhoneLab
import PushPayload
import Testing
import Transport

/// A simulated APNs over real TLS and HTTP/2, a provider's client, and a lab with phones. Stops when `run` returns.
struct LabScene: Sendable {
  static let bundle = "com.example.news"

  let simulator: APNSSimulator
  let client: APNSClient
  let loop: EventLoop
  let lab: PhoneLab
  /// What apps handed to their push service.
  let handed: Locked<[Handed]>

  struct Handed: Hashable, Sendable {
    var phone: String
    var token: [UInt8]
    var environment: SimulatedEnvironment
  }

  static func run(_ body: (LabScene) async throws -> Void) async throws {
    var configuration = APNSSimulator.Configuration()
    configuration.seed = 1
    configuration.goneDelay = .milliseconds(1) ... .milliseconds(2)
    let simulator = try await APNSSimulator.start(configuration)
    let loop = EventLoop(name: "provider")
    let credentials = simulator.credentials
    var settings = APNSClient.Configuration(
      server: APNSServer(simulator.productionEndpoint ?? simulator.endpoint),
      credential: .token(
        try ProviderKey(
          p8: credentials.signingKey.pem, keyID: credentials.keyID, teamID: credentials.teamID, name: "AuthKey.p8")))
    settings.trust = .pem(credentials.authority.pem)
    settings.seed = 1
    let client = try APNSClient(settings, clock: SystemClock(), loop: loop)
    let handed = Locked([Handed]())
    let lab = PhoneLab(courier: simulator.courier, clock: SystemClock()) { phone, _, token, environment in
      handed.withLock { $0.append(Handed(phone: phone, token: token, environment: environment)) }
      return "registration-of-\(phone)"
    }
    let scene = LabScene(simulator: simulator, client: client, loop: loop, lab: lab, handed: handed)
    func stop() async {
      await lab.close()
      await client.close(grace: .seconds(1))
      await simulator.stop()
      await loop.stop()
    }
    do { try await body(scene) } catch {
      await stop()
      throw error
    }
    await stop()
  }

  static var app: AppDescription {
    var app = AppDescription(bundleID: bundle, name: "News")
    app.delegate = .beforeLaunchEnds
    app.backgroundModes = [.remoteNotification]
    app.script[.didFinishLaunching] = [.askAndRegister(.usual)]
    app.script[.didRegisterForRemoteNotifications] = [.handTokenToService]
    return app
  }

  /// A phone with the app, allowed, known to the service, left in the background; answers its token.
  func phone(
    _ name: String, _ version: IOSVersion = IOSVersion(17), app: AppDescription = Self.app,
    _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) async -> [UInt8] {
    var settings = PhoneSettings(iosVersion: version)
    adjust(&settings)
    await lab.add(settings, named: name)
    await lab.perform(
      [.installApp(app), .launch(bundleID: Self.bundle), .answerPrompt(allow: true), .home], on: name)
    _ = await lab.wait(for: name, within: .seconds(20)) { entries in entries.contains { $0.rule == "D-018" } }
    return await lab.phone(name)?.token(of: Self.bundle) ?? []
  }

  func push(_ payload: JSONValue, to token: [UInt8], id: Int, _ type: PushType = .alert) async -> PushOutcome? {
    await push(payload.encoded(), to: token, id: id, type)
  }

  func push(_ body: [UInt8], to token: [UInt8], id: Int, _ type: PushType) async -> PushOutcome? {
    await client.send([
      OutgoingPush(
        id: Self.pushID(id), token: token, topic: Self.bundle, pushType: type,
        priority: type == .background ? .considerate : .immediate, expiration: nil, collapseID: nil,
        payload: body)
    ]).first
  }

  /// The `apns-id` of the push of that number, 0 … 9.
  static func pushID(_ id: Int) -> String { "00000000-0000-4000-8000-00000000000\(id)" }

  /// A client for channels and broadcasts of the app; close it.
  func channels() throws -> APNSChannels {
    let manage = try #require(simulator.productionManageEndpoint)
    let credentials = simulator.credentials
    var settings = APNSChannels.Configuration(
      bundleID: Self.bundle,
      server: BroadcastServer(
        manage: APNSServer(manage), send: APNSServer(simulator.productionEndpoint ?? simulator.endpoint)),
      credential: .token(
        try ProviderKey(
          p8: credentials.signingKey.pem, keyID: credentials.keyID, teamID: credentials.teamID, name: "AuthKey.p8")))
    settings.trust = .pem(credentials.authority.pem)
    settings.seed = 1
    return try APNSChannels(settings, clock: SystemClock(), loop: loop)
  }

  /// True as soon as something of that kind was told of the phone.
  func told(_ name: String, _ what: String) async -> Bool {
    await lab.wait(for: name, within: .seconds(20)) { entries in entries.contains { $0.what.name == what } }
  }
}

extension PushOutcome {
  var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
