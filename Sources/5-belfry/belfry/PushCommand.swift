import APNSClient
import Basics
import Delivery
import PushPayload
import Transport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

let pushCommand = Command(
  name: "push",
  summary: "Send one push through APNs, or through a running service, and tell what became of it",
  discussion: """
    PAYLOAD is a JSON file, a file of Apple's Simulator (.apns), or - for standard input. It is linted first; with an \
    error it is not sent, unless with --force.
    Give a provider key (--key with --key-id and --team-id) or a certificate (--cert). The topic is the app's bundle \
    id: the suffix that the push type wants is added by itself.
    With --server it goes through a running service to those that --to names, and is watched until every device has \
    ended; PAYLOAD is then APNs' payload, or what POST /v1/pushes takes without its audience.
    Exit status: 0 accepted, 1 refused or unanswered, 2 for wrong usage.
    """,
  arguments: [.init(name: "PAYLOAD", help: "A JSON payload, or -")],
  options: [
    .init(name: "token", value: "HEX", help: "The device token, in hex"),
    .init(name: "topic", value: "BUNDLE", help: "The app's bundle id; default that of the .apns file or certificate"),
    .init(
      name: "key", value: "FILE", help: "The provider key (.p8)", completion: .file),
    .init(name: "key-id", value: "ID", help: "Its key id, 10 characters", variable: "BELFRY_KEY_ID"),
    .init(name: "team-id", value: "ID", help: "The team id, 10 characters", variable: "BELFRY_TEAM_ID"),
    .init(name: "cert", value: "FILE", help: "A push certificate with its key (.p12 or .pem)", completion: .file),
    .init(
      name: "cert-password", value: "WORD", help: "Its password; better in the variable, where others do not see it",
      variable: "BELFRY_CERT_PASSWORD"),
    .init(
      name: "apns", value: "WHERE", help: "sandbox, production or https://HOST:PORT; default sandbox",
      completion: .words(["sandbox", "production"])),
    .init(
      name: "ca", value: "FILE", help: "Who vouches for the server (PEM); default the machine's own store",
      completion: .file),
    ServeConfiguration.proxyOption,
    .init(
      name: "push-type", value: "TYPE", help: "Default: what the payload looks like",
      completion: .words(PushType.allCases.map(\.rawValue))),
    .init(
      name: "priority", value: "N", help: "10, 5 or 1; default 10, for background pushes 5",
      completion: .words(["10", "5", "1"])),
    .init(
      name: "expires", value: "SPAN",
      help: "How long APNs may keep it for a phone that is away: 90s, 15m, 1h, 30d; 0 for one attempt; default 1h"),
    .init(name: "collapse-id", value: "ID", help: "Replaces what is shown under the same id; at most 64 bytes"),
    .init(name: "id", value: "UUID", help: "The apns-id; default a new one"),
    .init(name: "timeout", value: "SECONDS", help: "How long to try; default 20"),
    .flag("force", "Send although the lint finds errors"),
    .flag("json", "Print JSON"),
  ] + ServerPushOptions.options,
  run: { parsed in
    if let options = try ServerPushOptions(parsed) {
      return try await ServerPush(options, clock: SystemClock()).run()
    }
    return try await runPush(PushOptions(parsed))
  })

/// What `belfry push` was asked for, checked for its form; files are not opened yet.
struct PushOptions {
  enum Identity: Equatable {
    case key(path: String, keyID: String, teamID: String)
    case certificate(path: String, password: String)
  }

  var path: String
  var token: [UInt8]
  var topic: String?
  var identity: Identity
  var server = APNSServer.sandbox
  var authorities: String?
  var proxy: Proxy?
  var pushType: PushType?
  var priority: PushPriority?
  /// nil for one attempt.
  var expires: Instant.Span? = .hours(1)
  var collapseID: String?
  var id: String
  var timeout = Instant.Span.seconds(20)
  var force: Bool
  var json: Bool

