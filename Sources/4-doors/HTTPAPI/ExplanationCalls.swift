internal import Basics
public import PushPayload
public import PushService
internal import Transport

extension HTTPAPI {
  /// `GET /v1/pushes/{msg_id}/devices/{registration_id}`: every decision about the device in the push, in order.
  func explanation(_ push: String, _ device: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    guard let messageID = Int64(push), try await service.report(app, messageID: messageID) != nil else {
      throw Self.noSuchPush(push)
    }
    guard let explanation = try await service.explain(app, messageID: messageID, registrationID: device) else {
      throw RequestFault(
        .noSuchResource, at: "registration_id", found: "this app has no device \(quoted(device))",
        remedy: "Use its registration id; GET /v3/aliases/{alias} tells those of an alias.")
    }
    return Answers.ok(.object(Self.object(explanation)))
  }

  /// The JSON form of an explanation.
  public static func object(_ explanation: PushExplanation) -> JSONObject {
    [
      "msg_id": .string(String(explanation.messageID)), "registrationId": .string(explanation.registrationID),
      "outcome": .string(explanation.outcome.rawValue),
      "decisions": .array(
        explanation.decisions.map {
          [
            "at": $0.at.map { .string($0.description) } ?? .null, "by": .string($0.by.rawValue),
            "words": .string($0.words),
          ]
        }),
    ]
  }
}
