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

  /// What a fault of this rule leaves in the logs.
  func words(of rule: String) -> String { "fault \"\(rule)\": \(words)" }

  /// The fault's own answer, whatever the request deserves. `bare` makes one of a status, with the request's id.
  func ownAnswer(now: Instant, _ bare: (Int) -> ProviderAnswer) -> ProviderAnswer {
    var answer = bare(status)
    answer.fields += fields
    answer.body = body(now: now)
    if case .refuse(let refuse) = reply { answer.reason = RefusalReason(rawValue: refuse.reason) }
    return adorned(answer)
  }

  /// For the log of refusals; nil for an answer that refuses nothing, or by a word that Apple does not have.
  func refusal(words: String, now: Instant) -> Refusal? {
    guard case .refuse(let refuse) = reply, let reason = RefusalReason(rawValue: refuse.reason) else { return nil }
    return Refusal(reason, since: refuse.since(now), words)
  }

  private var status: Int {
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

  private var fields: [HTTP2Field] {
    guard case .raw(_, _, let contentType?) = reply else { return [] }
    return [HTTP2Field("content-type", contentType)]
  }

  private func body(now: Instant) -> [UInt8] {
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
