import Delivery
public import PushPayload
import Transport

/// The headers that many pushes share, prepared once: pseudo fields, `authorization`, topic, type and priority. They may
/// be indexed; what differs from push to push (`:path`, `apns-id`, expiration, collapse id) never is, or it would push
/// the others out of APNs' table of 4,096 bytes.
struct HeaderBlocks {
  private struct Key: Hashable {
    var topic: String
    var pushType: PushType
    var priority: PushPriority
  }

  private let authority: String
  private let scheme: String
  private var blocks: [Key: HTTP2FieldBlock] = [:]
  private var generation: ProviderTokenLife.Generation?
  private var last: (key: Key, block: HTTP2FieldBlock)?

  init(server: APNSServer) {
    authority = server.authority
    scheme = server.isEncrypted ? "https" : "http"
  }

  mutating func block(
    for push: OutgoingPush, authorization: [UInt8]?, _ generation: ProviderTokenLife.Generation
  ) -> HTTP2FieldBlock {
    if self.generation != generation {
      self.generation = generation
      blocks = [:]
      last = nil
    }
    let key = Key(topic: push.topic, pushType: push.pushType, priority: push.priority)
    if let last, last.key == key { return last.block }
    let block = blocks[key] ?? make(key, authorization)
    // a caller with endless topics must not make the table endless
    if blocks.count >= 256 { blocks = [:] }
    blocks[key] = block
    last = (key, block)
    return block
  }

  private func make(_ key: Key, _ authorization: [UInt8]?) -> HTTP2FieldBlock {
    var fields = [
      HTTP2Field(":method", "POST"), HTTP2Field(":scheme", scheme), HTTP2Field(":authority", authority),
    ]
    if let authorization { fields.append(HTTP2Field(name: Array("authorization".utf8), value: authorization)) }
    fields.append(HTTP2Field("apns-topic", key.pushType.completed(topic: key.topic)))
    fields.append(HTTP2Field("apns-push-type", key.pushType.rawValue))
    fields.append(HTTP2Field("apns-priority", String(key.priority.rawValue)))
    return HTTP2FieldBlock(fields)
  }
}

extension PushType {
  /// The topic with the suffix that this type wants, added if it is not there (case C13).
  public func completed(topic: String) -> String {
    topicSuffix.isEmpty || topic.hasSuffix(topicSuffix) ? topic : topic + topicSuffix
  }
}

/// The fields of one push that no other push shares.
struct OwnFields {
  private let id = Array("apns-id".utf8)
  private let expiration = Array("apns-expiration".utf8)
  private let collapseID = Array("apns-collapse-id".utf8)

  func fields(of push: OutgoingPush) -> [HTTP2Field] {
    var fields: [HTTP2Field] = []
    fields.reserveCapacity(3)
    fields.append(HTTP2Field(name: id, value: Array(push.id.utf8), neverIndexed: true))
    if let seconds = push.expiration {
      fields.append(HTTP2Field(name: expiration, value: Array(String(seconds).utf8), neverIndexed: true))
    }
    if let text = push.collapseID {
      fields.append(HTTP2Field(name: collapseID, value: Array(text.utf8), neverIndexed: true))
    }
    return fields
  }

  /// `/3/device/<token in hex>`.
  func path(token: [UInt8]) -> [UInt8] {
    let prefix: StaticString = "/3/device/"
    let start = prefix.utf8CodeUnitCount
    return [UInt8](unsafeUninitializedCapacity: start + token.count * 2) { buffer, count in
      for index in 0..<start { buffer[index] = prefix.utf8Start[index] }
      var index = start
      for byte in token {
        buffer[index] = hexDigit(byte >> 4)
        buffer[index + 1] = hexDigit(byte & 15)
        index += 2
      }
      count = index
    }
  }
}

@inline(__always)
private func hexDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }
