import Audience
import Basics
import PushPayload
import PushService

/// What is kept: apps, tags and devices, looked up in the data folder. No token and no secret is shown.
let directoryCommands: [Command] = [appsListCommand, tagsListCommand, devicesListCommand, devicesShowCommand]

private let jsonOption = Command.Option.flag("json", "Print JSON, an object a line")

private let appsListCommand = Command(
  name: "apps list",
  summary: "Print the apps: key, bundle id, name",
  options: [ServiceBeside.dataOption, jsonOption],
  run: { parsed in
    try await FolderService.with(parsed) { opened in
      for app in try await opened.service.apps() {
        let object: JSONObject = [
          "appKey": .string(app.key), "bundleId": .string(app.bundleID), "name": text(app.name),
        ]
        show(object, [app.key, app.bundleID, app.name], parsed)
      }
      return .success
    }
  })

private let tagsListCommand = Command(
  name: "tags list",
  summary: "Print an app's tags, and how many devices have each",
  options: [FolderService.appOption, ServiceBeside.dataOption, jsonOption],
  run: { parsed in
    try await FolderService.with(parsed) { opened in
      let app = try await opened.app(parsed)
      var after: String?
      repeat {
        let page = try await opened.service.tags(app, after: after, limit: 1000)
        for tag in page {
          let object: JSONObject = ["tag": .string(tag.name), "devices": .number(JSONNumber(tag.devices))]
          show(object, [padded(String(tag.devices), 9), tag.name], parsed)
        }
        after = page.count < 1000 ? nil : page.last?.name
      } while after != nil
      return .success
    }
  })

private let devicesListCommand = Command(
  name: "devices list",
  summary: "Print an app's devices: registration id, environment, alias, tags",
  options: [
    .init(name: "tag", value: "NAME", help: "Only those that have this tag"), FolderService.appOption,
    ServiceBeside.dataOption, jsonOption,
  ],
  run: { parsed in
    try await FolderService.with(parsed) { opened in
      let app = try await opened.app(parsed)
      let audience = parsed.value("tag").map(AudienceExpression.tag) ?? .everyone
      var after: DeviceOrdinal?
      repeat {
        let page = try await opened.service.devices(app, in: audience, after: after, limit: 1000)
        for device in page { show(object(device), line(device), parsed) }
        after = page.count < 1000 ? nil : page.last?.ordinal
      } while after != nil
      return .success
    }
  })

private let devicesShowCommand = Command(
  name: "devices show",
  summary: "Print all that is known of a device",
  arguments: [.init(name: "DEVICE", help: "Its registration id, or alias:NAME", completion: .none)],
  options: [FolderService.appOption, ServiceBeside.dataOption],
  run: { parsed in
    try await FolderService.with(parsed) { opened in
      let app = try await opened.app(parsed)
      let word = parsed.arguments[0]
      let alias = aliasMeant(by: word)
      let devices =
        if let alias {
          try await opened.service.devices(app, alias: alias)
        } else {
          [try await opened.service.device(app, registrationID: word)]
        }
      for device in devices { Terminal.print(JSONValue.object(object(device)).text) }
      if let alias, devices.isEmpty { throw CommandFault("nobody has the alias '\(alias.prefix(40))'") }
      return .success
    }
  })

private func show(_ object: JSONObject, _ words: [String?], _ parsed: ParsedCommand) {
  Terminal.print(
    parsed.flag("json") ? JSONValue.object(object).text : words.compactMap(\.self).joined(separator: "  "))
}

private func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

private func line(_ device: DeviceView) -> [String?] {
  [
    device.registrationID, device.environment == .sandbox ? "sandbox" : "production",
    device.alias.map { "alias:\($0)" }, device.tags.isEmpty ? nil : device.tags.joined(separator: " "),
    device.deadReason.map { "(dead: \($0))" },
  ]
}

private func object(_ device: DeviceView) -> JSONObject {
  [
    "registrationId": .string(device.registrationID),
    "environment": device.environment == .sandbox ? "sandbox" : "production", "alias": text(device.alias),
    "tags": .array(device.tags.map(JSONValue.string)), "mobile": text(device.mobile),
    "badge": .number(JSONNumber(device.badge)), "onlyScheduled": .bool(device.onlyScheduled),
    "osVersion": text(device.facts.osVersion), "appVersion": text(device.facts.appVersion),
    "language": text(device.facts.language), "timeZone": text(device.facts.timeZone),
    "model": text(device.facts.model), "permission": text(device.facts.permission?.word),
    "createdAt": .string(device.createdAt.description), "registeredAt": .string(device.registeredAt.description),
    "lastSeen": .string(device.seenAt.description), "tokenDead": text(device.deadReason),
  ]
}
