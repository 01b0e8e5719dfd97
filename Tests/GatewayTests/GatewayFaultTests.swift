import Audience
import Basics
import BelfryTesting
import Gateway
import Messages
import PushPayload
import Store
import StoreSQLite
import Testing
import Transport

@Suite("The gateway where things go wrong")
struct GatewayFaultTests {
  @Test("credentials that are good no more end the connection, which is told why; nothing comes after")
  func ended() async throws {
    let bench = try await GatewayBench(devices: 4)
    var apps: [TestApp] = []
    for number in 0..<4 {
      let app = try await bench.connect(number, state: number == 3 ? "background" : "foreground")
      _ = try await app.expect("welcome")
      apps.append(app)
    }
    #expect(try await bench.store.deleteDevice(app: bench.app, registrationID: "r\(bench.app)x0"))
    _ = try await bench.store.register(StoreSamples.device(1, of: bench.app))
    try await bench.send(1)
    #expect(try await apps[0].next() == nil)
    #expect(await apps[0].socket.closing?.code == 4203)
    #expect(try await apps[1].next() == nil)
    #expect(await apps[1].socket.closing?.code == 4204)
    #expect(try await apps[2].message() == (1, 1), "others go on")
    #expect(try await bench.connect(0).end() == 4202)
    try await bench.store.deleteApp(bench.app, at: StoreSamples.noon)
    #expect(try await apps[2].end() == 4205)
    #expect(try await apps[3].end() == 4205, "in the background too")
    #expect(try await bench.connect(2).end() == 4202)
    #expect(await eventually { bench.gateway.presentCount == 0 && bench.gateway.connectionCount == 0 })
    await bench.stop()
  }

  @Test("a device that is deleted between the look at its credentials and its welcome has no connection")
  func endedMeanwhile() async throws {
    let bench = try await GatewayBench(devices: 2) { store in
      let app = try await store.apps().first?.id ?? 0
      _ = try await store.deleteDevice(app: app, registrationID: "r\(app)x0")
    }
    #expect(try await bench.connect(0).end() == 4202)
    _ = try await bench.connect(1).expect("welcome")
    await bench.stop()
  }

  @Test("others that register anew as fast as a device enters do not keep it out")
  func othersMeanwhile() async throws {
    let bench = try await GatewayBench(devices: 2) { store in
      _ = try await store.register(StoreSamples.device(1, of: try await store.apps().first?.id ?? 0))
    }
    _ = try await bench.connect(0).expect("welcome")
    await bench.stop()
  }

  @Test("C36 whoever has the phone now gets nothing of what waits for the former user's alias")
  func anotherUser() async throws {
    let bench = try await GatewayBench(devices: 2)
    func setAlias(_ alias: String) async throws {
      var edit = DeviceEdit()
      edit.alias = .set(alias)
      _ = try await bench.store.changeDevice(
        app: bench.app, registrationID: "r\(bench.app)x0", edit, limits: DeviceLimits())
    }
    try await setAlias("a")
    try await bench.send(1, to: .alias("a"), aliases: ["a"])
    _ = try await bench.store.register(StoreSamples.device(0, of: bench.app))  // installed again
    let app = try await bench.connect()
    #expect(try await app.expect("welcome")["complete"] == true)
    try await bench.send(2)
    #expect(try await app.message().id == 2, "connected before it said whose it is")
    try await setAlias("b")
    try await bench.send(3, to: .alias("b"), aliases: ["b"])
    #expect(try await app.message().id == 3)
    try await app.socket.send("{\"type\":\"history\"}")
    #expect(try await app.expect("history")["messages"]?.array?.count == 2)
    try await setAlias("a")
    #expect(try await app.message().id == 1, "the former user is back")
    await bench.stop()
  }

  @Test("by TLS all is the same; who trusts another authority, or speaks plain, gets nowhere")
  func secure() async throws {
    let bench = try await GatewayBench(devices: 2, isSecure: true)
    try await bench.send(1)
    let app = try await bench.connect()
    _ = try await app.expect("welcome")
    #expect(try await app.message() == (1, 1))
    let large = String(repeating: "漢", count: 1000)
    for id in 2...100 as ClosedRange<Int64> { try await bench.send(id, body: #"{"content":"\#(large)\#(id)"}"#) }
    for id in 2...100 as ClosedRange<Int64> {
      let frame = try await app.expect("message")
      #expect(frame["content"]?.string == "\(large)\(id)")
      try await app.acknowledge(id)
    }
    let stranger = try TLSClientContext(trust: .system, offersH2: false)
    await #expect(throws: TransportFault.self) {
      _ = try await WebSocket.connect(bench.url, tls: stranger, on: bench.loops.loops[0])
    }
    await #expect(throws: TransportFault.self) {
      _ = try await WebSocket.connect(
        "ws://\(bench.address)\(Gateway.path)", on: bench.loops.loops[0])
    }
    await app.socket.close()
    await bench.stop()
  }

