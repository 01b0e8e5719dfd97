import PushPayload
import PushService

let developerCreateCommand = Command(
  name: "dev create",
  summary: "Make a developer, and print its key and secret once",
  discussion: """
    With them JPush's Admin API makes and deletes apps (POST /v1/app), and files for groups are uploaded (POST \
    /v3/files/alias). The secret is kept as a hash only: what is printed here cannot be printed again.
    """,
  options: [
    .init(name: "name", value: "NAME", help: "What people call it"), ServiceBeside.dataOption,
    .flag("json", "Print JSON"),
  ],
  run: { parsed in
    let (created, folder) = try await ServiceBeside.run(parsed, options: ["name": "--name"]) {
      service throws(RequestFault) in
      try await service.createDeveloper(name: parsed.value("name"))
    }
    if parsed.flag("json") {
      let object: JSONValue = ["devKey": .string(created.developer.key), "devSecret": .string(created.secret)]
      Terminal.print(object.text)
    } else {
      Terminal.print(
        """
        developer key  \(created.developer.key)
        secret         \(created.secret)    (shown only now)
        kept in        \(Files.absolute(folder))
        """)
    }
    return .success
  })
