import APNSClient
import APNSSimulator
import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing
import Transport

@testable import belfry

@Suite("Credentials replaced while serve runs", .timeLimit(.minutes(1)))
struct CredentialWatchTests {
  /// A simulated APNs, and senders whose key lies in a file.
  struct Scene {
    let simulator: APNSSimulator
    let loops = LoopGroup(count: 1)
    let senders: Senders
    let watch: CredentialWatch
    let lines = Locked([String]())
    let folder: String
    var keyFile: String { folder + "/key.p8" }

    init() async throws {
      let simulator = try await APNSSimulator.start(.init())
      let folder = try Files.temporaryFolder("belfry-watch")
      (self.simulator, self.folder) = (simulator, folder)
      let keyFile = folder + "/key.p8"
      try Files.writePrivate(String(decoding: simulator.credentials.signingKey.pem, as: UTF8.self), to: keyFile)
      let named = try ServeConfigurationTests.credential(
        bundle: "*", key: keyFile, keyID: simulator.credentials.keyID, teamID: simulator.credentials.teamID)
      let server = APNSServer(simulator.endpoint)
      let log = ServiceLog(clock: SystemClock(), isVerbose: false) { [lines] line in lines.withLock { $0.append(line) }
      }
      senders = Senders(
        .init(sandbox: server, production: server, trust: .pem(simulator.credentials.authority.pem)),
        try Senders.entries([named]), clock: SystemClock(), loops: loops
      ) { event, key in log.client(event, credential: key?.name, environment: key?.environment) }
      watch = CredentialWatch(
        senders: senders, clock: SystemClock(), log: log, files: { [keyFile] }, read: { try Senders.entries([named]) })
    }

    /// The answer to one push; a token that nobody has shows that the credential is taken.
    func answer() async throws -> PushOutcome {
      let app = AppRecord(id: 1, key: "a", bundleID: "com.example.app", name: nil)
      let sender = try #require(await senders.sender(for: app, .sandbox))
      var push = PushCommandTests.push
      (push.payload, push.token, push.expiration) = (Array("{}".utf8), [UInt8](repeating: 1, count: 32), nil)
      return await sender.send([push])[0]
    }

    func log(_ event: String) -> [String] { lines.withLock { $0.filter { $0.contains("\"event\":\"\(event)\"") } } }

    func stop() async {
      await senders.close()
      await simulator.stop()
      await loops.stop()
      Files.remove(folder)
    }
  }

  static func reason(_ outcome: PushOutcome) -> String {
    if case .refused(let refusal) = outcome { refusal.reason } else { "\(outcome)" }
  }

  @Test("a key that APNs does not know does not take over; one that cannot be read changes nothing; both are told")
  func badKeys() async throws {
    let scene = try await Scene()
    #expect(Self.reason(try await scene.answer()) == "BadDeviceToken")
    await scene.watch.reread(why: "test")
    #expect(scene.log("credentials_read").last?.contains("none has changed") == true)

    try Files.writePrivate(String(decoding: P256PrivateKey.generate().pem, as: UTF8.self), to: scene.keyFile)
    await scene.watch.reread(why: "test")
    #expect(
      await eventually {
        guard let outcome = try? await scene.answer() else { return false }
        return Self.reason(outcome) == "BadDeviceToken" && scene.log("apns_held").count == 1
      })
    #expect(scene.log("apns_held").first?.contains("does not take over") == true)

    try Files.writePrivate("remember the milk", to: scene.keyFile)
    await scene.watch.reread(why: "test")
    #expect(scene.log("credentials_unreadable").first?.contains("key.p8: this is no PEM text") == true)
    #expect(Self.reason(try await scene.answer()) == "BadDeviceToken")
    for line in scene.lines.withLock({ $0 }) { #expect(try JSONReader.read(Array(line.utf8)).value.object != nil) }
    await scene.stop()
  }

