public import PushPayload

/// What an app sends, as docs/gateway-protocol.md says. Members that are not known are ignored.
public enum ClientFrame: Sendable, Equatable {
  case hello(Hello)
  /// It has everything up to the position.
  case acknowledge(position: Int64)
  /// Its user has read them.
  case read(ids: [Int64])
  case history(HistoryRequest)
  case background
  case foreground
  case ping
}

public struct Hello: Sendable, Equatable {
  /// The highest that the app speaks.
  public var version: Int64
  public var appKey: String
  public var registrationID: String
  /// Secret: in no log.
  public var secret: String
  /// The last that the app has; nil: nothing, or it does not know.
  public var cursor: Cursor?
  public var isForeground: Bool

  public init(
    version: Int64, appKey: String, registrationID: String, secret: String, cursor: Cursor?, isForeground: Bool
  ) {
    self.version = version
    self.appKey = appKey
    self.registrationID = registrationID
    self.secret = secret
    self.cursor = cursor
    self.isForeground = isForeground
  }

  public struct Cursor: Sendable, Equatable {
    public var position: Int64
    /// The message id at that position.
    public var id: Int64

    public init(position: Int64, id: Int64) {
      self.position = position
      self.id = id
    }
  }
}

public struct HistoryRequest: Sendable, Equatable {
  /// Comes back with the answer.
  public var request: JSONValue
  public var newestFirst: Bool
  /// Neither is in the answer.
  public var after: Int64
  public var before: Int64
  public var limit: Int

  public static let mostEntries = 100
}

/// A frame that cannot be taken, in words for whoever writes the app.
public struct FrameFault: Error, Sendable, Equatable {
  public var place: String
  public var found: String
  public var remedy: String

  public init(place: String, found: String, remedy: String) {
    self.place = place
    self.found = found
    self.remedy = remedy
  }
}

extension ClientFrame {
  public init(_ text: [UInt8]) throws(FrameFault) {
    let document: JSONDocument
    do { document = try JSONReader.read(text, limits: .init(depth: 16, bytes: 1 << 16)) } catch {
      throw FrameFault(place: "", found: "no JSON: \(error.found)", remedy: error.remedy)
    }
    guard let object = document.value.object else {
      throw FrameFault(place: "", found: "no JSON object", remedy: "Send an object with a type.")
    }
    let fields = FrameFields(object: object)
    let type = try fields.text("type")
    switch type {
    case "hello":
      self = .hello(
        Hello(
          version: try fields.integer("version", 1...Int64(Int32.max)), appKey: try fields.text("app"),
          registrationID: try fields.text("device"), secret: try fields.text("secret"),
          cursor: try fields.cursor(), isForeground: object["state"]?.string != "background"))
    case "ack": self = .acknowledge(position: try fields.integer("seq", 0...Int64.max))
    case "read": self = .read(ids: try fields.ids("ids"))
    case "history":
      let order = object["order"]?.string ?? "newest"
      guard ["newest", "oldest"].contains(order) else {
        throw FrameFault(place: "order", found: "\(order.prefix(20))", remedy: "Give newest or oldest.")
      }
      self = .history(
        HistoryRequest(
          request: object["request"] ?? .null, newestFirst: order == "newest",
          after: try fields.integer("after", 0...Int64.max, or: 0),
          before: try fields.integer("before", 0...Int64.max, or: .max),
          limit: Int(try fields.integer("limit", 1...Int64(HistoryRequest.mostEntries), or: 50))))
    case "background": self = .background
    case "foreground": self = .foreground
    case "ping": self = .ping
    default:
      throw FrameFault(
        place: "type", found: "\(type.prefix(30))",
        remedy: "Known are hello, ack, read, history, background, foreground, ping.")
    }
  }
}

private struct FrameFields {
  let object: JSONObject

  func text(_ key: String) throws(FrameFault) -> String {
    guard let text = object[key]?.string else {
      throw FrameFault(place: key, found: "no string", remedy: "Give a string.")
    }
    return text
  }

  func integer(_ key: String, _ range: ClosedRange<Int64>, or usual: Int64? = nil) throws(FrameFault) -> Int64 {
    if let usual, object[key] == nil || object[key] == .null { return usual }
    guard let number = object[key]?.number?.int64, range.contains(number) else {
      throw FrameFault(
        place: key, found: "no number that is allowed",
        remedy: "Give a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  func ids(_ key: String) throws(FrameFault) -> [Int64] {
    var ids: [Int64] = []
    for element in object[key]?.array ?? [] {
      guard let id = element.string.flatMap({ Int64($0) }) else {
        throw FrameFault(place: key, found: "no message id", remedy: "Give ids as strings, as messages have them.")
      }
      ids.append(id)
    }
    guard 1...100 ~= ids.count else {
      throw FrameFault(place: key, found: "\(ids.count) ids", remedy: "Give 1 to 100.")
    }
    return ids
  }

  func cursor() throws(FrameFault) -> Hello.Cursor? {
    guard let value = object["cursor"], value != .null else { return nil }
    guard let cursor = value.object, let position = cursor["seq"]?.number?.int64, position >= 0,
      let id = cursor["id"]?.string.flatMap({ Int64($0) })
    else {
      throw FrameFault(
        place: "cursor", found: "no cursor", remedy: "Give {\"seq\": …, \"id\": \"…\"} of the last message, or null.")
    }
    return Hello.Cursor(position: position, id: id)
  }
}
