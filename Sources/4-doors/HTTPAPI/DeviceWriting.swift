internal import Audience
internal import Basics
internal import PushPayload
internal import PushService

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

  private static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
}
