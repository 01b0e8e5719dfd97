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
    if parsed.flag("json") {
      let object: JSONValue = [
        "appKey": .string(created.appKey), "masterSecret": .string(created.masterSecret),
      ]
      Terminal.print(object.text)
    } else {
      Terminal.print(
        """
        app key        \(created.appKey)
        master secret  \(created.masterSecret)    (shown only now)
        kept in        \(Files.absolute(folder))
        """)
    }
    return .success
  })
