import Basics
import PushPayload

/// `belfry phone VERB`, as `xcrun simctl VERB`: the same words in the same order, for what means something here.
let phoneVerbs: [Command] = [
  listVerb, bootVerb, shutdownVerb, pushVerb, installVerb, uninstallVerb, launchVerb, terminateVerb, privacyVerb,
  statusBarVerb, listAppsVerb, statusVerb, doVerb, screenVerb, logVerb,
]

private let device = Command.Argument(
  name: "DEVICE", help: "booted, a phone's name or its UDID", completion: .words(["booted"]))
private let bundle = Command.Argument(name: "BUNDLE", help: "The app's bundle id", completion: .none)
private let timeline = Command.Option.flag("timeline", "Print what happened on the phone, too")

/// Does these words on a phone; the timeline is printed only where asked for.
private func perform(
  _ words: [String], on phone: RunningPhone, _ call: RunningPhones, _ parsed: ParsedCommand, payload: [UInt8]? = nil,
  named name: String? = nil
) throws {
  var request = PhoneLine.Request(words: words)
  request.payload = payload
  request.payloadName = name
  let tells = parsed.flag("timeline")
  try call.send(request, to: phone.udid) { if tells { Terminal.print($0) } }
}

/// Asks the phone of the first argument, and prints what it answers.
private func ask(_ request: PhoneLine.Request, _ parsed: ParsedCommand) throws -> ExitStatus {
  let call = try RunningPhones()
  return try call.send(request, to: try call.find(parsed.arguments[0]).udid)
}

private let listVerb = Command(
  name: "phone list",
  summary: "List the running phones",
  discussion: "The JSON has the form of 'xcrun simctl list devices --json'.",
  arguments: [
    .init(
      name: "WHAT", help: "devices, or a part of a name or UDID", repeats: true, optional: true, completion: .none)
  ],
  options: [.flag("json", "Print JSON")],
  run: { parsed in
    let terms = parsed.arguments.filter { $0 != "devices" && $0 != "available" }.map { $0.lowercased() }
    let phones = try RunningPhones().running().filter { phone in
      terms.allSatisfy { "\(phone.name) \(phone.udid) booted".lowercased().contains($0) }
    }
    Terminal.print(parsed.flag("json") ? PhoneList(phones: phones).json.text : PhoneList(phones: phones).text)
    return .success
  })

/// Running phones in the form of Apple's tool.
struct PhoneList {
  var phones: [RunningPhone]

  private var versions: [String] { Array(Set(phones.map(\.ios))).sorted() }

  var text: String {
    let groups = versions.flatMap { version in
      ["-- iOS \(version) --"]
        + phones.filter { $0.ios == version }.map { "    \($0.name) (\($0.udid)) (Booted)" }
    }
    return (["== Devices =="] + groups).joined(separator: "\n")
  }

  var json: JSONValue {
    var devices: JSONObject = [:]
    for version in versions {
      let runtime = "com.apple.CoreSimulator.SimRuntime.iOS-" + version.split(separator: ".").joined(separator: "-")
      devices[runtime] = .array(
        phones.filter { $0.ios == version }.map { phone in
          var device: JSONObject = [
            "udid": .string(phone.udid), "name": .string(phone.name), "state": "Booted", "isAvailable": true,
          ]
          for name in ["pid", "apns", "control", "locked", "apps"] { device[name] = phone.facts[name] }
          return .object(device)
        })
    }
    return ["devices": .object(devices)]
  }
}

private let bootVerb = Command(
  name: "phone boot",
  summary: "Start a phone in the background",
  discussion: """
    Returns when the phone can be reached, and prints its UDID. 'belfry phone shutdown' ends it. What it says goes to a \
    file beside its socket.
    """,
  arguments: [.init(name: "NAME", help: "What it will be called", completion: .none)],
  options: PhoneOptions.options.filter { $0.name != "name" },
  run: { parsed in
    var all = parsed
    all.values["name"] = [parsed.arguments[0]]
    return try await PhoneBoot(PhoneOptions(all), all).run()
  })

private let shutdownVerb = Command(
  name: "phone shutdown",
  summary: "End a running phone",
  arguments: [.init(name: "DEVICE", help: "booted, a name, a UDID, or all", completion: .words(["booted", "all"]))],
  run: { parsed in
    let call = try RunningPhones()
    let phones = parsed.arguments[0].lowercased() == "all" ? call.running() : [try call.find(parsed.arguments[0])]
    for phone in phones { try call.send(.init(words: ["quit"]), to: phone.udid) { _ in } }
    // its name and its data are free only when it is gone
    for phone in phones {
      for _ in 0..<500 where call.status(phone.udid) != nil { try await Task.sleep(for: .milliseconds(20)) }
    }
    return .success
  })

