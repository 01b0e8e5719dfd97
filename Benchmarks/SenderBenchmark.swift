/// B1: our client against nghttpd beside h2load against the same nghttpd, a core for each side.
func senderBenchmark(_ setting: Setting) throws -> [Figure] {
  let scene = try Scene()
  defer { scene.remove() }
  let server = try Nghttpd(scene)
  defer { server.stop() }
  var figures: [Figure] = []
  for connections in [1, 4] {
    let shape = Shape(
      pushes: setting.pushes(200_000), connections: connections, streams: 1000 / connections)
    var rates = Pair()
    var costs = Pair()
    _ = try runH2load(scene, port: server.port, shape)  // the server's files and tables warm up
    for _ in 0..<setting.runs {
      let theirs = try runH2load(scene, port: server.port, shape)
      let ours = try runSender(scene, port: server.port, shape)
      rates.ours.append(ours.perSecond)
      rates.peer.append(theirs.perSecond)
      costs.ours.append(ours.cpuMicroseconds)
      costs.peer.append(theirs.cpuMicroseconds)
    }
    figures.append(
      rates.figure("b1", "sending, \(shape.words)", "pushes/s", peer: "h2load", bar: .ratioAtLeast(0.95)))
    figures.append(
      costs.figure("b1", "CPU of it, \(shape.words)", "µs/push", peer: "h2load", bar: .ratioAtMost(1)))
    figures.append(contentsOf: published(rates.ours, costs.ours, shape))
  }
  return figures
}

/// What others say of theirs. Their machines and networks differ: a place in the field, not a race.
private func published(_ rates: [Double], _ costs: [Double], _ shape: Shape) -> [Figure] {
  guard shape.connections == 1 else { return [] }
  return [
    Figure(
      id: "b1", what: "sending by one core of the client", unit: "pushes/s", ours: costs.map { 1e6 / $0 },
      peerName: "Go apns2: 4,000/s a core, to Apple (its README)", peer: [4000]),
    Figure(
      id: "b1", what: "sending by one process, loopback", unit: "pushes/s", ours: rates,
      peerName: "published: 10,000/s sustained a node, to Apple", peer: [10_000]),
  ]
}

/// One client whose answers take 100 ms: what streams and round trip allow, and what comes through.
func roundTripBenchmark(_ setting: Setting) throws -> [Figure] {
  let scene = try Scene()
  defer { scene.remove() }
  let streams = 250
  let server = try Nghttpd(scene, streams: streams)
  defer { server.stop() }
  let relay = try DelayRelay(to: server.port, oneWay: 0.05)
  defer { relay.stop() }
  var figures: [Figure] = []
  for connections in [1, 2, 4, 8] {
    let bound = Double(streams * connections) / 0.1
    // long enough for the pool to open all connections, of which it opens four a second, and to be steady then
    let shape = Shape(
      pushes: Int(bound) * (setting.isQuick ? 5 : 8), connections: connections, streams: streams)
    var rates: [Double] = []
    for _ in 0..<(setting.isQuick ? 1 : 5) {
      rates.append(try runSender(scene, port: relay.port, shape).steadyPerSecond)
    }
    figures.append(
      Figure(
        id: "roundtrip", what: "sending, \(shape.words) of \(streams) streams, 100 ms away", unit: "pushes/s",
        ours: rates, peerName: "streams × connections / round trip", peer: [bound], bar: .ratioAtLeast(0.9)))
  }
  return figures
}

/// A million pushes through a stream of batches.
func memoryBenchmark(_ setting: Setting) throws -> [Figure] {
  let scene = try Scene()
  defer { scene.remove() }
  let server = try Nghttpd(scene)
  defer { server.stop() }
  let shape = Shape(pushes: setting.pushes(1_000_000))
  let growths = try (0..<(setting.isQuick ? 1 : 5)).map { _ in
    try runSender(scene, port: server.port, shape).growth
  }
  return [
    Figure(
      id: "memory", what: "resident growth over \(shape.pushes) pushes after the first tenth", unit: "MiB",
      ours: growths, peerName: "", peer: [], bar: .atMost(8))
  ]
}
