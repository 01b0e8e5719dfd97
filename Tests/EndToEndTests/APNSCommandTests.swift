import Foundation
import HTTPClient
import PushPayload
import Testing

/// `belfry apns` as strangers' code meets it: Python's aioapns 4.0, unmodified, and curl with Apple's own shell recipe.
@Suite("belfry apns and foreign providers")
struct APNSCommandTests {
  private static func run(_ program: String, _ words: [String], input: String = "") async throws -> (Int32, String) {
    try await ForeignProgram.run(program, words, input: input)
  }

  private static func start(
    _ folder: TemporaryFolder, _ more: [String] = []
  ) async throws -> (BelfryProcess, [String: String]) {
    let belfry = try BelfryProcess(
      [
        "apns", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--proxy", "127.0.0.1:0", "--data", folder.path,
      ] + more)
    return (belfry, try await belfry.event("listening"))
  }

  /// A call of the control API, and the JSON that it was answered with.
  private static func control(
    _ facts: [String: String], _ method: String, _ path: String, _ body: String? = nil
  ) async throws -> (status: Int, value: JSONValue) {
    let answer = try await HTTPClient().call(
      method, "\(facts["control"] ?? "")\(path)", body: body.map { Array($0.utf8) })
    return (answer.status, answer.body.isEmpty ? .null : try JSONReader.read(answer.body).value)
  }

  private static func notifications(_ facts: [String: String]) async throws -> [JSONValue] {
    try await control(facts, "GET", "/notifications").value.object?["notifications"]?.array ?? []
  }

  /// A printed block as a person copies it: all between its heading and the next one.
  private static func block(_ name: String, of output: String) -> String {
    let headings = ["curl:", "aioapns (Python):", "What arrived:"]
    return output.components(separatedBy: "\n").drop { !$0.hasPrefix(name) }.dropFirst()
      .prefix { line in !headings.contains { line.hasPrefix($0) } }.joined(separator: "\n")
  }

