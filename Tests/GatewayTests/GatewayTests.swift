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

@Suite("The gateway")
struct GatewayTests {
  @Test("D-302, D-305 what waits comes on connecting, then what is sent comes at once, each once and in order")
  func delivery() async throws {
    let bench = try await GatewayBench()
    try await bench.send(1)
    try await bench.send(2, to: .registrationID("r\(bench.app)x0"))
    try await bench.send(3, to: .registrationID("r\(bench.app)x1"))
    let app = try await bench.connect()
    let welcome = try await app.expect("welcome")
    #expect(welcome["cursor"] == "none" && welcome["complete"] == true && welcome["version"] == 1)
    #expect(try await app.message() == (1, 1))
    #expect(try await app.message() == (2, 2))
    for id in 4...200 as ClosedRange<Int64> { try await bench.send(id) }
    for id in 4...200 as ClosedRange<Int64> {
      let (seq, found) = try await app.message()
      #expect(found == id)
      try await app.acknowledge(seq)
    }
    await app.socket.close()
    try await bench.send(201)
    let again = try await bench.connect(cursor: (200, 200))
    #expect(try await again.expect("welcome")["cursor"] == "known")
    #expect(try await again.message() == (201, 201))
    try await again.acknowledge(201)
    await again.socket.close()
    await bench.service.settle()
    #expect(try await bench.store.message(app: bench.app, id: 150)?.delivered == 1)
    let without = try await bench.connect()
    _ = try await without.expect("welcome")
    try await without.socket.send("{\"type\":\"ping\"}")
    _ = try await without.expect("pong")
    await bench.stop()
  }

  @Test("C45 what was written comes as it was written")
  func bytes() async throws {
    let bench = try await GatewayBench(devices: 1)
    let body =
      #"{"content":"‍👩‍👧 ’","extras":{"c":"aa+bb/cc==","n":9007199254740993,"f":1.10,"z":null,"o":{"b":1,"a":2}}}"#
    try await bench.send(1, body: body)
    let app = try await bench.connect()
    _ = try await app.expect("welcome")
    let frame = try await app.expect("message")
    let wanted = try JSONReader.read(Array(body.utf8)).value.object
    #expect(frame["extras"] == wanted?["extras"] && frame["content"] == wanted?["content"])
    await bench.stop()
  }

  @Test("C44 the newest connection takes the older one's place, which is told; nothing is lost or comes twice")
  func replaced() async throws {
    let bench = try await GatewayBench(devices: 1)
    let first = try await bench.connect()
    _ = try await first.expect("welcome")
    for id in 1...50 as ClosedRange<Int64> { try await bench.send(id) }
    var last: (seq: Int64, id: Int64) = (0, 0)
    for _ in 0..<30 { last = try await first.message() }
    try await first.acknowledge(last.seq)
    let second = try await bench.connect(cursor: (last.seq, last.id))
    #expect(try await second.expect("welcome")["cursor"] == "known")
    for id in 51...100 as ClosedRange<Int64> { try await bench.send(id) }
    for id in 31...100 as ClosedRange<Int64> {
      let (seq, found) = try await second.message()
      #expect(found == id)
      try await second.acknowledge(seq)
    }
    #expect(try await first.end() == 4101)
    #expect(bench.gateway.presentCount == 1)
    await bench.stop()
  }

  @Test("cursors that are not the device's are told, and it goes on from what it acknowledged")
  func cursors() async throws {
    let bench = try await GatewayBench(devices: 2)
    try await bench.send(1)
    try await bench.send(2, to: .registrationID("r\(bench.app)x1"))
    for cursor in [(99, 99), (2, 2), (1, 2)] as [(Int64, Int64)] {
      let app = try await bench.connect(cursor: cursor)
      #expect(try await app.expect("welcome")["cursor"] == "unknown")
      #expect(try await app.message() == (1, 1))
      await app.socket.close()
    }
    while try await bench.store.forget(Forgetting(messagesBefore: StoreSamples.noon + .days(1))) {}
    let late = try await bench.connect()
    #expect(try await late.expect("welcome")["complete"] == false, "some went for their age")
    await bench.stop()
  }

