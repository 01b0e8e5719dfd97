import Basics
import HTTPClient
import PushPayload

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `belfry` as it is shipped, with a data folder and an app of its own, sending to an `nghttpd` that has a file for each
/// of its devices.
struct ServiceScene {
  let apns: Scene
  let folder: String
  let app: String
  let secret: String

  init(devices: Int) throws {
    apns = try Scene(tokens: devices)
    // Not beside the files of `apns`: what is durable is on a disk.
    var template = Array("/var/tmp/belfry-bench.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchFault("no temporary folder: \(String(cString: strerror(errno)))")
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let report = try Child([
      Self.binary, "app", "create", "--bundle", PushSource.topic, "--data", folder, "--json",
    ]).finish()
    let made = try JSONReader.read(Array(report.output.utf8)).value.object
    guard let app = made?["appKey"]?.string, let secret = made?["masterSecret"]?.string else {
      throw BenchFault("belfry app create said: \(report.output)")
    }
    self.app = app
    self.secret = secret
  }

  /// Beside our own: script/bench builds both.
  static let binary = String(ownPath.prefix(through: ownPath.lastIndex(of: "/") ?? ownPath.startIndex)) + "belfry"

  /// A file of all devices for `belfry devices import`, as a team that moves would bring it: token, alias, a few tags,
  /// and what the phones are.
  func writeDevices() throws -> String {
    let path = "\(folder)/devices.csv"
    var text = Array("registrationId,token,alias,tags,osVersion,appVersion,language,timeZone\n".utf8)
    let tokens = try contents(of: "\(apns.folder)/tokens").split(separator: UInt8(ascii: "\n"))
    text.reserveCapacity(tokens.count * 180)
    for (number, token) in tokens.enumerated() {
      text += "rid\(number),".utf8
      text += token
      text += ",user\(number),city\(number % 50) \(number % 2 == 0 ? "vip" : "guest"),".utf8
      text += "\(15 + number % 4).\(number % 5),3.\(number % 7),\(["zh-Hans", "en", "de"][number % 3]),".utf8
      text += "\(["Asia/Shanghai", "America/New_York", "Europe/Berlin"][number % 3])\n".utf8
    }
    try Scene.write(text, to: path)
    return path
  }

  /// Seconds that it took.
  func importDevices(from path: String) throws -> Double {
    let start = monotonicSeconds()
    let report = try Child([Self.binary, "devices", "import", path, "--app", app, "--data", folder]).finish()
    let seconds = monotonicSeconds() - start
    guard report.output.contains("0 lines not taken") else { throw BenchFault("not all imported: \(report.output)") }
    return seconds
  }

  /// - Parameters:
  ///   - core: of `belfry serve`; nil leaves it all.
  ///   - besides: further settings.
  func serve(to port: UInt16, core: Int?, besides: JSONObject = [:]) throws -> ServiceChild {
    var settings: JSONObject = [
      "listen": "127.0.0.1:0", "data": .string(folder), "apns": .string("https://127.0.0.1:\(port)"),
      "trust": .string("\(apns.folder)/ca.pem"),
      "credentials": [
        [
          "bundle": "*", "key": .string("\(apns.folder)/key.p8"), "keyID": .string(Scene.keyID),
          "teamID": .string(Scene.teamID),
        ]
      ],
    ]
    settings.members += besides.members
    let path = "\(folder)/serve.json5"
    try Scene.write(Array(JSONValue.object(settings).text.utf8), to: path)
    return try ServiceChild(Child([Self.binary, "serve", "--config", path], core: core), self)
  }

  func remove() {
    apns.remove()
    _ = try? Child(["rm", "-rf", folder]).finish()
  }
}

/// A running `belfry serve`.
struct ServiceChild {
  let address: String
  /// Where apps connect; nil: nowhere.
  let gateway: String?
  private let child: Child
  private let scene: ServiceScene
  private let client = HTTPClient()

  init(_ child: Child, _ scene: ServiceScene) throws {
    self.child = child
    self.scene = scene
    let said = try JSONReader.read(Array(child.line().utf8)).value.object
    guard let address = said?["api"]?.string else { throw BenchFault("belfry serve did not say where it listens") }
    self.address = address
    gateway = said?["gateway"]?.string
  }

  func stop() { child.stop() }

  /// At once, as a machine that fails would.
  func kill() { child.stop(by: SIGKILL) }

  private var process: MeasuredProcess { MeasuredProcess(pid: child.pid) }
  var cpuSeconds: Double { process.cpuSeconds }
  func memory(_ kind: MeasuredProcess.Memory) -> Double { process.memory(kind) }

  /// The body of an answer of 200.
  func call(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
    let answer = try await client.call(
      method, address + path, headers: ["Content-Type": "application/json"], basic: (scene.app, scene.secret),
      body: body.map { Array($0.text.utf8) })
    guard answer.status == 200 else {
      throw BenchFault("\(method) \(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
    }
    return try JSONReader.read(answer.body).value
  }
}
