import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

@Suite("What a 200 promises")
struct DurabilityTests {
  private static func copy(_ names: [String], from one: String, to other: String) throws {
    for name in names {
      guard let bytes = try PrivateFolder(one).read(name) else { continue }
      try PrivateFolder(other).write(bytes, to: name)
    }
  }

  @Test("what waits is in the file when 200 is read: the files of that moment are enough to deliver it")
  func killed() async throws {
    try await withFolder { path in
      try await withFolder { copy in
        try await LiveScene.run({ $0.dataFolder = path }) { scene in
          let simulator = scene.simulator
          let provider = try await scene.provider()
          let fields = [scene.authorization(), ("apns-topic", "com.example.app")]
          var tokens: [[UInt8]] = []
          for number in 0..<20 {
            tokens.append(simulator.issueToken(device: "phone \(number)", bundle: "com.example.app"))
            simulator.courier.setOnline(device: "phone \(number)", false)
          }
          for token in tokens {
            #expect(await provider.send("/3/device/\(token.hex)", fields, body: "{}")?.status == 200)
          }
          // As a killed process leaves them: nothing is flushed or closed.
          try Self.copy(["simulator.sqlite", "simulator.sqlite-wal"], from: path, to: copy)
          await provider.close()
        }
        var state = ServiceState(rules: .init(), seed: 1)
        try SimulatorStore(path: "\(copy)/simulator.sqlite").restore(into: &state, now: SystemClock().now)
        #expect(Set(state.notifications.all.map(\.device)) == Set((0..<20).map { "phone \($0)" }))
        #expect(state.setOnline(device: "phone 7", true, now: SystemClock().now) == ServiceState.Outcome())
        let fate = state.notifications.all.first { $0.device == "phone 7" }?.fate
        #expect(fate.map { if case .delivered = $0 { true } else { false } } == true)
      }
    }
  }

  @Test("a folder that is removed is told by /healthz, and by 500 instead of a promise")
  func folderRemoved() async throws {
    try await withFolder { path in
      try await LiveScene.run({ $0.dataFolder = path }) { scene in
        let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app")
        scene.simulator.courier.setOnline(device: "phone", false)
        let provider = try await scene.provider()
        let fields = [scene.authorization(), ("apns-topic", "com.example.app")]
        #expect(try await scene.control("GET", "/healthz").status == 200)
        removeFolder(path)
        let answer = await provider.send("/3/device/\(token.hex)", fields, body: "{}")
        #expect(answer?.status == 500 && answer?.body == #"{"reason":"InternalServerError"}"#)
        let health = try await scene.control("GET", "/healthz")
        #expect(health.status == 503 && health["error", "found"]?.string?.contains("removed") == true)
        let refusals = scene.simulator.refusals
        #expect(refusals.last?.refusal.explanation.contains("was removed or replaced") == true)
        await provider.close()
      }
    }
  }

  @Test("a full disk is told; what could not be written is written as soon as there is room")
  func diskFull() async throws {
    try await withFolder { path in
      let store = try SimulatorStore(path: "\(path)/simulator.sqlite")
      let keeper = StoreKeeper(store)
      var configuration = APNSSimulator.Configuration()
      configuration.clock = VirtualClock()
      let core = SimulatorCore(
        configuration: configuration, seed: 1, state: ServiceState(rules: .init(), seed: 1), keys: [], keeper: keeper)
      keeper.serve(core)
      var token: [UInt8] = []
      func push(_ size: Int) throws(Refusal) -> Bool {
        try core.accept(
          CheckedPush(
            token: Array(token.hex.utf8)[...], environment: .sandbox, id: nil, topic: Array("a".utf8)[...],
            pushType: .alert, isPushTypeInferred: false, priority: .immediate, expiration: nil, collapseID: nil),
          id: [], uniqueID: nil, body: Array(repeating: 0x20, count: size), now: configuration.clock.now)
      }
      func written() async -> RefusalReason? {
        await withCheckedContinuation { done in core.whenWritten { done.resume(returning: $0?.reason) } }
      }
      token = core.withState { state, _ in
        state.issueToken(to: .init(device: "phone", bundleID: "a", environment: .sandbox, kind: .app)).bytes
      }
      core.setOnline(device: "phone", false)
      try await keeper.flush()
      try store.database.execute("PRAGMA max_page_count = 1")  // as many as there are
      #expect(try push(100_000))
      #expect(await written() == .internalServerError)
      #expect(core.storeFault?.what.contains("full") == true)
      #expect(throws: Refusal.self) { try push(1) }
      try store.database.execute("PRAGMA max_page_count = 1000000")
      try await keeper.flush()
      #expect(core.storeFault == nil)
      var sizes: [Int64?] = []
      try store.database.each("SELECT length(payload) FROM waiting") { sizes.append($0.integer(0)) }
      #expect(sizes == [100_000])
      await keeper.stop()
    }
  }

