import Basics
import PushPayload

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// B5: apps that are connected and wait, and a message to half of them. As many `belfry serve` as the limit of open files
/// asks for, each with a process of subscribers; the peer is mosquitto with as many subscribers as one of them has.
func gatewayBenchmark(_ setting: Setting) async throws -> [Figure] {
  let each = setting.isQuick ? 5_000 : 16_667
  let count = setting.isQuick ? 2 : 6
  var halls: [GatewayHall] = []
  defer { for hall in halls { hall.close() } }
  for number in 0..<count { halls.append(try await GatewayHall(number, devices: each)) }
  let all = Double(each * count)
  for hall in halls { try hall.fill() }
  var figures = [
    figure(
      "a plain connection of \(each * count), resident", "KiB",
      halls.reduce(0) { $0 + $1.growth } * 1024 / all, .atMost(3))
  ]

  let idle = setting.isQuick ? 20.0 : 70.0  // with a heartbeat in it
  let before = halls.reduce(0) { $0 + $1.service.cpuSeconds }
  _ = sleep(UInt32(idle))
  let cpu = halls.reduce(0) { $0 + $1.service.cpuSeconds } - before
  figures.append(figure("CPU of an idle connection", "µs/s", cpu * 1e6 / idle / all, .atMost(3)))

  let half = halls.prefix(max(1, count / 2))
  var broadcasts = Broadcasts()
  for _ in 0..<setting.runs {
    let start = half.reduce(0) { $0 + $1.service.cpuSeconds }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for hall in half { group.addTask { try await hall.broadcast() } }
      try await group.waitForAll()
    }
    try broadcasts.take(half.map { try $0.burst(of: each) })
    broadcasts.cpu.append((half.reduce(0) { $0 + $1.service.cpuSeconds } - start) * 1e6 / Double(each * half.count))
  }
  let rate = try await halls[0].oneToOne(setting.pushes(40_000))
  figures.append(figure("messages to one device each, stored and delivered", "/s", rate, .atLeast(20_000)))

  let restart = monotonicSeconds()
  for hall in halls { try hall.restart() }
  for hall in halls { try hall.wait() }
  figures.append(
    figure("all \(each * count) are back after kill -9 and a start", "s", monotonicSeconds() - restart, .atMost(30)))
  for hall in halls { hall.close() }
  halls = []

  let peer = try Mosquitto.measure(subscribers: each, runs: setting.runs)
  var size = Pair()
  size.ours = [figures[0].value]
  size.peer = [peer.kibibytes]
  var late = Pair()
  late.ours = broadcasts.p99
  late.peer = peer.broadcasts.p99
  let to = each * half.count
  return figures + [
    size.figure(
      "b5", "the same, beside mosquitto with \(each)", "KiB", peer: "mosquitto", bar: .ratioAtMost(3)),
    Figure(
      id: "b5", what: "a message to \(to), p50", unit: "ms", ours: broadcasts.p50, peerName: "mosquitto, \(each)",
      peer: peer.broadcasts.p50),
    Figure(
      id: "b5", what: "a message to \(to), p99", unit: "ms", ours: broadcasts.p99, peerName: "mosquitto, \(each)",
      peer: peer.broadcasts.p99, bar: .atMost(500)),
    Figure(
      id: "b5", what: "its CPU, a device", unit: "µs", ours: broadcasts.cpu, peerName: "mosquitto",
      peer: peer.broadcasts.cpu),
  ]
}

private func figure(_ what: String, _ unit: String, _ value: Double, _ bar: Figure.Bar) -> Figure {
  Figure(id: "b5", what: what, unit: unit, ours: [value], peerName: "", peer: [], bar: bar)
}

/// How late messages came, run by run; of several processes the latest.
private struct Broadcasts {
  var p50: [Double] = []
  var p99: [Double] = []
  /// Microseconds of the server's a device.
  var cpu: [Double] = []

