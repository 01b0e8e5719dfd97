public import Basics
public import PushPayload
public import PushService
public import Transport

/// The REST door of the push service: JPush's `/v3` as its SDKs call it (spec jpush.md), our own `/v1`, what apps on
/// phones call (`/device/v1`), and `/healthz`, `/readyz`, `/metrics`.
///
/// A function from request to answer: it needs no socket. May be called from any task, any number of times at once.
/// Every answer says how many calls are left, every answer other than 2xx is JSON with an `error` object, and success
/// carries JPush's keys only; what was ignored in a request stands in the header `X-Belfry-Warnings`.
public struct HTTPAPI: Sendable {
  public struct Settings: Sendable {
    public var rateLimits = RateLimitSettings()
    /// The zone of the times without one that `/v3` answers. Default: China's, which has no summer time.
    public var jpushZone = TimeZoneRules(fixed: 8 * 3600, abbreviation: "CST")
    /// Sockets, sizes and time-outs, for `serve`.
    public var limits = HTTPLimits()
    /// What `/healthz` tells beside its status: how the way to APNs is, by whoever knows. No secret, no device token.
    public var health: @Sendable () async -> JSONObject = { [:] }
    /// What `/metrics` tells beside this door and the service: the way to APNs, by whoever knows. No secret, no token.
    public var metrics: @Sendable () async -> [Metric] = { [] }
    /// Where the ids of `GET /v3/push/cid` come from.
    public var random: @Sendable () -> UInt64 = {
      var random = SystemRandomNumberGenerator()
      return random.next()
    }

    public init() {}

    /// `2026-11-30 09:00:00`, or the day alone, as JPush writes times.
    func jpushTime(_ instant: Instant, dateOnly: Bool = false) -> String {
      let text = jpushZone.local(at: instant).description
      return dateOnly ? String(text.prefix { $0 != " " }) : text
    }
  }

  /// What a listener serves.
  public enum Scope: Sendable {
    case everything
    /// `/device/v1` alone, for a listener that faces the internet.
    case devices
  }

  let service: PushService
  let settings: Settings
  let rateLimits: RateLimits
  let clock: any WallClock
  private let counts = CallCounts()

  public init(service: PushService, clock: any WallClock, settings: Settings = Settings()) {
    self.service = service
    self.settings = settings
    self.clock = clock
    rateLimits = RateLimits(settings.rateLimits, clock: clock)
  }

  /// Listens and answers until the server is stopped; with `tls`, HTTPS only. May be called for several listeners, which
  /// then share their limits.
  public func serve(
    _ scope: Scope = .everything, on endpoint: Endpoint, tls: TLSIdentity? = nil
  ) throws(TransportFault) -> HTTPServer {
    var limits = settings.limits
    limits.upload = { Routing(method: $0.method, path: $0.path).takesUpload ? Self.largestUpload : nil }
    return try HTTPServer.start(
      endpoint, limits: limits, tls: tls, refusal: { refuse($0, $1) }, handler: { await answer($0, scope) })
  }

