internal import Basics
internal import PushPayload
public import Store

/// What the gateway sends, as docs/gateway-protocol.md says.
public enum ServerFrame {
  public static func welcome(_ entrance: Entrance, heartbeat: Int32) -> [UInt8] {
    encoded([
      "type": "welcome", "version": 1, "cursor": .string(entrance.cursor.rawValue),
      "complete": .bool(entrance.isComplete), "heartbeat": .number(JSONNumber(heartbeat)),
    ])
  }

  /// The members of the message's own object stand beside ours, as they were written (case C45).
  public static func entry(_ entry: InboxEntry) -> [UInt8] {
    switch entry.kind {
    case .message(let body): return object("\"type\":\"message\",\(head(entry))", body)
    case .withdrawal: return Array("{\"type\":\"withdrawn\",\(head(entry))}".utf8)
    }
  }

  /// Messages only; withdrawals are no history.
  public static func history(_ page: InboxPage, request: HistoryRequest) -> [UInt8] {
    var text = Array("{\"type\":\"history\",\"request\":".utf8) + request.request.encoded()
    text += Array(",\"more\":\(page.hasMore),\"messages\":[".utf8)
    var isFirst = true
    for entry in page.entries {
      guard case .message(let body) = entry.kind else { continue }
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      text += object(head(entry), body)
    }
    text += Array("],\"last\":\(page.entries.last.map { String($0.position) } ?? "null")}".utf8)
    return text
  }

  private static func object(_ head: String, _ body: [UInt8]) -> [UInt8] {
    Array("{\(head),".utf8) + body.drop { $0 != UInt8(ascii: "{") }.dropFirst()
  }

  private static func head(_ entry: InboxEntry) -> String {
    "\"seq\":\(entry.position),\"id\":\"\(entry.id)\",\"at\":\(entry.at.milliseconds)"
  }

  public static let pong = encoded(["type": "pong"])

  public static func heartbeat(_ seconds: Int32) -> [UInt8] {
    encoded(["type": "heartbeat", "seconds": .number(JSONNumber(seconds))])
  }

  public static func draining(after milliseconds: Int64) -> [UInt8] {
    encoded(["type": "draining", "after": .number(JSONNumber(milliseconds))])
  }

  public static func error(_ fault: FrameFault) -> [UInt8] {
    encoded([
      "type": "error", "place": .string(fault.place), "found": .string(fault.found), "remedy": .string(fault.remedy),
    ])
  }

  private static func encoded(_ object: JSONObject) -> [UInt8] { JSONValue.object(object).encoded() }
}
