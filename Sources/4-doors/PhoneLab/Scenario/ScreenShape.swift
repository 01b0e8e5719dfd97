internal import PushPayload

/// What an expectation may say of the screen: the members of `Screen.json`, in part.
enum ScreenShape {
  static let whole = Shape.fields(
    [
      .init(name: "clock", shape: .text, help: "The time of day in the phone's zone, such as \"09:41\"."),
      .init(name: "locked", shape: .flag, help: "The lock screen is there."),
      .init(name: "front", shape: .orNull(icon), help: "The app that fills the screen; null: home or lock screen."),
      .init(name: "icons", shape: .list(icon), help: "The home screen, in the order of installation."),
      .init(name: "banners", shape: .list(notification()), help: "Over whatever is there, newest first."),
      .init(
        name: "alert", shape: .orNull(notification([.init(name: "buttons", shape: .list(.text), help: "")])),
        help: "The alert in the middle, or null."),
      .init(name: "expanded", shape: .orNull(notification()), help: "The notification that is pulled open, or null."),
      .init(name: "lockScreen", shape: .list(group), help: "What the locked screen lists: stacks, newest first."),
      .init(name: "centre", shape: .list(group), help: "What the notification centre lists, opened or not."),
      .init(name: "centreOpen", shape: .flag, help: "The notification centre is pulled over the rest."),
      .init(name: "activities", shape: .list(activity), help: "Live Activities on the Lock Screen, the first on top."),
      .init(name: "island", shape: .list(activity), help: "Live Activities in the Dynamic Island."),
      .init(
        name: "prompt",
        shape: .orNull(texts(["app", "text", "detail"], [.init(name: "buttons", shape: .list(.text), help: "")])),
        help: "The question whether an app may notify, or null."),
      .init(name: "call", shape: .orNull(call), help: "The call that rings or is answered, or null."),
      .init(name: "waitingCall", shape: .orNull(call), help: "Rings during another, or null."),
      .init(
        name: "indicators",
        shape: .fields(
          [.init(name: "focus", shape: .orNull(.text), help: "")]
            + ["lowPower", "online", "airplane", "muted"].map { .init(name: $0, shape: .flag, help: "") },
          required: []), help: "The status bar."),
    ], required: [])

  private static let icon = texts(["app", "name"], [.init(name: "badge", shape: .whole, help: "0: none.")])
  private static let call = texts(["app", "caller"], [.init(name: "answered", shape: .flag, help: "")])

  private static let group = texts(
    ["title"],
    [
      .init(name: "app", shape: .orNull(.text), help: "null: a scheduled summary."),
      .init(name: "thread", shape: .orNull(.text), help: "The thread-id that holds it together."),
      .init(
        name: "notifications", shape: .list(notification()), help: "Newest first; in a summary most relevant first."),
      .init(name: "summary", shape: .orNull(.text), help: "What stands below the stack."),
    ])

  private static let activity = texts(
    ["app", "id", "state", "attributesType"],
    [
      .init(name: "attributes", shape: .object, help: ""),
      .init(name: "content", shape: .object, help: "Its content state."),
      .init(name: "relevance", shape: .orNull(.number), help: ""),
      .init(name: "channel", shape: .orNull(.text), help: ""),
    ])

  private static func notification(_ more: [Shape.Field] = []) -> Shape {
    texts(
      ["app", "appName", "id", "heading", "subtitle", "body", "shownAt"],
      [
        .init(name: "actions", shape: .list(.text), help: "Titles of its buttons."),
        .init(name: "choices", shape: .list(.text), help: "What the system asks below it."),
      ] + more)
  }

  private static func texts(_ names: [String], _ more: [Shape.Field]) -> Shape {
    .fields(names.map { .init(name: $0, shape: .text, help: "") } + more, required: [])
  }
}

extension Reading {
  /// Refuses what a thing of that shape can never be: members that it does not have, values of another kind.
  func refuse(unless shape: Shape) throws(ScenarioFault) {
    switch shape {
    case .fields(let fields, _):
      for (name, member) in try members(known: fields.map(\.name)) {
        for field in fields where field.name == name { try member.refuse(unless: field.shape) }
      }
    case .list(let element): for one in try list() { try one.refuse(unless: element) }
    case .orNull(let shape): if value != .null { try refuse(unless: shape) }
    case .flag: _ = try flag()
    case .text: _ = try text()
    case .whole: _ = try whole()
    case .number: _ = try number()
    case .object: _ = try object()
    case .word(let words): _ = try word(of: words)
    case .yes, .span, .time, .any, .oneOrMore, .map, .either, .named: return
    }
  }
}

extension JSONValue {
  /// As much of this as `expectation` speaks of: what would have to be written in its place.
  func reduced(to expectation: JSONValue) -> JSONValue {
    switch (self, expectation) {
    case (.object(let object), .object(let wanted)):
      return .object(
        JSONObject(
          wanted.members.map {
            .init($0.key, object[$0.key].map { [value = $0.value] in $0.reduced(to: value) } ?? .null)
          }))
    case (.array(let list), .array(let wanted)):
      return .array(
        list.enumerated().map { index, element in
          (index < wanted.count ? wanted[index] : wanted.last).map { element.reduced(to: $0) } ?? element
        })
    default: return self
    }
  }

  /// The same with texts under `id`, and in lists of them, exchanged.
  func exchangingIDs(_ exchange: (String) -> String) -> JSONValue {
    switch self {
    case .object(let object):
      return .object(
        JSONObject(
          object.members.map { member in
            let isID = member.key == "id"
            return .init(
              member.key,
              isID
                ? member.value.string.map { .string(exchange($0)) } ?? member.value
                : member.value.exchangingIDs(exchange))
          }))
    case .array(let list): return .array(list.map { $0.exchangingIDs(exchange) })
    default: return self
    }
  }
}
