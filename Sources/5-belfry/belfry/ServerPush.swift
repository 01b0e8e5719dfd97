import Basics
import HTTPClient
import PushPayload
import Transport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What `belfry push --server` was asked for: a push through a running service, to an audience.
struct ServerPushOptions {
  var path: String
  var call: AppCall
  var audience: JSONValue
  var environment: String?
  var timeToLive: Int64?
  var collapseID: String?
  /// How long to watch; nil: until the last device has ended.
  var patience: Instant.Span?
  var json: Bool

  static let options: [Command.Option] =
    AppCall.options + [
      .init(
        name: "to", value: "WHOM", help: "With --server: all, tag:NAME, alias:NAME or rid:ID; those of any",
        repeats: true)
    ]

  /// nil without `--to`: a push to one device.
  init?(_ parsed: ParsedCommand) throws(UsageFault) {
    guard !parsed.all("to").isEmpty else { return nil }
    guard let call = try AppCall(parsed) else {
      throw UsageFault("'--to' goes with --server: the address of a running service")
    }
    for name in ["token", "topic", "key", "cert", "ca", "push-type", "priority", "id"] where parsed.value(name) != nil {
      throw UsageFault("'--\(name)' is for a push to one device; with --to leave it out")
    }
    self.call = call
    audience = try Self.audience(parsed.all("to"))
    if let word = parsed.value("apns") {
      guard ["sandbox", "production"].contains(word) else {
        throw UsageFault("--apns takes sandbox or production with --server: where the devices' tokens are of")
      }
      environment = word
    }
    if let word = parsed.value("expires") {
      guard let span = PushOptions.span(word) else {
        throw UsageFault("--expires takes a span such as 90s, 15m, 1h or 30d, or 0, not '\(word)'")
      }
      timeToLive = span.milliseconds / 1000
    }
    collapseID = parsed.value("collapse-id")
    if let word = parsed.value("timeout") {
      guard let seconds = Int64(word), (1...86_400).contains(seconds) else {
        throw UsageFault("--timeout takes seconds, 1 to 86400, not '\(word)'")
      }
      patience = .seconds(seconds)
    }
    path = parsed.arguments[0]
    json = parsed.flag("json")
  }

  /// As `POST /v1/pushes` takes it.
  private static func audience(_ words: [String]) throws(UsageFault) -> JSONValue {
    let keys = ["tag": "tag", "alias": "alias", "rid": "registrationId"]
    var parts: [JSONValue] = []
    for word in words {
      if word == "all" { return "everyone" }
      let halves = word.split(separator: ":", maxSplits: 1).map(String.init)
      guard halves.count == 2, let key = keys[halves[0]] else {
        throw UsageFault("--to takes all, tag:NAME, alias:NAME or rid:ID, not '\(word)'")
      }
      parts.append(.object([key: .string(halves[1])]))
    }
    return parts.count == 1 ? parts[0] : ["or": .array(parts)]
  }

  /// The body of `POST /v1/pushes`: the payload's own keys where it is APNs' (`aps`), else the payload as it is.
  func body(of payload: JSONObject) throws(CommandFault) -> JSONValue {
    var body = payload
    if let aps = payload["aps"] {
      guard case .object(let aps) = aps else { throw CommandFault("\(path): aps is no object") }
      body = try Self.body(of: aps)
      var data = payload
      data["aps"] = nil
      data["Simulator Target Bundle"] = nil
      if !data.members.isEmpty { body["data"] = .object(data) }
    } else if payload["audience"] != nil {
      throw CommandFault("\(path): audience: --to says whom it is for; leave it out")
    }
    body["audience"] = audience
    if let environment { body["environment"] = .string(environment) }
    if let timeToLive { body["timeToLive"] = .number(JSONNumber(timeToLive)) }
    if let collapseID { body["collapseId"] = .string(collapseID) }
    return .object(body)
  }

  private static let names = [
    "alert": "alert", "sound": "sound", "badge": "badge", "category": "category", "thread-id": "threadId",
    "interruption-level": "interruptionLevel",
  ]

  private static func body(of aps: JSONObject) throws(CommandFault) -> JSONObject {
    var body = JSONObject()
    for member in aps.members {
      if let name = names[member.key] {
        body[name] = member.value
      } else if member.key == "mutable-content" {
        body["mutableContent"] = .bool(member.value == 1)
      } else if member.key == "content-available" {
        guard member.value == 1 else { continue }
        body["kind"] = aps["alert"] == nil && aps["sound"] == nil && aps["badge"] == nil ? "silent" : "background"
      } else {
        throw CommandFault(
          "aps.\(member.key): this cannot be pushed through a service; send it to one device by --token")
      }
    }
    return body
  }
}

