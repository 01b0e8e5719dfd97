public import PushPayload

/// What one entry of a timeline must be, as far as somebody says: what is left out may be anything.
///
/// As a text it is the kind of entry and what matters most of it, or a callback alone:
///
///     callback didReceiveResponse        Apple's name (the base of the Swift name), the selector, or the short name
///     DRF(background)  DRF(B)            … called in that state: active, inactive, background
///     LO(p)  LO(∅)  DRR(default)         … with a payload, without one, for that action
///     shown BCSN                         exactly these of banner, lock screen, wakes, centre, sound, badge
///     badge 3       badge 0 → 3          transition suspended → background
///     withheld Low Power                 of any other kind: words that it tells
///
/// As JSON it is a part of `TimelineEntry.json`: `{shown: {body: "Hello"}, rule: "D-105"}`; texts under `text` are parts of
/// what is told, all other values must be equal, and objects may hold more.
public struct EntryPattern: Hashable, Sendable {
  /// `TimelineEntry.What.name`; nil for any.
  public var kind: String?
  /// A callback by any of its names.
  public var callback: String?
  /// Part of what is told.
  public var text: String?
  /// The id of the rule that decided.
  public var rule: String?
  public var bundleID: String?
  /// The app's state after what happened.
  public var appState: String?
  /// Members that the entry's JSON must have under its kind.
  public var parts: JSONObject
  /// Why it can match nothing: what was written means nothing.
  public private(set) var fault: PatternFault?

  public init(
    kind: String? = nil, callback: String? = nil, text: String? = nil, rule: String? = nil, bundleID: String? = nil,
    appState: String? = nil, parts: JSONObject = [:]
  ) {
    self.kind = kind
    self.callback = callback
    self.text = text
    self.rule = rule
    self.bundleID = bundleID
    self.appState = appState
    self.parts = parts
  }

  public func matches(_ entry: TimelineEntry) -> Bool { fault == nil && misses(in: entry, stopAtFirst: true) == 0 }

  /// How many of the things said do not hold for the entry: the nearest entry is the one with the fewest.
  func misses(in entry: TimelineEntry, stopAtFirst: Bool = false) -> Int {
    var misses = 0
    func ask(_ holds: @autoclosure () -> Bool, weight: Int = 1) {
      guard !(stopAtFirst && misses > 0) else { return }
      if !holds() { misses += weight }
    }
    ask(kind == nil || kind == entry.what.name, weight: 8)
    if let callback { ask(entry.what.callback?.method.isCalled(callback) ?? false, weight: 4) }
    if let rule { ask(rule == entry.rule.id) }
    if let bundleID { ask(bundleID == entry.bundleID) }
    if let appState { ask(appState == entry.appState?.rawValue) }
    if let text { ask(entry.what.words.contains(text), weight: 2) }
    guard !parts.members.isEmpty, !(stopAtFirst && misses > 0) else { return misses }
    let actual = entry.json.object?[entry.what.name]
    for member in parts.members where !(stopAtFirst && misses > 0) {
      let value = entry.what.callback?.shortcut(member.key) ?? actual?.object?[member.key]
      ask(value.map { JSONDifference.isNone(between: member.value, $0, match: .contains) } ?? (member.value == .null))
    }
    return misses
  }

  /// The parts of an entry of the same kind that are not as this says.
  func differences(from entry: TimelineEntry) -> [String] {
    guard kind == nil || kind == entry.what.name, !parts.members.isEmpty else { return [] }
    let actual = entry.json.object?[entry.what.name]
    return parts.members.compactMap { member in
      let value = entry.what.callback?.shortcut(member.key) ?? actual?.object?[member.key]
      guard
        value.map({ !JSONDifference.isNone(between: member.value, $0, match: .contains) }) ?? (member.value != .null)
      else { return nil }
      return value.map { "\(member.key) \($0.text)" } ?? "no \(member.key)"
    }
  }

