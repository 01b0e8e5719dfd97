internal import Foundation

/// What the app sends (docs/gateway-protocol.md).
enum ClientFrame: Hashable, Sendable, Encodable {
  case hello(app: String, device: String, secret: String, cursor: Cursor?)
  case ack(seq: Int64)
  case read(ids: [String])
  case history(request: Int, HistoryQuery)
  case ping

  /// The gateway takes so many in one frame.
  static let mostRead = 100

  /// The last message that the app has kept.
  struct Cursor: Hashable, Sendable, Codable {
    var seq: Int64
    var id: String
  }

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // nothing in it can fail to encode: texts and whole numbers
    return String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self)
  }

  private enum Keys: String, CodingKey {
    case type, version, app, device, secret, cursor, seq, ids, request, order, before, after, limit
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Keys.self)
    switch self {
    case .hello(let app, let device, let secret, let cursor):
      try members.encode("hello", forKey: .type)
      try members.encode(1, forKey: .version)
      try members.encode(app, forKey: .app)
      try members.encode(device, forKey: .device)
      try members.encode(secret, forKey: .secret)
      try members.encode(cursor, forKey: .cursor)
    case .ack(let seq):
      try members.encode("ack", forKey: .type)
      try members.encode(seq, forKey: .seq)
    case .read(let ids):
      try members.encode("read", forKey: .type)
      try members.encode(ids, forKey: .ids)
    case .history(let request, let query):
      try members.encode("history", forKey: .type)
      try members.encode(request, forKey: .request)
      try members.encode(query.order.rawValue, forKey: .order)
      try members.encodeIfPresent(query.before, forKey: .before)
      try members.encodeIfPresent(query.after, forKey: .after)
      try members.encode(query.limit, forKey: .limit)
    case .ping: try members.encode("ping", forKey: .type)
    }
  }
}
