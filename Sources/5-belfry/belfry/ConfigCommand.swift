import PushService

let configCommand: Command = Command(
  name: "config",
  summary: "Print the settings of 'belfry serve' and where each came from",
  options: ServeConfiguration.options + [.flag("json", "Print JSON")],
  run: { parsed in
    let environment = processEnvironment()
    let configuration = try ServeConfiguration(
      parsed, environment: environment, standardData: standardDataFolder(environment))
    let rows = [
      ("listen", configuration.listen.value, configuration.listen.origin.words),
      ("deviceListen", configuration.deviceListen.value ?? "as the rest", configuration.deviceListen.origin.words),
      ("deviceIdentity", configuration.deviceIdentity.value ?? "plain", configuration.deviceIdentity.origin.words),
      ("gateway", configuration.gateway.value ?? "none", configuration.gateway.origin.words),
      (
        "gatewayIdentity", configuration.gatewayIdentity.value ?? "plain", configuration.gatewayIdentity.origin.words
      ),
      ("data", configuration.data.value, configuration.data.origin.words),
      ("apns", configuration.apns.value, configuration.apns.origin.words),
      ("apnsManage", configuration.apnsManage.value ?? "of apns", configuration.apnsManage.origin.words),
      ("trust", configuration.trust.value ?? "the system's", configuration.trust.origin.words),
      (
        "proxy", configuration.proxy.value?.words ?? "none", configuration.proxy.origin.words
      ),
      (
        "serverFaultMinutes", String(configuration.serverFaultMinutes.value ?? 0),
        configuration.serverFaultMinutes.origin.words
      ),
      ("schedules", configuration.schedules.value.words, configuration.schedules.origin.words),
      ("keepDays", configuration.retention.value.words, configuration.retention.origin.words),
      ("webhooks", configuration.webhooks.value.words, configuration.webhooks.origin.words),
      ("messages", configuration.messages.value.words, configuration.messages.origin.words),
      SealingKey.Source(environment).row,
      ("limits", configuration.limits.value.words, configuration.limits.origin.words),
      (
        "credentials", configuration.credentials.value.map(\.bundle).joined(separator: ", "),
        configuration.credentials.origin.words
      ),
    ]
    if parsed.flag("json") {
      let members = rows.map { "{\"name\": \(quoted($0)), \"value\": \(quoted($1)), \"origin\": \(quoted($2))}" }
      Terminal.print("[" + members.joined(separator: ",\n ") + "]")
    } else {
      let widths = (rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0)
      for (name, value, origin) in rows {
        Terminal.print("\(padded(name, widths.0))  \(padded(value, widths.1))  \(origin)")
      }
    }
    return .success
  })

/// `belfry` under `XDG_DATA_HOME`, else under `~/.local/share`, else in the current folder.
func standardDataFolder(_ environment: [String: String]) -> String {
  if let folder = environment["XDG_DATA_HOME"], !folder.isEmpty { return folder + "/belfry" }
  if let home = environment["HOME"], !home.isEmpty { return home + "/.local/share/belfry" }
  return "belfry-data"
}

func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
