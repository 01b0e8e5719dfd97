internal import Audience
internal import Basics
internal import PushPayload
internal import PushService
internal import Schedule

/// A device as our own calls show it.
enum DeviceWriting {
  /// To the device itself.
  static func own(_ view: DeviceView) -> JSONObject {
    var object: JSONObject = [
      "registrationId": .string(view.registrationID),
      "environment": view.environment == .sandbox ? "sandbox" : "production",
      "tags": .array(view.tags.map(JSONValue.string)), "alias": text(view.alias), "mobile": text(view.mobile),
      "badge": .number(JSONNumber(view.badge)), "onlyScheduled": .bool(view.onlyScheduled),
    ]
    object["osVersion"] = text(view.facts.osVersion)
    object["appVersion"] = text(view.facts.appVersion)
    object["language"] = text(view.facts.language)
    object["timeZone"] = text(view.facts.timeZone)
    object["model"] = text(view.facts.model)
    object["permission"] = text(view.facts.permission?.word)
    object["quietHours"] = text(view.quietHours?.description)
    object["channels"] = view.channels.map { .array($0.map(JSONValue.string)) } ?? .null
    object["voip"] = .bool(view.purposes.contains(.voip))
    object["activityStartTypes"] = names(view) { if case .activityStart(let type) = $0 { type } else { nil } }
    object["activities"] = names(view) { if case .activity(let id) = $0 { id } else { nil } }
    return object
  }

  /// To the app server: also its times, and why nothing is sent to it.
  static func full(_ view: DeviceView) -> JSONObject {
    var object = own(view)
    object["createdAt"] = .string(view.createdAt.description)
    object["registeredAt"] = .string(view.registeredAt.description)
    object["lastSeen"] = .string(view.seenAt.description)
    object["tokenDead"] = text(view.deadReason)
    return object
  }

  private static func names(_ view: DeviceView, _ name: (TokenPurpose) -> String?) -> JSONValue {
    .array(view.purposes.compactMap(name).sorted().map(JSONValue.string))
  }

  private static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
}
