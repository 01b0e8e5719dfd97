import Foundation
import PushPayload
import Testing

/// What Examples/ and docs/apns-simulator.md promise: foreign libraries, unmodified, against `belfry apns`. Each example
/// asserts by itself what came, through `POST /assertions`.
@Suite("Examples against belfry apns", .timeLimit(.minutes(5)))
struct ExampleTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Program, words; paths within the repository.
  static let examples: [(what: String, words: [String])] = [
    ("aioapns 4.0", [".venv/bin/python", "Examples/python/aioapns_example.py"]),
    ("kalyke-apns 1.5.0, token and certificate", [".venv/bin/python", "Examples/python/kalyke_example.py"]),
    (
      "django-push-notifications 3.3.0 through aioapns 3.3.1, token",
      [".venv-django/bin/python", "Examples/python/django_example.py", "token"]
    ),
    (
      "django-push-notifications 3.3.0 through aioapns 3.3.1, certificate",
      [".venv-django/bin/python", "Examples/python/django_example.py", "certificate"]
    ),
    ("curl with Apple's shell recipe", ["/bin/bash", "Examples/curl/push.sh"]),
    ("Node's http2, token and certificate", ["/usr/bin/env", "node", "Examples/node/push.mjs"]),
  ]

  @Test("run as they stand", arguments: examples)
  func run(what: String, words: [String]) async throws {
    let folder = try TemporaryFolder()
    let (belfry, variables) = try await Self.start(folder)
    let paths = words.map { $0.contains("/") && !$0.hasPrefix("/") ? Self.root.appending(path: $0).path() : $0 }
    try #require(
      paths[0].hasPrefix("/usr") || FileManager.default.fileExists(atPath: paths[0]), "run script/python-venv first")
    let (status, output) = try await ForeignProgram.run("/usr/bin/env", variables + paths)
    #expect(status == 0 && output.hasSuffix("ok\n"), "\(what): \(output)\n\(belfry.errorOutput)")
    belfry.signal(SIGTERM)
    #expect(try await belfry.end() == 0)
  }

  private static func start(_ folder: TemporaryFolder) async throws -> (BelfryProcess, variables: [String]) {
    let belfry = try BelfryProcess([
      "apns", "--quiet", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--proxy", "127.0.0.1:0", "--data",
      folder.path,
    ])
    let facts = try await belfry.event("listening")
    return (
      belfry,
      [
        "APNS_ADDRESS=\(facts["apns"]?.replacing("https://", with: "") ?? "")",
        "APNS_CONTROL=\(facts["control"] ?? "")", "APNS_PROXY=\(facts["proxy"] ?? "")",
      ]
    )
  }

  @Test("a failed expectation makes curl, and so CI, red; the report is kept")
  func red() async throws {
    let folder = try TemporaryFolder()
    let (belfry, variables) = try await Self.start(folder)
    let control = variables[1].split(separator: "=", maxSplits: 1)[1]
    let report = folder.path + "/report.xml"
    let (status, _) = try await ForeignProgram.run(
      "/usr/bin/curl",
      [
        "-sS", "--fail-with-body", "-o", report, "-d", #"{"that":[{"device":"nobody"}]}"#,
        "\(control)/assertions?format=junit",
      ])
    #expect(status == 22)
    #expect(try String(contentsOf: URL(filePath: report), encoding: .utf8).contains("<failure"))
    belfry.signal(SIGTERM)
    _ = try await belfry.end()
  }

  @Test("the proxy's reply to CONNECT begins as aioapns looks for it (§15)")
  func connectReply() async throws {
    let folder = try TemporaryFolder()
    let (belfry, variables) = try await Self.start(folder)
    let proxy = String(variables[2].split(separator: "=", maxSplits: 1)[1])
    let (_, said) = try await ForeignProgram.run(
      "/usr/bin/curl",
      ["-sv", "-x", proxy, "--cacert", folder.path + "/ca.pem", "https://api.push.apple.com/3/device/ab"])
    #expect(said.contains("< HTTP/1.1 200 Connect"), "\(said)")
    belfry.signal(SIGTERM)
    _ = try await belfry.end()
  }

  @Test("§1 through the proxy Apple's own names lead to their ports: pushes, broadcasts, channel management; no others")
  func ways() async throws {
    let folder = try TemporaryFolder()
    let (belfry, variables) = try await Self.start(folder)
    let proxy = String(variables[2].split(separator: "=", maxSplits: 1)[1])
    func curl(_ url: String, _ more: String...) async throws -> String {
      let usual = [
        "-sS", "--http2", "-x", proxy, "--cacert", folder.path + "/ca.pem", "--cert",
        folder.path + "/com.example.app.pem", "-w", " %{http_code}",
      ]
      return try await ForeignProgram.run("/usr/bin/curl", usual + more + ["https://" + url]).output
    }
    let channels = "/1/apps/com.example.app/channels"
    let all = "/1/apps/com.example.app/all-channels"
    let wish = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
    #expect(try await curl("api-manage-broadcast.sandbox.push.apple.com:2195" + channels, "-d", wish) == " 201")
    let listed = try await curl("api-manage-broadcast.sandbox.push.apple.com:2195" + all)
    #expect(listed.hasPrefix(#"{"channels":[""#) && listed.hasSuffix(" 200"), "\(listed)")
    #expect(try await curl("api-manage-broadcast.push.apple.com:2196" + all) == #"{"channels":[]} 200"#)
    for host in ["api-broadcast.push.apple.com", "api-broadcast.sandbox.push.apple.com", "api.push.apple.com"] {
      let answer = try await curl(host + "/4/broadcasts/apps/com.example.app", "-d", "{}")
      #expect(answer == #"{"reason":"MissingChannelId"} 400"#)
    }
    for host in ["api.push.apple.com", "api.sandbox.push.apple.com:2197", "api.development.push.apple.com"] {
      let answer = try await curl(host + "/3/device/ab", "-d", "{}", "-H", "apns-topic: com.example.app")
      #expect(answer == #"{"reason":"BadDeviceToken"} 400"#)
    }
    #expect(try await curl("example.com/").contains("403"))
    belfry.signal(SIGTERM)
    _ = try await belfry.end()
  }

  // MARK: What the documentation shows

  /// Fenced blocks with a language, in the order of the page.
  private static func blocks() throws -> [(language: String, text: String)] {
    let page = try String(contentsOf: root.appending(path: "docs/apns-simulator.md"), encoding: .utf8)
    var blocks: [(language: String, text: String)] = []
    var language: String?
    var lines: [Substring] = []
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("```") else {
        lines.append(line)
        continue
      }
      if let open = language {
        blocks.append((open, lines.joined(separator: "\n") + "\n"))
        language = nil
      } else {
        language = String(line.dropFirst(3))
      }
      lines = []
    }
    return blocks
  }

  @Test("the page's code is that of Examples/, which the other tests run")
  func pageShowsExamples() throws {
    let files = try #require(
      FileManager.default.enumerator(at: Self.root.appending(path: "Examples"), includingPropertiesForKeys: nil))
    var texts: Set<String> = []
    for case let file as URL in files where ["py", "mjs", "swift", "yml", "sh"].contains(file.pathExtension) {
      texts.insert(try String(contentsOf: file, encoding: .utf8))
    }
    let shown = try Self.blocks().filter { ["python", "js", "swift", "yaml", "bash"].contains($0.language) }
    #expect(Set(shown.map(\.language)) == ["python", "js", "swift", "yaml", "bash"])
    for block in shown { #expect(texts.contains(block.text), "\(block.language): \(block.text.prefix(200))") }
  }

  @Test("the page's commands run in their order, against a fresh belfry apns")
  func pageCommands() async throws {
    let folder = try TemporaryFolder()
    let commands = try Self.blocks().filter { $0.language == "sh" }.map(\.text).joined()
    let ports = try Self.freePorts(4)
    var script = "set -euo pipefail\ncd '\(folder.path)'\nPATH='\(folder.path)':$PATH\n" + commands
    for (index, port) in ["2197", "2198", "2199", "2200"].enumerated() {
      script = script.replacing("127.0.0.1:\(port)", with: "127.0.0.1:\(ports[index])")
    }
    try Self.install(folder.path + "/belfry", folder: folder, ports: ports)
    let (status, output) = try await ForeignProgram.run("/bin/bash", ["-c", script])
    try Self.stop(folder)
    #expect(status == 0, "\(output)")
    #expect(output.contains(#""wait":"count""#) && output.contains(#""passed":true"#), "\(output)")
  }

  @Test("the workflow is valid YAML with steps in the right order, and its commands run")
  func workflow() async throws {
    let python = Self.root.appending(path: ".venv/bin/python").path()
    try #require(FileManager.default.fileExists(atPath: python), "run script/python-venv first")
    let file = Self.root.appending(path: "Examples/github-actions/push-tests.yml").path()
    let (_, json) = try await ForeignProgram.run(
      python, ["-c", "import json, sys, yaml; print(json.dumps(yaml.load(open(sys.argv[1]), yaml.BaseLoader)))", file])
    let flow = try JSONReader.read(Array(json.utf8)).value.object
    #expect(flow?["on"] == ["push", "pull_request"])
    let job = flow?["jobs"]?.object?["push"]?.object
    #expect(job?["runs-on"]?.string != nil)
    let steps = job?["steps"]?.array?.compactMap(\.object) ?? []
    #expect(steps.allSatisfy { ($0["uses"] == nil) != ($0["run"] == nil) })
    let uses = steps.compactMap { $0["uses"]?.string }
    #expect(uses.last == "actions/upload-artifact@v4" && steps.last?["if"] == "always()")
    let artifact = steps.last?["with"]?.object?["path"]?.string ?? ""

    // A checkout with a warm build: what would be built is the binary beside this test.
    let folder = try TemporaryFolder()
    let ports = try Self.freePorts(4)
    let checkout = folder.url.appending(path: "belfry")
    for place in ["script", ".build/release"] {
      try FileManager.default.createDirectory(at: checkout.appending(path: place), withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(
      at: checkout.appending(path: "Examples"), withDestinationURL: Self.root.appending(path: "Examples"))
    for script in ["bootstrap", "build"] {
      try Self.write("#!/bin/sh\n", executable: checkout.appending(path: "script/\(script)").path())
    }
    try Self.install(checkout.appending(path: ".build/release/belfry").path(), folder: folder, ports: ports)
    let variables = [
      "RUNNER_TEMP=\(folder.path)", "APNS_ADDRESS=127.0.0.1:\(ports[0])", "APNS_CONTROL=http://127.0.0.1:\(ports[1])",
    ]
    for step in steps {
      guard let run = step["run"]?.string?.replacing("127.0.0.1:2198", with: "127.0.0.1:\(ports[1])") else { continue }
      let (status, output) = try await ForeignProgram.run(
        "/usr/bin/env", variables + ["/bin/bash", "-e", "-c", "cd '\(folder.path)'\n\(run)"])
      #expect(status == 0, "\(run)\n\(output)")
    }
    try Self.stop(folder)
    let report = try String(contentsOf: folder.url.appending(path: artifact), encoding: .utf8)
    #expect(report.hasPrefix("<?xml") && report.contains(#"failures="0""#), "\(report)")
  }

  /// A `belfry` that starts the real one on free ports and leaves its number in `belfry.pid`. It closes what it inherits:
  /// Foundation takes a process for running while anybody holds a descriptor that it gave to it.
  private static func install(_ path: String, folder: TemporaryFolder, ports: [UInt16]) throws {
    try write(
      """
      #!/bin/bash
      for file in /proc/$$/fd/*; do
        number=${file##*/}
        if [ "$number" -gt 2 ]; then eval "exec $number>&-"; fi
      done
      echo $$ >'\(folder.path)/belfry.pid'
      exec '\(BelfryProcess.binary.path())' "$@" --listen 127.0.0.1:\(ports[0]) --control 127.0.0.1:\(ports[1]) \
      --proxy 127.0.0.1:\(ports[2]) --production-listen 127.0.0.1:\(ports[3])

      """, executable: path)
  }

  private static func write(_ text: String, executable path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
  }

  private static func stop(_ folder: TemporaryFolder) throws {
    let text = try String(contentsOf: folder.url.appending(path: "belfry.pid"), encoding: .utf8)
    if let process = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) { kill(process, SIGTERM) }
  }

  /// Ports that nobody listened on a moment ago.
  private static func freePorts(_ count: Int) throws -> [UInt16] {
    var descriptors: [Int32] = []
    defer { for descriptor in descriptors { close(descriptor) } }
    return try (0..<count).map { _ in
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      descriptors.append(descriptor)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let failed = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, size) != 0 || getsockname(descriptor, $0, &size) != 0
        }
      }
      if failed { throw ProcessFault(words: "no free port") }
      return UInt16(bigEndian: address.sin_port)
    }
  }
}