  /// The same with every name under `push`, `id` and `ids` replaced by what it stands for.
  public func resolving(_ names: [String: String]) -> EntryPattern {
    var pattern = self
    for key in ["push", "id"] {
      if let name = parts[key]?.string, let meant = names[name] { pattern.parts[key] = .string(meant) }
    }
    if let ids = parts["ids"]?.array {
      pattern.parts["ids"] = .array(ids.map { id in id.string.flatMap { names[$0] }.map(JSONValue.string) ?? id })
    }
    return pattern
  }
}

/// Why a pattern means nothing, and what to write.
public struct PatternFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Below the pattern; empty for the pattern itself.
  public var path: JSONPath
  public var found: String
  public var remedy: String

  public var description: String { "\(path == .root ? "" : "\(path): ")\(found). \(remedy)" }
}

// MARK: reading

extension EntryPattern: ExpressibleByStringLiteral {
  /// A text that means nothing makes a pattern that matches nothing and tells why.
  public init(stringLiteral text: String) {
    do { self = try EntryPattern(text) } catch {
      self.init(text: text)
      fault = error
    }
  }

  public init(_ text: String) throws(PatternFault) {
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    let first = words.first ?? ""
    let rest = words.count > 1 ? words[1] : ""
    if let kind = Self.kind(named: first) {
      self = try Self.detail(rest, of: kind, at: .root)
    } else if let pattern = try Self.called(text) {
      self = pattern
    } else {
      let known = TimelineEntry.What.names + Callback.Method.allCases.map(\.rawValue)
      let near =
        nearest(to: first.filter { $0 != "(" && $0 != ")" }, in: known).map { "Did you mean \"\($0)\"? " } ?? ""
      throw PatternFault(
        path: .root, found: "\"\(text.prefix(60))\" names neither a kind of entry nor a callback",
        remedy:
          "\(near)Kinds are \(TimelineEntry.What.names.joined(separator: ", ")); callbacks stand in docs/iphone.md.")
    }
  }

  public init(_ value: JSONValue) throws(PatternFault) {
    if let text = value.string {
      try self.init(text)
      return
    }
    guard let object = value.object else {
      throw PatternFault(
        path: .root, found: "found \(value.text.prefix(60))",
        remedy: "Write a text such as \"callback didReceiveResponse\", or an object such as {shown: {body: \"Hello\"}}."
      )
    }
    self.init()
    for member in object.members {
      let here = JSONPath(member.key)
      if let kind = Self.kind(named: member.key), member.key != "state" || member.value.string == nil {
        try take(member.value, of: kind, at: here)
        continue
      }
      guard Self.fields.contains(member.key) else {
        let known = Self.fields + TimelineEntry.What.names
        throw PatternFault(
          path: here, found: "there is no such field",
          remedy:
            "\(nearest(to: member.key, in: known).map { "Did you mean '\($0)'? " } ?? "")Known are \(known.joined(separator: ", "))."
        )
      }
      guard let text = member.value.string else {
        throw PatternFault(path: here, found: "found \(member.value.text.prefix(60))", remedy: "Write a text.")
      }
      switch member.key {
      case "what":
        guard let kind = Self.kind(named: text) else {
          throw PatternFault(
            path: here, found: "\"\(text.prefix(40))\" is no kind of entry",
            remedy: "Write one of \(TimelineEntry.What.names.joined(separator: ", ")).")
        }
        self.kind = kind
      case "text": self.text = text
      case "rule": rule = text
      case "app": bundleID = text
      default: appState = text
      }
    }
  }

  /// Beside the kinds of entry.
  public static let fields = ["what", "text", "rule", "app", "state"]

  private static func kind(named name: String) -> String? {
    if name == "state" { return "transition" }
    return TimelineEntry.What.names.contains(name) ? name : nil
  }

