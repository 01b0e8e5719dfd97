import Basics
import BelfryTesting
import Foundation
import HTTPClient
import PushPayload
import Testing
import Transport

/// A receiver of this test's process, which answers as it is told.
private final class Receiver: Sendable {
  struct Post: Sendable {
    var signature: String
    var body: [UInt8]
  }

  let posts = Recorder<Post>()
  let status = Locked(200)
  /// Seconds from a post to its answer.
  let delay = Locked(0)
  private let server = Locked<HTTPServer?>(nil)

  func start() throws -> String {
    let server = try HTTPServer.start(Endpoint(host: "127.0.0.1", port: 0), limits: HTTPLimits()) {
      [posts, status, delay] in
      posts.record(Post(signature: $0.headers["Belfry-Signature"] ?? "", body: $0.body))
      let seconds = delay.withLock { $0 }
      if seconds > 0 { try? await Task.sleep(for: .seconds(seconds)) }
      return HTTPResponse(status: status.withLock { $0 })
    }
    self.server.withLock { $0 = server }
    return "http://127.0.0.1:\(server.endpoint.port)/hook"
  }

  func stop() async { await server.withLock { $0 }?.stop() }

  /// Every event that came, as often as it came.
  var events: [JSONObject] {
    posts.values.flatMap { post in
      let body = try? JSONReader.read(post.body).value.object
      return (body?["events"]?.array ?? []).compactMap(\.object)
    }
  }

  func wait(for words: String, within seconds: Double = 60, until isSo: () -> Bool) async throws {
    let deadline = Date().addingTimeInterval(seconds)
    while !isSo() {
      if Date() > deadline { throw ProcessFault(words: "\(words): never, but \(events)") }
      try await Task.sleep(nanoseconds: 20_000_000)
    }
  }
}

/// `belfry serve` with a simulator in its process, an app with a device, and a webhook.
private final class Scene: Sendable {
  let folder: TemporaryFolder
  let receiver = Receiver()
  let client = HTTPClient()
  let credentials: (key: String, secret: String)
  let configuration: String

