internal import Basics
internal import PushPayload
internal import Transport

/// What came: pushes taken, pushes refused.
extension ControlRoutes {
  static let notificationPlaces = ["GET /notifications", "DELETE /notifications", "GET /refusals"]

  /// The longest wait of one request; HTTP clients and what lies between give up at about that.
  static let longestWait = Instant.Span.minutes(5)

  func notifications(_ request: HTTPRequest, _ rest: [String]) async throws -> HTTPResponse {
    guard rest.isEmpty else { throw Self.noSuchPlace(request) }
    switch request.method {
    case "GET": return try await found(request)
    case "DELETE":
      _ = try ControlQuery(request, known: [])
      core.withState { state, _ in state.clearNotifications() }
      return HTTPResponse(status: 204)
    default: throw Self.wrongMethod(request, "GET or DELETE")
    }
  }

  private func found(_ request: HTTPRequest) async throws -> HTTPResponse {
    let query = try ControlQuery(request, known: NotificationFilter.names + ["count", "wait"])
    let filter = try NotificationFilter(query)
    let count = try query.number("count").map { Int(clamping: $0) }
    let wait = try query.span("wait").map { span throws(ControlFault) in try Self.checked(wait: span) }
    var page: NotificationJSON.Page
    if let wait {
      page = try await waited(for: count ?? 1, of: filter, wait: wait)
    } else {
      let log = core.withState { state, _ in state.notifications.snapshot }
      page = NotificationJSON.Page(entries: log.entries.filter(filter.matches), first: log.first, last: log.last)
    }
    let most = count ?? 1_000
    page.hasMore = page.entries.count > most
    page.entries = Array(page.entries.prefix(most))
    return .json(200, bytes: NotificationJSON.text(of: page))
  }

  static func checked(wait: Instant.Span) throws(ControlFault) -> Instant.Span {
    guard wait <= longestWait else {
      throw ControlFault(400, at: "wait", "it is longer than 5 minutes", "Wait 5m at most, and ask again.")
    }
    return wait
  }

  /// Everything that matches, as soon as `count` do or the wait is over.
  private func waited(
    for count: Int, of filter: NotificationFilter, wait: Instant.Span
  ) async throws(ControlFault) -> NotificationJSON.Page {
    var found: [UInt64: LoggedNotification] = [:]
    let log = try await watching(
      filter.concerns, wait: wait,
      look: { changed in
        for entry in changed { found[entry.number] = filter.matches(entry) ? entry : nil }
        return found.count >= count
      })
    let entries = found.values.sorted { $0.number < $1.number }
    return NotificationJSON.Page(
      entries: entries, first: log.first, last: max(log.last, entries.last?.number ?? 0),
      wait: found.count >= count ? "count" : "time")
  }

  /// Shows `look` first the whole log, then every push that comes or changes and `concerns`, until `look` has seen enough,
  /// the wait is over, the simulator stops, or the client has left.
  func watching(
    _ concerns: @escaping @Sendable (LoggedNotification) -> Bool, wait: Instant.Span,
    look: ([LoggedNotification]) -> Bool
  ) async throws(ControlFault) -> RecentLog<LoggedNotification>.Snapshot {
    guard let (watch, log) = core.watch(concerns) else {
      throw ControlFault(503, "the simulator stops, or 1,000 requests wait already", "Ask again later.")
    }
    defer { core.endWatch(watch) }
    guard !look(log.entries), wait.milliseconds > 0 else { return log }
    let clock = core.clock
    let alarm = Task {
      try? await clock.sleep(for: wait)
      watch.end()
    }
    defer { alarm.cancel() }
    while let changed = await watch.next() {
      if look(changed) { break }
    }
    return log
  }

  func refusals(_ request: HTTPRequest) throws -> HTTPResponse {
    guard request.method == "GET" else { throw Self.wrongMethod(request, "GET") }
    let query = try ControlQuery(request, known: ["since", "count", "reason", "token", "topic", "id"])
    let since = try query.number("since") ?? 0
    let count = try query.number("count").map { Int(clamping: $0) } ?? 1_000
    let (token, id) = (query["token"]?.lowercased(), query["id"]?.lowercased())
    let log = core.withState { state, _ in state.refusals.snapshot }
    let chosen = log.entries.filter { entry in
      entry.number > since && (query["reason"] == nil || entry.refusal.reason.rawValue == query["reason"])
        && (token.map(entry.isTo) ?? true) && (query["topic"] == nil || entry.topic == query["topic"])
        && (id == nil || entry.id.lowercased() == id)
    }
    let shown = chosen.prefix(count)
    let cursor = shown.count < chosen.count ? shown.last?.number ?? since : log.last
    return .json(
      200,
      [
        "first": .number(JSONNumber(log.first)), "last": .number(JSONNumber(log.last)),
        "cursor": .number(JSONNumber(cursor)), "more": .bool(shown.count < chosen.count),
        "refusals": .array(shown.map(NotificationJSON.value(of:))),
      ])
  }
}

extension LoggedRefusal {
  /// Whether it was sent to that token (lower-case hex). The log keeps the first 80 bytes of a path.
  func isTo(_ token: String) -> Bool {
    let (start, path) = ("/3/device/", path.lowercased())
    guard path.hasPrefix(start) else { return false }
    let told = path.dropFirst(start.count)
    return told.hasSuffix("…") ? token.hasPrefix(told.dropLast()) : token == told
  }
}