  mutating func take(_ bursts: [JSONObject]) throws {
    func most(_ key: String) -> Double { bursts.compactMap { $0[key]?.number?.double }.max() ?? .nan }
    p50.append(most("p50"))
    p99.append(most("p99"))
  }
}

/// The process of subscribers.
private struct SubscriberChild {
  let child: Child

  init(_ speech: String, port: UInt16, count: Int, source: Int, hellos: String = "") throws {
    child = try Child([
      ownPath, "subscribe", "--speech", speech, "--port", String(port), "--count", String(count), "--source",
      String(source), "--hellos", hellos,
    ])
  }

  func said() throws -> JSONObject { try JSONReader.read(Array(child.line().utf8)).value.object ?? JSONObject() }

  func waitUntilIn() throws { while try said()["in"] == nil {} }

  /// The burst of so many messages.
  func burst(of count: Int) throws -> JSONObject {
    let burst = try said()
    guard burst["messages"]?.number?.double == Double(count) else {
      throw BenchFault("\(burst) arrived where \(count) messages were sent")
    }
    return burst
  }
}

/// A service with devices of its own, and their connections.
private final class GatewayHall: @unchecked Sendable {  // one task at a time
  private let scene: ServiceScene
  private let number: Int
  private let devices: Int
  private let hellos: String
  private(set) var service: ServiceChild
  private let port: UInt16
  private var subscribers: SubscriberChild?
  private let registered: [String]
  /// MiB that the connections took.
  private(set) var growth = 0.0

  init(_ number: Int, devices: Int) async throws {
    scene = try ServiceScene(devices: 1)
    self.number = number
    self.devices = devices
    hellos = "\(scene.folder)/hellos"
    do { service = try scene.serve(to: 9, core: nil, besides: ["gateway": "127.0.0.1:0"]) } catch {
      scene.remove()
      throw error
    }
    do {
      port = try Self.port(of: service)
      let registered = try await Self.register(devices, scene.app, at: service)
      self.registered = registered.map(\.id)
      let lines = registered.map { device in
        "{\"type\":\"hello\",\"version\":1,\"app\":\"\(scene.app)\",\"device\":\"\(device.id)\","
          + "\"secret\":\"\(device.secret)\",\"cursor\":null}"
      }
      try Scene.write(Array(lines.joined(separator: "\n").utf8), to: hellos)
    } catch {
      service.stop()
      scene.remove()
      throw error
    }
  }

  private static func port(of service: ServiceChild) throws -> UInt16 {
    guard let port = service.gateway?.split(separator: ":").last.flatMap({ UInt16($0.prefix { $0.isNumber }) }) else {
      throw BenchFault("belfry serve did not say where its gateway is")
    }
    return port
  }

  private static func register(
    _ devices: Int, _ app: String, at service: ServiceChild
  ) async throws -> [(id: String, secret: String)] {
    var registered: [(id: String, secret: String)] = []
    try await withThrowingTaskGroup(of: (String, String).self) { group in
      func register(_ device: Int) {
        group.addTask {
          let digits = String(device, radix: 16)
          let answer = try await service.call(
            "POST", "/device/v1/registrations",
            [
              "appKey": .string(app), "environment": "production",
              "token": .string(String(repeating: "0", count: 64 - digits.count) + digits),
            ])
          return (answer.object?["registrationId"]?.string ?? "", answer.object?["deviceSecret"]?.string ?? "")
        }
      }
      var next = 0
      while next < min(32, devices) {
        register(next)
        next += 1
      }
      while let device = try await group.next() {
        registered.append(device)
        if next < devices {
          register(next)
          next += 1
        }
      }
    }
    return registered
  }

  func fill() throws {
    let before = service.memory(.now)
    subscribers = try SubscriberChild(
      "gateway", port: port, count: devices, source: 2 + number, hellos: hellos)
    try wait()
    growth = service.memory(.now) - before
  }

  /// Until all are in.
  func wait() throws { try subscribers?.waitUntilIn() }

