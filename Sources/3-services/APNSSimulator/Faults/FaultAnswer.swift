internal import Basics
internal import PushPayload
internal import Transport

extension FaultAction.Answer {
  /// The answer with what the fault does to its form.
  func adorned(_ answer: ProviderAnswer) -> ProviderAnswer {
    var answer = answer
    if let retryAfter { answer.fields.append(HTTP2Field("retry-after", retryAfter)) }
    if isSplit { answer.dataSize = 1 }
    return answer
  }

  var status: Int {
    switch reply {
    case .refuse(let refuse): refuse.status
    case .raw(let status, _, _): status
    case .natural, .resetStream, .none: 200
    }
  }

  /// Whether a client takes it for the push's acceptance.
  var isSuccess: Bool {
    switch reply {
    case .raw(let status, _, _): status == 200
    case .refuse(let refuse): refuse.status == 200
    case .natural: true
    case .resetStream, .none: false
    }
  }

  var fields: [HTTP2Field] {
    guard case .raw(_, _, let contentType?) = reply else { return [] }
    return [HTTP2Field("content-type", contentType)]
  }

  func body(now: Instant) -> [UInt8] {
    switch reply {
    case .natural, .resetStream, .none: return []
    case .raw(_, let body, _): return body
    case .refuse(let refuse):
      var object: JSONObject = ["reason": .string(refuse.reason)]
      if let since = refuse.since(now) { object["timestamp"] = .number(JSONNumber(since.milliseconds)) }
      return JSONValue.object(object).encoded()
    }
  }
}

extension FaultAction.Refuse {
  func since(_ now: Instant) -> Instant? {
    switch timestamp {
    case .usual: status == 410 ? now : nil
    case .at(let instant): instant
    case .absent: nil
    }
  }
}
