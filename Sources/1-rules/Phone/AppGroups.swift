import PushPayload

/// What an app and its service extension, or apps of one team, keep together: `UserDefaults(suiteName:)` of an app group.
/// Without a group each process has a container of its own, and none sees another's. (Apple, "Configuring app groups";
/// "App Extension Programming Guide", sharing data with your containing app)
struct SharedContainers: Sendable {
  private var values: [String: JSONObject] = [:]

  func value(_ key: String, in container: String) -> JSONValue? { values[container]?[key] }

  mutating func set(_ key: String, _ value: JSONValue?, in container: String) {
    values[container, default: JSONObject()][key] = value
  }

  mutating func remove(_ container: String) { values[container] = nil }
}

extension AppDescription {
  /// Where its code keeps what it shares.
  fileprivate var container: String { appGroups.first ?? bundleID }

  /// Where its service extension does.
  fileprivate var extensionContainer: String { appGroups.first ?? ownExtensionContainer }

  fileprivate var ownExtensionContainer: String { "\(bundleID).service-extension" }
}

extension Phone {
  /// The app's code writes a value where its extension looks too, if they have a group.
  mutating func share(_ key: String, _ value: JSONValue?, by app: Int) {
    let container = apps[app].description.container
    shared.set(key, value, in: container)
    record(.app("writes \(key) = \(value?.text ?? "nothing") in \(container)"), app, "D-250")
  }

  mutating func readShared(_ key: String, by app: Int) {
    let description = apps[app].description
    if let value = shared.value(key, in: description.container) {
      return record(.app("reads \(key) = \(value.text) in \(description.container)"), app, "D-250")
    }
    record(.app("reads no \(key) in \(description.container)"), app, "D-250")
    if shared.value(key, in: description.extensionContainer) != nil {
      record(
        .fault("its service extension has \(key) in a container of its own: they share one app group, or nothing"),
        app, "D-250")
    }
  }

  /// What a service extension does with the group is done; the edits of the content remain.
  mutating func sharing(_ edits: [ContentEdit], of app: Int) -> [ContentEdit] {
    let container = apps[app].description.extensionContainer
    return edits.compactMap { edit in
      switch edit {
      case .share(let key, let value):
        shared.set(key, value, in: container)
        record(.app("its service extension writes \(key) = \(value?.text ?? "nothing") in \(container)"), app, "D-250")
        return nil
      case .countBadge(let key):
        let count = min(shared.value(key, in: container)?.number?.int64 ?? 0, Int64(Int32.max)) + 1
        shared.set(key, .number(JSONNumber(count)), in: container)
        record(.app("its service extension counts \(key) = \(count) in \(container)"), app, "D-250")
        return .badge(count)
      case .title, .subtitle, .body, .badge, .sound, .category, .thread, .level, .relevance, .targetContent,
        .filterCriteria, .attach, .userInfo, .empty:
        return edit
      }
    }
  }

  /// The app is deleted: its own containers go with it, and a group's with the last app of the group.
  mutating func removeContainers(of description: AppDescription) {
    shared.remove(description.bundleID)
    shared.remove(description.ownExtensionContainer)
    for group in description.appGroups where !apps.contains(where: { $0.description.appGroups.contains(group) }) {
      shared.remove(group)
    }
  }
}
