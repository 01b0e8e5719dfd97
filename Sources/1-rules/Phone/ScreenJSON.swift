import Basics
public import PushPayload

extension Screen {
  /// For programs: what can be seen, every member always there; what is not on the screen is null or empty. Notifications
  /// are named by `id`, apps by `app`, the bundle id.
  public var json: JSONObject {
    [
      "clock": .string(clock), "locked": .bool(isLocked),
      "front": front?.json ?? .null, "icons": .array(icons.map(\.json)),
      "banners": .array(banners.map { .object($0.json) }), "alert": alert?.json ?? .null,
      "expanded": expanded.map { .object($0.json) } ?? .null,
      "lockScreen": .array(lockScreen.map(\.json)), "centre": .array(centre.map(\.json)),
      "centreOpen": .bool(isCentreOpen), "activities": .array(activities.map(\.json)),
      "island": .array(island.map(\.json)), "prompt": prompt?.json ?? .null,
      "call": call?.json ?? .null, "waitingCall": waitingCall?.json ?? .null, "indicators": indicators.json,
    ]
  }
}

extension Screen.Indicators {
  fileprivate var json: JSONValue {
    [
      "focus": focus.map(JSONValue.string) ?? .null, "lowPower": .bool(isLowPower), "online": .bool(isOnline),
      "airplane": .bool(isAirplane), "muted": .bool(isMuted),
    ]
  }
}

extension Screen.Icon {
  fileprivate var json: JSONValue {
    ["app": .string(bundleID), "name": .string(name), "badge": .number(JSONNumber(badge))]
  }
}

extension Screen.Notification {
  fileprivate var json: JSONObject {
    [
      "app": .string(bundleID), "appName": .string(appName), "id": .string(id), "heading": .string(heading),
      "subtitle": .string(subtitle), "body": .string(body), "shownAt": .string(shownAt.description),
      "actions": .array(actions.map { .string($0.title) }), "choices": .array(choices.map(JSONValue.string)),
    ]
  }
}

extension Screen.Group {
  fileprivate var json: JSONValue {
    [
      "app": bundleID.map(JSONValue.string) ?? .null, "title": .string(title),
      "thread": threadID.map(JSONValue.string) ?? .null,
      "notifications": .array(notifications.map { .object($0.json) }),
      "summary": summary.map(JSONValue.string) ?? .null,
    ]
  }
}

extension Screen.Alert {
  /// The notification's own members, and the buttons.
  fileprivate var json: JSONValue {
    var object = notification.json
    object["buttons"] = .array(buttons.map(JSONValue.string))
    return .object(object)
  }
}

extension Screen.Prompt {
  fileprivate var json: JSONValue {
    [
      "app": .string(bundleID), "text": .string(text), "detail": .string(detail),
      "buttons": .array(buttons.map(JSONValue.string)),
    ]
  }
}

extension PhoneCall {
  fileprivate var json: JSONValue {
    ["app": .string(bundleID), "caller": .string(caller), "answered": .bool(isAnswered)]
  }
}

extension ShownActivity {
  fileprivate var json: JSONValue {
    [
      "app": .string(bundleID), "id": .string(id), "state": .string(state.rawValue),
      "attributesType": .string(activity.attributesType), "attributes": .object(activity.attributes),
      "content": .object(activity.contentState),
      "relevance": activity.relevanceScore.flatMap(JSONNumber.init).map(JSONValue.number) ?? .null,
      "channel": activity.channel.map(JSONValue.string) ?? .null,
    ]
  }
}
