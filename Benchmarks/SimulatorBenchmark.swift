import APNSSimulator
import Basics
import PushPayload
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The measured process of the simulator: serves until it is ended. Says where, as one line of JSON, once it has written
/// what a provider needs into `folder`.
func simulateProcess(_ words: Words) async throws {
  let folder = try words.text("folder")
  var configuration = APNSSimulator.Configuration()
  configuration.productionListen = nil
  configuration.control = nil
  configuration.bundleID = PushSource.topic
  let simulator = try await APNSSimulator.start(configuration)
  let credentials = simulator.credentials
  var tokens = ""
  for number in 0..<(try words.number("tokens")) {
    tokens += simulator.issueToken(device: "phone-\(number)", bundle: credentials.bundleID).hex + "\n"
  }
  try Scene.write(Array(tokens.utf8), to: "\(folder)/tokens")
  try Scene.write(credentials.authority.pem, to: "\(folder)/ca.pem")
  try Scene.write(credentials.signingKey.pem, to: "\(folder)/key.p8")
  let keys: JSONObject = [
    "keyId": .string(credentials.keyID), "teamId": .string(credentials.teamID), "bundle": .string(credentials.bundleID),
  ]
  try Scene.write(Array(JSONValue.object(keys).text.utf8), to: "\(folder)/credential.json")
  print(simulator.endpoint.port)
  fflush(nil)
  while true { sleep(3600) }
}

/// Our simulated APNs in a process of its own.
struct SimulatorChild {
  let port: UInt16
  private let child: Child

  init(_ scene: Scene, core: Int? = Core.server) throws {
    child = try Child(
      [ownPath, "simulate", "--folder", scene.folder, "--tokens", String(Scene.usualTokens)], core: core)
    guard let port = UInt16(try child.line()) else { throw BenchFault("the simulator said no port") }
    self.port = port
  }

  func stop() { child.stop() }
}

/// B2: h2load against our simulator (provider token verified, payload linted, push stored) beside h2load against nghttpd,
/// which opens an empty file.
func simulatorBenchmark(_ setting: Setting) throws -> [Figure] {
  let theirs = try Scene()
  defer { theirs.remove() }
  let ours = try Scene()
  defer { ours.remove() }
  let nghttpd = try Nghttpd(theirs)
  defer { nghttpd.stop() }
  let simulator = try SimulatorChild(ours)
  defer { simulator.stop() }
  let authorized = try ours.signedByItsKey()
  let shape = Shape(pushes: setting.pushes(200_000))
  var rates = Pair()
  _ = try runH2load(theirs, port: nghttpd.port, shape)
  _ = try runH2load(authorized, port: simulator.port, shape)
  for _ in 0..<setting.runs {
    rates.peer.append(try runH2load(theirs, port: nghttpd.port, shape).perSecond)
    rates.ours.append(try runH2load(authorized, port: simulator.port, shape).perSecond)
  }
  return [
    rates.figure(
      "b2", "simulated APNs, all checked and stored", "requests/s", peer: "nghttpd", bar: .ratioAtLeast(0.8))
  ]
}

/// Our client and aioapns, both on our simulator. `.venv` must be there (script/python-venv).
func pythonBenchmark(_ setting: Setting) throws -> [Figure] {
  let scene = try Scene()
  defer { scene.remove() }
  let simulator = try SimulatorChild(scene)
  defer { simulator.stop() }
  let shape = Shape(pushes: setting.pushes(100_000))
  let few = setting.pushes(8000)
  var rates = Pair()
  var costs = Pair()
  _ = try runSender(scene, port: simulator.port, shape)
  for _ in 0..<(setting.isQuick ? 1 : 5) {
    let ours = try runSender(scene, port: simulator.port, shape)
    rates.ours.append(ours.perSecond)
    costs.ours.append(ours.cpuMicroseconds)
    let report = try Child(
      [".venv/bin/python", "Benchmarks/aioapns_sender.py", scene.folder, String(simulator.port), String(few)],
      core: Core.client
    ).finish()
    guard let said = try? JSONReader.read(Array(report.output.utf8)).value.object,
      let seconds = said["seconds"]?.number?.double, said["accepted"]?.number?.int64 == Int64(few)
    else { throw BenchFault("aioapns did not send all: \(report.output)") }
    rates.peer.append(Double(few) / seconds)
    costs.peer.append(report.cpuSeconds / Double(few) * 1e6)
  }
  return [
    rates.figure("python", "sending to our simulator, a core each", "pushes/s", peer: "aioapns 4.0"),
    costs.figure("python", "CPU of it", "µs/push", peer: "aioapns 4.0"),
  ]
}
