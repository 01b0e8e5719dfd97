public import PushPayload

/// An in-app message as the SDK gives it to the app (D-308): from the push service, not from APNs (D-300).
public struct InAppMessage: Hashable, Sendable {
  /// Its place in everything that this phone's app was ever sent; grows, and decides what was missed (D-305).
  public var sequence: Int64
  /// The push that it belongs to: a notification of the same push carries it as `_j_msgid` (D-326).
  public var messageID: Int64?
  public var title: String?
  public var content: String
  public var contentType: String?
  public var extras: JSONObject

  public init(
    sequence: Int64, messageID: Int64? = nil, title: String? = nil, content: String, contentType: String? = nil,
    extras: JSONObject = [:]
  ) {
    self.sequence = sequence
    self.messageID = messageID
    self.title = title
    self.content = content
    self.contentType = contentType
    self.extras = extras
  }

  var json: JSONValue {
    var object: JSONObject = ["sequence": .number(JSONNumber(sequence))]
    object["messageId"] = messageID.map { .number(JSONNumber($0)) }
    object["title"] = title.map(JSONValue.string)
    object["content"] = .string(content)
    object["contentType"] = contentType.map(JSONValue.string)
    if !extras.members.isEmpty { object["extras"] = .object(extras) }
    return .object(object)
  }
}

extension InAppMessage: CustomStringConvertible {
  public var description: String { "message \(sequence) \(json.text)" }
}
