internal import Store

/// The calls of `/v1` and `/device/v1`: one line each, held to the OpenAPI document by `OpenAPITests`.
///
/// `{…}` in a path stands for one part, which is not empty. Where two paths match, the one that comes first is meant.
struct OwnRoute: Sendable {
  var method: String
  var path: String
  /// Of as many arguments as the path has `{…}`.
  var make: @Sendable ([String]) -> Route

  static let all: [OwnRoute] = [
    OwnRoute("GET", "/v1/pushes", .listPushes),
    OwnRoute("POST", "/v1/pushes", .sendPush),
    OwnRoute("POST", "/v1/pushes/preview", .previewPush),
    OwnRoute("GET", "/v1/pushes/{id}", Route.pushReport),
    OwnRoute("POST", "/v1/pushes/{id}/pause") { .controlPush($0, .paused) },
    OwnRoute("POST", "/v1/pushes/{id}/resume") { .controlPush($0, .running) },
    OwnRoute("POST", "/v1/pushes/{id}/withdraw") { .controlPush($0, .withdrawn) },
    OwnRoute("GET", "/v1/pushes/{id}/devices/{registrationId}") { .explanation(push: $0, device: $1) },

    OwnRoute("GET", "/v1/messages", .listMessages),
    OwnRoute("POST", "/v1/messages", .sendMessage),
    OwnRoute("GET", "/v1/messages/{id}", Route.showMessage),
    OwnRoute("DELETE", "/v1/messages/{id}", Route.removeMessage),
    OwnRoute("GET", "/v1/devices/{registrationId}/messages", Route.deviceMessages),

    OwnRoute("GET", "/v1/live-activities", .listActivities),
    OwnRoute("POST", "/v1/live-activities", .startActivities),
    OwnRoute("GET", "/v1/live-activities/{id}", Route.showActivity),
    OwnRoute("POST", "/v1/live-activities/{id}/update") { .changeActivity($0, isEnd: false) },
    OwnRoute("POST", "/v1/live-activities/{id}/end") { .changeActivity($0, isEnd: true) },

    OwnRoute("GET", "/v1/channels", .listChannels),
    OwnRoute("POST", "/v1/channels", .createChannel),
    OwnRoute("GET", "/v1/channels/{id}", Route.showChannel),
    OwnRoute("DELETE", "/v1/channels/{id}", Route.deleteChannel),
    OwnRoute("POST", "/v1/channels/{id}/update") { .broadcast($0, isEnd: false) },
    OwnRoute("POST", "/v1/channels/{id}/end") { .broadcast($0, isEnd: true) },

    OwnRoute("GET", "/v1/schedules", .listSchedules),
    OwnRoute("POST", "/v1/schedules", .makeSchedule),
    OwnRoute("GET", "/v1/schedules/{id}") { .showSchedule($0.lowercased()) },
    OwnRoute("PATCH", "/v1/schedules/{id}") { .patchSchedule($0.lowercased()) },
    OwnRoute("DELETE", "/v1/schedules/{id}") { .removeSchedule($0.lowercased()) },
    OwnRoute("GET", "/v1/schedules/{id}/firings") { .scheduleFirings($0.lowercased()) },

    OwnRoute("GET", "/v1/devices", .listDevices),
    OwnRoute("GET", "/v1/devices/{registrationId}", Route.showDevice),
    OwnRoute("PATCH", "/v1/devices/{registrationId}", Route.editDevice),
    OwnRoute("DELETE", "/v1/devices/{registrationId}", Route.deleteDevice),

    OwnRoute("GET", "/v1/tags", .listTags),
    OwnRoute("GET", "/v1/tags/{tag}", Route.showTag),
    OwnRoute("PATCH", "/v1/tags/{tag}", Route.editTag),
    OwnRoute("DELETE", "/v1/tags/{tag}", Route.removeTag),

    OwnRoute("POST", "/v1/audiences/count", .countAudience),

    OwnRoute("GET", "/v1/segments", .listSegments),
    OwnRoute("GET", "/v1/segments/{id}", Route.showSegment),
    OwnRoute("PUT", "/v1/segments/{id}", Route.putSegment),
    OwnRoute("DELETE", "/v1/segments/{id}", Route.deleteSegment),

    OwnRoute("GET", "/v1/ab-tests", .listABTests),
    OwnRoute("GET", "/v1/ab-tests/{id}", Route.showABTest),
    OwnRoute("PUT", "/v1/ab-tests/{id}", Route.putABTest),
    OwnRoute("DELETE", "/v1/ab-tests/{id}", Route.deleteABTest),

    OwnRoute("GET", "/v1/files", .listFiles),
    OwnRoute("POST", "/v1/files", .addFile),
    OwnRoute("GET", "/v1/files/{id}", Route.showFile),
    OwnRoute("DELETE", "/v1/files/{id}", Route.removeFile),

    OwnRoute("GET", "/v1/credentials", .listCredentials),
    OwnRoute("POST", "/v1/credentials", .addCredential),
    OwnRoute("GET", "/v1/credentials/{id}", Route.showCredential),
    OwnRoute("PUT", "/v1/credentials/{id}", Route.rotateCredential),
    OwnRoute("DELETE", "/v1/credentials/{id}", Route.deleteCredential),

    OwnRoute("GET", "/v1/apps", .listApps),
    OwnRoute("POST", "/v1/apps", .makeApp),
    OwnRoute("GET", "/v1/apps/{appKey}", Route.showApp),
    OwnRoute("PATCH", "/v1/apps/{appKey}", Route.editApp),
    OwnRoute("DELETE", "/v1/apps/{appKey}", Route.removeApp),
    OwnRoute("POST", "/v1/apps/{appKey}/secret", Route.renewSecret),

    OwnRoute("GET", "/v1/webhooks", .listWebhooks),
    OwnRoute("POST", "/v1/webhooks", .createWebhook),
    OwnRoute("GET", "/v1/webhooks/{id}", Route.showWebhook),
    OwnRoute("PATCH", "/v1/webhooks/{id}", Route.editWebhook),
    OwnRoute("DELETE", "/v1/webhooks/{id}", Route.deleteWebhook),
    OwnRoute("POST", "/v1/webhooks/{id}/test", Route.testWebhook),
    OwnRoute("POST", "/v1/webhooks/{id}/secret", Route.renewWebhookSecret),
    OwnRoute("GET", "/v1/webhooks/{id}/deliveries", Route.webhookDeliveries),

    OwnRoute("GET", "/v1/audit", .listAudit),

    OwnRoute("GET", "/v1/openapi.json", .openAPI),

    OwnRoute("POST", "/device/v1/registrations", .register),
    OwnRoute("GET", "/device/v1/registrations/{registrationId}", Route.ownDevice),
    OwnRoute("POST", "/device/v1/registrations/{registrationId}", Route.changeOwnDevice),
    OwnRoute("POST", "/device/v1/registrations/{registrationId}/reports", Route.ownReports),
  ]