  @Test("files of before forms had numbers keep what waits")
  func migrates() async throws {
    try await withFolder { path in
      let file = "\(path)/simulator.sqlite"
      let now = Instant(seconds: 1_796_000_000)
      do {
        let old = try SimulatorDatabase(path: file)
        try old.execute(SimulatorSchema.steps[0])
        try old.execute("INSERT INTO device VALUES ('phone', 0, 0)")
        for bundle in ["a", "b"] {
          try old.run(
            "INSERT INTO held VALUES ('phone', ?, 'sandbox', 'id', x'0102', ?, 'alert', 10, 'c', NULL, x'7B7D', ?)",
            .text(bundle), .text(bundle), .integer(now.milliseconds))
        }
      }
      var state = ServiceState(rules: .init(), seed: 1)
      try SimulatorStore(path: file).restore(into: &state, now: now)
      #expect(Set(state.schedule.waiting.map(\.push.bundleID)) == ["a", "b"])
      #expect(state.schedule.waiting.allSatisfy { $0.push.collapseID == "c" && $0.push.payload == Array("{}".utf8) })
      #expect(state.notifications.all.map(\.fate) == [.stored(now, .offline), .stored(now, .offline)])
    }
  }

  @Test("power, budgets and limits outlive a restart")
  func phones() throws {
    let store = try SimulatorStore(path: ":memory:")
    let now = Instant(seconds: 1_796_000_000)
    var state = ServiceState(rules: .init(), seed: 1)
    _ = state.setPower(device: "phone", .lowPower, now: now)
    _ = state.setUnlimited(device: "tablet", true, now: now)
    let token = state.issueToken(to: .init(device: "watch", bundleID: "a", environment: .sandbox, kind: .app))
    func push(_ state: inout ServiceState) throws -> LoggedNotification.Fate? {
      _ = try state.accept(
        CheckedPush(
          token: Array(token.bytes.hex.utf8)[...], environment: .sandbox, id: nil, topic: token.topic[...],
          pushType: .background, isPushTypeInferred: false, priority: .considerate, expiration: nil, collapseID: nil),
        id: [], uniqueID: nil, body: [], now: now)
      return state.notifications.all.last?.fate
    }
    for _ in 0..<3 { #expect(try push(&state) == .delivered(now)) }
    #expect(try push(&state) == .throttled(now, until: now + .hours(1)))
    let changes = state.takeChanges()
    try store.write(SimulatorStore.Batch(changes: changes, state: state))
    var again = ServiceState(rules: .init(), seed: 2)
    try store.restore(into: &again, now: now)
    #expect(again.device("phone")?.power == .lowPower && again.device("tablet")?.isUnlimited == true)
    #expect(again.notifications.all.map(\.fate) == [.throttled(now, until: now + .hours(1))])
    #expect(try push(&again) == .throttled(now, until: now + .hours(1)))
  }

  /// What of a simulator is still there.
  private struct Remains {
    weak var core: SimulatorCore?
    weak var keeper: StoreKeeper?
    weak var thread: EventLoop?

    var words: [String] {
      (core == nil ? [] : ["core"]) + (keeper == nil ? [] : ["keeper"]) + (thread == nil ? [] : ["thread"])
    }
  }

  private static func live(folder: String?) async throws -> Remains {
    var remains = Remains()
    let setUp: (inout APNSSimulator.Configuration) -> Void = { $0.dataFolder = folder }
    try await LiveScene.run(setUp) { scene in
      let core = scene.simulator.courier.core
      remains = Remains(core: core, keeper: core.keeper, thread: core.keeper?.thread)
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app")
      scene.simulator.courier.connect(device: "phone") { _ in }
      let provider = try await scene.provider()
      let fields = [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-push-type", "alert")]
      #expect(await provider.send("/3/device/\(token.hex)", fields, body: "{}")?.status == 200)
      scene.simulator.courier.setOnline(device: "phone", false)
      #expect(await provider.send("/3/device/\(token.hex)", fields, body: "{}")?.status == 200)
      await provider.close()
    }
    return remains
  }

  @Test("a stopped simulator is gone, with its folder, its couriers and its threads")
  func leavesNothing() async throws {
    try await withFolder { path in
      for folder in [nil, path] {
        let remains = try await Self.live(folder: folder)
        // The last of a thread goes a moment after it has said that it is done.
        for _ in 0..<100_000 where !remains.words.isEmpty { await Task.yield() }
        #expect(remains.words == [], "folder: \(folder ?? "none")")
      }
    }
  }
}
