internal import PushPayload
internal import PushService
internal import Store
internal import Transport

extension HTTPAPI {
  /// `DELETE /v3/push/{msg_id}` (jpush.md §5.6): what has not left never will.
  func withdraw(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    var answer = Answers.empty
    switch try await service.control(app, messageID: Int64(id) ?? 0, .withdrawn) {
    case .done, .withdrawn: break
    case .finished:
      answer.headers["X-Belfry-Warnings"] = Answers.warningHeader([
        "nothing was left to stop: every device of the push has ended, and what a phone shows stays"
      ])
    case .noSuchPush:
      throw RequestFault(
        .invalidParameter, at: "msg_id", found: "this app has no push \(quoted(id))",
        remedy: "Give the msg_id that POST /v3/push answered.")
    }
    return answer
  }

  /// `POST /v1/pushes/{msg_id}/pause`, `…/resume`, `…/withdraw`: answers the push as `GET` does.
  func control(_ id: String, _ control: PushControl, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let conflict: String
    switch try await service.control(app, messageID: Int64(id) ?? 0, control) {
    case .done: return try await report(of: app, id, call)
    case .noSuchPush: return noSuchPush(id, call)
    case .finished: conflict = "every device of the push \(quoted(id)) has ended"
    case .withdrawn: conflict = "the push \(quoted(id)) was withdrawn"
    }
    return Answers.refusal(
      status: 409, code: RequestFault.Code.invalidParameter.rawValue, message: "\(conflict).", family: call.family)
  }
}
