import Delivery
import PushPayload
import Transport

/// The headers that many pushes share, prepared once: pseudo fields, `authorization`, topic, type and priority; and
/// expiration and collapse id where many share them. They may be indexed; what differs from push to push (`:path`,
/// `apns-id`, else expiration and collapse id) never is, or it would push the others out of APNs' table of 4,096 bytes.
struct HeaderBlocks {
  private let server: APNSServer
  /// What every block of the generation begins with.
  private var head: [HTTP2Field] = []
  private var blocks: [Key: HTTP2FieldBlock] = [:]
  private var generation: ProviderTokenLife.Generation?

  private struct Key: Hashable {
    var topic: String
    var pushType: PushType
    var priority: PushPriority
    var expiration: Int64?
    var collapseID: String?
  }

  init(server: APNSServer) { self.server = server }

  /// - Parameter isRepeated: many pushes share it, so that all of it may go into APNs' table, and is kept here.
  mutating func block(
    for shared: PushBatch.Shared, isRepeated: Bool, authorization: [UInt8]?, _ generation: ProviderTokenLife.Generation
  ) -> HTTP2FieldBlock {
    if self.generation != generation {
      self.generation = generation
      head = server.head("POST", authorization: authorization)
      blocks = [:]
    }
    guard isRepeated || (shared.expiration == nil && shared.collapseID == nil) else {
      return make(shared, isRepeated: false)
    }
    let key = Key(
      topic: shared.topic, pushType: shared.pushType, priority: shared.priority, expiration: shared.expiration,
      collapseID: shared.collapseID)
    if let block = blocks[key] { return block }
    // a caller with endless topics must not make the table endless
    if blocks.count >= 256 { blocks = [:] }
    let block = make(shared, isRepeated: true)
    blocks[key] = block
    return block
  }

  private func make(_ shared: PushBatch.Shared, isRepeated: Bool) -> HTTP2FieldBlock {
    var fields = head
    fields.append(HTTP2Field("apns-topic", shared.pushType.completed(topic: shared.topic)))
    fields.append(HTTP2Field("apns-push-type", shared.pushType.rawValue))
    fields.append(HTTP2Field("apns-priority", String(shared.priority.rawValue)))
    if let seconds = shared.expiration {
      fields.append(HTTP2Field("apns-expiration", String(seconds), neverIndexed: !isRepeated))
    }
    if let text = shared.collapseID {
      fields.append(HTTP2Field("apns-collapse-id", text, neverIndexed: !isRepeated))
    }
    return HTTP2FieldBlock(fields)
  }
}