  /// `true`, the short form of what matters of that kind, or its members.
  private mutating func take(_ value: JSONValue, of kind: String, at path: JSONPath) throws(PatternFault) {
    if value == .bool(true) {
      self.kind = kind
    } else if let text = value.string {
      let short = try Self.detail(text, of: kind, at: path)
      self.kind = kind
      callback = short.callback
      self.text = short.text ?? self.text
      for member in short.parts.members { parts[member.key] = member.value }
    } else if let object = value.object {
      self.kind = kind
      for member in object.members {
        if kind == "callback", member.key == "method" {
          guard let name = member.value.string, Callback.Method.allCases.contains(where: { $0.isCalled(name) }) else {
            throw PatternFault(
              path: path.appending("method"), found: "\(member.value.text.prefix(60)) is no callback",
              remedy: "Write a name such as \"didReceiveResponse\"; docs/iphone.md lists them.")
          }
          callback = name
        } else if kind == "shown", member.key == "parts", let letters = member.value.string {
          parts["parts"] = .string(try Self.letters(letters, at: path.appending("parts")))
        } else {
          parts[member.key] = member.value
        }
      }
    } else {
      throw PatternFault(
        path: path, found: "found \(value.text.prefix(60))",
        remedy: "Write true for any, a text for what matters most, or an object with the members that matter.")
    }
  }

  private static func detail(_ text: String, of kind: String, at path: JSONPath) throws(PatternFault) -> EntryPattern {
    guard !text.isEmpty else { return EntryPattern(kind: kind) }
    switch kind {
    case "callback":
      guard let pattern = try called(text) else {
        let near =
          nearest(to: text, in: Callback.Method.allCases.map(\.rawValue)).map { "Did you mean \"\($0)\"? " } ?? ""
        throw PatternFault(
          path: path, found: "\"\(text.prefix(60))\" is no callback",
          remedy: "\(near)Write a name such as \"didReceiveResponse\"; docs/iphone.md lists them.")
      }
      return pattern
    case "shown":
      return EntryPattern(kind: kind, parts: ["parts": .string(try letters(text, at: path))])
    case "badge":
      let numbers = Self.change(text).map { Int($0) }
      guard !numbers.contains(nil) else {
        throw PatternFault(
          path: path, found: "\"\(text.prefix(40))\" is no badge", remedy: "Write \"badge 3\" or \"badge 0 → 3\".")
      }
      return EntryPattern(kind: kind, parts: fromTo(numbers.compactMap { $0.map { .number(JSONNumber($0)) } }))
    case "transition":
      let states = Self.change(text)
      if let wrong = states.first(where: { AppState(rawValue: $0) == nil }) {
        throw PatternFault(
          path: path, found: "\"\(wrong.prefix(40))\" is no state of an app",
          remedy: "Write one of \(AppState.allCases.map(\.rawValue).joined(separator: ", ")), or two with → between.")
      }
      return EntryPattern(kind: kind, parts: fromTo(states.map(JSONValue.string)))
    default: return EntryPattern(kind: kind, text: text)
    }
  }

  /// `0 → 3` or `0 -> 3`: both; `3`: the second alone.
  private static func change(_ text: String) -> [String] {
    text.split(whereSeparator: { " →->".contains($0) }).map(String.init)
  }

  private static func fromTo(_ values: [JSONValue]) -> JSONObject {
    guard values.count > 1 else { return values.first.map { ["to": $0] } ?? [:] }
    return ["from": values[0], "to": values[1]]
  }

  /// In the timeline's own order.
  private static func letters(_ text: String, at path: JSONPath) throws(PatternFault) -> String {
    let order = "BLWCSN"
    guard text == "-" || text.allSatisfy({ order.contains($0) }) else {
      throw PatternFault(
        path: path, found: "\"\(text.prefix(40))\" is not what a user gets",
        remedy: "Write letters: B banner or alert, L lock screen, W screen wakes, C centre, S sound, N badge.")
    }
    return text == "-" ? text : String(order.filter { text.contains($0) })
  }