  /// `.venv/bin/python` of script/python-venv, at the root of the repository.
  private static var python: String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return root.appending(path: ".venv/bin/python").path()
  }

  @Test("what it prints for curl and aioapns works when pasted; a signal ends it in order")
  func printedBlocks() async throws {
    let folder = try TemporaryFolder()
    let (belfry, facts) = try await Self.start(folder)
    let curl = try await Self.run("/bin/bash", [], input: Self.block("curl:", of: belfry.output))
    #expect(curl.1.contains("HTTP/2 200"), "\(curl.1)")
    try #require(FileManager.default.fileExists(atPath: Self.python), "run script/python-venv first")
    let aioapns = try await Self.run(Self.python, ["-"], input: Self.block("aioapns", of: belfry.output))
    #expect(aioapns.1 == "200\n", "\(aioapns.1)")
    #expect(
      try await Self.notifications(facts).compactMap { $0.object?["payload"]?.text }
        == [#"{"aps":{"alert":"Hello"}}"#, #"{"aps":{"alert":"Hello"}}"#])
    belfry.signal(SIGTERM)
    #expect(try await belfry.end() == 0)
    #expect(belfry.errorOutput.isEmpty)
  }

  @Test("curl reaches it under Apple's own name through the proxy, with a certificate too")
  func proxy() async throws {
    let folder = try TemporaryFolder()
    let (belfry, facts) = try await Self.start(folder)
    func push(_ more: [String], host: String, token: String) async throws -> String {
      try await Self.run(
        "/usr/bin/curl",
        [
          "-s", "--http2", "-x", facts["proxy"] ?? "", "--cacert", facts["ca"] ?? "", "-H",
          "apns-topic: com.example.app",
          "-d", "{}", "-w", "%{http_code}", "https://\(host)/3/device/\(token)",
        ] + more
      ).1
    }
    let token = facts["token"] ?? ""
    #expect(try await push([], host: "api.push.apple.com", token: token) == #"{"reason":"MissingProviderToken"}403"#)
    let certificate = ["--cert", facts["pem"] ?? ""]
    #expect(try await push(certificate, host: "api.sandbox.push.apple.com:2197", token: token) == "200")
    #expect(try await push(certificate, host: "api.push.apple.com", token: token) == #"{"reason":"BadDeviceToken"}400"#)
    #expect(try await push(certificate, host: "www.apple.com", token: token) == "000")
    #expect(belfry.errorOutput.contains("MissingProviderToken"))
  }

  @Test("§1 two listeners, two kinds of tokens; the proxy brings each of Apple's names to its own")
  func environments() async throws {
    let folder = try TemporaryFolder()
    let (belfry, facts) = try await Self.start(folder)
    let sandbox = facts["token"] ?? ""
    let issued = try await Self.control(
      facts, "POST", "/devices", #"{"device":"p","bundle":"com.example.app","environment":"production"}"#)
    let production = try #require(issued.value.object?["token"]?.string)
    // What only the production listener may do: a certificate for production alone, told by GOAWAY elsewhere.
    let made = try await Self.control(
      facts, "POST", "/certificates",
      #"{"bundle":"com.example.app","topics":["com.example.app"],"environment":"production"}"#)
    let pem = try #require(made.value.object?["pem"]?.string)
    try pem.write(toFile: folder.path + "/production.pem", atomically: true, encoding: .utf8)
    func push(_ token: String, to place: String, _ more: [String] = [], certificate: String? = nil) async throws
      -> String
    {
      try await Self.run(
        "/usr/bin/curl",
        [
          "-s", "--http2", "--cacert", facts["ca"] ?? "", "--cert", certificate ?? facts["pem"] ?? "", "-H",
          "apns-topic: com.example.app", "-d", "{}", "-w", "%{http_code}", "\(place)/3/device/\(token)",
        ] + more
      ).1
    }
    let foreign = #"{"reason":"BadDeviceToken"}400"#
    let (here, there) = (facts["apns"] ?? "", facts["production"] ?? "")
    #expect(here != there)
    #expect(try await push(sandbox, to: here) == "200")
    #expect(try await push(sandbox, to: there) == foreign)
    #expect(try await push(production, to: here) == foreign)
    #expect(try await push(production, to: there) == "200")
    let proxy = ["-x", facts["proxy"] ?? ""]
    let productionOnly = folder.path + "/production.pem"
    let name = "https://api.push.apple.com"
    #expect(try await push(production, to: name, proxy, certificate: productionOnly) == "200")
    #expect(try await push(sandbox, to: "https://api.sandbox.push.apple.com", proxy) == "200")
    // As with a hosts file: Apple's production name on the sandbox's port.
    let port = here.split(separator: ":").last ?? ""
    let hosts = ["--connect-to", "api.push.apple.com:443:127.0.0.1:\(port)"]
    #expect(try await push(production, to: name, hosts, certificate: productionOnly) == "200")
    belfry.signal(SIGTERM)
    #expect(try await belfry.end() == 0)
  }

  @Test("--production-listen none leaves production to the host's name")
  func withoutProduction() async throws {
    let folder = try TemporaryFolder()
    let (belfry, facts) = try await Self.start(folder, ["--production-listen", "none"])
    #expect(facts["production"] == nil && facts["apns"] != nil)
    let answer = try await Self.run(
      "/usr/bin/curl",
      [
        "-s", "--http2", "-x", facts["proxy"] ?? "", "--cacert", facts["ca"] ?? "", "--cert", facts["pem"] ?? "", "-H",
        "apns-topic: com.example.app", "-d", "{}", "https://api.push.apple.com/3/device/\(facts["token"] ?? "")",
      ])
    #expect(answer.1 == #"{"reason":"BadDeviceToken"}"#)
    belfry.signal(SIGTERM)
    #expect(try await belfry.end() == 0)
  }

  @Test("aioapns 4.0, unmodified: many pushes at once by token and by certificate, refusals, 410 with its timestamp")
  func aioapns() async throws {
    try #require(FileManager.default.fileExists(atPath: Self.python), "run script/python-venv first")
    let folder = try TemporaryFolder()
    let (belfry, facts) = try await Self.start(folder)
    let script = """
      import asyncio, json, ssl, sys, urllib.request
      from aioapns import APNs, NotificationRequest, PushType
      facts = json.loads(sys.argv[1])

      def control(method, path, body=None):
          request = urllib.request.Request(facts["control"] + path, method=method, data=body and json.dumps(body).encode())
          with urllib.request.urlopen(request) as answer:
              return json.loads(answer.read() or "null")

      def client(**credential):
          apns = APNs(topic=facts["bundle"], use_sandbox=True, max_connections=3,
                      ssl_context=ssl.create_default_context(cafile=facts["ca"]), **credential)
          server = apns.pool.protocol_class
          server.APNS_SERVER, server.APNS_PORT = "127.0.0.1", int(facts["apns"].rsplit(":", 1)[1])
          return apns

      async def exercise(apns, name):
          tokens = [control("POST", "/devices", {"device": f"{name}-{i}", "bundle": facts["bundle"]})["token"] for i in range(20)]
          requests = [NotificationRequest(device_token=tokens[i % 20], message={"aps": {"alert": f"{name} {i} 🔔"}},
                                          push_type=PushType.ALERT, time_to_live=3600, collapse_key=f"c{i}") for i in range(200)]
          answers = await asyncio.gather(*(apns.send_notification(r) for r in requests))
          assert all(a.status == "200" for a in answers), [a.description for a in answers if a.status != "200"][:3]
          assert sorted(a.notification_id for a in answers) == sorted(r.notification_id for r in requests)
          seen = {n["id"]: n for n in control("GET", "/notifications?count=10000")["notifications"]}
          for r in requests:
              assert seen[r.notification_id]["payload"] == r.message
              assert seen[r.notification_id]["collapseId"] == r.collapse_key
          unknown = await apns.send_notification(NotificationRequest(device_token="ab" * 32, message={}))
          assert (unknown.status, unknown.description) == ("400", "BadDeviceToken"), unknown
          control("DELETE", f"/devices/{tokens[0]}?immediately=true&timestamp=1234567890123")
          gone = await apns.send_notification(NotificationRequest(device_token=tokens[0], message={}))
          assert (gone.status, gone.description, gone.timestamp) == ("410", "Unregistered", 1234567890123), gone
          large = NotificationRequest(device_token=tokens[1], message={"x": "y" * 4089})
          large = await apns.send_notification(large)
          assert (large.status, large.description) == ("413", "PayloadTooLarge"), large
          apns.pool.close()

      async def main():
          await exercise(client(key=open(facts["key"]).read(), key_id=facts["keyId"], team_id=facts["teamId"]), "token")
          await exercise(client(client_cert=facts["pem"]), "certificate")
          print("done")

      asyncio.run(main())
      """
    let text = String(decoding: try JSONSerialization.data(withJSONObject: facts), as: UTF8.self)
    let (status, output) = try await Self.run(Self.python, ["-", text], input: script)
    #expect(status == 0 && output.hasSuffix("done\n"), "\(output)\n\(belfry.errorOutput)")
  }

  @Test("C01 aioapns 4.0, unmodified, through a GOAWAY every 50 pushes: each push ends with one answer, none is lost")
  func aioapnsThroughGoAways() async throws {
    try #require(FileManager.default.fileExists(atPath: Self.python), "run script/python-venv first")
    let folder = try TemporaryFolder()
    let faults = folder.path + "/faults.json5"
    try
      "{ faults: [ { id: 'storm', when: { per: 'connection', every: 50 }, action: { goAway: { reason: 'Shutdown' } } } ] }"
      .write(toFile: faults, atomically: true, encoding: .utf8)
    let (belfry, facts) = try await Self.start(folder, ["--faults", faults, "--requests-per-token", "none"])
    let script = """
      import asyncio, json, ssl, sys, urllib.request
      from aioapns import APNs, NotificationRequest, PushType
      facts = json.loads(sys.argv[1])

      async def main():
          apns = APNs(topic=facts["bundle"], use_sandbox=True, max_connections=2, max_connection_attempts=20,
                      ssl_context=ssl.create_default_context(cafile=facts["ca"]),
                      key=open(facts["key"]).read(), key_id=facts["keyId"], team_id=facts["teamId"])
          server = apns.pool.protocol_class
          server.APNS_SERVER, server.APNS_PORT = "127.0.0.1", int(facts["apns"].rsplit(":", 1)[1])
          requests = [NotificationRequest(device_token=facts["token"], message={"aps": {"alert": f"{i}"}},
                                          push_type=PushType.ALERT) for i in range(400)]
          answers = []
          for start in range(0, len(requests), 20):
              answers += await asyncio.gather(*(apns.send_notification(r) for r in requests[start:start + 20]))
          print(len(answers), sum(a.status == "200" for a in answers), len({a.notification_id for a in answers}))
          apns.pool.close()

      asyncio.run(main())
      """
    let text = String(decoding: try JSONSerialization.data(withJSONObject: facts), as: UTF8.self)
    let (status, output) = try await Self.run(Self.python, ["-", text], input: script)
    #expect(status == 0 && output.hasSuffix("400 400 400\n"), "\(output)\n\(belfry.errorOutput)")
    let told = belfry.errorOutput.components(separatedBy: "\n").filter { $0.contains("fault \"storm\"") }
    #expect(told.count >= 6, "\(belfry.errorOutput)")
    let arrived = try await Self.control(facts, "GET", "/notifications?count=1000").value.object?["notifications"]?
      .array
    #expect(Set((arrived ?? []).compactMap { $0.object?["id"]?.string }).count == 400)
    belfry.signal(SIGTERM)
    #expect(try await belfry.end() == 0)
  }

  @Test("keys, tokens and what waits are there after kill -9 and a new start with the same folder")
  func survivesKill() async throws {
    let folder = try TemporaryFolder()
    let (first, before) = try await Self.start(folder)
    _ = try await Self.control(before, "PUT", "/devices/example-phone/online", "false")
    let curl = try await Self.run("/bin/bash", [], input: Self.block("curl:", of: first.output))
    #expect(curl.1.contains("HTTP/2 200"), "\(curl.1)")
    first.signal(SIGKILL)
    #expect(try await first.end() == -SIGKILL)
    let (second, after) = try await Self.start(folder)
    for name in ["keyId", "teamId", "token", "p12Password"] { #expect(after[name] == before[name], "\(name)") }
    let devices = try await Self.control(after, "GET", "/devices")
    #expect(devices.value.object?["devices"]?.array?[0].object?["online"] == false)
    func states() async throws -> [String] {
      try await Self.notifications(after).map { $0.object?["state"]?.string ?? "" }
    }
    #expect(try await states() == ["stored"])
    _ = try await Self.control(after, "PUT", "/devices/example-phone/online", "true")
    #expect(try await states() == ["delivered"])
    second.signal(SIGINT)
    #expect(try await second.end() == 0)
  }

  @Test("a second one on the same folder is told with status 1, and names the folder")
  func folderInUse() async throws {
    let folder = try TemporaryFolder()
    let (first, _) = try await Self.start(folder)
    let second = try await BelfryProcess.run([
      "apns", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--proxy", "127.0.0.1:0", "--data", folder.path,
    ])
    #expect(second.status == 1)
    #expect(second.errors.contains("is in use by another simulated APNs"), "\(second.errors)")
    first.signal(SIGTERM)
    #expect(try await first.end() == 0)
  }

  @Test("faults of a file: SIGHUP reads it again, a mistake is told and leaves the former; each fault is told")
  func faultsFile() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/faults.json5"
    func write(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }
    try write("{ faults: [ { id: 'busy', action: { refuse: 'ServiceUnavailable' } } ] } // JSON5")
    let (belfry, facts) = try await Self.start(folder, ["--faults", path, "--fault-seed", "7"])
    func push() async throws -> String {
      try await Self.run("/bin/bash", [], input: Self.block("curl:", of: belfry.output)).1
    }
    try await belfry.complaint("1 faults in force; --fault-seed 7 repeats them")
    #expect(try await push().contains(#"{"reason":"ServiceUnavailable"}"#))
    try write("{ faults: [ { action: { refuse: 'ServiceUnavailble' } } ] }")
    belfry.signal(SIGHUP)
    try await belfry.complaint("Did you mean")
    #expect(belfry.errorOutput.contains("faults.json5: faults[0].action.refuse: found"), "\(belfry.errorOutput)")
    #expect(try await push().contains(#"{"reason":"ServiceUnavailable"}"#))
    try write("{ faults: [] }")
    belfry.signal(SIGHUP)
    try await belfry.complaint("faults read again: 0 in force")
    #expect(try await push().contains("HTTP/2 200"))
    let told = belfry.errorOutput.components(separatedBy: "\n").filter { $0.contains("fault \"busy\"") }
    #expect(told.count == 2, "\(belfry.errorOutput)")
    try write("{ faults: [ { id: 'back', action: { refuse: 'Shutdown' } } ] }")
    #expect(try await Self.control(facts, "POST", "/faults/reload").status == 200)
    #expect(try await push().contains("Shutdown"))
    belfry.signal(SIGTERM)
    #expect(try await belfry.end() == 0)
  }

  @Test("a port in use is told with status 1, and the first goes on")
  func portInUse() async throws {
    let folder = try TemporaryFolder()
    let (belfry, facts) = try await Self.start(folder)
    for (option, other, name) in [("--listen", "--control", "apns"), ("--control", "--listen", "control")] {
      let place = try #require(facts[name]?.split(separator: "/").last.map(String.init))
      let answer = try await BelfryProcess.run([
        "apns", option, place, other, "127.0.0.1:0", "--proxy", "127.0.0.1:0", "--data", folder.path + "/second",
      ])
      #expect(answer.status == 1 && answer.errors.contains(place), "\(answer.errors)")
    }
    #expect(try await Self.control(facts, "GET", "/devices").status == 200)
    belfry.signal(SIGTERM)
    #expect(try await belfry.end() == 0)
  }

  @Test(
    "wrong words and a folder that cannot be are told",
    arguments: [
      (["--listen", "nowhere"], 2, "HOST:PORT"), (["--bundle", "a b"], 2, "--bundle"),
      (["--requests-per-token", "x"], 2, "--requests-per-token"), (["--streams", "none"], 2, "above 0, not"),
      (["--gone-delay", "9-1"], 2, "--gone-delay"), (["--token-size", "101"], 2, "1 to 100"),
      (["--background-per-hour", "0"], 2, "none"), (["--overrun", "kill"], 2, "queue or refuse"),
      (["--idle-timeout", "0"], 2, "above 0 or none"),
      (["--data", "/dev/null/x"], 1, "/dev/null/x"),
    ] as [([String], Int32, String)])
  func wrongWords(words: [String], status: Int32, told: String) async throws {
    let usual = ["apns", "--control", "127.0.0.1:0", "--proxy", "127.0.0.1:0"]
    let listen = words[0] == "--listen" ? [] : ["--listen", "127.0.0.1:0"]
    let answer = try await BelfryProcess.run(usual + listen + words)
    #expect(answer.status == status)
    #expect(answer.errors.contains(told), "\(answer.errors)")
  }
}
