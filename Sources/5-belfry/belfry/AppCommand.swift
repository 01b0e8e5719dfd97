import PushPayload
import PushService

let appCreateCommand: Command = Command(
  name: "app create",
  summary: "Make an app, and print its key and secret once",
  discussion: """
    The secret is kept as a hash only: what is printed here cannot be printed again. The service may be running; it \
    knows the new app at once; give both the same --data.
    """,
  options: [
    .init(name: "bundle", value: "ID", help: "The app's bundle id, for example com.example.app"),
    .init(name: "name", value: "NAME", help: "What people call it"),
    ServiceBeside.dataOption,
    .flag("json", "Print JSON"),
  ],
  run: { parsed in
    guard let bundle = parsed.value("bundle") else { throw UsageFault("'--bundle' is missing: the app's bundle id") }
    let (created, folder) = try await ServiceBeside.run(parsed, options: ["bundleID": "--bundle", "name": "--name"]) {
      service throws(RequestFault) in
      try await service.createApp(bundleID: bundle, name: parsed.value("name"))
    }
    show(created.appKey, created.masterSecret, keptIn: Files.absolute(folder), parsed)
    return .success
  })

let appsSecretCommand: Command = Command(
  name: "apps secret",
  summary: "Make a new master secret for an app, and print it once",
  discussion: """
    The old one is refused from then on, by a running service within two seconds. The secret is kept as a hash only: what \
    is printed here cannot be printed again.
    Works on a data folder (--data), also while a service has it open, or through a running service (--server with --app \
    KEY:SECRET, the app's own or a developer's of 'belfry dev create').
    """,
  arguments: [.init(name: "KEY", help: "The app's key", completion: .none)],
  options: AppCall.options + [ServiceBeside.dataOption, .flag("json", "Print JSON")],
  run: { parsed in
    let key = parsed.arguments[0]
    if let call = try AppCall(parsed) {
      let answer = try await call.ask("POST", "/v1/apps/\(key.addingPercentEncoding)/secret").object
      guard let appKey = answer?["appKey"]?.string, let secret = answer?["masterSecret"]?.string else {
        throw CommandFault("\(call.server) answered without a secret: no Belfry of this version")
      }
      show(appKey, secret, keptIn: call.server, parsed)
      return .success
    }
    return try await FolderService.with(parsed) { opened in
      guard let renewed = try await opened.service.renewSecret(key: key) else {
        throw CommandFault("the data folder \(opened.folder) has no app '\(key.prefix(40))'; see 'belfry apps list'")
      }
      show(renewed.appKey, renewed.masterSecret, keptIn: Files.absolute(opened.folder), parsed)
      return .success
    }
  })

private func show(_ key: String, _ secret: String, keptIn place: String, _ parsed: ParsedCommand) {
  if parsed.flag("json") {
    let object: JSONValue = ["appKey": .string(key), "masterSecret": .string(secret)]
    Terminal.print(object.text)
  } else {
    Terminal.print(
      """
      app key        \(key)
      master secret  \(secret)    (shown only now)
      kept in        \(place)
      """)
  }
}