  @Test("a full disk refuses the sender; connections live, and what was accepted is nowhere lost")
  func fullDisk() async throws {
    let bench = try await GatewayBench(devices: 1)
    let app = try await bench.connect()
    _ = try await app.expect("welcome")
    var accepted: [Int64] = []
    try await bench.store.limitSize(bytes: 1 << 20)
    let body = #"{"content":"\#(String(repeating: "x", count: 3900))"}"#
    for id in 1...400 as ClosedRange<Int64> {
      do {
        try await bench.send(id, body: body)
        accepted.append(id)
      } catch let fault as StoreFault {
        guard case .full = fault else {
          Issue.record("\(fault)")
          continue
        }
      }
    }
    #expect(!accepted.isEmpty && accepted.count < 400)
    for id in accepted {
      let (seq, found) = try await app.message()
      #expect(found == id)
      try await app.acknowledge(seq)
    }
    try await app.socket.send("{\"type\":\"ping\"}")
    _ = try await app.expect("pong")
    try await bench.store.limitSize(bytes: nil)
    try await bench.send(1000)
    #expect(try await app.message().id == 1000)
    await app.socket.abort()
    let last = Int64(accepted.count)
    let again = try await bench.connect(cursor: (last, accepted.last ?? 0))
    #expect(try await again.expect("welcome")["cursor"] == "known", "also where the acknowledgement found no room")
    #expect(try await again.message().id == 1000)
    await bench.stop()
  }

  @Test("clocks that are set forward or back change no order and lose nothing but what has expired")
  func clockJumps() async throws {
    let clock = ShiftedClock(StoreSamples.noon)
    let bench = try await GatewayBench(devices: 2, clock: clock)
    let app = try await bench.connect()
    _ = try await app.expect("welcome")
    let device = SessionDevice(app: bench.app, ordinal: 0)
    try await bench.send(1, expires: clock.now + .hours(1))
    #expect(try await app.message().id == 1)
    clock.set(StoreSamples.noon - .days(400))
    try await bench.send(2)
    #expect(try await app.message().id == 2)
    clock.set(StoreSamples.noon + .days(400))
    try await bench.send(3)
    #expect(try await app.message().id == 3)
    #expect(bench.gateway.isConnected(device) == true, "no time-out goes by the time of day")
    try await app.acknowledge(3)
    await app.socket.close()
    #expect(await eventually { bench.gateway.isConnected(device) == false })
    clock.set(StoreSamples.noon - .days(400))
    #expect(bench.gateway.isConnected(device) == false)
    clock.set(StoreSamples.noon + .days(400))
    let late = try await bench.connect(1)
    _ = try await late.expect("welcome")
    #expect(try await late.message().id == 2, "the first has expired")
    #expect(try await late.message().id == 3)
    await bench.stop()
  }

  @Test("a secret that is said again by another place the older connection ends, and a wrong one ends nobody's")
  func replay() async throws {
    let bench = try await GatewayBench(devices: 1)
    let app = try await bench.connect()
    _ = try await app.expect("welcome")
    for _ in 0..<20 { #expect(try await bench.connect(secret: "wrong").end() == 4202) }
    try await app.socket.send("{\"type\":\"ping\"}")
    _ = try await app.expect("pong")
    let again = try await bench.connect()
    _ = try await again.expect("welcome")
    #expect(try await app.end() == 4101, "its user is told")
    await bench.stop()
  }

  @Test("above so many connections newcomers are closed, and come in when others have left")
  func room() async throws {
    var settings = Gateway.Settings()
    settings.limits.connections = 2
    let bench = try await GatewayBench(devices: 3, settings: settings)
    let first = try await bench.connect(0)
    _ = try await first.expect("welcome")
    let second = try await bench.connect(1)
    _ = try await second.expect("welcome")
    await #expect(throws: TransportFault.self) { _ = try await bench.connect(2) }
    await first.socket.close()
    #expect(await eventually { bench.gateway.connectionCount == 1 })
    _ = try await bench.connect(2).expect("welcome")
    await bench.stop()
  }

  @Test("newcomers above the rate wait for their turn, and none is refused")
  func storm() async throws {
    var settings = Gateway.Settings()
    settings.limits.connectionsPerSecond = 100
    let bench = try await GatewayBench(devices: 1, settings: settings)
    let clock = SystemClock()
    let start = clock.uptime
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<150 {
        group.addTask { await (try WebSocket.connect(bench.url, on: bench.loops.next())).close() }
      }
      try await group.waitForAll()
    }
    #expect(clock.uptime.milliseconds - start.milliseconds >= 490, "50 of them came a hundredth of a second apart")
    await bench.stop()
  }
}

/// The machine's clock with another time of day, which a test sets as an operator would.
private final class ShiftedClock: WallClock {
  private let base = SystemClock()
  private let shift: Locked<Instant.Span>

  init(_ now: Instant) { shift = Locked(now - SystemClock().now) }

  var now: Instant { base.now + shift.withLock { $0 } }
  var uptime: Instant.Span { base.uptime }
  func sleep(for span: Instant.Span) async throws { try await base.sleep(for: span) }
  func set(_ now: Instant) { shift.withLock { $0 = now - base.now } }
}