  func broadcast() async throws {
    _ = try await service.call("POST", "/v3/push", Self.push("all"))
  }

  func burst(of count: Int) throws -> JSONObject { try subscribers?.burst(of: count) ?? JSONObject() }

  /// So many messages, each to one device, in turn to all, 500 in a call of /v3/push/batch/regid/single; a second.
  func oneToOne(_ count: Int) async throws -> Double {
    let (service, registered) = (service, registered)
    let perCall = 500
    let run = UInt64(monotonicSeconds() * 1e6)
    let start = monotonicSeconds()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<4 {
        group.addTask {
          for call in stride(from: lane * perCall, to: count, by: 4 * perCall) {
            let list = (call..<min(call + perCall, count)).map { number in
              JSONObject.Member(
                "\(run)-\(number)",
                [
                  "platform": "all", "target": .string(registered[number % registered.count]),
                  "message": ["msg_content": .string(Self.stamp)],
                ])
            }
            let answer = try await service.call(
              "POST", "/v3/push/batch/regid/single", ["pushlist": .object(JSONObject(list))])
            let taken = answer.object?.members.count { $0.value.object?["msg_id"] != nil }
            guard taken == list.count else {
              throw BenchFault("not every message was taken: \(answer.text.prefix(300))")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    var arrived = 0.0
    while arrived < Double(count) { arrived += try subscribers?.said()["messages"]?.number?.double ?? .infinity }
    return Double(count) / (monotonicSeconds() - start)
  }

  /// When it was sent, as subscribers read it.
  private static var stamp: String { "@\(Int64(monotonicSeconds() * 1e9))@" }

  private static func push(_ audience: JSONValue) -> JSONValue {
    ["platform": "all", "audience": audience, "message": ["msg_content": .string(stamp)]]
  }

  func restart() throws {
    service.kill()
    service = try scene.serve(to: 9, core: nil, besides: ["gateway": .string("127.0.0.1:\(port)")])
  }

  func close() {
    subscribers?.child.stop()
    service.stop()
    scene.remove()
  }
}

/// Debian's broker of MQTT, whose connections are the smallest of all that are in wide use.
private enum Mosquitto {
  static func measure(subscribers count: Int, runs: Int) throws -> (kibibytes: Double, broadcasts: Broadcasts) {
    let folder = "/var/tmp/belfry-bench-mosquitto.\(getpid())"
    _ = try Child(["mkdir", "-p", folder]).finish()
    defer { _ = try? Child(["rm", "-rf", folder]).finish() }
    let port = UInt16(18_830)
    try Scene.write(
      Array(
        "listener \(port) 127.0.0.1\nallow_anonymous true\nlog_dest none\nmax_connections -1\nset_tcp_nodelay true\n"
          .utf8),
      to: "\(folder)/mosquitto.conf")
    // Debian's is where not everybody's PATH leads
    let program = access("/usr/sbin/mosquitto", X_OK) == 0 ? "/usr/sbin/mosquitto" : "mosquitto"
    let broker = try Child([program, "-c", "\(folder)/mosquitto.conf"])
    defer { broker.stop() }
    let process = MeasuredProcess(pid: broker.pid)
    _ = sleep(1)
    let before = process.memory(.now)
    let children = try SubscriberChild("mqtt", port: port, count: count, source: 99)
    defer { children.child.stop() }
    try children.waitUntilIn()
    let size = (process.memory(.now) - before) * 1024 / Double(count)
    var broadcasts = Broadcasts()
    for _ in 0..<runs {
      let start = process.cpuSeconds
      _ = try Child([
        "mosquitto_pub", "-p", String(port), "-t", "b", "-m", "@\(Int64(monotonicSeconds() * 1e9))@",
      ]).finish()
      try broadcasts.take([try children.burst(of: count)])
      broadcasts.cpu.append((process.cpuSeconds - start) * 1e6 / Double(count))
    }
    return (size, broadcasts)
  }
}
