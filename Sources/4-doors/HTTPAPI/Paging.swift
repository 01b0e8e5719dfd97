internal import PushPayload
internal import PushService
internal import Transport

/// Which part of a list a call asks for: `?limit=100&cursor=…`, the cursor as the part before answered it in `next`.
struct Page {
  var limit = 100
  var cursor: String?

  static let mostEntries = 1000

  /// Refuses what the list does not take: `others` are its own parameters.
  init(_ query: Fields, besides others: [String] = []) throws(RequestFault) {
    try query.refuseUnknown(besides: ["limit", "cursor"] + others)
    if let field = query["limit"] {
      let text = try field.string()
      guard let number = Int(text), 1...Self.mostEntries ~= number else {
        throw field.wrong("\(quoted(text)) stands here", "It must be a whole number from 1 to \(Self.mostEntries).")
      }
      limit = number
    }
    cursor = try query["cursor"]?.string()
  }

  /// The cursor of a list that goes by numbers; nil at its beginning.
  func numberOfCursor<Number: FixedWidthInteger>() throws(RequestFault) -> Number? {
    guard let cursor else { return nil }
    guard let number = Number(cursor), number >= 0 else {
      throw RequestFault(
        .invalidParameter, at: "cursor", found: "\(quoted(cursor)) is no cursor of ours",
        remedy: "Send what the page before answered in next.")
    }
    return number
  }

  /// `found` has one more than the page when there is more to come.
  func answer<Entry>(
    _ key: String, _ found: [Entry], cursor: (Entry) -> String, write: (Entry) -> JSONObject
  ) -> HTTPResponse {
    let shown = found.prefix(limit)
    let next = found.count > limit ? shown.last.map { JSONValue.string(cursor($0)) } : nil
    return Answers.ok([key: .array(shown.map { .object(write($0)) }), "next": next ?? .null])
  }
}

extension Call {
  /// What `If-Match` demands: nil for anything, as without it.
  func ifMatch() throws(RequestFault) -> UInt64? {
    guard let header = request.headers["If-Match"], header != "*" else { return nil }
    let text = header.hasPrefix("\"") && header.hasSuffix("\"") && header.count > 2 ? header.dropFirst().dropLast() : ""
    guard let version = UInt64(text, radix: 16) else {
      throw RequestFault(
        .changedMeanwhile, at: "If-Match", found: "\(quoted(header)) is no ETag of ours",
        remedy: "Send the ETag of the answer that was read, quotes and all.")
    }
    return version
  }
}

extension HTTPResponse {
  func tagged(_ version: UInt64) -> HTTPResponse {
    var answer = self
    answer.headers["ETag"] = "\"\(String(version, radix: 16))\""
    return answer
  }
}
