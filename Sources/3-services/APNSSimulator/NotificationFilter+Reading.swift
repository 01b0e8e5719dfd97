internal import Basics
internal import PushPayload

extension NotificationFilter {
  /// The conditions by name, the same in a query and in an assertion: named as the fields of a notification are.
  static let names = [
    "token", "topic", "bundle", "device", "id", "pushType", "priority", "collapseId", "environment", "state", "finding",
    "findings", "since", "until",
  ]

  init(_ query: ControlQuery) throws(ControlFault) {
    try self.init { name in
      guard let value = query[name], name == "since" || name == "until" else { return query[name] }
      // A `+` of a query is a space; before `08:00` it can only have been the sign of the offset.
      return value.dropLast(5).last == " " ? "\(value.dropLast(6))+\(value.suffix(5))" : value
    }
  }

  /// `place` names the object that holds the fields, for faults.
  init(_ object: JSONObject, at place: String) throws(ControlFault) {
    do throws(ControlFault) {
      try self.init { name throws(ControlFault) in
        switch object[name] {
        case nil: nil
        case .string(let text)?: text
        case .number(let number)?: number.literal
        case .null?, .bool?, .array?, .object?:
          throw ControlFault(400, at: name, "it is neither string nor number", "Give a JSON string.")
        }
      }
    } catch {
      var fault = error
      fault.place = "\(place).\(error.place ?? "")"
      throw fault
    }
  }

  private init(value: (String) throws(ControlFault) -> String?) throws(ControlFault) {
    if let text = try value("token") {
      guard let bytes = bytes(fromHex: text.utf8), !bytes.isEmpty else {
        throw ControlFault(
          400, at: "token", "\"\(text.shortened)\" is no device token",
          "Give hex digits, an even count, as GET /devices tells them.")
      }
      token = bytes
    }
    topic = try value("topic")
    bundle = try value("bundle")
    device = try value("device")
    id = try value("id")?.lowercased()
    pushType = try Self.word("pushType", try value("pushType"))
    if let text = try value("priority") {
      guard let priority = UInt8(text).flatMap(PushPriority.init(rawValue:)) else {
        throw ControlFault(400, at: "priority", "\"\(text.shortened)\" is no priority", "Give 10, 5 or 1.")
      }
      self.priority = priority
    }
    collapseID = try value("collapseId")
    environment = try Self.word("environment", try value("environment"))
    state = try Self.word("state", try value("state"))
    finding = try Self.word("finding", try value("finding"))
    findings = try Self.bar(try value("findings"))
    since = try Self.bound("since", try value("since"))
    until = try Self.bound("until", try value("until"))
  }

  private static func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ text: String?
  ) throws(ControlFault) -> Word? where Word.RawValue == String {
    try text.map { text throws(ControlFault) in try .control(text, at: name) }
  }

  private static func bar(_ text: String?) throws(ControlFault) -> FindingBar? {
    switch text {
    case nil: return nil
    case "none": return .nothing
    case "any": return .atLeast(.hint)
    case .some(let text):
      guard let severity = Severity(rawValue: text) else {
        throw ControlFault(
          400, at: "findings", "\"\(text.shortened)\" is not known",
          .oneOf(["none", "any"] + Severity.allCases.map(\.rawValue), near: text))
      }
      return .atLeast(severity)
    }
  }

  private static func bound(_ name: String, _ text: String?) throws(ControlFault) -> Bound? {
    guard let text else { return nil }
    if let number = UInt64(text) { return .number(number) }
    if let time = Instant(rfc3339: text) { return .time(time) }
    throw ControlFault(
      400, at: name, "\"\(text.shortened)\" is neither a number nor a time",
      "Give the number of a notification, or a time like 2026-11-30T09:00:00Z.")
  }
}

extension String {
  /// The remedy for a word that is not known: the one that was probably meant, and all that there are.
  static func oneOf(_ words: [String], near word: String) -> String {
    let all = "Known are \(words.joined(separator: ", "))."
    guard let meant = nearest(to: word, in: words) else { return all }
    return "Did you mean \(meant)? \(all)"
  }
}
