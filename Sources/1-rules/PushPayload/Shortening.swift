/// Shortens the texts of an alert so that a payload fits (case C10): never in the middle of what a reader takes for one
/// character.
extension JSONObject {
  /// The payload with so much taken from the end of its alert's body, then of its subtitle, then of its title, that it has
  /// at most `limit` bytes as JSON; what is shortened ends in an ellipsis. Itself when it fits; nil when even without those
  /// texts it does not. Keys of the app's own strings (`loc-key`) are left alone.
  public func shortened(to limit: Int) -> JSONObject? {
    let size = JSONValue.object(self).encoded().count
    guard size > limit else { return self }
    guard var aps = self["aps"]?.object, let alert = aps["alert"] else { return nil }
    var surplus = size - limit
    let short: JSONValue
    switch alert {
    case .string(let body):
      short = .string(body.shortened(for: &surplus))
    case .object(var texts):
      for key in ["body", "subtitle", "title"] where surplus > 0 {
        guard let text = texts[key]?.string else { continue }
        texts[key] = .string(text.shortened(for: &surplus))
      }
      short = .object(texts)
    case .null, .bool, .number, .array: return nil
    }
    guard surplus <= 0 else { return nil }
    aps["alert"] = short
    var payload = self
    payload["aps"] = .object(aps)
    return payload
  }
}

extension String {
  private static let ellipsis = "…"

  /// The beginning of it that is at least `surplus` bytes shorter as JSON, with an ellipsis, or nothing at all. What was
  /// saved is taken from `surplus`.
  fileprivate func shortened(for surplus: inout Int) -> String {
    var end = endIndex
    var saved = -Self.ellipsis.utf8.count
    while end > startIndex, saved < surplus {
      let last = index(before: end)
      saved += self[last..<end].sizeInJSON
      end = last
    }
    if end == startIndex {
      surplus -= self[...].sizeInJSON
      return ""
    }
    surplus -= saved
    return self[..<end] + Self.ellipsis
  }
}

extension Substring {
  /// Bytes between the quotes of its JSON string.
  fileprivate var sizeInJSON: Int {
    var json: [UInt8] = []
    String(self).writeJSON(to: &json)
    return json.count - 2
  }
}
