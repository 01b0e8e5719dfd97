import Foundation
import Testing

/// `belfry phone` and its verbs as scripts use them, each a process of its own.
@Suite("belfry phone for scripts")
struct PhoneProcessTests {
  /// A folder for sockets, short enough for them, and one for keys.
  private struct Place {
    let sockets: TemporaryFolder
    let data: TemporaryFolder
    var environment: [String: String] { ["BELFRY_PHONES": sockets.path + "run"] }

    init() throws {
      sockets = try TemporaryFolder()
      data = try TemporaryFolder()
    }

    func phone(_ words: [String] = [], _ input: String = "") throws -> BelfryProcess {
      try BelfryProcess(["phone", "--data", data.path] + words, environment: environment, input: input)
    }

    func verb(_ words: [String], input: String? = nil) async throws -> (status: Int32, output: String, errors: String) {
      try await BelfryProcess.run(["phone"] + words, environment: environment, input: input)
    }
  }

  @Test("line mode: commands from standard input, one line of the timeline each; the end of the input ends it")
  func lineMode() async throws {
    let place = try Place()
    let script = """
      # a remark, and an empty line

      allow
      home
      push {"aps":{"alert":{"title":"新消息","body":"您好 🔔"},"badge":3}}
      await shown 5s
      tap
      wait 1h
      apps
      """
    let phone = try place.phone(["--ios", "17.5"], script)
    #expect(try await phone.end() == 0, "\(phone.errorOutput)")
    let lines = phone.output.split(separator: "\n").map(String.init)
    #expect(
      lines[0].hasPrefix(#"{"event":"listening","name":"iPhone","udid":""#) && lines[0].contains(#""control":"http://"#)
    )
    #expect(lines.contains { $0.hasSuffix("☝ allows notifications  D-013") })
    #expect(lines.contains { $0.contains("▣ shows banner, centre, badge: “新消息” “您好 🔔”, badge 3  D-105") })
    #expect(lines.contains { $0.contains("didReceive") && $0.contains("D-133") })
    #expect(lines.last?.hasPrefix("com.example.app  active") == true)
    #expect(phone.errorOutput.isEmpty)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.sockets.path + "run").filter { $0.hasSuffix(".sock") }
        == [])
  }

  @Test("line mode tells what it did not understand, goes on, and ends with 1")
  func lineFaults() async throws {
    let place = try Place()
    let phone = try place.phone(["--json"], "lokc\npush nowhere.apns\nawait arrived 0s\nlock\nhelp tap\n")
    #expect(try await phone.end() == 1)
    #expect(phone.errorOutput.contains("there is no 'lokc' here; did you mean 'lock'?"))
    #expect(phone.errorOutput.contains("nowhere.apns: cannot be read"))
    #expect(phone.errorOutput.contains("no 'arrived' came within 0 s"))
    let objects = phone.output.split(separator: "\n").map { try? JSONSerialization.jsonObject(with: Data($0.utf8)) }
    #expect(objects.allSatisfy { $0 is [String: Any] }, "every line is JSON")
    #expect(phone.output.contains(#""text":"locks the phone""#))
  }

  @Test("D-340 D-341 the verbs of simctl find a booted phone, push to it and drive it; exit statuses are plain")
  func verbs() async throws {
    let place = try Place()
    let phone = try place.phone(["--headless", "--allow", "--ios", "16.4", "--name", "My Phone"])
    let facts = try await phone.event("listening")
    let udid = try #require(facts["udid"])
    let list = try await place.verb(["list", "devices"])
    #expect(list.output == "== Devices ==\n-- iOS 16.4 --\n    My Phone (\(udid)) (Booted)\n")
    let json = try await place.verb(["list", "--json"])
    let value = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: [String: Any]])
    let devices = try #require(value["devices"]?["com.apple.CoreSimulator.SimRuntime.iOS-16-4"] as? [[String: Any]])
    #expect(devices.count == 1 && devices[0]["udid"] as? String == udid && devices[0]["state"] as? String == "Booted")

    let file = place.data.path + "payload.apns"
    try #"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"From a file"}}"#.write(
      toFile: file, atomically: true, encoding: .utf8)
    let sent = "Notification sent to 'com.example.app'\n"
    _ = try await place.verb(["do", "booted", "home"])
    #expect(try await place.verb(["push", "booted", file]).output == sent)
    #expect(try await place.verb(["push", udid, "com.example.app", file]).output == sent)
    let piped = try await place.verb(
      ["push", "My Phone", "com.example.app", "-", "--timeline"], input: #"{"aps":{"alert":"Piped"}}"#)
    #expect(piped.status == 0 && piped.output.hasSuffix(sent) && piped.output.contains("“Piped”"))
    let log = try await place.verb(["log", "booted", "--count", "200"])
    #expect(log.output.contains(#"{"aps":{"alert":"From a file"}}"#) && !log.output.contains("Simulator Target Bundle"))

    for (words, input, told) in [
      (["push", "booted", "com.example.app", "-"], "{}", #"it has no "aps" object"#),
      (["push", "booted", "-"], #"{"aps":{}}"#, "no bundle id is given"),
      (["push", "booted", "com.other.app", "-"], #"{"aps":{}}"#, "com.other.app is not installed"),
      (["push", "elsewhere", "com.example.app", "-"], #"{"aps":{}}"#, "Invalid device: elsewhere"),
      (["uninstall", "booted", "com.other.app"], "", "com.other.app is not installed"),
      (["privacy", "booted", "grant", "photos", "com.example.app"], "", "notifications is what there is"),
    ] {
      let answer = try await place.verb(words, input: input)
      #expect(answer.status == 1 && answer.output.isEmpty && answer.errors.contains(told), "\(words): \(answer)")
    }
    #expect(try await place.verb(["do", "booted", "lokc"]).status == 2)

    #expect(try await place.verb(["install", "booted", "com.example.second"]).status == 0)
    #expect(
      try await place.verb(["launch", "booted", "com.example.second"]).output == "com.example.second: inactive\n")
    #expect(try await place.verb(["privacy", "booted", "grant", "notifications", "com.example.second"]).status == 0)
    let reset = ["privacy", "booted", "reset", "notifications", "com.example.second", "--timeline"]
    #expect(try await place.verb(reset).output.contains("installed"))
    #expect(try await place.verb(["launch", "booted", "com.example.second"]).status == 0)
    let mistyped = try await place.verb(["privacy", "booted", "grand", "all", "com.example.second"])
    #expect(mistyped.status == 2 && mistyped.errors.contains("did you mean 'grant'?"))
    #expect(try await place.verb(["status", "booted"]).output.contains(#""locked":false"#))

    let shop = place.data.path + "shop.json5"
    try "{bundle: 'com.example.shop', entitlements: ['timeSensitive'], start: 'forceQuit', // two words\n}".write(
      toFile: shop, atomically: true, encoding: .utf8)
    #expect(try await place.verb(["install", "booted", shop]).status == 0)
    #expect(try await place.verb(["listapps", "booted"]).output.contains("com.example.shop    forceQuit"))
    try "{entitlments: []}".write(toFile: shop, atomically: true, encoding: .utf8)
    let bad = try await place.verb(["install", "booted", shop])
    #expect(bad.status == 1 && bad.errors.contains("shop.json5: entitlments: there is no such field. Did you mean"))
    #expect(try await place.verb(["launch", "booted", "com.example.second"]).status == 0)
    #expect(try await place.verb(["terminate", "booted", "com.example.second"]).status == 0)
    let again = try await place.verb(["terminate", "booted", "com.example.second"])
    #expect(again.status == 1 && again.errors.contains("found nothing to terminate"))
    #expect(try await place.verb(["listapps", "booted"]).output.contains("com.example.second  notRunning"))
    #expect(try await place.verb(["uninstall", "booted", "com.example.second"]).status == 0)

    #expect(try await place.verb(["do", "booted", "lock"]).output.contains("☝ locks the phone"))
    #expect(
      try await place.verb(["status_bar", "booted", "override", "--time", "9:41", "--batteryLevel", "77"]).status == 0)
    let screen = try await place.verb(["screen", "booted", "--columns", "30", "--rows", "12"])
    #expect(screen.output.hasPrefix("╭") && screen.output.contains("9:41") && screen.output.contains("77%"))
    #expect(screen.output.split(separator: "\n").count == 12)
    let locked = try await place.verb(["launch", "booted", "com.example.app"])
    #expect(locked.status == 1 && locked.errors.contains("is the phone locked?"))

    #expect(try await place.verb(["shutdown", "booted"]).status == 0)
    #expect(try await phone.end() == 0)
    let none = try await place.verb(["push", "booted", file])
    #expect(none.status == 1 && none.errors.contains("No devices are booted."))
    #expect(try await place.verb(["list"]).output == "== Devices ==\n")
  }

  @Test("boot starts one in the background, its name is its own, two are not confused, shutdown all ends them")
  func boot() async throws {
    let place = try Place()
    let first = try await place.verb(["boot", "A", "--allow", "--data", place.data.path + "a"])
    #expect(first.status == 0, "\(first.errors)")
    let udid = first.output.trimmingCharacters(in: .newlines)
    #expect(UUID(uuidString: udid) != nil)
    let twice = try await place.verb(["boot", "A", "--data", place.data.path + "b"])
    #expect(twice.status == 1 && twice.errors.contains("Unable to boot device in current state: Booted"))
    #expect(try await place.verb(["boot", "B", "--ios", "9.3", "--data", place.data.path + "b"]).status == 0)
    let unclear = try await place.verb(["do", "booted", "lock"])
    #expect(unclear.status == 1 && unclear.errors.contains(#"several phones are booted: "A", "B"; name one"#))
    #expect(try await place.verb(["do", "B", "lock"]).status == 0)
    #expect(try await place.verb(["shutdown", "all"]).status == 0)
    #expect(try await place.verb(["list"]).output == "== Devices ==\n")
    let wrong = try await place.verb(["boot", "C", "--ios", "17.5", "--data", "/dev/null/x"])
    #expect(wrong.status == 1 && wrong.errors.contains("the phone did not start"))
  }

  @Test("a killed phone leaves a dead socket: it counts as none, and its name is free again")
  func killed() async throws {
    let place = try Place()
    let first = try place.phone(["--headless"])
    let udid = try await first.event("listening")["udid"]
    let rival = try await BelfryProcess.run(
      ["phone", "--headless", "--data", place.data.path + "x"], environment: place.environment)
    #expect(rival.status == 1 && rival.errors.contains(#"a phone named "iPhone" runs already"#))
    first.signal(SIGKILL)
    #expect(try await first.end() == -SIGKILL)
    #expect(try await place.verb(["list"]).output == "== Devices ==\n")
    let second = try place.phone(["--headless"])
    #expect(try await second.event("listening")["udid"] == udid)
    #expect(try await place.verb(["list"]).output.contains("(Booted)"))
    second.signal(SIGTERM)
    #expect(try await second.end() == 0)
  }

  @Test("the folder of sockets is this user's alone, or is not used")
  func folder() async throws {
    let place = try Place()
    let open = place.sockets.path + "open"
    try FileManager.default.createDirectory(
      atPath: open, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let answer = try await BelfryProcess.run(["phone", "list"], environment: ["BELFRY_PHONES": open])
    #expect(answer.status == 1 && answer.errors.contains("is not this user's alone"))
    let phone = try place.phone(["--headless"])
    _ = try await phone.event("listening")
    let run = place.sockets.path + "run"
    #expect(try FileManager.default.attributesOfItem(atPath: run)[.posixPermissions] as? Int == 0o700)
    for name in try FileManager.default.contentsOfDirectory(atPath: run) {
      #expect(try FileManager.default.attributesOfItem(atPath: run + "/" + name)[.posixPermissions] as? Int == 0o600)
    }
    phone.signal(SIGINT)
    #expect(try await phone.end() == 0)
  }

  @Test("a provider pushes to it through its own APNs, with what it prints; the token is the same the next time")
  func provider() async throws {
    let place = try Place()
    let phone = try place.phone(["--headless", "--allow"])
    let facts = try await phone.event("listening")
    func fact(_ name: String) throws -> String { try #require(facts[name], "\(name)") }
    let push = try await BelfryProcess.run(
      [
        "push", "-", "--token", try fact("token"), "--topic", "com.example.app", "--key", try fact("key"), "--key-id",
        try fact("keyId"), "--team-id", try fact("teamId"), "--apns", try fact("apns"), "--ca", try fact("ca"),
      ], input: #"{"aps":{"alert":"By a provider"}}"#)
    #expect(push.status == 0 && push.output.hasPrefix("accepted  200"), "\(push)")
    let told = try await place.verb(["do", "booted", "await", "arrived", "10s"])
    #expect(told.status == 0, "\(told.errors)")
    #expect(try await place.verb(["log", "booted"]).output.contains("By a provider"))
    phone.signal(SIGTERM)
    #expect(try await phone.end() == 0)
    let again = try place.phone(["--headless", "--allow"])
    #expect(try await again.event("listening")["token"] == facts["token"])
    again.signal(SIGTERM)
    #expect(try await again.end() == 0)
  }

  @Test("--apns: a phone at a belfry apns that runs elsewhere gets what is pushed there, and is offline there too")
  func remote() async throws {
    let place = try Place()
    let apns = try BelfryProcess([
      "apns", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--proxy", "127.0.0.1:0", "--data",
      place.data.path,
    ])
    let facts = try await apns.event("listening")
    func fact(_ name: String) throws -> String { try #require(facts[name], "\(name)") }
    let phone = try BelfryProcess(
      ["phone", "--headless", "--allow", "--apns", try fact("control")], environment: place.environment)
    let token = try #require(try await phone.event("listening")["token"])
    func push(_ text: String) async throws -> (status: Int32, output: String, errors: String) {
      try await BelfryProcess.run(
        [
          "push", "-", "--token", token, "--topic", "com.example.app", "--key", try fact("key"), "--key-id",
          try fact("keyId"), "--team-id", try fact("teamId"), "--apns", try fact("apns"), "--ca", try fact("ca"),
        ], input: #"{"aps":{"alert":"\#(text)"}}"#)
    }
    #expect(try await push("From afar").status == 0)
    #expect(try await place.verb(["do", "booted", "await", "arrived", "10s"]).status == 0)
    #expect(try await place.verb(["do", "booted", "airplane", "on"]).status == 0)
    #expect(try await push("Kept").status == 0)
    #expect(try await place.verb(["log", "booted", "--count", "99"]).output.contains("Kept") == false)
    #expect(try await place.verb(["do", "booted", "airplane", "off"]).status == 0)
    #expect(try await place.verb(["do", "booted", "await", "arrived", "10s"]).status == 0)
    #expect(try await place.verb(["log", "booted", "--count", "99"]).output.contains("Kept"))
    phone.signal(SIGTERM)
    #expect(try await phone.end() == 0)
    apns.signal(SIGTERM)
    #expect(try await apns.end() == 0)
    let nowhere = try await BelfryProcess.run(
      ["phone", "--headless", "--apns", try fact("control")], environment: place.environment)
    #expect(nowhere.status == 1 && nowhere.errors.contains("is no control API of a running belfry apns"))
  }
}