  init(_ method: String, _ path: String, _ route: Route) {
    self.method = method
    self.path = path
    make = { _ in route }
  }

  init(_ method: String, _ path: String, _ make: @escaping @Sendable (String) -> Route) {
    self.method = method
    self.path = path
    self.make = { make($0[0]) }
  }

  init(_ method: String, _ path: String, _ make: @escaping @Sendable (String, String) -> Route) {
    self.method = method
    self.path = path
    self.make = { make($0[0], $0[1]) }
  }
}

/// The calls that share a path.
struct OwnPath: Sendable {
  private enum Part: Sendable {
    case literal(String)
    case argument
  }

  private let parts: [Part]
  let family: APIFamily
  private(set) var routes: [String: OwnRoute] = [:]

  /// In the order of the table.
  static let all: [OwnPath] = {
    var paths: [OwnPath] = []
    var indexes: [String: Int] = [:]
    for route in OwnRoute.all {
      let index = indexes[route.path] ?? paths.count
      if index == paths.count { paths.append(OwnPath(route.path)) }
      indexes[route.path] = index
      paths[index].routes[route.method] = route
    }
    return paths
  }()

  private init(_ path: String) {
    parts = path.split(separator: "/").map { $0.hasPrefix("{") ? .argument : .literal(String($0)) }
    family = path.hasPrefix("/device/") ? .registration : .native
  }

  func matches(_ given: [String]) -> Bool {
    guard given.count == parts.count else { return false }
    return zip(parts, given).allSatisfy { part, text in
      switch part {
      case .literal(let literal): literal == text
      case .argument: true
      }
    }
  }

  func arguments(_ given: [String]) -> [String] {
    zip(parts, given).compactMap { part, text in
      switch part {
      case .literal: nil
      case .argument: text
      }
    }
  }
}
