import Basics
public import PushPayload

extension Callback: CustomStringConvertible {
  /// One line: the selector, the state, the arguments.
  public var description: String {
    let argument = arguments.words
    let name = method.owner.takesHandler ? "\(method.selector) handler" : method.selector
    return "\(name) [\(state.rawValue)]\(argument.isEmpty ? "" : " \(argument)")"
  }

  var json: JSONValue {
    var object = JSONObject()
    object["method"] = .string(method.selector)
    object["swift"] = .string(method.swiftName)
    object["owner"] = .string(method.owner.rawValue)
    object["short"] = .string(method.short)
    object["state"] = .string(state.rawValue)
    for member in arguments.members.members { object[member.key] = member.value }
    return .object(object)
  }
}

extension Callback.Arguments {
  var words: String {
    switch self {
    case .none: ""
    case .launchOptions(let payload): payload.map { "remote notification \(JSONValue.object($0).text)" } ?? "no options"
    case .localLaunchOptions(let notification): "local notification \(notification.words)"
    case .userInfo(let userInfo): JSONValue.object(userInfo).text
    case .notification(let notification): notification.words
    case .response(let response): response.words
    case .action(let action):
      "\(ResponseArgument.words(action.identifier, action.typedText)) of \(action.notification.words)"
    case .settingsFor(let notification): notification?.words ?? "nil"
    case .token(let token): token.hex
    case .failure(let domain, let code, let text): "\(domain) \(code): \(text)"
    case .granted(let granted, let options): "granted \(granted): \(options)"
    case .userNotificationSettings(let types, let categories):
      "types \(types)\(categories.isEmpty ? "" : ", categories \(categories.joined(separator: ", "))")"
    case .notificationSettings(let settings): settings.words
    case .localNotification(let notification): notification.words
    case .completed(let id, let error):
      error.map { "\(id): \(NotificationError.domain) \($0.rawValue), \($0.name)" } ?? "\(id): no error"
    case .pending(let requests): "[\(requests.map(\.id).joined(separator: ", "))]"
    case .credentials(let type, let token): "\(type.rawValue) \(token.hex)"
    case .pushKitPayload(let type, let payload): "\(type.rawValue) \(JSONValue.object(payload).text)"
    case .pushKitType(let type): type.rawValue
    case .call(let caller): caller
    case .delivered(let notifications): "[\(notifications.map(\.identifier).joined(separator: ", "))]"
    case .scene(let scene): "\(scene)"
    case .connectionOptions(let scene, let response):
      "\(scene), \(response.map { "notificationResponse \($0.words)" } ?? "no options")"
    case .sceneSessions(let scenes): "[\(scenes.map(\.description).joined(separator: ", "))]"
    case .backgroundTask(let id): "task \(id)"
    case .activityToken(let type, let activity, let token): "\(activity ?? type) \(token.hex)"
    case .activity(let id, let type, let content): "\(id) (\(type)) \(JSONValue.object(content).text)"
    case .activityState(let id, let state): "\(id) \(state.rawValue)"
    case .enabled(let enabled): "\(enabled)"
    case .message(let message): message.description
    case .messages(let messages): "\(messages.count) messages"
    case .preference(let onlyScheduled, let failure):
      "only scheduled \(onlyScheduled)\(failure.map { ", failed: \($0)" } ?? "")"
    }
  }

  var members: JSONObject {
    switch self {
    case .none: [:]
    case .launchOptions(let payload): ["launchOptions": payload.map(JSONValue.object) ?? .null]
    case .localLaunchOptions(let notification): ["launchOptions": notification.json]
    case .userInfo(let userInfo): ["userInfo": .object(userInfo)]
    case .notification(let notification): ["notification": notification.json]
    case .response(let response): ["response": response.json]
    case .action(let action):
      [
        "identifier": .string(action.identifier), "userInfo": .object(action.notification.userInfo),
        "responseInfo": .object(action.responseInfo),
      ]
    case .settingsFor(let notification): ["notification": notification?.json ?? .null]
    case .token(let token): ["token": .string(token.hex)]
    case .failure(let domain, let code, let text):
      ["domain": .string(domain), "code": .number(JSONNumber(code)), "text": .string(text)]
    case .granted(let granted, let options):
      ["granted": .bool(granted), "options": .array(options.names.map(JSONValue.string)), "error": .null]
    case .userNotificationSettings(let types, let categories):
      [
        "types": .array(types.names.map(JSONValue.string)), "categories": .array(categories.map(JSONValue.string)),
      ]
    case .notificationSettings(let settings): ["settings": settings.json]
    case .localNotification(let notification): ["notification": notification.json]
    case .completed(let id, let error):
      [
        "id": .string(id), "domain": error == nil ? .null : .string(NotificationError.domain),
        "code": error.map { .number(JSONNumber($0.rawValue)) } ?? .null,
      ]
    case .pending(let requests): ["ids": .array(requests.map { .string($0.id) })]
    case .credentials(let type, let token): ["type": .string(type.rawValue), "token": .string(token.hex)]
    case .pushKitPayload(let type, let payload): ["type": .string(type.rawValue), "payload": .object(payload)]
    case .pushKitType(let type): ["type": .string(type.rawValue)]
    case .call(let caller): ["caller": .string(caller)]
    case .delivered(let notifications): ["notifications": .array(notifications.map(\.json))]
    case .scene(let scene): ["scene": scene.json]
    case .connectionOptions(let scene, let response):
      ["scene": scene.json, "notificationResponse": response?.json ?? .null]
    case .sceneSessions(let scenes): ["scenes": .array(scenes.map(\.json))]
    case .backgroundTask(let id): ["task": .number(JSONNumber(id))]
    case .activityToken(let type, let activity, let token):
      [
        "attributesType": .string(type), "activity": activity.map(JSONValue.string) ?? .null,
        "token": .string(token.hex),
      ]
    case .activity(let id, let type, let content):
      ["activity": .string(id), "attributesType": .string(type), "contentState": .object(content)]
    case .activityState(let id, let state): ["activity": .string(id), "activityState": .string(state.rawValue)]
    case .enabled(let enabled): ["enabled": .bool(enabled)]
    case .message(let message): ["message": message.json]
    case .messages(let messages): ["messages": .array(messages.map(\.json))]
    case .preference(let onlyScheduled, let failure):
      ["onlyScheduled": .bool(onlyScheduled), "failure": failure.map(JSONValue.string) ?? .null]
    }
  }
}

