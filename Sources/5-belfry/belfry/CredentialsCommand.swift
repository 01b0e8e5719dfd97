import APNSClient
import Audience
import Basics
import Delivery
import HTTPAPI
import PushPayload
import PushService
import StoreSQLite

/// What apps' pushes authenticate to APNs with, kept by the service: in a data folder, or through a running one.
let credentialsCommands: [Command] = [
  credentialsAddCommand, credentialsRotateCommand, credentialsListCommand, credentialsRemoveCommand,
]

private let placeOptions = AppCall.options + [ServiceBeside.dataOption, .flag("json", "Print JSON, an object a line")]

private let fileOptions: [Command.Option] = [
  .init(name: "key-id", value: "ID", help: "Of a .p8 file: the key's id; default the one in its name"),
  .init(name: "team-id", value: "ID", help: "Of a .p8 file: the team's id, from the membership page"),
  .init(
    name: "password-file", value: "FILE", help: "Its first line is the password of a .p12 or .pem file; default none",
    completion: .file),
  .init(
    name: "environment", value: "WHERE", help: "sandbox or production; default all that it is for",
    completion: .words(["sandbox", "production"])),
]

private let credentialsAddCommand = Command(
  name: "credentials add",
  summary: "Keep an app's APNs key or certificate in the service, sealed",
  discussion: """
    FILE is a .p8 key with --team-id, or a .p12 or .pem certificate. It is checked, and kept under the sealing key; nothing \
    ever shows it again. A running service uses it within seconds, before what its configuration has for the app.
    Works on a data folder (--data, with --app KEY where it holds more than one app), also while a service has it open, or \
    through a running service (--server with --app KEY:SECRET). docs/credentials.md tells more.
    """,
  arguments: [.init(name: "FILE", help: "A .p8, .p12 or .pem file")],
  options: fileOptions + placeOptions,
  run: { parsed in
    let file = try CredentialFile(parsed, path: parsed.arguments[0])
    show(try await CredentialsPlace(parsed).add(file), parsed)
    return .success
  })

private let credentialsRotateCommand = Command(
  name: "credentials rotate",
  summary: "Put another key or certificate in a credential's place",
  discussion: """
    A running service goes over to it without a gap once APNs has taken it, and says so in its log (credential_rotated): \
    revoke the old one only then.
    """,
  arguments: [
    .init(name: "ID", help: "As 'credentials list' shows it", completion: .none),
    .init(name: "FILE", help: "A .p8, .p12 or .pem file"),
  ],
  options: fileOptions + placeOptions,
  run: { parsed in
    let file = try CredentialFile(parsed, path: parsed.arguments[1])
    show(try await CredentialsPlace(parsed).rotate(try credentialID(parsed), file), parsed)
    return .success
  })

private let credentialsListCommand = Command(
  name: "credentials list",
  summary: "Print an app's credentials: what they are and when they end, never a secret",
  options: placeOptions,
  run: { parsed in
    for credential in try await CredentialsPlace(parsed).list() { show(credential, parsed) }
    return .success
  })

private let credentialsRemoveCommand = Command(
  name: "credentials remove",
  summary: "Forget a credential and its secret",
  arguments: [.init(name: "ID", help: "As 'credentials list' shows it", completion: .none)],
  options: AppCall.options + [ServiceBeside.dataOption],
  run: { parsed in
    try await CredentialsPlace(parsed).remove(try credentialID(parsed))
    return .success
  })

private func credentialID(_ parsed: ParsedCommand) throws(UsageFault) -> Int64 {
  guard let id = Int64(parsed.arguments[0]) else {
    throw UsageFault("'\(parsed.arguments[0])' is no id of a credential; 'belfry credentials list' shows them")
  }
  return id
}

private func show(_ credential: JSONObject, _ parsed: ParsedCommand) {
  for warning in credential["warnings"]?.array?.compactMap(\.string) ?? [] { Terminal.complain(warning) }
  if parsed.flag("json") {
    Terminal.print(JSONValue.object(credential).text)
    return
  }
  func words(_ key: String) -> String { credential[key]?.string ?? "" }
  func list(_ key: String) -> String { (credential[key]?.array ?? []).compactMap(\.string).joined(separator: " ") }
  let isKey = words("kind") == "key"
  let what = isKey ? "key \(words("keyId")) of team \(words("teamId"))" : "certificate for \(list("topics"))"
  let end = credential["expiresAt"]?.string.map { "until \($0)" } ?? "no end"
  let parts = [
    words("id"), what, list("environments"), end, words("name"), "uploaded \(words("uploadedAt"))",
    words("fingerprint"),
  ]
  Terminal.print(parts.joined(separator: "  "))
}

