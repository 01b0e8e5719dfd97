internal import PushPayload
internal import PushService
internal import Store
internal import Transport

extension HTTPAPI {
  /// `DELETE /v3/push/{msg_id}` (jpush.md §5.6): what has not left never will. With `?belfry_clear=true` phones that it
  /// reached are asked to show it no more.
  func withdraw(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    var answer = Answers.empty
    let clears = try call.query(.push)["belfry_clear"]?.word(outOf: ["true", "false"]) == "true"
    switch try await control(app, id, .withdrawn, clears: clears) {
    case .done, .withdrawn: break
    case .finished:
      answer.headers["X-Belfry-Warnings"] = Answers.warningHeader([
        "nothing was left to stop: every device of the push has ended, and what a phone shows stays without "
          + "?belfry_clear=true"
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
    let found: String
    switch try await self.control(app, id, control, clears: try clears(control, call)) {
    case .done: return try await report(of: app, id)
    case .noSuchPush: throw Self.noSuchPush(id)
    case .finished: found = "every device of the push \(quoted(id)) has ended"
    case .withdrawn: found = "the push \(quoted(id)) was withdrawn"
    }
    throw RequestFault(.conflict, at: "msg_id", found: found, remedy: "Nothing is left to change; see the push.")
  }

  private func control(
    _ app: AppRecord, _ id: String, _ control: PushControl, clears: Bool
  ) async throws(RequestFault) -> PushControlAnswer {
    let messageID = Int64(id) ?? 0
    guard clears else { return try await service.control(app, messageID: messageID, control) }
    return try await service.withdrawAndClear(app, messageID: messageID)
  }

  /// `{"clear": true}` of a withdrawal; the body may be left out.
  private func clears(_ control: PushControl, _ call: Call) throws(RequestFault) -> Bool {
    guard control == .withdrawn, !call.request.body.isEmpty else { return false }
    let fields = try RequestBody.object(call.request.body, codes: .push)
    try fields.refuseUnknown(besides: ["clear"])
    return try fields["clear"]?.bool() ?? false
  }
}