private let pushVerb = Command(
  name: "phone push",
  summary: "Send a simulated push to a running phone: no provider, no token",
  discussion: """
    FILE is a JSON payload with 'aps' at the top, at most 4096 bytes, or - for standard input. The bundle id may be left \
    out when the file has the key "Simulator Target Bundle", which is not delivered; given, it beats the file's.
    Unlike Apple's tool it takes every push type and runs service extensions; for the whole way through APNs use 'belfry \
    push'.
    """,
  arguments: [
    device, .init(name: "BUNDLE", help: "The app's bundle id, unless FILE names it", completion: .none),
    .init(name: "FILE", help: "A payload (.apns, .json), or -", optional: true),
  ],
  options: PhonePush.options + [timeline],
  run: { parsed in
    let path = parsed.arguments.last ?? "-"
    let named = parsed.arguments.count == 3 ? parsed.arguments[1] : nil
    let name = path == "-" ? "<stdin>" : path
    let file = try SimulatorFile(try LintSource(path: path == "-" ? nil : path).read(), named: name)
    let call = try RunningPhones()
    let phone = try call.find(parsed.arguments[0])
    guard let bundle = named ?? file.bundleID else {
      throw CommandFault(
        "\(name): no bundle id is given, and there is no \"\(SimulatorFile.bundleKey)\" in it: "
          + "belfry phone push \(parsed.arguments[0]) com.example.app \(path)")
    }
    guard phone.bundleIDs.contains(bundle) else {
      let installed = phone.bundleIDs.isEmpty ? "nothing" : phone.bundleIDs.joined(separator: ", ")
      throw CommandFault("\(bundle) is not installed on \"\(phone.name)\"; installed: \(installed)")
    }
    let words = ["push", "-", bundle] + parsed.words(of: PhonePush.options)
    try perform(words, on: phone, call, parsed, payload: file.payload, named: name)
    Terminal.print("Notification sent to '\(bundle)'")
    return .success
  })

private let installVerb = Command(
  name: "phone install",
  summary: "Install or update an app on a running phone",
  discussion: """
    APP is a bundle id, or a .json5 file that describes an app as scenarios do (docs/scenarios.md): entitlements, background \
    modes, categories, extensions, strings.
    """,
  arguments: [device, .init(name: "APP", help: "A bundle id, or a file that describes an app")], options: [timeline],
  run: { parsed in
    let call = try RunningPhones()
    let app = try AppSource(parsed.arguments[1]).absolute
    try perform(["install", app.word], on: try call.find(parsed.arguments[0]), call, parsed)
    return .success
  })

private let uninstallVerb = Command(
  name: "phone uninstall",
  summary: "Delete an app from a running phone",
  arguments: [device, bundle], options: [timeline],
  run: { parsed in
    let call = try RunningPhones()
    let phone = try call.find(parsed.arguments[0], with: parsed.arguments[1])
    try perform(["uninstall", parsed.arguments[1]], on: phone, call, parsed)
    return .success
  })

extension RunningPhones {
  /// The phone that `word` means, which has the app.
  fileprivate func find(_ word: String, with bundleID: String) throws(CommandFault) -> RunningPhone {
    let phone = try find(word)
    guard phone.state(of: bundleID) != nil else {
      throw CommandFault("\(bundleID) is not installed on \"\(phone.name)\"")
    }
    return phone
  }
}

private let launchVerb = Command(
  name: "phone launch",
  summary: "Open an app by its icon",
  discussion: "Prints the app and its state, where Apple's tool prints a process id.",
  arguments: [device, bundle],
  options: [.flag("terminate-running-process", "End it first if it runs"), timeline],
  run: { parsed in
    let call = try RunningPhones()
    let bundle = parsed.arguments[1]
    let phone = try call.find(parsed.arguments[0], with: bundle)
    if parsed.flag("terminate-running-process") { try perform(["end", bundle], on: phone, call, parsed) }
    try perform(["launch", bundle], on: phone, call, parsed)
    let state = call.status(phone.udid)?.state(of: bundle) ?? "gone"
    guard state == "active" || state == "inactive" else {
      throw CommandFault("\(bundle) is not on the screen: it is \(state); is the phone locked?")
    }
    Terminal.print("\(bundle): \(state)")
    return .success
  })

private let terminateVerb = Command(
  name: "phone terminate",
  summary: "End an app, as the system would; a user's swipe is 'belfry phone do booted forcequit'",
  arguments: [device, bundle], options: [timeline],
  run: { parsed in
    let call = try RunningPhones()
    let bundle = parsed.arguments[1]
    let phone = try call.find(parsed.arguments[0], with: bundle)
    if let state = phone.state(of: bundle), state == "notRunning" || state == "forceQuit" {
      throw CommandFault("found nothing to terminate: \(bundle) is \(state)")
    }
    try perform(["end", bundle], on: phone, call, parsed)
    return .success
  })

