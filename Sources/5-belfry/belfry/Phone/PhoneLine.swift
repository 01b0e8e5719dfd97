import Basics
import PushPayload

/// What a verb asks of a running phone, and what it answers: one JSON text a line over a local socket. A call has one
/// request; an answer is any number of lines to print, then one that holds `status`.
enum PhoneLine {
  struct Request: Equatable, Sendable {
    /// As of line mode.
    var words: [String]
    /// For `push`: the payload, read by the caller, whose folder and standard input it is.
    var payload: [UInt8]?
    /// The name by which the caller knows the payload.
    var payloadName: String?
    /// Entries of the timeline as JSON.
    var json = false
    /// Go on telling the timeline until the caller hangs up.
    var follows = false
    /// For `screen`.
    var size: TerminalSize?

    init(words: [String]) { self.words = words }

    init(_ line: [UInt8]) throws(CommandFault) {
      guard let object = (try? JSONReader.read(line))?.value.object else {
        throw CommandFault("what came over the socket is no request")
      }
      words = object["words"]?.array?.compactMap(\.string) ?? []
      payload = object["payload"]?.string.map { Array($0.utf8) }
      payloadName = object["payloadName"]?.string
      json = object["json"]?.bool ?? false
      follows = object["follows"]?.bool ?? false
      if let columns = object["columns"]?.number?.int64, let rows = object["rows"]?.number?.int64 {
        size = TerminalSize(columns: Int(clamping: columns), rows: Int(clamping: rows))
      }
    }

    var text: String {
      var object: JSONObject = ["words": .array(words.map(JSONValue.string)), "json": .bool(json)]
      object["payload"] = payload.map { .string(String(decoding: $0, as: UTF8.self)) }
      object["payloadName"] = payloadName.map(JSONValue.string)
      object["follows"] = .bool(follows)
      object["columns"] = size.map { .number(JSONNumber($0.columns)) }
      object["rows"] = size.map { .number(JSONNumber($0.rows)) }
      return JSONValue.object(object).text
    }
  }

  enum Reply: Equatable, Sendable {
    case line(String)
    /// The end: what the verb exits with, and what it says to standard error.
    case end(ExitStatus, complaint: String?)

    init?(_ line: [UInt8]) {
      guard let object = (try? JSONReader.read(line))?.value.object else { return nil }
      if let text = object["line"]?.string {
        self = .line(text)
      } else if let status = object["status"]?.number?.int64.flatMap({ ExitStatus(rawValue: Int32(clamping: $0)) }) {
        self = .end(status, complaint: object["complaint"]?.string)
      } else {
        return nil
      }
    }

    var text: String {
      switch self {
      case .line(let text): return JSONValue.object(["line": .string(text)]).text
      case .end(let status, let complaint):
        var object: JSONObject = ["status": .number(JSONNumber(Int(status.rawValue)))]
        object["complaint"] = complaint.map(JSONValue.string)
        return JSONValue.object(object).text
      }
    }
  }
}
