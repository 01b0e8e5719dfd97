import APNSSimulator
import Basics
import PushPayload
import Transport

let apnsCommand = Command(
  name: "apns",
  summary: "Simulate Apple's push service: your provider code connects as it would to Apple",
  discussion: """
    Makes an authority, a .p8 key and a .p12 certificate at the first start and keeps them in DIR, with the device \
    tokens and what waits for phones. Prints how to connect with aioapns and curl, then one line of JSON saying where \
    everything listens; port 0 takes a free one. Refused pushes are told on standard error with the cause.
    docs/apns-simulator.md tells the control API and which checks are Apple's.
    """,
  options: [
    .init(
      name: "listen", value: "HOST:PORT", help: "The sandbox, for providers; default 127.0.0.1:2197",
      variable: "BELFRY_APNS_LISTEN"),
    .init(
      name: "production-listen", value: "HOST:PORT|none",
      help: "Production, for providers; default 127.0.0.1:2200, a free port when the sandbox has one",
      variable: "BELFRY_APNS_PRODUCTION_LISTEN"),
    .init(
      name: "control", value: "HOST:PORT", help: "For tests and phones; default 127.0.0.1:2198",
      variable: "BELFRY_APNS_CONTROL"),
    .init(
      name: "manage-listen", value: "HOST:PORT|none",
      help: "Channel management of the sandbox; default 127.0.0.1:2195, a free port when the sandbox has one",
      variable: "BELFRY_APNS_MANAGE_LISTEN"),
    .init(
      name: "production-manage-listen", value: "HOST:PORT|none",
      help: "Channel management of production; default 127.0.0.1:2196, a free port when the sandbox has one",
      variable: "BELFRY_APNS_PRODUCTION_MANAGE_LISTEN"),
    .init(
      name: "live-activity-budget", value: "N", help: "A phone ignores more than N Live Activity pushes at 10 an hour"),
    .init(
      name: "proxy", value: "HOST:PORT",
      help: "A CONNECT proxy that brings Apple's host names here; default 127.0.0.1:2199"),
    .init(
      name: "data", value: "DIR", help: "Where keys and state are kept; default belfry/apns in the user's cache folder",
      variable: "BELFRY_APNS_DATA"),
    .init(name: "bundle", value: "ID", help: "The app of the ready certificate and token; default com.example.app"),
    .flag("lenient", "Do not ask that push type and topic suffix agree"),
    .flag("strict", "Refuse background pushes at priority 10"),
    .flag("as-apple", "Deliver as Apple may: overwriting what waits, priority 5 and 1 in bursts, in no order"),
    .init(
      name: "background-per-hour", value: "N|none", help: "Background pushes to one app on a device; default 3"),
    .init(
      name: "gone-delay", value: "SECONDS|FROM-TO",
      help: "How long after a push met a removed app 410 begins; default 1-10, 0 for at once"),
    .init(name: "token-size", value: "BYTES", help: "Of device tokens made here, 1 to 100; default 32"),
    .init(
      name: "faults", value: "FILE",
      help: "JSON5 file with troubles to make (docs/faults.md); read again on SIGHUP", completion: .file),
    .init(name: "fault-seed", value: "N", help: "Dice of the faults; default by chance"),
    .flag("quiet", "Print the line of JSON only"),
  ] + APNSLimits.options,
  run: { parsed in try await runAPNS(parsed) })

