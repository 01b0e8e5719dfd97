internal import PushPayload
internal import PushService
internal import Transport

extension HTTPAPI {
  /// `POST /v3/push/batch/regid/single` and `…/alias/single` (jpush.md §5.3): 200 with each entry's own answer, once all
  /// that were taken are durable.
  func pushBatch(_ target: BatchTarget, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try refuseEncryption(call)
    let entries = try BatchReading.read(call.request.body, target)
    let results = await service.push(app, entries.map(\.order))
    var answer = JSONObject()
    var warnings: [String] = []
    for (entry, result) in zip(entries, results) {
      let member: JSONObject
      switch result {
      case .success(let receipt):
        member = ["msg_id": .string(String(receipt.messageID))]
        warnings += receipt.warnings.map { "\(entry.clientID): \($0)" }
      case .failure(let fault): member = ["error": Answers.error(fault)]
      }
      answer.members.append(.init(entry.clientID, .object(member)))
    }
    var response = Answers.ok(.object(answer))
    response.headers["X-Belfry-Warnings"] = Answers.warningHeader(warnings)
    return response
  }
}