  init(allow: String = "'127.0.0.1'") async throws {
    folder = try TemporaryFolder()
    configuration = folder.path + "/belfry.json5"
    let text = "{listen: '127.0.0.1:0', data: 'data', webhooks: {allow: [\(allow)]}}"
    try Data(text.utf8).write(to: URL(filePath: configuration))
    let created = try await BelfryProcess.run([
      "app", "create", "--bundle", "com.example.app", "--data", folder.path + "/data", "--json",
    ])
    let app = try #require(
      try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: String], "\(created.errors)")
    credentials = (try #require(app["appKey"]), try #require(app["masterSecret"]))
  }

  func serve(
    _ environment: [String: String] = [:]
  ) async throws -> (process: BelfryProcess, places: [String: String]) {
    let process = try BelfryProcess(["serve", "--config", configuration], environment: environment)
    return (process, try await process.event("listening"))
  }

  func call(
    _ method: String, _ url: String, _ body: String? = nil, isSigned: Bool = true
  ) async throws -> JSONObject {
    let answer = try await client.call(
      method, url, headers: ["Content-Type": "application/json"],
      basic: isSigned ? (credentials.key, credentials.secret) : nil, body: body.map { Array($0.utf8) })
    try #require(answer.status < 300, "\(method) \(url): \(String(decoding: answer.body, as: UTF8.self))")
    return (try? JSONReader.read(answer.body).value.object) ?? [:]
  }

  func device(_ places: [String: String]) async throws {
    let issued = try await call(
      "POST", try #require(places["control"]) + "/devices",
      #"{"device": "phone", "bundle": "com.example.app", "environment": "production"}"#, isSigned: false)
    let token = try #require(issued["token"]?.string)
    _ = try await call(
      "POST", try #require(places["api"]) + "/device/v1/registrations",
      #"{"appKey": "\#(credentials.key)", "token": "\#(token)"}"#, isSigned: false)
  }

  func push(_ api: String) async throws -> String {
    let answer = try await call(
      "POST", api + "/v3/push", #"{"platform": "ios", "audience": "all", "notification": {"alert": "Ring"}}"#)
    return try #require(answer["msg_id"]?.string)
  }
}

@Suite("Webhooks of belfry serve", .timeLimit(.minutes(5)))
struct WebhookProcessTests {
  @Test("killed between event and delivery, again and again: each event comes, always under its own id")
  func killed() async throws {
    let scene = try await Scene()
    let url = try scene.receiver.start()
    var (process, places) = try await scene.serve()
    try await scene.device(places)
    _ = try await scene.call(
      "POST", try #require(places["api"]) + "/v1/webhooks", #"{"url": "\#(url)", "events": ["push.finished"]}"#)
    var pushed: [String] = []
    for round in 0..<4 {
      // taken by nobody until the process is dead, but seen in some rounds
      scene.receiver.status.withLock { $0 = 503 }
      let (api, before) = (try #require(places["api"]), scene.receiver.posts.values.count)
      pushed.append(try await scene.push(api))
      for _ in 0..<3000 {
        let report = try await scene.call("GET", api + "/v1/pushes/\(pushed[round])")
        if report["state"] == "finished" { break }
        try await Task.sleep(nanoseconds: 2_000_000)
      }
      if round % 2 == 1 {
        try await scene.receiver.wait(for: "a post that is not taken") { scene.receiver.posts.values.count > before }
      }
      process.signal(SIGKILL)
      _ = try await process.end()
      scene.receiver.status.withLock { $0 = 200 }
      (process, places) = try await scene.serve()
      try await scene.receiver.wait(for: "the event of push \(round)", within: 90) {
        scene.receiver.events.contains { $0["msg_id"]?.string == pushed[round] }
      }
    }
    // a post that was answered 503 may have been the only one so far
    let webhooks = try await scene.call("GET", try #require(places["api"]) + "/v1/webhooks")
    let id = try #require(webhooks["webhooks"]?.array?.first?.object?["id"]?.string)
    for _ in 0..<4500 {
      let webhook = try await scene.call("GET", try #require(places["api"]) + "/v1/webhooks/\(id)/deliveries")
      if webhook["deliveries"]?.array?.first?.object?["taken"] == true { break }
      try await Task.sleep(nanoseconds: 20_000_000)
    }
    process.signal(SIGTERM)
    #expect(try await process.end() == 0)
    await scene.receiver.stop()
    var ids: [String: Set<String>] = [:]
    for event in scene.receiver.events {
      ids[event["msg_id"]?.string ?? "", default: []].insert(event["id"]?.string ?? "")
    }
    #expect(Set(ids.keys) == Set(pushed))
    #expect(ids.values.allSatisfy { $0.count == 1 }, "\(ids)")
    #expect(Set(ids.values.flatMap(\.self)).count == pushed.count, "no two events have one id")
  }

  @Test("this machine is reached only where the configuration allows it; the test button says so")
  func refused() async throws {
    let scene = try await Scene(allow: "")
    let url = try scene.receiver.start()
    let (process, places) = try await scene.serve()
    let api = try #require(places["api"])
    let made = try await scene.call("POST", api + "/v1/webhooks", #"{"url": "\#(url)"}"#)
    let test = try await scene.call("POST", api + "/v1/webhooks/\(try #require(made["id"]?.string))/test")
    #expect(test["taken"] == false && test["status"] == .null)
    #expect(test["fault"]?.string == "its address is not of the public internet, and so not called")
    process.signal(SIGTERM)
    #expect(try await process.end() == 0)
    await scene.receiver.stop()
    #expect(scene.receiver.posts.values.isEmpty)
  }

  @Test(
    "a receiver that does not answer holds nobody up: SIGTERM ends the service, and the event comes after the next start"
  )
  func slowReceiver() async throws {
    let scene = try await Scene()
    let url = try scene.receiver.start()
    scene.receiver.delay.withLock { $0 = 8 }
    var (process, places) = try await scene.serve()
    try await scene.device(places)
    let api = try #require(places["api"])
    _ = try await scene.call("POST", api + "/v1/webhooks", #"{"url": "\#(url)", "events": ["push.finished"]}"#)
    let message = try await scene.push(api)
    try await scene.receiver.wait(for: "a post") { !scene.receiver.posts.values.isEmpty }
    let start = Date()
    process.signal(SIGTERM)
    #expect(try await process.end() == 0)
    #expect(Date().timeIntervalSince(start) < 5)
    scene.receiver.delay.withLock { $0 = 0 }
    (process, places) = try await scene.serve()
    try await scene.receiver.wait(for: "the same again") { scene.receiver.posts.values.count > 1 }
    #expect(Set(scene.receiver.events.compactMap { $0["id"]?.string }).count == 1)
    #expect(Set(scene.receiver.events.compactMap { $0["msg_id"]?.string }) == [message])
    process.signal(SIGTERM)
    #expect(try await process.end() == 0)
    await scene.receiver.stop()
  }

  @Test("a proxy of the environment leads nowhere else: what is not allowed is not reached by it")
  func proxied() async throws {
    let scene = try await Scene()
    let proxy = try scene.receiver.start().replacing("/hook", with: "")
    let (process, places) = try await scene.serve([
      "http_proxy": proxy, "ALL_PROXY": proxy, "NO_PROXY": "", "BELFRY_PROXY": "none",
    ])
    let webhooks = try #require(places["api"]) + "/v1/webhooks"
    let made = try await scene.call("POST", webhooks, #"{"url": "http://192.0.2.1/"}"#)
    let test = try await scene.call("POST", "\(webhooks)/\(try #require(made["id"]?.string))/test")
    #expect(test["fault"]?.string == "its address is not of the public internet, and so not called")
    process.signal(SIGTERM)
    #expect(try await process.end() == 0)
    await scene.receiver.stop()
    #expect(scene.receiver.posts.values.isEmpty)
  }

  // MARK: docs/webhooks.md

  /// The functions of the page, each with what calls it with one line of a case: secret, header, time, body in hex.
  private static let languages: [(language: String, file: String, driver: String, command: [String])] = [
    (
      "python", "verify.py",
      """


      import sys
      for line in sys.stdin:
          secret, header, now, body = line.rstrip("\\n").split("\\t")
          print(verify(secret, header, bytes.fromhex(body), float(now)))
      """, ["python3"]
    ),
    (
      "javascript", "verify.mjs",
      """

      import {readFileSync} from "node:fs";
      for (const line of readFileSync(0, "utf8").trimEnd().split("\\n")) {
        const [secret, header, now, body] = line.split("\\t");
        console.log(verify(secret, header, Buffer.from(body, "hex"), Number(now)));
      }
      """, ["node"]
    ),
    (
      "java", "Main.java",
      """
      class Main {
        public static void main(String[] words) throws Exception {
          var input = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
          for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] parts = line.split("\\t", -1);
            byte[] body = java.util.HexFormat.of().parseHex(parts[3]);
            System.out.println(BelfrySignature.verify(parts[0], parts[1], body, Long.parseLong(parts[2])));
          }
        }
      }

      """, ["java"]
    ),
  ]

  @Test("what the page shows in each language takes what belfry serve signs, and refuses what is not so, or old")
  func page() async throws {
    let scene = try await Scene()
    let url = try scene.receiver.start()
    let (process, places) = try await scene.serve()
    let api = try #require(places["api"])
    let made = try await scene.call("POST", api + "/v1/webhooks", #"{"url": "\#(url)"}"#)
    let secret = try #require(made["secret"]?.string)
    _ = try await scene.call("POST", api + "/v1/webhooks/\(try #require(made["id"]?.string))/test")
    let renewed = try await scene.call("POST", api + "/v1/webhooks/\(try #require(made["id"]?.string))/secret")
    let newSecret = try #require(renewed["secret"]?.string)
    _ = try await scene.call("POST", api + "/v1/webhooks/\(try #require(made["id"]?.string))/test")
    process.signal(SIGTERM)
    #expect(try await process.end() == 0)
    await scene.receiver.stop()
    let post = try #require(scene.receiver.posts.values.first)
    let overlapping = try #require(scene.receiver.posts.values.last)
    let later = try #require(Int(overlapping.signature.dropFirst("t=".count).prefix { $0 != "," }))
    let time = try #require(Int(post.signature.dropFirst("t=".count).prefix { $0 != "," }))
    let code = String(post.signature.split(separator: "=")[2])
    var changed = post.body
    changed[changed.count - 3] ^= 1
    let cases: [(what: String, secret: String, header: String, now: Int, body: [UInt8], isTaken: Bool)] = [
      ("as it came", secret, post.signature, time, post.body, true),
      ("signed with both, by the former", secret, overlapping.signature, later, overlapping.body, true),
      ("signed with both, by the new one", newSecret, overlapping.signature, later, overlapping.body, true),
      (
        "signed with both, by none", String(newSecret.reversed()), overlapping.signature, later, overlapping.body, false
      ),
      ("five minutes later", secret, post.signature, time + 300, post.body, true),
      ("by a clock that is five minutes behind", secret, post.signature, time - 300, post.body, true),
      ("replayed after the window", secret, post.signature, time + 301, post.body, false),
      ("of the future", secret, post.signature, time - 301, post.body, false),
      ("replayed under a new time", secret, "t=\(time + 301),v1=\(code)", time + 301, post.body, false),
      ("another body", secret, post.signature, time, changed, false),
      ("no body", secret, post.signature, time, [], false),
      ("another secret", String(secret.reversed()), post.signature, time, post.body, false),
      ("a cut code", secret, String(post.signature.dropLast()), time, post.body, false),
      ("no code", secret, "t=\(time)", time, post.body, false),
      ("an empty code", secret, "t=\(time),v1=", time, post.body, false),
      ("no time", secret, "v1=\(code)", time, post.body, false),
      ("no header", secret, "", time, post.body, false),
      ("no number", secret, "t=1e9,v1=\(code)", time, post.body, false),
      ("letters of no ASCII", secret, "t=\(time),v1=ü", time, post.body, false),
      ("no form at all", secret, ",,=,", time, post.body, false),
    ]
    let input = cases.map { "\($0.secret)\t\($0.header)\t\($0.now)\t\($0.body.hex)" }.joined(separator: "\n") + "\n"
    let text = try String(contentsOf: ExampleTests.root.appending(path: "docs/webhooks.md"), encoding: .utf8)
    var count = 0
    for (language, file, driver, command) in Self.languages {
      let start = try #require(text.range(of: "```\(language)\n")?.upperBound, "\(language)")
      let end = try #require(text.range(of: "```", range: start..<text.endIndex)?.lowerBound)
      let shown = String(text[start..<end])
      let isHere = try await ForeignProgram.run("/bin/sh", ["-c", "command -v \(command[0])"]).status == 0
      guard isHere else { continue }
      count += 1
      let path = scene.folder.path + "/" + file
      try Data((language == "java" ? driver + shown : shown + driver).utf8).write(to: URL(filePath: path))
      let found = try await ForeignProgram.run("/usr/bin/env", command + [path], input: input)
      let verdicts = found.output.split(separator: "\n").map { $0.lowercased() == "true" }
      #expect(verdicts.count == cases.count, "\(language): \(found.output)")
      for (verdict, wanted) in zip(verdicts, cases) {
        #expect(verdict == wanted.isTaken, "\(language): \(wanted.what)")
      }
    }
    #expect(count > 0, "Python is here at least")
  }
}