  @Test("history by pages from either end; withdrawn messages vanish there and are told of")
  func history() async throws {
    let bench = try await GatewayBench(devices: 1)
    for id in 1...7 as ClosedRange<Int64> { try await bench.send(id) }
    let app = try await bench.connect()
    _ = try await app.expect("welcome")
    for id in 1...7 as ClosedRange<Int64> { #expect(try await app.message().id == id) }
    try await app.acknowledge(7)
    #expect(try await bench.store.withdrawMessage(app: bench.app, id: 6, at: StoreSamples.noon))
    let withdrawn = try await app.expect("withdrawn")
    #expect(withdrawn["id"] == "6" && withdrawn["seq"] == 8)
    try await app.socket.send("{\"type\":\"history\",\"request\":\"a\",\"limit\":4,\"before\":8}")
    let newest = try await app.expect("history")
    #expect(newest["messages"]?.array?.compactMap { $0.object?["id"]?.string } == ["7", "5", "4", "3"])
    #expect(newest["more"] == true && newest["request"] == "a")
    try await app.socket.send("{\"type\":\"history\",\"order\":\"oldest\",\"limit\":100,\"after\":5}")
    let oldest = try await app.expect("history")
    #expect(oldest["messages"]?.array?.compactMap { $0.object?["id"]?.string } == ["7"])
    #expect(oldest["more"] == false)
    await bench.stop()
  }

  @Test("of what waits only the newest come where that is set; the history has all")
  func mostWaiting() async throws {
    let bench = try await GatewayBench(devices: 1, mostWaiting: 2)
    for id in 1...5 as ClosedRange<Int64> { try await bench.send(id) }
    let app = try await bench.connect()
    #expect(try await app.expect("welcome")["complete"] == false)
    #expect(try await app.message().id == 4)
    #expect(try await app.message().id == 5)
    try await app.socket.send("{\"type\":\"history\",\"limit\":100}")
    #expect(try await app.expect("history")["messages"]?.array?.count == 5)
    await bench.stop()
  }

  @Test("wrong credentials, frames and paths are refused, each with its code")
  func refusals() async throws {
    let bench = try await GatewayBench(devices: 1)
    #expect(try await bench.connect(secret: "x").end() == 4202)
    #expect(try await bench.connect(7).end() == 4202)
    for text in ["no json", "[]", "{}", "{\"type\":\"x\"}", "{\"type\":\"ack\",\"seq\":1}", "{\"type\":\"hello\"}"] {
      let app = TestApp(try await WebSocket.connect(bench.url, on: bench.loops.loops[0]))
      try await app.socket.send(text)
      let fault = try await app.expect("error")
      #expect(fault["remedy"]?.string?.isEmpty == false)
      #expect(try await app.end() == 4200, "\(text)")
    }
    let app = TestApp(try await WebSocket.connect(bench.url, on: bench.loops.loops[0]))
    try await app.socket.send([1, 2])
    #expect(try await app.end() == 4200)
    await #expect(throws: TransportFault.self) {
      _ = try await WebSocket.connect("ws://\(bench.address)/other", on: bench.loops.loops[0])
    }
    await bench.stop()
  }

  @Test("a device is there while its app is connected and in front, and no longer a second after")
  func presence() async throws {
    let bench = try await GatewayBench(devices: 2)
    let device = SessionDevice(app: bench.app, ordinal: 0)
    #expect(bench.gateway.isConnected(device) == nil)
    let app = try await bench.connect()
    _ = try await app.expect("welcome")
    #expect(await eventually { bench.gateway.isConnected(device) == true })
    try await app.socket.send("{\"type\":\"background\"}")
    #expect(await eventually { bench.gateway.isConnected(device) == false })
    try await app.socket.send("{\"type\":\"foreground\"}")
    #expect(await eventually { bench.gateway.connected(app: bench.app) == [0] })
    await app.socket.abort()
    #expect(await eventually { bench.gateway.isConnected(device) == false && bench.gateway.connectionCount == 0 })
    await bench.stop()
  }

  @Test("on stop each app is told when to come back")
  func draining() async throws {
    let bench = try await GatewayBench(devices: 3)
    var apps: [TestApp] = []
    for number in 0..<3 {
      let app = try await bench.connect(number)
      _ = try await app.expect("welcome")
      apps.append(app)
    }
    async let stopped: Void = bench.stop()
    for app in apps {
      let after = try #require(try await app.expect("draining")["after"]?.number?.int64)
      #expect(0...1100 ~= after)
      #expect(try await app.end() == 4000)
    }
    await stopped
  }
}