extension NotificationArgument {
  fileprivate var words: String { "\(identifier) \(JSONValue.object(userInfo).text)" }

  /// `date` and `request` with `identifier`, `content` and `trigger`, by Apple's names.
  public var json: JSONValue {
    [
      "date": .string(date.description),
      "request": ["identifier": .string(identifier), "content": content, "trigger": .string(trigger.className)],
    ]
  }

  private var content: JSONValue {
    [
      "title": .string(title), "subtitle": .string(subtitle), "body": .string(body),
      "badge": badge.map { .number(JSONNumber($0)) } ?? .null, "sound": sound.map { .string($0.name) } ?? .null,
      "threadIdentifier": .string(threadIdentifier), "categoryIdentifier": .string(categoryIdentifier),
      "interruptionLevel": .string(interruptionLevel.rawValue),
      "relevanceScore": JSONNumber(relevanceScore).map(JSONValue.number) ?? .null,
      "targetContentIdentifier": targetContentIdentifier.map(JSONValue.string) ?? .null,
      "filterCriteria": filterCriteria.map(JSONValue.string) ?? .null,
      "attachments": .array(attachments.map(JSONValue.string)), "userInfo": .object(userInfo),
    ]
  }
}

extension NotificationArgument.Trigger {
  /// The class of the trigger as the app's code gets it.
  public var className: String {
    switch self {
    case .push: "UNPushNotificationTrigger"
    case .local(nil): "nil"
    case .local(.interval): "UNTimeIntervalNotificationTrigger"
    case .local(.calendar): "UNCalendarNotificationTrigger"
    case .local(.region): "UNLocationNotificationTrigger"
    // bridged from the older class, which the code cannot ask for its trigger
    case .local(.fireDate): "UNLegacyNotificationTrigger"
    }
  }
}

extension ResponseArgument {
  fileprivate var words: String { "\(Self.words(actionIdentifier, userText)) of \(notification.words)" }

  fileprivate static func words(_ action: String, _ text: String?) -> String {
    let name =
      switch action {
      case Callback.defaultAction: "default"
      case Callback.dismissAction: "dismiss"
      default: action
      }
    return text.map { "\(name) “\($0)”" } ?? name
  }

  public var json: JSONValue {
    var object: JSONObject = ["actionIdentifier": .string(actionIdentifier), "notification": notification.json]
    object["userText"] = userText.map(JSONValue.string)
    object["targetScene"] = targetScene?.json ?? .null
    return .object(object)
  }
}

extension SceneID {
  fileprivate var json: JSONValue { .number(JSONNumber(number)) }
}

extension ActionArgument {
  fileprivate var responseInfo: JSONObject {
    typedText.map { ["UIUserNotificationActionResponseTypedTextKey": .string($0)] } ?? [:]
  }
}

extension SettingsArgument {
  /// By Apple's names, in the order of `UNNotificationSettings`.
  private var table: [(name: String, setting: Setting)] {
    [
      ("soundSetting", sound), ("badgeSetting", badge), ("alertSetting", alert),
      ("notificationCenterSetting", notificationCenter), ("lockScreenSetting", lockScreen),
      ("carPlaySetting", carPlay), ("criticalAlertSetting", criticalAlert), ("announcementSetting", announcement),
      ("timeSensitiveSetting", timeSensitive), ("scheduledDeliverySetting", scheduledDelivery),
    ]
  }

  fileprivate var words: String {
    let on = table.filter { $0.setting == .enabled }.map { String($0.name.dropLast("Setting".count)) }
    return "\(authorizationStatus.rawValue), \(on.isEmpty ? "nothing" : on.joined(separator: "+")) enabled"
  }

  public var json: JSONValue {
    var object: JSONObject = ["authorizationStatus": .string(authorizationStatus.rawValue)]
    for (name, setting) in table { object[name] = .string(setting.rawValue) }
    object["alertStyle"] = .string(alertStyle == .modal ? "alert" : alertStyle.rawValue)
    object["showPreviewsSetting"] = .string(showPreviews == .whenUnlocked ? "whenAuthenticated" : showPreviews.rawValue)
    object["providesAppNotificationSettings"] = .bool(providesAppNotificationSettings)
    return .object(object)
  }
}
