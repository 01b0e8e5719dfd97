import PushPayload
import PushService

/// Groups of apps that one push goes to (jpush.md §5.4).
let groupCommands: [Command] = [groupCreateCommand, groupAddCommand, groupListCommand]

private let groupCreateCommand = Command(
  name: "group create",
  summary: "Make a group of apps, and print its key and secret once",
  discussion: """
    A push to the group goes to each of its apps: POST /v3/grouppush with 'group-' and the key as user. The secret is \
    kept as a hash only: what is printed here cannot be printed again.
    """,
  options: [
    .init(name: "name", value: "NAME", help: "What people call it"), ServiceBeside.dataOption,
    .flag("json", "Print JSON"),
  ],
  run: { parsed in
    let (created, folder) = try await ServiceBeside.run(parsed, options: ["name": "--name"]) {
      service throws(RequestFault) in try await service.createGroup(name: parsed.value("name"))
    }
    if parsed.flag("json") {
      let object: JSONValue = [
        "groupKey": .string(created.group.key), "masterSecret": .string(created.masterSecret),
      ]
      Terminal.print(object.text)
    } else {
      Terminal.print(
        """
        group key      \(created.group.key)    (user group-\(created.group.key))
        master secret  \(created.masterSecret)    (shown only now)
        kept in        \(Files.absolute(folder))
        """)
    }
    return .success
  })

private let groupAddCommand = Command(
  name: "group add",
  summary: "Put apps into a group",
  arguments: [
    .init(name: "GROUP", help: "The group's key", completion: .none),
    .init(name: "APP", help: "An app's key", repeats: true, completion: .none),
  ],
  options: [ServiceBeside.dataOption],
  run: { parsed in
    let apps = Array(parsed.arguments.dropFirst())
    _ = try await ServiceBeside.run(parsed) { service throws(RequestFault) in
      for app in apps { try await service.addApp(key: app, toGroup: parsed.arguments[0]) }
    }
    return .success
  })

private let groupListCommand = Command(
  name: "group list",
  summary: "Print groups and their apps",
  options: [ServiceBeside.dataOption, .flag("json", "Print JSON")],
  run: { parsed in
    let (groups, _) = try await ServiceBeside.run(parsed) { service throws(RequestFault) in
      try await service.groups()
    }
    if parsed.flag("json") {
      let list = groups.map { group, apps in
        JSONValue.object([
          "groupKey": .string(group.key), "name": group.name.map(JSONValue.string) ?? .null,
          "apps": .array(apps.map { .string($0.key) }),
        ])
      }
      Terminal.print(JSONValue.array(list).text)
    } else {
      for (group, apps) in groups {
        Terminal.print([group.key, group.name].compactMap(\.self).joined(separator: "  "))
        for app in apps {
          Terminal.print("  \([app.key, app.bundleID, app.name].compactMap(\.self).joined(separator: "  "))")
        }
      }
    }
    return .success
  })