/// A key or certificate as the command line names it.
private struct CredentialFile {
  let path: String
  let upload: CredentialUpload
  let environment: APNSEnvironment?

  init(_ parsed: ParsedCommand, path: String) throws {
    self.path = path
    let bytes = try Files.read(path)
    let name = Files.name(of: path)
    if path.hasSuffix(".p8") || parsed.value("key-id") != nil || parsed.value("team-id") != nil {
      if parsed.value("password-file") != nil { throw UsageFault("'--password-file' belongs to a certificate") }
      guard let keyID = parsed.value("key-id") ?? KeyFile(bytes, path: path).keyIDInName else {
        throw UsageFault("'--key-id' is missing: the key's id, as Apple lists it")
      }
      guard let teamID = parsed.value("team-id") else {
        throw UsageFault("'--team-id' is missing: the team's id, from the membership page")
      }
      upload = CredentialUpload(.key(bytes, keyID: keyID, teamID: teamID), name: name)
    } else {
      let password = try parsed.value("password-file").map { Files.firstLine(of: try Files.read($0)) }
      upload = CredentialUpload(.certificate(bytes, password: password ?? ""), name: name)
    }
    switch parsed.value("environment") {
    case nil: environment = nil
    case "sandbox"?: environment = .sandbox
    case "production"?: environment = .production
    case let word?: throw UsageFault("--environment takes sandbox or production, not '\(word)'")
    }
  }

  /// A refusal of what is in the file names the file.
  func take<Result>(_ body: () async throws(RequestFault) -> Result) async throws(CommandFault) -> Result {
    do throws(RequestFault) { return try await body() } catch {
      let isOfFile = error.place == "key" || error.place == "certificate"
      throw CommandFault(isOfFile ? "\(path): \(error.found). \(error.remedy)" : "\(error)")
    }
  }

  /// As `/v1/credentials` takes it.
  var body: JSONValue {
    var object: JSONObject = ["name": .string(upload.name)]
    switch upload.proof {
    case .key(let bytes, let keyID, let teamID):
      object["key"] = .string(String(decoding: bytes, as: UTF8.self))
      object["keyId"] = .string(keyID)
      object["teamId"] = .string(teamID)
    case .certificate(let bytes, let password):
      object["certificate"] = .string(bytes.base64)
      object["password"] = .string(password)
    }
    object["environment"] = environment.map { .string("\($0)") }
    return .object(object)
  }
}

/// Where the credentials are that a command is about.
private struct CredentialsPlace {
  let parsed: ParsedCommand
  let call: AppCall?

  init(_ parsed: ParsedCommand) throws(UsageFault) {
    self.parsed = parsed
    call = try AppCall(parsed)
  }

  func add(_ file: CredentialFile) async throws -> JSONObject {
    if let call { return try await call.ask("POST", "/v1/credentials", file.body).object ?? [:] }
    return try await FolderService.with(parsed, seals: true) { opened in
      let app = try await opened.app(parsed)
      let added = try await file.take { () throws(RequestFault) in
        try await opened.service.addCredential(app, file.upload, environment: file.environment)
      }
      return HTTPAPI.object(added.credential)
    }
  }

  func rotate(_ id: Int64, _ file: CredentialFile) async throws -> JSONObject {
    if let call { return try await call.ask("PUT", "/v1/credentials/\(id)", file.body).object ?? [:] }
    return try await FolderService.with(parsed, seals: true) { opened in
      let app = try await opened.app(parsed)
      let rotated = try await file.take { () throws(RequestFault) in
        try await opened.service.rotateCredential(app, id: id, file.upload, environment: file.environment)
      }
      return HTTPAPI.object(rotated)
    }
  }

  func list() async throws -> [JSONObject] {
    if let call {
      let answer = try await call.ask("GET", "/v1/credentials?limit=1000")
      return (answer.object?["credentials"]?.array ?? []).compactMap(\.object)
    }
    return try await FolderService.with(parsed) { opened in
      let app = try await opened.app(parsed)
      return try await opened.service.credentials(app, after: 0, limit: 1000).map { HTTPAPI.object($0) }
    }
  }

  func remove(_ id: Int64) async throws {
    if let call {
      _ = try await call.ask("DELETE", "/v1/credentials/\(id)")
      return
    }
    try await FolderService.with(parsed) { opened in
      try await opened.service.deleteCredential(try await opened.app(parsed), id: id)
    }
  }
}
