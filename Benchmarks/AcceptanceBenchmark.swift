import Basics
import CSQLite
import HTTPClient
import PushPayload

/// B7: `POST /v3/push` to one registration id, each accepted once it is on disk and sent on to APNs at once, all on the
/// machine's cores: `belfry serve`, the callers (h2load over HTTP/1.1, 16 connections), and APNs (`nghttpd`). The peer is
/// one row a transaction in an SQLite file on the same disk, from one thread: what a push would cost if each had the disk
/// for itself.
func acceptanceBenchmark(_ setting: Setting) async throws -> [Figure] {
  let scene = try ServiceScene(devices: 1000)
  defer { scene.remove() }
  _ = try scene.importDevices(from: try scene.writeDevices())
  let server = try Nghttpd(scene.apns)
  defer { server.stop() }
  let service = try scene.serve(to: server.port, core: nil)
  defer { service.stop() }
  let body = "\(scene.folder)/push.json"
  let push: JSONValue = [
    "platform": "ios", "audience": ["registration_id": ["rid7"]],
    "notification": ["ios": ["alert": "Your parcel 4711 is on its way.", "badge": 1, "sound": "default"]],
  ]
  try Scene.write(Array(push.text.utf8), to: body)
  let count = setting.pushes(40_000)
  var rates = Pair()
  var latest: [Double] = []
  _ = try runCallers(scene, service, body, count: count / 4, perSecond: nil)
  for _ in 0..<(setting.isQuick ? 1 : 5) {
    rates.ours.append(try runCallers(scene, service, body, count: count, perSecond: nil).perSecond)
    latest.append(try runCallers(scene, service, body, count: count / 4, perSecond: 2500).p99)
    rates.peer.append(try plainCommits(setting.pushes(8000), in: scene.folder))
  }
  return [
    rates.figure(
      "b7", "POST /v3/push to one device, on disk and on its way", "pushes/s",
      peer: "SQLite: one row a transaction", bar: .atLeast(5000)),
    Figure(
      id: "b7", what: "p99 of the answer at 2,500/s", unit: "ms", ours: latest, peerName: "", peer: [],
      bar: .atMost(20)),
  ]
}

/// What callers saw.
private struct Calls {
  var perSecond: Double
  /// Of the answer, in milliseconds.
  var p99: Double
}

private func runCallers(
  _ scene: ServiceScene, _ service: ServiceChild, _ body: String, count: Int, perSecond: Int?
) throws -> Calls {
  let connections = 16
  let log = "\(scene.folder)/calls.log"
  try Scene.write([], to: log)
  var words = [
    "h2load", "--h1", "-n", String(count), "-c", String(connections), "-d", body, "-H", ":method: POST",
    "-H", "authorization: Basic \("\(scene.app):\(scene.secret)".utf8.base64)", "-H", "content-type: application/json",
    "--log-file", log,
  ]
  if let perSecond { words += ["--rps", String(perSecond / connections)] }
  let report = try Child(words + ["\(service.address)/v3/push"]).finish()
  guard report.output.contains("status codes: \(count) 2xx") else {
    throw BenchFault("not every push was accepted: \(report.output)")
  }
  // Each line: when it began (µs since 1970), the status, how long it took (µs).
  let calls = try lines(of: log).map { $0.split(separator: "\t").compactMap { Double($0) } }.filter { $0.count > 2 }
  guard let first = calls.map({ $0[0] }).min(), let last = calls.map({ $0[0] + $0[2] }).max(), calls.count == count
  else { throw BenchFault("h2load kept \(calls.count) of \(count) calls") }
  let times = calls.map { $0[2] / 1000 }.sorted()
  return Calls(perSecond: Double(count) / (last - first) * 1e6, p99: times[times.count * 99 / 100])
}

private func plainCommits(_ count: Int, in folder: String) throws -> Double {
  let database = try PlainDatabase(
    "\(folder)/plain.db", "CREATE TABLE IF NOT EXISTS push (id INTEGER PRIMARY KEY, body BLOB)")
  let insert = try database.statement("INSERT INTO push (body) VALUES (randomblob(600))")
  let start = monotonicSeconds()
  for _ in 0..<count { try database.step(insert) }
  return Double(count) / (monotonicSeconds() - start)
}
