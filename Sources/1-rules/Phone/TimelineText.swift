import Basics
public import PushPayload

extension TimelineEntry: CustomStringConvertible {
  /// One line for a terminal: time of day in UTC, the app's state, an arrow, what happened, the rule.
  ///
  ///     09:00:00.000  suspended   → didReceiveRemoteNotification:… [background] {"aps":{…}}  D-104
  ///
  /// `→` into the app's code, `←` the app's code acts, `▣` the user sees or hears, `☝` the user acts, `⇣` a push
  /// comes in, `×` nothing came of it, `!` a fault of the app, `?` not modelled, `·` all else.
  public var description: String { line(width: .max) }

  /// The same, cut to `width` characters before the rule; the rule itself is always there.
  public func line(width: Int) -> String {
    let clock = String(time.description.dropFirst(11).dropLast())
    let state = appState?.rawValue ?? (locked ? "locked" : "phone")
    let head = "\(clock)  \(state)\(String(repeating: " ", count: max(1, 12 - state.count)))\(arrow) "
    let room = max(8, width.subtractingClamped(head.count + rule.id.count + 2))
    let words = what.words
    let text = words.count > room ? "\(words.prefix(room - 1))…" : words
    return "\(head)\(text)  \(rule)"
  }

  /// The sign of its kind.
  public var arrow: String {
    switch what {
    case .callback: "→"
    case .app: "←"
    case .shown, .summary, .badge, .removed, .activity: "▣"
    case .user: "☝"
    case .arrived: "⇣"
    case .withheld: "×"
    case .fault: "!"
    case .notModelled: "?"
    case .state, .system: "·"
    }
  }

  /// For programs: `time`, `app`, `state`, `locked`, `rule`, `because` (the rule in a sentence) with its `sources`,
  /// `what` (the kind of entry), `text`, and the parts of that kind under its own name; of a callback also `why`.
  public var json: JSONValue {
    var object = JSONObject()
    object["time"] = .string(time.description)
    object["app"] = bundleID.map(JSONValue.string)
    object["state"] = appState.map { .string($0.rawValue) }
    object["locked"] = .bool(locked)
    object["rule"] = .string(rule.id)
    object["what"] = .string(what.name)
    object["text"] = .string(what.words)
    object["because"] = rule.sentence.map(JSONValue.string)
    object["sources"] = .array(rule.sources.map { .string($0.description) })
    object[what.name] = parts
    return .object(object)
  }

  private var parts: JSONValue? {
    guard case .callback(let callback) = what, var object = callback.json.object else { return what.parts }
    object["why"] = callback.choice(by: rule).map(JSONValue.string)
    return .object(object)
  }
}

extension TimelineEntry.What {
  /// Which kind of entry: stable, for programs.
  public var name: String {
    switch self {
    case .arrived: "arrived"
    case .callback: "callback"
    case .shown: "shown"
    case .withheld: "withheld"
    case .state: "transition"
    case .badge: "badge"
    case .summary: "summary"
    case .removed: "removed"
    case .activity: "activity"
    case .user: "user"
    case .app: "act"
    case .fault: "fault"
    case .system: "system"
    case .notModelled: "notModelled"
    }
  }

  /// What happened, in one line.
  public var words: String {
    switch self {
    case .arrived(let id, let kind, let text): "push \(id) (\(kind.rawValue)) \(text)"
    case .callback(let callback): callback.description
    case .shown(let shown): shown.description
    case .withheld(let id, let reason): "push \(id): \(reason)"
    case .state(let from, let to): "\(from.rawValue) → \(to.rawValue)"
    case .badge(let from, let to): "badge \(from) → \(to)"
    case .summary(let summary): summary.description
    case .removed(let ids, let reason): "removed \(ids.joined(separator: ", ")): \(reason)"
    case .activity(let change): change.description
    case .user(let text), .app(let text), .fault(let text), .system(let text): text
    case .notModelled(let text): "not modelled: \(text)"
    }
  }

  fileprivate var parts: JSONValue? {
    switch self {
    case .arrived(let id, let kind, _): ["push": .string(id), "kind": .string(kind.rawValue)]
    case .callback(let callback): callback.json
    case .shown(let shown): shown.json
    case .withheld(let id, let reason): ["push": .string(id), "reason": .string(reason)]
    case .state(let from, let to): ["from": .string(from.rawValue), "to": .string(to.rawValue)]
    case .badge(let from, let to): ["from": .number(JSONNumber(from)), "to": .number(JSONNumber(to))]
    case .summary(let summary): summary.json
    case .removed(let ids, let reason):
      ["ids": .array(ids.map(JSONValue.string)), "reason": .string(reason)]
    case .activity(let change): change.json
    case .user, .app, .fault, .system, .notModelled: nil
    }
  }
}

extension TimelineEntry.Shown: CustomStringConvertible {
  public var description: String {
    var text = "shows \(parts)"
    if !heading.isEmpty || !body.isEmpty {
      text += ": \([heading, subtitle, body].filter { !$0.isEmpty }.map { "“\($0)”" }.joined(separator: " "))"
    }
    switch sound {
    case .system: text += ", sound default"
    case .file(let name): text += ", sound \(name)"
    case .vibration: text += ", vibration only"
    case nil: break
    }
    if let volume { text += " at volume \(volume)" }
    if level != .active { text += ", \(level.rawValue)" }
    if !attachments.isEmpty { text += ", with \(attachments.joined(separator: ", "))" }
    if !buttons.isEmpty { text += ", buttons \(buttons.joined(separator: ", "))" }
    if let watchTitle { text += ", on a watch headed “\(watchTitle)”" }
    if let badge { text += badge == 0 ? ", badge removed" : ", badge \(badge)" }
    return text
  }

  var json: JSONValue {
    var object = JSONObject()
    object["push"] = .string(pushID)
    object["id"] = .string(id)
    object["parts"] = .string(parts.letters)
    object["heading"] = heading.isEmpty ? nil : .string(heading)
    object["subtitle"] = subtitle.isEmpty ? nil : .string(subtitle)
    object["body"] = body.isEmpty ? nil : .string(body)
    switch sound {
    case .system: object["sound"] = "default"
    case .file(let name): object["sound"] = .string(name)
    case .vibration: object["sound"] = "vibration"
    case nil: break
    }
    object["badge"] = badge.map { .number(JSONNumber($0)) }
    object["volume"] = volume.flatMap(JSONNumber.init).map(JSONValue.number)
    object["level"] = level == .active ? nil : .string(level.rawValue)
    return .object(object)
  }
}

extension TimelineEntry.Summary: CustomStringConvertible {
  public var description: String {
    "scheduled summary, \(parts): \(entries.map { "\($0.id) of \($0.bundleID)" }.joined(separator: ", "))"
  }

  var json: JSONValue {
    [
      "parts": .string(parts.letters),
      "entries": .array(
        entries.map {
          [
            "app": .string($0.bundleID), "id": .string($0.id),
            "relevance": JSONNumber($0.relevance).map(JSONValue.number) ?? 0,
          ]
        }),
    ]
  }
}

extension Int {
  fileprivate func subtractingClamped(_ other: Int) -> Int {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? .max : difference
  }
}