  /// A callback with what stands in parentheses behind it; nil when no callback has the name.
  private static func called(_ text: String) throws(PatternFault) -> EntryPattern? {
    var name = text
    var detail: String?
    if !Callback.Method.allCases.contains(where: { $0.isCalled(text) }), text.hasSuffix(")"),
      let open = text.firstIndex(of: "(")
    {
      name = String(text[..<open])
      detail = String(text[text.index(after: open)...].dropLast())
    }
    guard Callback.Method.allCases.contains(where: { $0.isCalled(name) }) else { return nil }
    var pattern = EntryPattern(kind: "callback", callback: name)
    switch detail {
    case nil: break
    case "A", "active": pattern.parts["state"] = "active"
    case "I", "inactive": pattern.parts["state"] = "inactive"
    case "B", "background": pattern.parts["state"] = "background"
    case "p": pattern.parts["hasPayload"] = true
    case "∅", "": pattern.parts["hasPayload"] = false
    case "default": pattern.parts["action"] = .string(Callback.defaultAction)
    case "dismiss": pattern.parts["action"] = .string(Callback.dismissAction)
    case let action?: pattern.parts["action"] = .string(action)
    }
    return pattern
  }
}

extension Callback.Method {
  /// By the case's name, the short name, the selector, or `LO` for the call that tells the launch options.
  func isCalled(_ name: String) -> Bool {
    name == rawValue || name == short || (self == .didFinishLaunching && name == "LO")
      || ((name.contains(":") || name.hasSuffix(")")) && (name == selector || name == swiftName))
  }
}

extension Callback {
  /// What patterns call by a short name wherever the call has it: `userInfo`, `hasPayload`, `id` (of the request), `action`,
  /// `userText`.
  fileprivate func shortcut(_ name: String) -> JSONValue? {
    var notification: NotificationArgument?
    var action: (id: String, text: String?)?
    switch arguments {
    case .notification(let given): notification = given
    case .response(let response):
      (notification, action) = (response.notification, (response.actionIdentifier, response.userText))
    case .action(let given): (notification, action) = (given.notification, (given.identifier, given.typedText))
    case .connectionOptions(_, let response?):
      (notification, action) = (response.notification, (response.actionIdentifier, response.userText))
    default: break  // others have none of these
    }
    switch name {
    case "hasPayload": return .bool(arguments.userInfo != nil)
    case "userInfo": return arguments.userInfo.map(JSONValue.object)
    case "id": return notification.map { .string($0.identifier) }
    case "action": return action.map { .string($0.id) }
    case "userText": return action?.text.map(JSONValue.string)
    default: return nil
    }
  }
}

extension TimelineEntry.What {
  /// Every `name` that there is.
  public static let names = [
    "arrived", "callback", "shown", "withheld", "transition", "badge", "summary", "activity", "removed", "user", "act",
    "fault",
    "system", "notModelled",
  ]

  var callback: Callback? { if case .callback(let callback) = self { callback } else { nil } }
}

// MARK: told

extension EntryPattern: CustomStringConvertible {
  private static func shortName(of action: String) -> String {
    switch action {
    case Callback.defaultAction: "default"
    case Callback.dismissAction: "dismiss"
    default: action
    }
  }

  /// The short form where there is one.
  public var description: String {
    var words: [String] = []
    var parts = parts
    if let callback {
      var name = callback
      if let state = parts["state"]?.string {
        name += "(\(state))"
        parts["state"] = nil
      } else if let action = parts["action"]?.string {
        name += "(\(Self.shortName(of: action)))"
        parts["action"] = nil
      } else if let payload = parts["hasPayload"]?.bool {
        name += payload ? "(p)" : "(∅)"
        parts["hasPayload"] = nil
      }
      words.append(name)
    } else if let kind {
      words.append(kind)
      if kind == "shown", let letters = parts["parts"]?.string {
        words.append(letters)
        parts["parts"] = nil
      }
      if let to = parts["to"] {
        let from = parts["from"].map { "\($0.string ?? $0.text) → " } ?? ""
        words.append("\(from)\(to.string ?? to.text)")
        parts["from"] = nil
        parts["to"] = nil
      }
    }
    if let text { words.append(kind == nil ? "“\(text)”" : text) }
    if !parts.members.isEmpty { words.append(JSONValue.object(parts).text) }
    if let appState { words.append("in state \(appState)") }
    if let bundleID { words.append("of \(bundleID)") }
    if let rule { words.append("by \(rule)") }
    return words.isEmpty ? "anything" : words.joined(separator: " ")
  }
}
