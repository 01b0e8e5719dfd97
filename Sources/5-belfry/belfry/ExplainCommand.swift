import HTTPAPI
import PushPayload
import PushService
import StoreSQLite

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
    ServiceBeside.dataOption,
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
        try await explanations(inFolder: parsed, message, device)
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
func aliasMeant(by device: String) -> String? {
  device.hasPrefix("alias:") ? String(device.dropFirst("alias:".count)) : nil
}

private func explanations(
  _ call: AppCall, _ message: Int64, _ device: String
) async throws(CommandFault) -> [JSONValue] {
  var ids = [device]
  if let alias = aliasMeant(by: device) {
    let answer = try await call.get("/v3/aliases/\(alias.addingPercentEncoding)")
    ids = answer.object?["registration_ids"]?.array?.compactMap(\.string) ?? []
    guard !ids.isEmpty else { throw CommandFault("nobody has the alias '\(alias)'") }
  }
  var told: [JSONValue] = []
  for id in ids { told.append(try await call.get("/v1/pushes/\(message)/devices/\(id.addingPercentEncoding)")) }
  return told
}

private func explanations(
  inFolder parsed: ParsedCommand, _ message: Int64, _ device: String
) async throws -> [JSONValue] {
  let folder = FolderService.folder(parsed)
  guard StoreSQLite.exists(inFolder: folder) else {
    throw CommandFault("\(Files.absolute(folder)) holds no store; give --data, or --server with --app")
  }
  return try await FolderService.with(parsed) { opened in
    do { return try await explanations(opened.service, app: parsed.value("app"), message, device) } catch {
      guard let fault = error as? RequestFault else { throw error }
      throw CommandFault("\(fault.found). \(fault.remedy)")
    }
  }
}

private func explanations(
  _ service: PushService, app key: String?, _ message: Int64, _ device: String
) async throws -> [JSONValue] {
  let key = key.map { $0.prefix { $0 != ":" } }
  var owner: AppRecord?
  for app in try await service.apps() where key.map({ $0 == app.key }) ?? true {
    if try await service.report(app, messageID: message) != nil { owner = app }
  }
  guard let owner else { throw CommandFault("there is no push \(message) in this data folder") }
  var ids = [device]
  if let alias = aliasMeant(by: device) {
    ids = try await service.devices(owner, alias: alias).map(\.registrationID)
    guard !ids.isEmpty else { throw CommandFault("nobody has the alias '\(alias)'") }
  }
  var told: [JSONValue] = []
  for id in ids {
    guard let one = try await service.explain(owner, messageID: message, registrationID: id) else {
      throw CommandFault("\(owner.bundleID) has no device '\(id)'")
    }
    told.append(.object(HTTPAPI.object(one)))
  }
  return told
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
