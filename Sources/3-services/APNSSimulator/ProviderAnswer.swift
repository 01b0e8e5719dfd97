internal import PushPayload
internal import Transport

/// What goes back for one request, whole.
struct ProviderAnswer: Sendable {
  var status: Int
  var fields: [HTTP2Field]
  /// The JSON of a refusal; empty when the push was taken.
  var body: [UInt8] = []
  /// Why the push was not taken, if it was not.
  var reason: RefusalReason?
  /// The most bytes of a DATA frame; all in one, unless a fault wants it otherwise.
  var dataSize = Int.max

  /// Without a body. `id` becomes `apns-id`.
  init(status: Int, id: Bytes) {
    self.status = status
    fields = [HTTP2Field(name: Self.idName, value: Array(id), neverIndexed: true)]
  }

  /// The push was taken. `uniqueID` becomes `apns-unique-id`, which Apple documents for the sandbox only.
  init(taken id: Bytes, uniqueID: Bytes?) {
    self.init(status: 200, id: id)
    if let uniqueID {
      fields.append(HTTP2Field(name: Self.uniqueIDName, value: Array(uniqueID), neverIndexed: true))
    }
  }

  init(refused refusal: Refusal, id: Bytes, spelling: KeyEnvironmentSpelling) {
    self.init(status: refusal.reason.status, id: id)
    body = refusal.body(spelling: spelling)
    reason = refusal.reason
  }

  private static let idName = Array("apns-id".utf8)
  private static let uniqueIDName = Array("apns-unique-id".utf8)
}
