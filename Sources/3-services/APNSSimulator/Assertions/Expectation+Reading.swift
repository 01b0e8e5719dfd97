internal import Basics
internal import PushPayload

/// The body of `POST /assertions`.
struct AssertionRequest: Sendable {
  var suite: String
  var wait: Instant.Span
  var expectations: [Expectation]

  static let names = ["suite", "wait", "since", "that"]

  init(_ body: [UInt8]) throws(ControlFault) {
    let fields = try ControlFields(body, known: Self.names)
    suite = try fields.text("suite") ?? "pushes"
    wait = .seconds(0)
    if let text = try fields.text("wait") {
      wait = try ControlRoutes.checked(wait: .control(text, at: "wait"))
    }
    guard let list = fields.value("that")?.array, !list.isEmpty else {
      throw ControlFault(
        400, at: "that", "it is no list of expectations", #"Give an array such as [{"device": "phone", "count": 1}]."#)
    }
    guard list.count <= 1_000 else {
      throw ControlFault(400, at: "that", "it has \(list.count) expectations", "Give 1,000 at most, and ask again.")
    }
    var since: JSONValue?
    if let value = fields.value("since") {
      since = value
      _ = try NotificationFilter(["since": value], at: "$")
    }
    expectations = []
    for (index, value) in list.enumerated() {
      guard var object = value.object else {
        throw ControlFault(400, at: "that[\(index)]", "it is no JSON object", "Give an object.")
      }
      if object["since"] == nil { object["since"] = since }
      expectations.append(try Expectation(object, at: "that[\(index)]"))
    }
  }
}

extension Expectation {
  static let names =
    ["name"] + NotificationFilter.names
    + ["payload", "match", "headers", "count", "atLeast", "atMost", "never", "inOrder"]

  init(_ object: JSONObject, at place: String) throws(ControlFault) {
    let fields = try ControlFields(object, at: place, known: Self.names)
    name = ""
    filter = try NotificationFilter(object, at: place)
    payload = object["payload"]
    guard payload != nil || fields.value("match") == nil else {
      throw fields.fault("match", "there is no payload to match", "Give payload as well, or leave match out.")
    }
    match = try fields.word("match", default: match)
    headers = try Self.headers(fields)
    isInOrder = try fields.flag("inOrder") ?? false
    try readAmount(fields)
    name = try fields.text("name") ?? ([amount] + conditions).joined(separator: ", ")
  }

  private mutating func readAmount(_ fields: ControlFields) throws(ControlFault) {
    let (count, atLeast, atMost) = try (fields.count("count"), fields.count("atLeast"), fields.count("atMost"))
    let isNever = try fields.flag("never") ?? false
    let kinds = [count != nil, atLeast != nil || atMost != nil, isNever].count { $0 }
    guard kinds <= 1 else {
      throw fields.fault(
        "count", "the amount is given twice", "Give count, or atLeast and atMost, or never.")
    }
    if isNever {
      (least, most, needsWholeWait) = (0, 0, true)
    } else if let count {
      (least, most, needsWholeWait) = (count, count, count == 0)
    } else if let atMost {
      (least, most, needsWholeWait) = (atLeast ?? 0, atMost, true)
      guard least <= atMost else {
        throw fields.fault("atMost", "it is less than atLeast", "Give at least as much as atLeast.")
      }
    } else {
      least = atLeast ?? 1
    }
  }

  private static func headers(_ fields: ControlFields) throws(ControlFault) -> [Header] {
    guard let value = fields.value("headers") else { return [] }
    guard let object = value.object else {
      throw fields.fault("headers", "it is no JSON object", #"Give an object such as {"apns-priority": "10"}."#)
    }
    let known: [PushHeaders.Name] = [.id, .topic, .pushType, .priority, .expiration, .collapseID]
    var headers: [Header] = []
    for member in object.members {
      guard let name = known.first(where: { $0.rawValue == member.key.lowercased() }) else {
        throw fields.fault(
          "headers.\(member.key.shortened)", "no such header is kept of a push",
          .oneOf(known.map(\.rawValue), near: member.key))
      }
      switch member.value {
      case .string(let text): headers.append(Header(name: name, value: text))
      case .number(let number): headers.append(Header(name: name, value: number.literal))
      case .null: headers.append(Header(name: name, value: nil))
      case .bool, .array, .object:
        throw fields.fault(
          "headers.\(member.key)", "it is neither string nor number", "Give its value, or null if it must be absent.")
      }
    }
    return headers
  }
}
