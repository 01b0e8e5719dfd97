import Basics
import Bus
import HTTPAPI
import PushPayload
import PushService
import StoreSQLite
import Transport

let explainCommand: Command = Command(
  name: "explain",
  summary: "Tell every decision about one device in one push: why it arrived, or did not",
  discussion: """
    MSG is the push's msg_id; DEVICE a registration id, or alias:NAME for all devices that have the alias.
    Asks a running service (--server with --app), or reads a data folder, also while a service has it open (--data, with \
    --app KEY where it holds more than one app). What simulated phones did is known to the running service only.
    Exit status: 0 told, 1 there is no such push or device, 2 for wrong usage.
    """,
  arguments: [
    .init(name: "MSG", help: "The push's msg_id", completion: .none),
    .init(name: "DEVICE", help: "A registration id, or alias:NAME", completion: .none),
  ],
  options: AppCall.options + [
    ServeConfiguration.options.first { $0.name == "data" }!,
    .flag("json", "Print JSON, one line a device"),
  ],
  run: { parsed in
    guard let message = Int64(parsed.arguments[0]) else {
      throw UsageFault("'\(parsed.arguments[0])' is no msg_id: 18 digits, as the push was answered with")
    }
    let device = parsed.arguments[1]
    let told =
      if let call = try AppCall(parsed) {
        try await explanations(call, message, device)
      } else {
        try await explanations(
          inFolder: parsed.value("data") ?? standardDataFolder(processEnvironment()), app: parsed.value("app"),
          message, device)
      }
    for (index, explanation) in told.enumerated() {
      if parsed.flag("json") {
        Terminal.print(explanation.text)
      } else {
        Terminal.print((index > 0 ? "\n" : "") + ExplanationText(explanation).text)
      }
    }
    return .success
  })

/// The name behind `alias:`; nil for a registration id.
private func alias(_ device: String) -> String? {
  device.hasPrefix("alias:") ? String(device.dropFirst("alias:".count)) : nil
}

private func explanations(
  _ call: AppCall, _ message: Int64, _ device: String
) async throws(CommandFault) -> [JSONValue] {
  var ids = [device]
  if let alias = alias(device) {
    let answer = try await call.get("/v3/aliases/\(alias.addingPercentEncoding)")
    ids = answer.object?["registration_ids"]?.array?.compactMap(\.string) ?? []
    guard !ids.isEmpty else { throw CommandFault("nobody has the alias '\(alias)'") }
  }
  var told: [JSONValue] = []
  for id in ids { told.append(try await call.get("/v1/pushes/\(message)/devices/\(id.addingPercentEncoding)")) }
  return told
}

private func explanations(
  inFolder folder: String, app key: String?, _ message: Int64, _ device: String
) async throws -> [JSONValue] {
  guard StoreSQLite.exists(inFolder: folder) else {
    throw CommandFault("\(Files.absolute(folder)) holds no store; give --data, or --server with --app")
  }
  let store: StoreSQLite
  do { store = try await StoreSQLite.openBeside(folder: folder) } catch {
    throw CommandFault(dataFolder: folder, error)
  }
  let clock = SystemClock()
  let service = PushService(
    store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 0, senders: { _, _ in nil })
  let told: Result<[JSONValue], CommandFault>
  do throws(RequestFault) {
    told = try await explanations(service, app: key, message, device)
  } catch {
    told = .failure(CommandFault("\(error.found). \(error.remedy)"))
  }
  await store.close()
  return try told.get()
}

private func explanations(
  _ service: PushService, app key: String?, _ message: Int64, _ device: String
) async throws(RequestFault) -> Result<[JSONValue], CommandFault> {
  let key = key.map { $0.prefix { $0 != ":" } }
  var owner: AppRecord?
  for app in try await service.apps() where key.map({ $0 == app.key }) ?? true {
    if try await service.report(app, messageID: message) != nil { owner = app }
  }
  guard let owner else { return .failure(CommandFault("there is no push \(message) in this data folder")) }
  var ids = [device]
  if let alias = alias(device) {
    ids = try await service.devices(owner, alias: alias).map(\.registrationID)
    guard !ids.isEmpty else { return .failure(CommandFault("nobody has the alias '\(alias)'")) }
  }
  var told: [JSONValue] = []
  for id in ids {
    guard let one = try await service.explain(owner, messageID: message, registrationID: id) else {
      return .failure(CommandFault("\(owner.bundleID) has no device '\(id)'"))
    }
    told.append(.object(HTTPAPI.object(one)))
  }
  return .success(told)
}

/// An explanation as a person reads it: a line a decision, after its time.
struct ExplanationText {
  let text: String

  init(_ value: JSONValue) {
    let object = value.object ?? [:]
    func words(_ key: String, of object: JSONObject) -> String { object[key]?.string ?? "" }
    var lines = [
      "push \(words("msg_id", of: object)), device \(words("registrationId", of: object)): \(words("outcome", of: object))"
    ]
    for decision in object["decisions"]?.array?.compactMap(\.object) ?? [] {
      let at = decision["at"]?.string ?? ""
      lines.append("\(padded(at, 24))  \(padded(words("by", of: decision), 7))  \(words("words", of: decision))")
    }
    text = lines.joined(separator: "\n")
  }
}
