import Foundation
import Testing
import Transport

@Suite("belfry doctor and a key replaced under a running service, as processes", .timeLimit(.minutes(3)))
struct DoctorProcessTests {
  /// A simulated APNs as a process, with a configuration that names its key.
  struct Scene {
    let folder: TemporaryFolder
    let simulator: BelfryProcess
    let places: [String: String]
    var configuration: String { folder.path + "/belfry.json5" }
    var keyFile: String { folder.path + "/key.p8" }

    init() async throws {
      folder = try TemporaryFolder()
      simulator = try BelfryProcess([
        "apns", "--quiet", "--listen", "127.0.0.1:0", "--data", folder.path + "/apns", "--control", "127.0.0.1:0",
      ])
      places = try await simulator.event("listening")
    }

    /// Copies the simulator's key to `keyFile` and names it.
    func configure() throws {
      try? FileManager.default.removeItem(atPath: keyFile)
      try FileManager.default.copyItem(atPath: try #require(places["key"]), toPath: keyFile)
      func place(_ name: String) throws -> String { try #require(places[name]) }
      let text = """
        { listen: "127.0.0.1:0", data: "data", apns: "\(try place("apns"))", trust: "\(try place("ca"))",
          credentials: [
            { bundle: "*", key: "key.p8", keyID: "\(try place("keyId"))", teamID: "\(try place("teamId"))" },
          ] }
        """
      try Data(text.utf8).write(to: URL(filePath: configuration))
    }
  }

  @Test("it ends with 0 when all is well, 1 when something fails, 2 when called wrongly; as text and as JSON")
  func status() async throws {
    let scene = try await Scene()
    try scene.configure()
    let well = try await BelfryProcess.run(["doctor", "--config", scene.configuration, "--app", "com.example.app"])
    #expect(well.status == 0, "\(well.output)\(well.errors)")
    #expect(well.output.contains("says BadDeviceToken to a token that nobody has"))
    try Data("remember the milk".utf8).write(to: URL(filePath: scene.keyFile))
    let bad = try await BelfryProcess.run(["doctor", "--config", scene.configuration, "--json"])
    #expect(bad.status == 1)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(bad.output.utf8)) as? [String: Any])
    #expect(object["worst"] as? String == "fail")
    #expect(bad.output.contains("this is no PEM text"))
    #expect(try await BelfryProcess.run(["doctor", "--nonsense"]).status == 2)
    scene.simulator.signal(SIGTERM)
    #expect(try await scene.simulator.end() == 0)
  }

  @Test("SIGHUP after a key was replaced: a bad one is told and changes nothing, the service goes on and ends in order")
  func rotation() async throws {
    let scene = try await Scene()
    try scene.configure()
    let service = try BelfryProcess(["serve", "--config", scene.configuration])
    _ = try await service.event("listening")
    try Data("remember the milk".utf8).write(to: URL(filePath: scene.keyFile))
    service.signal(SIGHUP)
    try await service.complaint(#""event":"credentials_unreadable""#)
    try scene.configure()
    service.signal(SIGHUP)
    try await service.complaint(#""event":"credentials_read""#)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
    #expect(!service.errorOutput.contains("milk"))
    scene.simulator.signal(SIGTERM)
    _ = try await scene.simulator.end()
  }
}
