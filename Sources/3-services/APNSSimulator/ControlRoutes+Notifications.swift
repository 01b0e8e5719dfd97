internal import Basics
internal import PushPayload
internal import Transport

/// What came: pushes taken, pushes refused.
extension ControlRoutes {
  static let notificationPlaces = ["GET /notifications", "DELETE /notifications", "GET /refusals"]

  func notifications(_ request: HTTPRequest, _ rest: [String]) throws -> HTTPResponse {
    guard rest.isEmpty else { throw Self.noSuchPlace(request) }
    return try notifications(request)
  }

  private func notifications(_ request: HTTPRequest) throws -> HTTPResponse {
    switch request.method {
    case "GET": break
    case "DELETE":
      core.withState { state, _ in state.clearNotifications() }
      return HTTPResponse(status: 204)
    default: throw Self.wrongMethod(request, "GET or DELETE")
    }
    let query = try ControlQuery(request, known: ["token", "topic", "device", "id", "since", "count"])
    let since = try query.number("since") ?? 0
    let count = try query.number("count") ?? 1_000
    let token = query["token"]?.lowercased()
    let (all, next) = core.withState { state, now in
      state.expire(now: now)
      return (state.notifications.all, state.notifications.next)
    }
    let chosen = all.lazy.filter { entry in
      entry.number > since && (token == nil || entry.push.token.hex == token)
        && (query["topic"] == nil || entry.push.topic == query["topic"])
        && (query["device"] == nil || entry.device == query["device"])
        && (query["id"] == nil || entry.push.id.lowercased() == query["id"]?.lowercased())
    }.prefix(Int(clamping: count))
    return .json(200, bytes: NotificationJSON.list(Array(chosen), last: next - 1))
  }

  func refusals(_ request: HTTPRequest) throws -> HTTPResponse {
    guard request.method == "GET" else { throw Self.wrongMethod(request, "GET") }
    let query = try ControlQuery(request, known: ["since", "count", "reason"])
    let since = try query.number("since") ?? 0
    let count = try query.number("count") ?? 1_000
    let (all, next) = core.withState { state, _ in (state.refusals.all, state.refusals.next) }
    let chosen = all.lazy.filter { entry in
      entry.number > since && (query["reason"] == nil || entry.refusal.reason.rawValue == query["reason"])
    }.prefix(Int(clamping: count))
    return .json(
      200,
      [
        "last": .number(JSONNumber(next - 1)),
        "refusals": .array(chosen.map(NotificationJSON.value(of:))),
      ])
  }
}