  public func answer(_ request: HTTPRequest, _ scope: Scope = .everything) async -> HTTPResponse {
    let start = clock.uptime
    let routing = Routing(method: request.method, path: request.path).within(scope)
    var call = Call(request: request, family: routing.family, quota: rateLimits.untouched(routing.family))
    var answer = await AuditContext.$current.withValue(AuditContext(address: request.peer?.host)) {
      do throws(RequestFault) { return try await self.answer(routing, &call) } catch {
        return Answers.fault(error, family: routing.family)
      }
    }
    answer.add(call.quota)
    if case .wrongMethod(let allowed) = routing.target {
      answer.headers["Allow"] = allowed.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }.joined(separator: ", ")
    }
    counts.count(
      route: routing.label, status: answer.status,
      took: .milliseconds(clock.uptime.milliseconds - start.milliseconds))
    return answer
  }

  /// The answer to a request that is too large to be taken, or comes while the server stops.
  public func refuse(_ refusal: HTTPRefusal, _ request: HTTPRequest) -> HTTPResponse {
    let family = Routing(method: request.method, path: request.path).family
    let code: RequestFault.Code
    switch refusal {
    case .bodyTooLarge, .headTooLarge: code = .tooLarge
    case .stopping: code = RequestFault.Code.temporarilyUnavailable.asSeen(in: family)
    }
    var answer = Answers.refusal(
      status: refusal.status, code: code.rawValue, message: refusal.message, family: family)
    answer.add(rateLimits.untouched(family))
    counts.count(route: "refused", status: answer.status, took: .milliseconds(0))
    return answer
  }

  private func answer(_ routing: Routing, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    switch routing.target {
    case .served(let route):
      return try await serve(route, &call)
    case .wrongMethod(let allowed):
      throw RequestFault(
        .methodNotAllowed, found: "\(call.request.method.prefix(20)) is not what this path takes",
        remedy: "Use \(allowed.joined(separator: " or ")).")
    case .notServed:
      throw RequestFault(
        .noSuchAPI, found: "this version does not serve \(quoted(call.request.path))",
        remedy: "\(call.family.hasProblems ? "docs/api.md" : "docs/jpush-compatibility.md") lists what is served.")
    case .unknown:
      throw RequestFault(
        .noSuchAPI, found: "there is no \(quoted(call.request.path))",
        remedy: "\(call.family.hasProblems ? "docs/api.md" : "docs/jpush-compatibility.md") lists what is served.")
    case .malformed:
      throw RequestFault(
        .invalidParameter, found: "the path \(quoted(call.request.path)) is not percent-encoded UTF-8",
        remedy: "Encode it as RFC 3986 says.")
    }
  }

  private func serve(_ route: Route, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    switch route {
    case .push: return try await push(&call, validateOnly: false)
    case .validatePush: return try await push(&call, validateOnly: true)
    case .clientIDs: return try await clientIDs(&call)
    case .pushBatch(let target): return try await pushBatch(target, &call)
    case .groupPush: return try await pushToGroup(&call, byFile: false)
    case .groupFilePush: return try await pushToGroup(&call, byFile: true)
    case .createApp: return try await createApp(&call)
    case .deleteApp(let key): return try await deleteApp(key, &call)
    case .uploadCertificates(let key): return try await uploadCertificates(key, &call)
    case .filePush: return try await filePush(&call)
    case .files: return try await files(&call)
    case .file(let id): return try await file(id, &call)
    case .deleteFile(let id): return try await deleteFile(id, &call)
    case .uploadFile(let target): return try await uploadFile(target.fileKind, &call)
    case .device(let id): return try await device(id, &call)
    case .changeDevice(let id): return try await changeDevice(id, &call)
    case .deviceStatuses: return try await deviceStatuses(&call)
    case .tags: return try await tags(&call)
    case .tagMember(let tag, let id): return try await tagMember(tag, id, &call)
    case .changeTag(let tag): return try await changeTag(tag, &call)
    case .deleteTag(let tag): return try await deleteTag(tag, &call)
    case .alias(let alias): return try await self.alias(alias, &call)
    case .changeAlias(let alias): return try await changeAlias(alias, &call)
    case .deleteAlias(let alias): return try await deleteAlias(alias, &call)
    case .register: return try await register(&call)
    case .ownDevice(let id): return try await ownDevice(id, &call)
    case .changeOwnDevice(let id): return try await changeOwnDevice(id, &call)
    case .ownReports(let id): return try await ownReports(id, &call)
    case .sendPush: return try await sendPush(&call)
    case .previewPush: return try await previewPush(&call)
    case .listPushes: return try await listPushes(&call)
    case .pushReport(let id): return try await report(id, &call)
    case .withdrawPush(let id): return try await withdraw(id, &call)
    case .controlPush(let id, let control): return try await self.control(id, control, &call)
    case .explanation(let push, let device): return try await explanation(push, device, &call)
    case .listActivities: return try await listActivities(&call)
    case .startActivities: return try await startActivities(&call)
    case .showActivity(let id): return try await showActivity(id, &call)
    case .changeActivity(let id, let isEnd): return try await changeActivity(id, isEnd: isEnd, &call)
    case .listChannels: return try await listChannels(&call)
    case .createChannel: return try await createChannel(&call)
    case .showChannel(let id): return try await showChannel(id, &call)
    case .deleteChannel(let id): return try await deleteChannel(id, &call)
    case .broadcast(let id, let isEnd): return try await broadcast(id, isEnd: isEnd, &call)
    case .createSchedule: return try await createSchedule(&call)
    case .schedules: return try await schedules(&call)
    case .schedule(let id): return try await schedule(id, &call)
    case .scheduleMessages(let id): return try await scheduleMessages(id, &call)
    case .changeSchedule(let id): return try await changeSchedule(id, &call)
    case .deleteSchedule(let id): return try await deleteSchedule(id, &call)
    case .makeSchedule: return try await makeSchedule(&call)
    case .listSchedules: return try await listSchedules(&call)
    case .showSchedule(let id): return try await showSchedule(id, &call)
    case .patchSchedule(let id): return try await patchSchedule(id, &call)
    case .removeSchedule(let id): return try await removeSchedule(id, &call)
    case .scheduleFirings(let id): return try await scheduleFirings(id, &call)
    case .listDevices: return try await listDevices(&call)
    case .showDevice(let id): return try await showDevice(id, &call)
    case .editDevice(let id): return try await editDevice(id, &call)
    case .deleteDevice(let id): return try await deleteDevice(id, &call)
    case .listTags: return try await listTags(&call)
    case .showTag(let id): return try await showTag(id, &call)
    case .editTag(let id): return try await editTag(id, &call)
    case .removeTag(let id): return try await removeTag(id, &call)
    case .listSegments: return try await listSegments(&call)
    case .showSegment(let id): return try await showSegment(id, &call)
    case .putSegment(let id): return try await putSegment(id, &call)
    case .deleteSegment(let id): return try await deleteSegment(id, &call)
    case .listABTests: return try await listABTests(&call)
    case .showABTest(let id): return try await showABTest(id, &call)
    case .putABTest(let id): return try await putABTest(id, &call)
    case .deleteABTest(let id): return try await deleteABTest(id, &call)
    case .countAudience: return try await countAudience(&call)
    case .listCredentials: return try await listCredentials(&call)
    case .addCredential: return try await addCredential(&call)
    case .showCredential(let id): return try await showCredential(id, &call)
    case .rotateCredential(let id): return try await rotateCredential(id, &call)
    case .deleteCredential(let id): return try await deleteCredential(id, &call)
    case .listMessages: return try await listMessages(&call)
    case .sendMessage: return try await sendMessage(&call)
    case .showMessage(let id): return try await showMessage(id, &call)
    case .removeMessage(let id): return try await removeMessage(id, &call)
    case .deviceMessages(let id): return try await deviceMessages(id, &call)
    case .listFiles: return try await listFiles(&call)
    case .addFile: return try await addFile(&call)
    case .showFile(let id): return try await showFile(id, &call)
    case .removeFile(let id): return try await removeFile(id, &call)
    case .listApps: return try await listApps(&call)
    case .makeApp: return try await makeApp(&call)
    case .showApp(let key): return try await showApp(key, &call)
    case .editApp(let key): return try await editApp(key, &call)
    case .removeApp(let key): return try await removeApp(key, &call)
    case .renewSecret(let key): return try await renewSecret(key, &call)
    case .listAudit: return try await listAudit(&call)
    case .received: return try await received(&call)
    case .receivedDetail: return try await receivedDetail(&call)
    case .groupMessagesDetail: return try await groupMessagesDetail(&call)
    case .groupUsers: return try await groupUsers(&call)
    case .messages: return try await messages(&call)
    case .messagesDetail: return try await messagesDetail(&call)
    case .users: return try await users(&call)
    case .messageStatus: return try await messageStatus(&call)
    case .quota: return try await quota(&call)
    case .createWebhook: return try await createWebhook(&call)
    case .listWebhooks: return try await listWebhooks(&call)
    case .showWebhook(let id): return try await showWebhook(id, &call)
    case .editWebhook(let id): return try await editWebhook(id, &call)
    case .deleteWebhook(let id): return try await deleteWebhook(id, &call)
    case .testWebhook(let id): return try await testWebhook(id, &call)
    case .renewWebhookSecret(let id): return try await renewWebhookSecret(id, &call)
    case .webhookDeliveries(let id): return try await webhookDeliveries(id, &call)
    case .openAPI:
      return HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: OpenAPIDocument.bytes)
    case .health:
      let members = await settings.health().members
      return Answers.ok(.object(JSONObject([.init("status", "ok")] + members)))
    case .readiness: return try await readiness()
    case .metrics: return await metrics()
    }
  }

  /// The number in a path by which a resource is known; what is none is nothing's.
  static func number(of resource: String, _ id: String) throws(RequestFault) -> Int64 {
    guard let number = Int64(id), number > 0 else { throw PushService.noSuch(resource, id) }
    return number
  }

  private func readiness() async throws(RequestFault) -> HTTPResponse {
    guard await service.ready() else {
      throw RequestFault(
        .temporarilyUnavailable, found: "the service is not ready", remedy: "Wait until its store takes writes.")
    }
    return Answers.ok(["status": "ready"])
  }

  private func metrics() async -> HTTPResponse {
    let more = await settings.metrics()
    return HTTPResponse(
      status: 200, headers: ["Content-Type": MetricsText.contentType],
      body: Array(MetricsText.render(service.metrics() + more + counts.metrics).utf8))
  }
}

/// One call on its way through the door.
struct Call {
  let request: HTTPRequest
  let family: APIFamily
  /// What the rate headers will tell.
  var quota: RateLimits.Verdict
}

extension Routing {
  fileprivate var label: String {
    switch target {
    case .served(let route): route.label
    case .wrongMethod, .notServed, .unknown, .malformed: "none"
    }
  }
}

extension HTTPResponse {
  /// Under both names that SDKs read (jpush.md §3).
  fileprivate mutating func add(_ quota: RateLimits.Verdict) {
    headers.add("X-Rate-Limit-Limit", String(quota.limit))
    headers.add("X-Rate-Limit-Quota", String(quota.limit))
    headers.add("X-Rate-Limit-Remaining", String(quota.remaining))
    headers.add("X-Rate-Limit-Reset", String(quota.reset))
    if !quota.isAllowed { headers.add("Retry-After", String(quota.retryAfter)) }
  }
}