  init(_ parsed: ParsedCommand, environment: [String: String] = processEnvironment()) throws(UsageFault) {
    path = parsed.arguments[0]
    guard let text = parsed.value("token") else { throw UsageFault("'--token' is missing: the device token, in hex") }
    do throws(DeviceTokenFault) {
      token = try DeviceTokenText.read(text)
    } catch {
      throw UsageFault("--token: \(error.found). \(error.remedy)")
    }
    topic = parsed.value("topic")
    identity = try Self.identity(parsed)
    if let server = try parsed.server("apns") { self.server = server }
    authorities = parsed.value("ca")
    proxy = try parsed.proxy(environment).proxy(to: server.endpoint)
    if let word = parsed.value("push-type") {
      guard let type = PushType(rawValue: word) else {
        throw UsageFault(
          "--push-type takes \(PushType.allCases.map(\.rawValue).joined(separator: ", ")), not '\(word)'")
      }
      pushType = type
    }
    if let word = parsed.value("priority") {
      guard let priority = UInt8(word).flatMap(PushPriority.init(rawValue:)) else {
        throw UsageFault("--priority takes 10, 5 or 1, not '\(word)'")
      }
      self.priority = priority
    }
    if let word = parsed.value("expires") {
      guard let span = Self.span(word) else {
        throw UsageFault("--expires takes a span such as 90s, 15m, 1h or 30d, or 0 for one attempt, not '\(word)'")
      }
      expires = span.milliseconds == 0 ? nil : span
    }
    collapseID = parsed.value("collapse-id")
    id = parsed.value("id") ?? UUID().uuidString.lowercased()
    if let word = parsed.value("timeout") {
      guard let seconds = Int64(word), (1...3600).contains(seconds) else {
        throw UsageFault("--timeout takes seconds, 1 to 3600, not '\(word)'")
      }
      timeout = .seconds(seconds)
    }
    force = parsed.flag("force")
    json = parsed.flag("json")
  }

  static func identity(_ parsed: ParsedCommand) throws(UsageFault) -> Identity {
    switch (parsed.value("key"), parsed.value("cert")) {
    case (let key?, nil):
      guard let keyID = parsed.value("key-id") else { throw UsageFault("'--key' needs '--key-id' beside it") }
      guard let teamID = parsed.value("team-id") else { throw UsageFault("'--key' needs '--team-id' beside it") }
      return .key(path: key, keyID: keyID, teamID: teamID)
    case (nil, let certificate?):
      return .certificate(path: certificate, password: parsed.value("cert-password") ?? "")
    case (nil, nil): throw UsageFault("a credential is missing: --key with --key-id and --team-id, or --cert")
    case (_?, _?): throw UsageFault("give either --key or --cert")
    }
  }

  /// `90s`, `15m`, `1h`, `30d`, or seconds without a letter.
  static func span(_ word: String) -> Instant.Span? {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    let unit = word.last.flatMap { units[$0] }
    let digits = unit == nil ? word[...] : word.dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(digits) else {
      return nil
    }
    let (seconds, overflow) = count.multipliedReportingOverflow(by: unit ?? 1)
    return overflow ? nil : .seconds(seconds)
  }
}

extension ParsedCommand {
  /// The place that an option names; nil when it is not given.
  func server(_ name: String) throws(UsageFault) -> APNSServer? {
    guard let word = value(name) else { return nil }
    do throws(APNSServerFault) { return try APNSServer(word) } catch { throw UsageFault("--\(name): \(error)") }
  }
}

func runPush(_ options: PushOptions) async throws -> ExitStatus {
  let report = try await sendPush(options)
  Terminal.print(options.json ? report.json.text : report.text)
  return report.isAccepted ? .success : .failure
}

/// Lints, says what it found to standard error, and sends unless that was an error.
func sendPush(_ options: PushOptions) async throws -> PushReportText {
  let clock = SystemClock()
  let credential = try credential(options.identity)
  if let notice = credential.notice(at: clock.now), case .certificateEnding(let words) = notice {
    Terminal.complain("warning: \(words).")
  }
  let push = try outgoing(options, credential, at: clock.now)
  let findings = push.findings(at: clock.now)
  if !findings.isEmpty {
    let name = options.path == "-" ? "<stdin>" : options.path
    let report = LintReport([LintReport.File(name: name, text: push.payload, findings: findings)])
    Terminal.complain(report.listing(colour: false))
    if report.count(.error) > 0, !options.force {
      throw CommandFault("not sent: the lint found errors; mend them, or send it all the same with --force")
    }
  }
  var configuration = APNSClient.Configuration(server: options.server, credential: credential)
  if let path = options.authorities { configuration.trust = .pem(try Files.read(path)) }
  configuration.proxy = options.proxy
  configuration.pool.patience = options.timeout
  configuration.pool.requestTimeout = min(options.timeout, configuration.pool.requestTimeout)
  configuration.pool.retry.attempts = 3
  let loop = EventLoop(name: "push")
  let client: APNSClient
  do throws(TLSFault) {
    client = try APNSClient(configuration, clock: clock, loop: loop)
  } catch {
    throw CommandFault("\(options.authorities ?? options.path): \(error)")
  }
  let started = clock.uptime
  let outcome = await client.send(push)
  let took = clock.uptime.milliseconds - started.milliseconds
  await client.close(grace: .seconds(1))
  await loop.stop()
  return PushReportText(push: push, server: options.server, outcome: outcome, milliseconds: took)
}

func credential(_ identity: PushOptions.Identity) throws -> Credential {
  switch identity {
  case .key(let path, let keyID, let teamID):
    let bytes = try Files.read(path)
    do throws(CredentialFault) {
      return .token(try ProviderKey(p8: bytes, keyID: keyID, teamID: teamID, name: path))
    } catch {
      throw CommandFault("\(error)")
    }
  case .certificate(let path, let password):
    return .certificate(try Senders.certificate(try Files.read(path), path, password: password), name: path)
  }
}

