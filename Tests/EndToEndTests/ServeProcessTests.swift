import Basics
import Foundation
import HTTPClient
import Testing

@Suite("The service as a process", .serialized)
struct ServeProcessTests {
  @Test("a push goes from REST over TLS and HTTP/2 to the simulated APNs, and SIGTERM ends the service in order")
  func onePush() async throws {
    let scene = try await ServiceScene()
    let (service, api) = try await scene.serve()
    let (token, id) = try await scene.register("phone", at: api)
    let message = try await scene.push(["registration_id": [id]], at: api)
    let report = try await scene.finished(message, at: api)
    #expect(report["accepted"] as? Int == 1)
    let received = try await scene.received()
    #expect(received.count == 1)
    #expect(received.first?["token"] as? String == token)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
    #expect(service.errorOutput.isEmpty)
  }

  @Test("C05 kill -9 in the middle of a broadcast: after the restart it ends, each device once on a screen")
  func killed() async throws {
    let scene = try await ServiceScene()
    let count = 6_000
    var (service, api) = try await scene.serve()
    try await scene.register(count: count, at: api)
    let message = try await scene.push("all", at: api)
    // In the middle: some have reached APNs, not all.
    var seen = 0
    while seen == 0 { seen = try await scene.received(atMost: 1).count }
    service.signal(SIGKILL)
    #expect(try await service.end() == -SIGKILL)
    #expect(try await scene.received().count < count, "the kill came too late to be in the middle")

    (service, api) = try await scene.serve()
    let report = try await scene.finished(message, at: api)
    #expect(report["targeted"] as? Int == count)
    #expect(report["accepted"] as? Int == count)
    let received = try await scene.received()
    let tokens = Set(received.compactMap { $0["token"] as? String })
    #expect(tokens.count == count)
    // What was in flight may come twice, but with the id and collapse id of the first time: a phone replaces it.
    let shown = Set(received.map { "\($0["token"] ?? "") \($0["collapseId"] ?? $0["collapse_id"] ?? "none")" })
    #expect(shown.count == count)
    #expect(!shown.contains { $0.hasSuffix("none") })
    let ids = Set(received.map { "\($0["token"] ?? "") \($0["id"] ?? "")" })
    #expect(ids.count == count)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("C26 a refused key: that app's pushes wait and the log says why; mended and SIGHUP, all that waited goes out")
  func resumes() async throws {
    let scene = try await ServiceScene()
    let (service, api) = try await scene.serve()
    let (_, id) = try await scene.register("phone", at: api)
    try await scene.setFaults(#"{"action":{"refuse":"InvalidProviderToken"}}"#)
    let message = try await scene.push(["registration_id": [id]], at: api)
    try await service.complaint(#""event":"sending_held""#)
    #expect(service.errorOutput.contains("InvalidProviderToken"), "\(service.errorOutput)")
    #expect(try await scene.report(message, at: api)["state"] as? String != "finished")
    try await scene.setFaults("")
    service.signal(SIGHUP)
    #expect(try await scene.finished(message, at: api)["accepted"] as? Int == 1)
    #expect(try await scene.received().count == 1)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("an app made beside the running service is known to it at once")
  func appBeside() async throws {
    let scene = try await ServiceScene()
    let (service, api) = try await scene.serve()
    let created = try await BelfryProcess.run([
      "app", "create", "--bundle", "com.example.other", "--data", scene.data, "--json",
    ])
    #expect(created.status == 0, "\(created.errors)")
    let app = try #require(
      try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: String])
    let answer = try await scene.client.call(
      "GET", api + "/v3/devices/0000000000000000000",
      basic: (try #require(app["appKey"]), try #require(app["masterSecret"])))
    // Known, so the fault is the device (7002), not the credentials (7004).
    #expect(String(decoding: answer.body, as: UTF8.self).contains("7002"))
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("phones have a listener of their own by TLS, where nothing but /device/v1 is")
  func deviceListener() async throws {
    let scene = try await ServiceScene()
    let (pem, key) = (scene.folder.path + "/devices.pem", scene.folder.path + "/devices.key")
    let made = try await ForeignProgram.run(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
        pem, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
      ])
    #expect(made.status == 0)
    let both = try String(contentsOfFile: pem, encoding: .utf8) + String(contentsOfFile: key, encoding: .utf8)
    try both.write(toFile: scene.folder.path + "/both.pem", atomically: true, encoding: .utf8)
    let settings = try String(contentsOfFile: scene.configuration, encoding: .utf8)
    try ("{ deviceListen: '127.0.0.1:0', deviceIdentity: 'both.pem'," + settings.drop { $0 != "{" }.dropFirst())
      .write(toFile: scene.configuration, atomically: true, encoding: .utf8)
    let service = try BelfryProcess(["serve", "--config", scene.configuration])
    let places = try await service.event("listening")
    let (api, devices) = (try #require(places["api"]), try #require(places["devices"]))
    #expect(devices.hasPrefix("https://"))
    func call(_ path: String, _ more: [String] = []) async throws -> String {
      try await ForeignProgram.run(
        "/usr/bin/curl", ["-sS", "--cacert", pem, "-w", " %{http_code} %{content_type}", devices + path] + more
      ).output
    }
    let token = String(repeating: "ab", count: 32)
    let registered = try await call(
      "/device/v1/registrations",
      ["-d", #"{"appKey":"\#(scene.appKey)","token":"\#(token)","environment":"sandbox"}"#])
    #expect(registered.contains("registrationId") && registered.hasSuffix(" 200 application/json"), "\(registered)")
    let secret = ["-u", "\(scene.appKey):\(scene.masterSecret)"]
    for path in [
      "/v1/pushes", "/v3/devices/1", "/v1/openapi.json", "/metrics", "/healthz", "/v1/app/x", "/", "/device/v2",
    ] {
      let answer = try await call(path, secret)
      #expect(answer.contains("404 application/problem+json"), "\(path): \(answer)")
    }
    let (status, pushes) = try await scene.call("GET", api + "/v1/pushes", secret: scene.masterSecret)
    #expect(status == 200, "\(pushes)")
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
    #expect(service.errorOutput.isEmpty)
  }

  @Test("a port in use, a folder that cannot be and a second service on one folder are told, with status 1")
  func cannotStart() async throws {
    let scene = try await ServiceScene()
    let (service, api) = try await scene.serve()
    let port = try #require(api.split(separator: ":").last)

    let taken = try await BelfryProcess.run([
      "serve", "--config", scene.configuration, "--listen", "127.0.0.1:\(port)", "--data", scene.folder.path + "/two",
    ])
    #expect(taken.status == 1)
    #expect(taken.errors.contains("127.0.0.1:\(port)"), "\(taken.errors)")

    let nowhere = try await BelfryProcess.run([
      "serve", "--config", scene.configuration, "--data", scene.configuration + "/below-a-file",
    ])
    #expect(nowhere.status == 1)
    #expect(nowhere.errors.contains("below-a-file"), "\(nowhere.errors)")

    let second = try await BelfryProcess.run(["serve", "--config", scene.configuration, "--listen", "127.0.0.1:0"])
    #expect(second.status == 1)
    #expect(second.errors.contains("in use"), "\(second.errors)")

    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("no secret, token or payload text is in what the service prints, even when verbose")
  func silence() async throws {
    let scene = try await ServiceScene()
    let (service, api) = try await scene.serve(["--verbose"])
    let (token, id) = try await scene.register("phone", at: api)
    _ = try await scene.finished(try await scene.push(["registration_id": [id]], at: api), at: api)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
    let printed = service.output + service.errorOutput
    #expect(printed.contains("push accepted"))
    for secret in [scene.masterSecret, token, "Ring", "bearer", "eyJ"] { #expect(!printed.contains(secret)) }
  }

  @Test("a signal right after the line that says listening ends the service in order", arguments: 0..<5)
  func earlySignal(round: Int) async throws {
    let scene = try await ServiceScene()
    let (service, _) = try await scene.serve()
    service.signal(round % 2 == 0 ? SIGTERM : SIGINT)
    #expect(try await service.end() == 0)
  }

  @Test("the demo, once: every step as the seeds say")
  func demo() async throws {
    let demo = try await BelfryProcess.run(["serve", "--demo", "--once"])
    #expect(demo.status == 0, "\(demo.errors)")
    #expect(demo.output.contains(/\n[0-9]+ passed, 0 failed\n/))
    #expect(demo.output.contains("iphone-ios6, iOS 6.1 (G1)"))
  }
}