/// Pushes through a running service, and watches until every device has ended.
struct ServerPush {
  let options: ServerPushOptions
  let clock: any WallClock

  /// Between two looks.
  private static let period = Instant.Span.milliseconds(500)
  /// How long a server that does not answer is asked again.
  private static let patience = Instant.Span.seconds(30)

  init(_ options: ServerPushOptions, clock: any WallClock) {
    self.options = options
    self.clock = clock
  }

  func run() async throws -> ExitStatus {
    let bytes = try LintSource(path: options.path == "-" ? nil : options.path).read()
    let payload: JSONValue
    do throws(JSONFault) { payload = try JSONReader.read(bytes).value } catch {
      throw CommandFault("\(options.path): \(error)")
    }
    guard case .object(let object) = payload else { throw CommandFault("\(options.path): no JSON object") }
    // asked again under the same key, it is the same push
    let made = try await ask(
      "POST", "/v1/pushes", headers: ["idempotency-key": UUID().uuidString.lowercased()],
      try options.body(of: object).encoded())
    guard let id = made["id"]?.string else {
      throw CommandFault("\(options.call.server): is this a Belfry? It told no id")
    }
    for warning in made["warnings"]?.array ?? [] { Terminal.complain("warning: \(warning.string ?? "")") }
    let report = try await watch(id)
    let status = Status(report)
    if options.json { Terminal.print(JSONValue.object(report).text) } else { Terminal.print("\(id)  \(status.words)") }
    return status.isAllAccepted ? .success : .failure
  }

  private func watch(_ id: String) async throws -> JSONObject {
    var bar = ProgressBar("push \(id)")
    let start = clock.uptime
    while true {
      let report = try await ask("GET", "/v1/pushes/\(id)")
      let status = Status(report)
      bar.show(status.targeted - status.pending, of: status.targeted, status.words)
      if status.isOver {
        bar.end()
        return report
      }
      if let patience = options.patience, clock.uptime - start >= patience {
        bar.end()
        Terminal.complain("still under way; see GET /v1/pushes/\(id)")
        return report
      }
      try await clock.sleep(for: Self.period)
    }
  }

  /// A server that does not answer, or cannot now, is asked again for a while.
  private func ask(
    _ method: String, _ path: String, headers: [String: String] = [:], _ body: [UInt8]? = nil
  ) async throws -> JSONObject {
    let start = clock.uptime
    var headers = headers
    if body != nil { headers["content-type"] = "application/json" }
    while true {
      var answer: HTTPClient.Answer?
      var trouble = ""
      do throws(HTTPClient.Fault) {
        answer = try await options.call.send(method, path, headers: headers, body)
      } catch {
        trouble = error.description
      }
      if let answer {
        let object = (try? JSONReader.read(answer.body))?.value.object
        if 200..<300 ~= answer.status, let object { return object }
        let words = object?["detail"]?.string ?? object?["title"]?.string ?? "it answered \(answer.status)"
        trouble = "\(options.call.server): \(words)"
        if answer.status != 429, answer.status < 500 { throw CommandFault(trouble) }
      }
      guard clock.uptime - start < Self.patience else { throw CommandFault(trouble) }
      try await clock.sleep(for: Self.period)
    }
  }

  /// What a report of `GET /v1/pushes/{id}` comes to.
  struct Status {
    let targeted: Int64
    let pending: Int64
    let accepted: Int64
    let state: String
    let words: String

    init(_ report: JSONObject) {
      func count(_ name: String) -> Int64 { report[name]?.number?.int64 ?? 0 }
      targeted = count("targeted")
      pending = count("pending")
      accepted = count("accepted")
      state = report["state"]?.string ?? ""
      var parts = ["\(accepted) of \(targeted) accepted"]
      for refusal in report["refused"]?.array ?? [] {
        let reason = refusal.object?["reason"]?.string ?? ""
        parts.append("\(refusal.object?["count"]?.number?.int64 ?? 0) refused \(reason)")
      }
      for name in ["expired", "unanswered", "skipped", "skippedByPreference", "withdrawn"] where count(name) > 0 {
        parts.append("\(count(name)) \(name)")
      }
      if let reason = report["reason"]?.string { parts.append("waits: \(reason)") }
      if state == "paused" { parts.append("paused") }
      words = parts.joined(separator: ", ")
    }

    var isOver: Bool { pending == 0 && state != "sending" && state != "waiting" && state != "paused" }
    var isAllAccepted: Bool { isOver && accepted == targeted }
  }
}