private func outgoing(_ options: PushOptions, _ credential: Credential, at now: Instant) throws -> OutgoingPush {
  var bytes = try LintSource(path: options.path == "-" ? nil : options.path).read()
  var topic = options.topic
  let document = try? JSONReader.read(bytes)
  // Apple's form for the Simulator names the app in a key of its own, which is not sent
  if var object = document?.value.object, let bundle = object["Simulator Target Bundle"]?.string {
    object["Simulator Target Bundle"] = nil
    bytes = JSONValue.object(object).encoded()
    topic = topic ?? bundle
  }
  if topic == nil, case .certificate(let identity, _) = credential { topic = identity.certificate.userID }
  guard let topic else { throw UsageFault("'--topic' is missing: the app's bundle id") }
  let type = options.pushType ?? document.map { PushType.inferred(from: $0.value) } ?? .alert
  return OutgoingPush(
    id: options.id, token: options.token, topic: type.completed(topic: topic), pushType: type,
    priority: options.priority ?? type.priorities.first ?? .immediate,
    expiration: options.expires.map { (now + $0).seconds } ?? 0, collapseID: options.collapseID, payload: bytes)
}

/// What became of a push, for people and for programs.
struct PushReportText {
  var push: OutgoingPush
  var server: APNSServer
  var outcome: PushOutcome
  var milliseconds: Int64

  var isAccepted: Bool {
    switch outcome {
    case .accepted: true
    case .refused, .unanswered: false
    }
  }

  private struct Words {
    var outcome: String
    /// Status and reason, or why there is none.
    var answer: String
    var meaning: String
    var remedy: String
  }

  private var words: Words {
    switch outcome {
    case .accepted:
      return Words(
        outcome: "accepted", answer: "200",
        meaning: "APNs took it for delivery to \(push.topic); that is no proof that a phone showed it.",
        remedy: "If nothing shows, check that the app may notify, and that the payload lints clean.")
    case .refused(let refusal):
      let answer = refusal.reason.isEmpty ? "\(refusal.status)" : "\(refusal.status) \(refusal.reason)"
      let since = refusal.since.map { " It is dead since \($0)." } ?? ""
      guard let known = refusal.known else {
        return Words(
          outcome: "refused", answer: answer,
          meaning: "APNs did not take it, for a reason that is not in its list." + since,
          remedy: "Look the reason up at Apple, or check what stands between this machine and APNs.")
      }
      return Words(outcome: "refused", answer: answer, meaning: known.meaning + since, remedy: known.remedy)
    case .unanswered(let cause):
      let again = "Send it again with --id \(push.id), so that it is the same push."
      switch cause {
      case .suspended(let why):
        return Words(
          outcome: "refused", answer: "credential or topic", meaning: sentence(why),
          remedy: "Mend that, then send again.")
      case .retriesExhausted(let why):
        return Words(outcome: "unanswered", answer: "no answer", meaning: sentence(why), remedy: again)
      case .expired:
        return Words(
          outcome: "unanswered", answer: "no answer",
          meaning: "Its time ran out before APNs answered; a phone may show it.",
          remedy: again)
      case .cancelled, .closed:
        return Words(
          outcome: "unanswered", answer: "no answer", meaning: "It was given up before APNs answered.", remedy: again)
      }
    }
  }

  private func sentence(_ text: String) -> String {
    let first = text.prefix(1).uppercased() + text.dropFirst()
    return first.hasSuffix(".") ? first : first + "."
  }

  var text: String {
    let words = words
    var lines = [
      "\(words.outcome)  \(words.answer)  apns-id \(push.id)  \(server)  \(milliseconds) ms", words.meaning,
      words.remedy,
    ]
    if case .accepted(let uniqueID?) = outcome {
      lines[1] += " Apple's delivery log knows it as \(uniqueID)."
    }
    return lines.joined(separator: "\n")
  }

  var json: JSONValue {
    let words = words
    var object: JSONObject = [
      "outcome": .string(words.outcome), "id": .string(push.id), "server": .string(server.description),
      "topic": .string(push.topic), "pushType": .string(push.pushType.rawValue),
    ]
    switch outcome {
    case .accepted(let uniqueID):
      object["status"] = 200
      if let uniqueID { object["uniqueID"] = .string(uniqueID) }
    case .refused(let refusal):
      object["status"] = .number(JSONNumber(refusal.status))
      object["reason"] = .string(refusal.reason)
      if let since = refusal.since { object["since"] = .string(since.description) }
    case .unanswered: break
    }
    object["meaning"] = .string(words.meaning)
    object["remedy"] = .string(words.remedy)
    object["milliseconds"] = .number(JSONNumber(milliseconds))
    return .object(object)
  }
}
