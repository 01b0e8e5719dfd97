internal import Foundation

/// What the gateway sends (docs/gateway-protocol.md). Members that are not known are ignored.
enum ServerFrame: Hashable, Sendable {
  case welcome(Welcome)
  case message(InAppMessage)
  case withdrawn(seq: Int64, id: String)
  case history(request: Int?, messages: [InAppMessage], more: Bool, last: Int64?)
  case heartbeat(seconds: Int)
  case draining(after: Int64)
  case pong
  case error(words: String)
  /// Of a later version.
  case unknown

  struct Welcome: Hashable, Sendable, Codable {
    enum Cursor: String, Codable, Sendable { case known, unknown, none }

    var cursor: Cursor
    /// Nothing that the app has not had is gone for good.
    var complete: Bool
    var heartbeat: Int
  }

  /// nil: this is no frame.
  init?(_ text: String) {
    guard let frame = try? JSONDecoder().decode(Decoded.self, from: Data(text.utf8)) else { return nil }
    self = frame.frame
  }

  private struct Decoded: Decodable {
    var frame: ServerFrame

    private enum Keys: String, CodingKey {
      case type, seq, id, request, messages, more, last, seconds, after, place, found, remedy
    }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Keys.self)
      switch try members.decode(String.self, forKey: .type) {
      case "welcome": frame = .welcome(try Welcome(from: decoder))
      case "message": frame = .message(try InAppMessage(from: decoder))
      case "withdrawn":
        frame = .withdrawn(
          seq: try members.decode(Int64.self, forKey: .seq), id: try members.decode(String.self, forKey: .id))
      case "history":
        frame = .history(
          request: try? members.decodeIfPresent(Int.self, forKey: .request),
          messages: try members.decode([InAppMessage].self, forKey: .messages),
          more: try members.decode(Bool.self, forKey: .more),
          last: try members.decodeIfPresent(Int64.self, forKey: .last))
      case "heartbeat": frame = .heartbeat(seconds: try members.decode(Int.self, forKey: .seconds))
      case "draining": frame = .draining(after: try members.decode(Int64.self, forKey: .after))
      case "pong": frame = .pong
      case "error":
        let words = try [Keys.place, .found, .remedy].map { try members.decodeIfPresent(String.self, forKey: $0) ?? "" }
        frame = .error(words: "\(words[0]): \(words[1]). \(words[2])")
      default: frame = .unknown
      }
    }
  }
}
