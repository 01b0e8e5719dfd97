import PushPayload

/// One run of a side: what it reached and what it cost.
struct Load {
  var perSecond: Double
  /// User and system, the whole process, for each push.
  var cpuMicroseconds: Double
  /// The same from the moment on when all connections are up, after the first tenth; of our own process only.
  var steadyPerSecond = 0.0
  /// Resident growth after the warm-up, in MiB; of our own process only.
  var growth = 0.0
}

/// Connections and streams of a run, the same for both sides.
struct Shape {
  var pushes: Int
  var connections = 1
  var streams = 1000

  var words: String { connections == 1 ? "1 connection" : "\(connections) connections" }
}

/// h2load, with the headers that our client sends; one `apns-id` for all, since it cannot do otherwise. A process for
/// each connection, all at once on one core: the connections of one process walk its list in step, so that the server
/// would open a file once for all of them. The run lasts as long as the slowest of them; their cost is added up.
func runH2load(_ scene: Scene, port: UInt16, _ shape: Shape) throws -> Load {
  let lists = try scene.writeURIs(port: port, lists: shape.connections)
  let children = try lists.enumerated().map { index, uris in
    let share = (shape.pushes + index) / shape.connections  // the shares add up to all
    let child = try Child(
      [
        "h2load", "-n", String(share), "-c", "1", "-m", String(shape.streams), "-i", uris,
        "-d", "\(scene.folder)/body", "-H", ":method: POST", "-H", "authorization: \(scene.authorization)",
        "-H", "apns-topic: \(PushSource.topic)", "-H", "apns-push-type: alert", "-H", "apns-priority: 10",
        "-H", "apns-id: 7b2f0e6c-8a4d-4c5e-9d3f-112233445566", "-H", "apns-expiration: \(PushSource.expiration)",
      ], core: Core.client)
    return (child, share)
  }
  var longest = 0.0
  var cpuSeconds = 0.0
  for (child, share) in children {
    let report = try child.finish()
    guard let finished = report.output.split(separator: "\n").first(where: { $0.hasPrefix("finished in ") }),
      let rate = finished.split(separator: " ").dropFirst(3).first.flatMap({ Double($0) }),
      report.output.contains("status codes: \(share) 2xx")
    else { throw BenchFault("h2load did not send all: \(report.output)") }
    longest = max(longest, Double(share) / rate)
    cpuSeconds += report.cpuSeconds
  }
  return Load(
    perSecond: Double(shape.pushes) / longest, cpuMicroseconds: cpuSeconds / Double(shape.pushes) * 1e6)
}

/// Our client, in a process of its own.
func runSender(_ scene: Scene, port: UInt16, _ shape: Shape, pinned: Bool = true) throws -> Load {
  let report = try Child(
    [
      ownPath, "send", "--folder", scene.folder, "--port", String(port), "--pushes", String(shape.pushes),
      "--connections", String(shape.connections), "--streams", String(shape.streams),
    ], core: pinned ? Core.client : nil
  ).finish()
  guard let said = try? JSONReader.read(Array(report.output.utf8)).value.object,
    let seconds = said["seconds"]?.number?.double, let growth = said["growth"]?.number?.double,
    let steady = said["steady"]?.number?.double,
    said["accepted"]?.number?.int64 == Int64(shape.pushes)
  else { throw BenchFault("our client did not send all: \(report.output)") }
  return Load(
    perSecond: Double(shape.pushes) / seconds, cpuMicroseconds: report.cpuSeconds / Double(shape.pushes) * 1e6,
    steadyPerSecond: steady, growth: growth)
}
