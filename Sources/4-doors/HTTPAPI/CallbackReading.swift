internal import PushPayload
internal import PushService

/// Reads `callback` (jpush.md §11): where what becomes of the push is told, and what comes with it.
struct CallbackReading {
  private(set) var warnings: [String] = []

  /// The bits of `type`.
  private static let kinds: [(bit: Int64, event: WebhookEvent)] = [
    (1, .delivered), (2, .clicked), (4, .undelivered), (8, .sent),
  ]
  static let mostBytes = 4096

  mutating func read(_ field: Field) throws(RequestFault) -> CallbackOrder {
    let fields = try field.object()
    try fields.refuseUnknown(besides: ["url", "params", "type"])
    let url = try fields["url"].map { field throws(RequestFault) in
      let url = try field.string()
      try WebhookRule.check(url: url, at: field.path.description)
      return url
    }
    let params = try fields["params"].map { field throws(RequestFault) in
      let params = try field.object().object
      let size = field.value.encoded().count
      guard size <= Self.mostBytes else {
        throw field.wrong(
          "it has \(size) bytes of JSON", "It comes with each receipt: at most \(Self.mostBytes) bytes.")
      }
      return params
    }
    let bits = try fields["type"]?.integer(1...15) ?? 15
    if url == nil {
      warnings.append(
        "\(field.path) names no url: no receipts are sent but what the app's webhooks want, with the params")
    }
    return CallbackOrder(
      url: url, events: Set(Self.kinds.filter { bits & $0.bit != 0 }.map(\.event)), params: params)
  }
}
