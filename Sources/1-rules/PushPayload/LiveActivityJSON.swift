import Basics

extension LiveActivity {
  /// Everything of it, to be kept; `init(json:)` reads it back. Times are milliseconds since 1970.
  public var json: JSONValue {
    func milliseconds(_ instant: Instant) -> JSONValue { .number(JSONNumber(instant.milliseconds)) }
    var object: JSONObject = [
      "attributesType": .string(attributesType), "attributes": .object(attributes),
      "contentState": .object(contentState), "startedAt": milliseconds(startedAt), "changedAt": milliseconds(changedAt),
      "staleTold": .bool(isStaleTold),
    ]
    object["channel"] = channel.map(JSONValue.string)
    object["timestamp"] = timestamp.map { .number(JSONNumber(seconds: $0)) }
    object["relevanceScore"] = relevanceScore.flatMap(JSONNumber.init).map(JSONValue.number)
    object["staleDate"] = staleDate.map(milliseconds)
    switch state {
    case .active: break
    case .ended(let at, let ending, let until):
      object["endedAt"] = milliseconds(at)
      object["endedBy"] = .string(ending.rawValue)
      object["dismissalAt"] = milliseconds(until)
    case .dismissed(let at): object["dismissedAt"] = milliseconds(at)
    }
    return .object(object)
  }

  /// nil for anything that `json` does not write.
  public init?(json: JSONValue) {
    func instant(_ key: String) -> Instant? { json.object?[key]?.number?.int64.map(Instant.init(milliseconds:)) }
    guard let object = json.object, let type = object["attributesType"]?.string,
      let attributes = object["attributes"]?.object, let content = object["contentState"]?.object,
      let startedAt = instant("startedAt"), let changedAt = instant("changedAt")
    else { return nil }
    self.init(
      attributesType: type, attributes: attributes, contentState: content, channel: object["channel"]?.string,
      staleDate: instant("staleDate"), startedAt: startedAt)
    self.changedAt = changedAt
    timestamp = object["timestamp"]?.number?.double
    relevanceScore = object["relevanceScore"]?.number?.double
    isStaleTold = object["staleTold"]?.bool ?? false
    if let at = instant("dismissedAt") {
      state = .dismissed(at: at)
    } else if let at = instant("endedAt"), let until = instant("dismissalAt"),
      let ending = object["endedBy"]?.string.flatMap(Ending.init(rawValue:))
    {
      state = .ended(at: at, ending, until: until)
    }
  }
}
