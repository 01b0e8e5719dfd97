internal import Phone
public import PushPayload

/// What became of a scenario.
public struct ScenarioResult: Sendable {
  public var name: String
  public var failures: [Failure] = []
  /// Everything that happened on the phones, in the order of the steps.
  public var timeline: [LabEntry] = []
  /// Expectations that were looked at: of each phone, each list and each fact one.
  public var checks = 0
  /// Why it was not played; nil: it was.
  public var skipped: String?

  public init(name: String, skipped: String? = nil) {
    self.name = name
    self.skipped = skipped
  }

  public var passed: Bool { failures.isEmpty }

  public struct Failure: Sendable {
    /// Where the expectation stands.
    public var path: JSONPath
    /// `step 3, push {…}` or `at the end`.
    public var place: String
    public var phone: String?
    /// One line.
    public var summary: String
    /// Expected beside what happened; lines.
    public var text: String
    /// What would stand in the file if what happened were right; nil where nothing could.
    public var update: JSONValue?

    public init(
      path: JSONPath, place: String, phone: String?, summary: String, text: String, update: JSONValue?
    ) {
      self.path = path
      self.place = place
      self.phone = phone
      self.summary = summary
      self.text = text
      self.update = update
    }

    public var heading: String { "\(place)\(phone.map { ", on \($0)" } ?? ""): \(summary)" }
  }

  /// Why it failed, for people; empty when it passed.
  public func text(width: Int = 110) -> String {
    failures.map { failure in
      let body = failure.text.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
      return (["  \(failure.heading)  [\(failure.path)]"] + (failure.text.isEmpty ? [] : body)).joined(separator: "\n")
    }.joined(separator: "\n")
  }
}

extension EntryPattern {
  /// What an expectation of this entry would say, in short.
  init(of entry: TimelineEntry) {
    switch entry.what {
    case .callback(let callback):
      self.init(kind: "callback", callback: callback.method.rawValue)
      switch callback.method.rawValue {
      case "willFinishLaunching", "didFinishLaunching": break
      case "didReceiveRemoteNotification", "didReceiveRemoteNotificationFetch":
        parts["state"] = .string(callback.state.rawValue)
      default: break
      }
    case .shown(let shown): self.init(kind: "shown", parts: ["parts": .string(shown.parts.letters)])
    case .badge(let from, let to):
      self.init(kind: "badge", parts: ["from": .number(JSONNumber(from)), "to": .number(JSONNumber(to))])
    case .state(let from, let to):
      self.init(kind: "transition", parts: ["from": .string(from.rawValue), "to": .string(to.rawValue)])
    default: self.init(kind: entry.what.name, text: entry.what.words)
    }
  }
}
