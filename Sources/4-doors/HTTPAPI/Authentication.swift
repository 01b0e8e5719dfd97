internal import PushService
internal import Store
internal import Transport

extension HTTPAPI {
  /// The app that calls, by Basic credentials; counts the call against its limit.
  func authenticate(_ call: inout Call) async throws(RequestFault) -> AppRecord {
    let credentials = try credentials(call)
    guard !credentials.user.hasPrefix(Self.groupPrefix) else {
      throw RequestFault(
        .authenticationFailed, found: "these are the credentials of a group",
        remedy: "This call is an app's: use its key and master secret.")
    }
    let app = try await service.authenticate(appKey: credentials.user, masterSecret: credentials.password)
    AuditContext.current?.identify(AuditDoer(.app, key: app.key))
    try count(&call, app: app.key)
    return app
  }

  /// The group that calls; counts the call against its limit.
  func authenticateGroup(_ call: inout Call) async throws(RequestFault) -> GroupRecord {
    let credentials = try credentials(call)
    guard credentials.user.hasPrefix(Self.groupPrefix) else {
      throw RequestFault(
        .authenticationFailed, found: "these are not the credentials of a group",
        remedy: "Send `\(Self.groupPrefix)` and the group's key as user, its secret as password.")
    }
    let group = try await service.authenticateGroup(
      key: String(credentials.user.dropFirst(Self.groupPrefix.count)), masterSecret: credentials.password)
    AuditContext.current?.identify(AuditDoer(.group, key: group.key))
    try count(&call, app: credentials.user)
    return group
  }

  /// Whose files a call is about: an app's, or with a developer's credentials those for groups.
  func authenticateFileOwner(_ call: inout Call) async throws(RequestFault) -> FileOwner {
    let credentials = try credentials(call)
    guard try await service.isDeveloper(key: credentials.user) else { return .app(try await authenticate(&call)) }
    return .developer(try await authenticateDeveloper(&call))
  }

  func authenticateDeveloper(_ call: inout Call) async throws(RequestFault) -> DeveloperRecord {
    let credentials = try credentials(call)
    let developer = try await service.authenticateDeveloper(key: credentials.user, secret: credentials.password)
    AuditContext.current?.identify(AuditDoer(.developer, key: developer.key))
    try count(&call, app: credentials.user)
    return developer
  }

  private static let groupPrefix = "group-"

  /// The app of the device that calls for itself: its app key as user, its own secret as password.
  func authenticateDevice(_ registrationID: String, _ call: inout Call) async throws(RequestFault) -> AppRecord {
    try countAddress(&call)
    let credentials = try credentials(call)
    let app = try await service.authenticateDevice(
      appKey: credentials.user, registrationID: registrationID, secret: credentials.password)
    try check(rateLimits.take(device: registrationID), &call)
    try count(&call, app: app.key)
    return app
  }

  func count(_ call: inout Call, app: String) throws(RequestFault) {
    call.quota = rateLimits.take(app: app, family: call.family)
    try check(call.quota, &call)
  }

  /// What faces the internet is counted before anything is looked up for it.
  func countAddress(_ call: inout Call) throws(RequestFault) {
    guard let peer = call.request.peer, let verdict = rateLimits.take(address: peer.host) else { return }
    try check(verdict, &call)
  }

  private func check(_ verdict: RateLimits.Verdict, _ call: inout Call) throws(RequestFault) {
    if !verdict.isAllowed { call.quota = verdict }
    guard verdict.isAllowed else {
      throw RequestFault(
        .rateLimited, found: "Rate limit exceeded: \(call.quota.limit) calls a minute",
        remedy: "Wait \(call.quota.retryAfter) s.")
    }
  }

  private func credentials(_ call: Call) throws(RequestFault) -> BasicCredentials {
    guard let header = call.request.headers["Authorization"] else {
      throw RequestFault(
        call.family == .device || call.family == .registration ? .deviceCredentialsMissing : .authenticationFailed,
        found: "the header Authorization is missing", remedy: "Send Basic credentials: app key and master secret.")
    }
    guard let credentials = BasicCredentials(header) else {
      throw RequestFault(
        .authenticationFailed, found: "the header Authorization is not Basic credentials",
        remedy: "Send `Basic` and the Base64 of key:secret.")
    }
    return credentials
  }
}