private func runAPNS(_ parsed: ParsedCommand) async throws -> ExitStatus {
  await openTimerDescriptors()
  var configuration = APNSSimulator.Configuration()
  configuration.listen = try endpoint(parsed, "listen", default: "127.0.0.1:2197")
  let isFree = configuration.listen.port == 0
  configuration.productionListen = try optionalEndpoint(
    parsed, "production-listen", default: isFree ? "127.0.0.1:0" : "127.0.0.1:2200")
  configuration.channels.listen = try optionalEndpoint(
    parsed, "manage-listen", default: isFree ? "127.0.0.1:0" : "127.0.0.1:2195")
  configuration.channels.productionListen = try optionalEndpoint(
    parsed, "production-manage-listen", default: isFree ? "127.0.0.1:0" : "127.0.0.1:2196")
  if let text = parsed.value("live-activity-budget") {
    guard let number = Int(text), number > 0 else {
      throw UsageFault("--live-activity-budget takes a number, not '\(text)'")
    }
    configuration.liveActivities.hourlyBudget = number
  }
  configuration.control = try endpoint(parsed, "control", default: "127.0.0.1:2198")
  configuration.proxy = try endpoint(parsed, "proxy", default: "127.0.0.1:2199")
  configuration.dataFolder = Files.absolute(parsed.value("data") ?? defaultFolder(of: "apns", processEnvironment()))
  configuration.isTopicSuffixStrict = !parsed.flag("lenient")
  configuration.isBackgroundPriorityStrict = parsed.flag("strict")
  if let bundle = parsed.value("bundle") {
    guard !bundle.isEmpty, bundle.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }) else {
      throw UsageFault("--bundle takes a bundle id such as com.example.app, not '\(bundle)'")
    }
    configuration.bundleID = bundle
  }
  try APNSLimits.apply(parsed, to: &configuration)
  try readDelivery(parsed, &configuration)
  if let path = parsed.value("faults") {
    let path = Files.absolute(path)
    configuration.faults.rules = try FaultsFile.read(path)
    configuration.faults.reload = { try FaultsFile.read(path) }
  }
  if let text = parsed.value("fault-seed") {
    guard let seed = UInt64(text) else { throw UsageFault("--fault-seed takes a number, not '\(text)'") }
    configuration.faults.seed = seed
  }
  configuration.faults.onFault = { Terminal.complain("\($0)") }
  configuration.onRefusal = { refused in
    guard !refused.isByFault else { return }  // told as a fault
    Terminal.complain(
      "\(refused.at) \(refused.refusal.reason.status) \(refused.refusal.reason.rawValue): \(refused.refusal.explanation)"
    )
  }
  let signals = ProcessSignals(rereads: parsed.value("faults") != nil)
  let simulator: APNSSimulator
  do { simulator = try await APNSSimulator.start(configuration) } catch { throw CommandFault("\(error)") }
  let guide = APNSGuide(simulator)
  if !parsed.flag("quiet") { Terminal.print(guide.text) }
  announce("listening", guide.places)
  if parsed.value("faults") != nil {
    Terminal.complain("\(simulator.faults.count) faults in force; --fault-seed \(simulator.faultSeed) repeats them")
  }
  let rereading = Task {
    for await _ in signals.hangups { rereadFaults(of: simulator) }
  }
  await signals.end()
  rereading.cancel()
  await simulator.stop()
  return .success
}

/// A mistake in the file is told, and the former faults stay.
private func rereadFaults(of simulator: APNSSimulator) {
  do {
    guard let rules = try simulator.reloadFaults() else { return }
    Terminal.complain("faults read again: \(rules.count) in force")
  } catch {
    Terminal.complain("\(error)\nThe former faults are still in force.")
  }
}

private func readDelivery(_ parsed: ParsedCommand, _ configuration: inout APNSSimulator.Configuration) throws {
  if parsed.flag("as-apple") { configuration.delivery = .asApple }
  if let text = parsed.value("background-per-hour") {
    let number = Int(text)
    guard text == "none" || (number ?? 0) > 0 else {
      throw UsageFault("--background-per-hour takes a number from 1 on, or none, not '\(text)'")
    }
    configuration.delivery.backgroundPerHour = number
  }
  if let text = parsed.value("gone-delay") {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
    guard (1...2).contains(parts.count), let from = parts[0], let to = parts[parts.count - 1], from >= 0, from <= to
    else { throw UsageFault("--gone-delay takes seconds as in 5, or from and to as in 1-10, not '\(text)'") }
    configuration.goneDelay = .seconds(from) ... .seconds(to)
  }
  if let text = parsed.value("token-size") {
    guard let size = Int(text), (1...100).contains(size) else {
      throw UsageFault("--token-size takes 1 to 100 bytes, not '\(text)'")
    }
    configuration.tokenSize = size
  }
}

private func endpoint(_ parsed: ParsedCommand, _ name: String, default usual: String) throws -> Endpoint {
  let text = parsed.value(name) ?? usual
  guard let endpoint = Endpoint(text) else {
    throw UsageFault("--\(name) takes HOST:PORT, as in \(usual), not '\(text)'")
  }
  return endpoint
}

/// nil for `none`.
private func optionalEndpoint(
  _ parsed: ParsedCommand, _ name: String, default usual: String
) throws -> Endpoint? {
  parsed.value(name) == "none" ? nil : try endpoint(parsed, name, default: usual)
}

/// Under the user's cache folder (XDG Base Directory Specification), else under the temporary one.
func defaultFolder(of name: String, _ environment: [String: String]) -> String {
  if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/belfry/\(name)" }
  if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.cache/belfry/\(name)" }
  return (environment["TMPDIR"] ?? "/tmp") + "/belfry-\(name)"
}