private let privacyVerb = Command(
  name: "phone privacy",
  summary: "Grant, revoke or reset an app's permission",
  discussion: """
    Of the services only notifications mean something on this phone, which Apple's tool does not have: the user's \
    switch in Settings, without a prompt. 'all' is the same. A reset forgets the answer: the app is deleted and installed \
    again, and asks anew. Without BUNDLE every app is reset.
    """,
  arguments: [
    device, .init(name: "ACTION", help: "grant, revoke or reset", completion: .words(["grant", "revoke", "reset"])),
    .init(name: "SERVICE", help: "notifications, or all", completion: .words(["notifications", "all"])),
    .init(name: "BUNDLE", help: "The app's bundle id; of a reset every app without", optional: true, completion: .none),
  ],
  options: [timeline],
  run: { parsed in
    let words = parsed.arguments
    guard ["notifications", "all"].contains(words[2]) else {
      throw CommandFault("there is no '\(words[2])' on this phone to give leave for; notifications is what there is")
    }
    let actions = ["grant": ["permission", "on"], "revoke": ["permission", "off"], "reset": ["reinstall"]]
    guard let act = actions[words[1]] else {
      throw UsageFault(
        "ACTION is grant, revoke or reset, not '\(words[1])'\(suggestion(words[1], among: Array(actions.keys)))")
    }
    let call = try RunningPhones()
    guard let named = words.dropFirst(3).first else {
      guard words[1] == "reset" else { throw UsageFault("BUNDLE is missing: the app's bundle id") }
      let phone = try call.find(words[0])
      for bundle in phone.bundleIDs { try perform(act + [bundle], on: phone, call, parsed) }
      return .success
    }
    try perform(act + [named], on: try call.find(words[0], with: named), call, parsed)
    return .success
  })

private let statusBarVerb = Command(
  name: "phone status_bar",
  summary: "Set or clear what the drawn status bar shows",
  arguments: [device, StatusBarOverride.action], options: StatusBarOverride.options,
  run: { parsed in
    let call = try RunningPhones()
    let words = ["statusbar", parsed.arguments[1]] + parsed.words(of: StatusBarOverride.options)
    try perform(words, on: try call.find(parsed.arguments[0]), call, parsed)
    return .success
  })

private let statusVerb = Command(
  name: "phone status",
  summary: "Print in JSON where a running phone is and how it stands: places, locked, apps, tokens",
  arguments: [device],
  run: { try ask(.init(words: ["status"]), $0) })

private let listAppsVerb = Command(
  name: "phone listapps",
  summary: "List the apps of a running phone",
  arguments: [device],
  run: { try ask(.init(words: ["apps"]), $0) })

private let doVerb = Command(
  name: "phone do",
  summary: "Do on a running phone what can be typed in line mode, and print what happened",
  discussion: "'belfry phone do booted help' lists the words: tap, lock, unlock, home, wait 1h, and so on.",
  arguments: [device, .init(name: "WORD", help: "What to do", repeats: true, completion: .words(PhoneWord.names))],
  options: [.flag("json", "Print the timeline as lines of JSON")],
  run: { parsed in
    var request = PhoneLine.Request(words: Array(parsed.arguments.dropFirst()))
    request.json = parsed.flag("json")
    if request.words.first == "push", request.words.count > 1,
      SamplePush(rawValue: request.words[1].uppercased()) == nil,
      !request.words[1].hasPrefix("{")
    {
      request.words[1] = Files.absolute(request.words[1])
    }
    return try ask(request, parsed)
  })

private let screenVerb = Command(
  name: "phone screen",
  summary: "Print the screen of a running phone",
  arguments: [device],
  options: [
    .init(name: "columns", value: "N", help: "How wide; default \(ScreenDrawing.usualSize.columns)"),
    .init(name: "rows", value: "N", help: "How high; default \(ScreenDrawing.usualSize.rows)"),
  ],
  run: { parsed in
    var size = ScreenDrawing.usualSize
    for (name, path) in [("columns", \TerminalSize.columns), ("rows", \.rows)] {
      guard let word = parsed.value(name) else { continue }
      guard let number = Int(word), (1...500).contains(number) else {
        throw UsageFault("--\(name) takes a number from 1 to 500, not '\(word)'")
      }
      size[keyPath: path] = number
    }
    var request = PhoneLine.Request(words: ["screen"])
    request.size = size
    return try ask(request, parsed)
  })

private let logVerb = Command(
  name: "phone log",
  summary: "Print the timeline of a running phone",
  arguments: [device],
  options: [
    .init(name: "count", value: "N", help: "The last N entries; default 20"),
    .flag("follow", "All of it, and go on until the phone ends"), .flag("json", "Print lines of JSON"),
  ],
  run: { parsed in
    var request = PhoneLine.Request(words: ["log", parsed.value("count") ?? "20"])
    request.json = parsed.flag("json")
    request.follows = parsed.flag("follow")
    return try ask(request, parsed)
  })