  @Test("C26 SIGHUP has a held credential try again at once, health says how; a file's change alone does not")
  func resumes() async throws {
    let scene = try await Scene()
    let clock = VirtualClock(now: SystemClock().now + .hours(-2))
    let server = APNSServer(scene.simulator.endpoint)
    let senders = Senders(
      .init(sandbox: server, production: server, trust: .pem(scene.simulator.credentials.authority.pem)),
      try await scene.watch.read(), clock: clock, loops: scene.loops, tell: { _, _ in })
    let app = AppRecord(id: 1, key: "a", bundleID: "com.example.app", name: nil)
    let sender = try #require(await senders.sender(for: app, .sandbox))
    var push = PushCommandTests.push
    (push.payload, push.token, push.expiration) = (Array("{}".utf8), [UInt8](repeating: 1, count: 32), nil)
    // the clock is two hours behind: every provider token is too old
    let first = await sender.send([push])[0]
    #expect(Self.reason(first).contains("suspended"), "\(first)")
    let health = JSONValue.array(await senders.health()).text
    #expect(health.contains(#""credential":"held""#) && health.contains("SIGHUP"), "\(health)")
    let watch = CredentialWatch(
      senders: senders, clock: clock, log: scene.watch.log, files: { [] }, read: scene.watch.read,
      resume: { await senders.resume() })
    clock.advance(by: .hours(2))
    await watch.reread(why: "a file changed")
    #expect(scene.log("credentials_read").last?.contains(#""resumed":[]"#) == true)
    await watch.reread(why: "SIGHUP", resumes: true)
    #expect(scene.log("credentials_read").last?.contains(#""resumed":["* sandbox"]"#) == true)
    #expect(Self.reason(await sender.send([push])[0]) == "BadDeviceToken")
    #expect(await senders.resume() == [], "nothing is held any more")
    await senders.close()
    await scene.stop()
  }

  @Test("a file that changes on disk is seen, and SIGHUP is heeded")
  func seesChanges() async throws {
    let scene = try await Scene()
    #expect(Self.reason(try await scene.answer()) == "BadDeviceToken")
    let (hangups, hangup) = AsyncStream<Void>.makeStream()
    let clock = VirtualClock()
    let watch = CredentialWatch(
      senders: scene.senders, clock: clock, log: scene.watch.log, files: scene.watch.files, read: scene.watch.read)
    let running = Task { await watch.run(hangups: hangups) }
    hangup.yield()
    #expect(await eventually { scene.log("credentials_read").count == 1 })
    #expect(await eventually { clock.sleeperCount == 1 })
    clock.advance(by: CredentialWatch.period)
    #expect(await eventually { clock.sleeperCount == 1 })
    #expect(scene.log("credentials_read").count == 1, "nothing changed")
    let pem = String(decoding: scene.simulator.credentials.signingKey.pem, as: UTF8.self)
    try Files.writePrivate(pem + "\n", to: scene.keyFile)
    clock.advance(by: CredentialWatch.period)
    #expect(await eventually { scene.log("credentials_read").count == 2 })
    #expect(
      await eventually {
        _ = try? await scene.answer()
        return scene.log("credential_rotated").count == 1
      })
    running.cancel()
    hangup.finish()
    await running.value
    await scene.stop()
  }

  @Test("a change in the store is seen within five seconds whoever made it, and at once when this process did")
  func store() async throws {
    let scene = try await Scene()
    let clock = VirtualClock()
    let versions = Locked<[Int64: Int64]?>([1: 1])
    let (hangups, hangup) = AsyncStream<Void>.makeStream()
    let (changes, change) = AsyncStream<Void>.makeStream()
    var watch = CredentialWatch(
      senders: scene.senders, clock: clock, log: scene.watch.log, files: { [] },
      versions: { versions.withLock { $0 } }, read: scene.watch.read)
    watch.resume = { ["resumed"] }
    let running = Task { [watch] in await watch.run(hangups: hangups, changes: changes) }
    for (now, reads) in [([1: 1], 0), (nil, 0), ([1: 2], 1), ([1: 2], 1), ([1: 2, 2: 1], 2)] as [([Int64: Int64]?, Int)]
    {
      #expect(await eventually { clock.sleeperCount == 1 })
      versions.withLock { $0 = now }
      clock.advance(by: CredentialWatch.period)
      #expect(await eventually { clock.sleeperCount == 1 && scene.log("credentials_read").count == reads }, "\(reads)")
    }
    change.yield()
    #expect(await eventually { scene.log("credentials_read").count == 3 })
    #expect(scene.log("credentials_read").allSatisfy { $0.contains(#""resumed":["resumed"]"#) })
    running.cancel()
    hangup.finish()
    change.finish()
    await running.value
    await scene.stop()
  }
}