extension APNSSimulator {
  /// Where its keys and certificates lie, for a line that scripts read.
  var filePlaces: JSONObject {
    var object: JSONObject = ["p12Password": .string(credentials.pkcs12Password)]
    if let files = credentials.files {
      object["ca"] = .string(files.authority)
      object["key"] = .string(files.signingKey)
      object["p12"] = .string(files.pkcs12)
      object["pem"] = .string(files.pem)
    }
    return object
  }
}

/// What a person copies to connect, and the line that scripts read.
struct APNSGuide {
  private let simulator: APNSSimulator
  private let token: String
  private let address: String

  init(_ simulator: APNSSimulator) {
    self.simulator = simulator
    token = simulator.issueToken(device: "example-phone", bundle: simulator.credentials.bundleID).hex
    address = "\(simulator.endpoint.reachable)"
  }

  /// Where everything is, for the line that scripts read.
  var places: JSONObject {
    let credentials = simulator.credentials
    var object: JSONObject = ["apns": .string("https://\(address)")]
    if let production = simulator.productionEndpoint {
      object["production"] = .string("https://\(production.reachable)")
    }
    if let manage = simulator.manageEndpoint { object["manage"] = .string("https://\(manage.reachable)") }
    if let manage = simulator.productionManageEndpoint {
      object["productionManage"] = .string("https://\(manage.reachable)")
    }
    if let control = simulator.controlEndpoint { object["control"] = .string("http://\(control.reachable)") }
    if let proxy = simulator.proxyEndpoint { object["proxy"] = .string("http://\(proxy.reachable)") }
    object["keyId"] = .string(credentials.keyID)
    object["teamId"] = .string(credentials.teamID)
    object["bundle"] = .string(credentials.bundleID)
    object["token"] = .string(token)
    object.members += simulator.filePlaces.members
    return object
  }

  var text: String {
    guard let files = simulator.credentials.files, let proxy = simulator.proxyEndpoint,
      let control = simulator.controlEndpoint
    else { return "" }
    let credentials = simulator.credentials
    let production =
      simulator.productionEndpoint.map { "production on https://\($0.reachable)" } ?? "no production port"
    return """
      APNs simulated on https://\(address) (sandbox), \(production)
      control on http://\(control.reachable)   proxy on \(proxy.reachable)

        authority     \(files.authority)
                      SHA-256 \(credentials.authority.fingerprint)
        key           \(files.signingKey)
                      key id \(credentials.keyID), team id \(credentials.teamID)
        certificate   \(files.pkcs12)   password \(credentials.pkcs12Password)
                      \(files.pem)
                      SHA-256 \(credentials.certificate.certificate.fingerprint)
        device token  \(token)
                      of \(credentials.bundleID) on "example-phone", sandbox

      curl:

      b64() { openssl base64 -e -A | tr -- '+/' '-_' | tr -d =; }
      head=$(printf '{"alg":"ES256","kid":"\(credentials.keyID)"}' | b64)
      claims=$(printf '{"iss":"\(credentials.teamID)","iat":%d}' "$(date +%s)" | b64)
      sign=$(printf '%s' "$head.$claims" | openssl dgst -binary -sha256 -sign \(files.signingKey) | b64)
      curl --http2 --cacert \(files.authority) -H "authorization: bearer $head.$claims.$sign" \\
        -H 'apns-topic: \(credentials.bundleID)' -H 'apns-push-type: alert' -d '{"aps":{"alert":"Hello"}}' -i \\
        https://\(address)/3/device/\(token)

      aioapns (Python):

      import asyncio, ssl
      from aioapns import APNs, NotificationRequest
      async def main():
          apns = APNs(
              key=open("\(files.signingKey)").read(), key_id="\(credentials.keyID)", team_id="\(credentials.teamID)",
              topic="\(credentials.bundleID)", use_sandbox=True,
              ssl_context=ssl.create_default_context(cafile="\(files.authority)"))
          server = apns.pool.protocol_class  # its host and port are built in
          server.APNS_SERVER, server.APNS_PORT = "\(simulator.endpoint.reachable.host)", \(simulator.endpoint.port)
          request = NotificationRequest(
              device_token="\(token)",
              message={"aps": {"alert": "Hello"}})
          print((await apns.send_notification(request)).status)
      asyncio.run(main())

      What arrived: curl http://\(control.reachable)/notifications

      """
  }
}
