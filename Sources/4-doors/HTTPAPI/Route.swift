internal import Store
internal import Transport

/// Calls that share their numbers for faults, their count of calls a minute, and the form of their answers.
enum APIFamily: String, CaseIterable, Sendable {
  case push, device, schedule, report, admin
  /// Our own, `/v1`.
  case native
  /// What apps on phones call, `/device/v1`.
  case registration
  /// `/healthz` and its like, and whatever belongs to none.
  case server

  /// Faults as RFC 9457 has them, beside JPush's form.
  var hasProblems: Bool {
    switch self {
    case .native, .registration: true
    case .push, .device, .schedule, .report, .admin, .server: false
    }
  }
}

/// A call that is served.
enum Route: Equatable, Sendable {
  case push
  case validatePush
  case clientIDs
  case pushBatch(BatchTarget)
  case groupPush
  case groupFilePush
  case createApp
  case deleteApp(String)
  case uploadCertificates(String)
  case filePush
  case uploadFile(BatchTarget)
  case files
  case file(String)
  case deleteFile(String)
  case device(String)
  case changeDevice(String)
  case deviceStatuses
  case tags
  case tagMember(String, String)
  case changeTag(String)
  case deleteTag(String)
  case alias(String)
  case changeAlias(String)
  case deleteAlias(String)
  case register
  case ownDevice(String)
  case changeOwnDevice(String)
  case ownReports(String)
  case sendPush
  case previewPush
  case listPushes
  case pushReport(String)
  case withdrawPush(String)
  case controlPush(String, PushControl)
  case explanation(push: String, device: String)
  case listActivities
  case startActivities
  case showActivity(String)
  case changeActivity(String, isEnd: Bool)
  case listChannels
  case createChannel
  case showChannel(String)
  case deleteChannel(String)
  case broadcast(String, isEnd: Bool)
  case createSchedule
  case schedules
  case schedule(String)
  case scheduleMessages(String)
  case changeSchedule(String)
  case deleteSchedule(String)
  case makeSchedule
  case listSchedules
  case showSchedule(String)
  case patchSchedule(String)
  case removeSchedule(String)
  case scheduleFirings(String)
  case listDevices
  case showDevice(String)
  case editDevice(String)
  case deleteDevice(String)
  case listTags
  case showTag(String)
  case editTag(String)
  case removeTag(String)
  case listSegments
  case showSegment(String)
  case putSegment(String)
  case deleteSegment(String)
  case listABTests
  case showABTest(String)
  case putABTest(String)
  case deleteABTest(String)
  case countAudience
  case listCredentials
  case addCredential
  case showCredential(String)
  case rotateCredential(String)
  case deleteCredential(String)
  case listMessages
  case sendMessage
  case showMessage(String)
  case removeMessage(String)
  case deviceMessages(String)
  case listFiles
  case addFile
  case showFile(String)
  case removeFile(String)
  case listApps
  case makeApp
  case showApp(String)
  case editApp(String)
  case removeApp(String)
  case renewSecret(String)
  case createWebhook
  case listWebhooks
  case showWebhook(String)
  case editWebhook(String)
  case deleteWebhook(String)
  case testWebhook(String)
  case renewWebhookSecret(String)
  case webhookDeliveries(String)
  case listAudit
  case openAPI
  case received
  case receivedDetail
  case groupMessagesDetail
  case groupUsers
  case messages
  case messagesDetail
  case users
  case messageStatus
  case quota
  case health
  case readiness
  case metrics

  /// For `/metrics`: without ids, so that the number of lines is fixed.
  var label: String {
    switch self {
    case .push: "push"
    case .validatePush: "push_validate"
    case .clientIDs: "push_cid"
    case .pushBatch(.registrationID): "push_batch_regid"
    case .pushBatch(.alias): "push_batch_alias"
    case .groupPush: "group_push"
    case .groupFilePush: "group_push_file"
    case .createApp: "app_create"
    case .deleteApp: "app_delete"
    case .uploadCertificates: "app_certificate"
    case .filePush: "push_file"
    case .uploadFile(.registrationID): "file_upload_regid"
    case .uploadFile(.alias): "file_upload_alias"
    case .files: "files"
    case .file: "file_get"
    case .deleteFile: "file_delete"
    case .device: "device_get"
    case .changeDevice: "device_set"
    case .deviceStatuses: "device_status"
    case .tags: "tags"
    case .tagMember: "tag_member"
    case .changeTag: "tag_set"
    case .deleteTag: "tag_delete"
    case .alias: "alias_get"
    case .changeAlias: "alias_set"
    case .deleteAlias: "alias_delete"
    case .register: "register"
    case .ownDevice: "own_device_get"
    case .changeOwnDevice: "own_device_set"
    case .ownReports: "own_device_reports"
    case .sendPush: "v1_push"
    case .previewPush: "v1_push_preview"
    case .listPushes: "v1_pushes"
    case .pushReport: "push_report"
    case .withdrawPush: "push_withdraw"
    case .controlPush: "push_control"
    case .explanation: "push_explain"
    case .listActivities: "v1_activities"
    case .startActivities: "v1_activity_start"
    case .showActivity: "v1_activity_get"
    case .changeActivity(_, isEnd: false): "v1_activity_update"
    case .changeActivity(_, isEnd: true): "v1_activity_end"
    case .listChannels: "v1_channels"
    case .createChannel: "v1_channel_create"
    case .showChannel: "v1_channel_get"
    case .deleteChannel: "v1_channel_delete"
    case .broadcast(_, isEnd: false): "v1_channel_update"
    case .broadcast(_, isEnd: true): "v1_channel_end"
    case .createSchedule: "schedule_create"
    case .schedules: "schedule_list"
    case .schedule: "schedule_get"
    case .scheduleMessages: "schedule_messages"
    case .changeSchedule: "schedule_change"
    case .deleteSchedule: "schedule_delete"
    case .makeSchedule: "v1_schedule_create"
    case .listSchedules: "v1_schedule_list"
    case .showSchedule: "v1_schedule_get"
    case .patchSchedule: "v1_schedule_change"
    case .removeSchedule: "v1_schedule_delete"
    case .scheduleFirings: "v1_schedule_firings"
    case .listDevices: "v1_devices"
    case .showDevice: "v1_device_get"
    case .editDevice: "v1_device_edit"
    case .deleteDevice: "v1_device_delete"
    case .listTags: "v1_tags"
    case .showTag: "v1_tag_get"
    case .editTag: "v1_tag_edit"
    case .removeTag: "v1_tag_delete"
    case .listSegments: "v1_segments"
    case .showSegment: "v1_segment_get"
    case .putSegment: "v1_segment_put"
    case .deleteSegment: "v1_segment_delete"
    case .listABTests: "v1_ab_tests"
    case .showABTest: "v1_ab_test_get"
    case .putABTest: "v1_ab_test_put"
    case .deleteABTest: "v1_ab_test_delete"
    case .countAudience: "v1_audience_count"
    case .listCredentials: "v1_credentials"
    case .addCredential: "v1_credential_add"
    case .showCredential: "v1_credential_get"
    case .rotateCredential: "v1_credential_rotate"
    case .deleteCredential: "v1_credential_delete"
    case .listMessages, .sendMessage: "v1_messages"
    case .showMessage, .removeMessage: "v1_message"
    case .deviceMessages: "v1_device_messages"
    case .listFiles, .addFile: "v1_files"
    case .showFile, .removeFile: "v1_file"
    case .listApps, .makeApp: "v1_apps"
    case .showApp, .editApp, .removeApp: "v1_app"
    case .renewSecret: "v1_app_secret"
    case .createWebhook: "v1_webhook_create"
    case .listWebhooks: "v1_webhooks"
    case .showWebhook: "v1_webhook_get"
    case .editWebhook: "v1_webhook_edit"
    case .deleteWebhook: "v1_webhook_delete"
    case .testWebhook: "v1_webhook_test"
    case .renewWebhookSecret: "v1_webhook_secret"
    case .webhookDeliveries: "v1_webhook_deliveries"
    case .listAudit: "v1_audit"
    case .openAPI: "v1_openapi"
    case .received: "received"
    case .receivedDetail: "received_detail"
    case .groupMessagesDetail: "group_messages_detail"
    case .groupUsers: "group_users"
    case .messages: "messages"
    case .messagesDetail: "messages_detail"
    case .users: "users"
    case .messageStatus: "status_message"
    case .quota: "push_quota"
    case .health: "healthz"
    case .readiness: "readyz"
    case .metrics: "metrics"
    }
  }
}

/// What a method and a path lead to.
struct Routing: Equatable, Sendable {
  enum Target: Equatable, Sendable {
    case served(Route)
    case wrongMethod(allowed: [String])
    /// JPush has it, this version does not.
    case notServed
    case unknown
    /// The path is no percent-encoded UTF-8.
    case malformed
  }

  var family: APIFamily
  var target: Target

  /// Slashes may be doubled or end the path, parts may be percent-encoded, `HEAD` is `GET`; the Beijing zone's paths
  /// lead to the same calls (jpush.md §1).
  init(method: String, path: String) {
    let method = method == "HEAD" ? "GET" : method
    guard let all = HTTPTarget.parts(ofPath: path) else {
      let isOurs = path.hasPrefix("/v1/") || path.hasPrefix("/device/")
      self.init(isOurs ? .native : .server, .malformed)
      return
    }
    let parts = all.filter { !$0.isEmpty }
    switch (parts.first, parts.dropFirst().first) {
    case ("v3", "push"): self.init(push: Array(parts.dropFirst(2)), method)
    case ("v3", "devices"), ("v3", "device"): self.init(device: Array(parts.dropFirst(2)), method)
    case ("v3", "tags"): self.init(tag: Array(parts.dropFirst(2)), method)
    case ("v3", "aliases"): self.init(alias: Array(parts.dropFirst(2)), method)
    case ("v3", "schedules"): self.init(schedule: Array(parts.dropFirst(2)), method)
    case ("v3", "received"), ("v3", "messages"), ("v3", "users"), ("v3", "status"):
      self.init(report: Array(parts.dropFirst()), method)
    case ("v3", "report"): self.init(report: Array(parts.dropFirst(2)), method)
    case ("v3", "group"): self.init(groupReport: Array(parts.dropFirst(2)), method)
    case ("v3", "grouppush") where parts.count == 2: self.init(.push, method, ["POST": .groupPush])
    case ("v3", "grouppush") where parts.dropFirst(2) == ["file"]:
      self.init(.push, method, ["POST": .groupFilePush])
    case ("v3", "files"): self.init(file: Array(parts.dropFirst(2)), method)
    case ("v3", "grouppush"): self.init(.push, .unknown)
    case ("v3", "images"), ("v3", "push_plan"), ("v3", "test"):
      self.init(.push, .notServed)
    case ("v3", _): self.init(.push, .unknown)
    case ("v1", "app"): self.init(app: Array(parts.dropFirst(2)), method)
    case ("v1", _), ("device", _): self.init(own: parts, method)
    case ("healthz", nil): self.init(.server, method, ["GET": .health])
    case ("readyz", nil): self.init(.server, method, ["GET": .readiness])
    case ("metrics", nil): self.init(.server, method, ["GET": .metrics])
    case (_, _): self.init(.server, .unknown)
    }
  }

  /// What is outside is not there.
  func within(_ scope: HTTPAPI.Scope) -> Routing {
    switch scope {
    case .everything: self
    case .devices: family == .registration ? self : Routing(.registration, .unknown)
    }
  }

  init(_ family: APIFamily, _ target: Target) {
    self.family = family
    self.target = target
  }

  init(_ family: APIFamily, _ method: String, _ routes: [String: Route]) {
    let target = routes[method].map(Target.served) ?? .wrongMethod(allowed: routes.keys.sorted())
    self.init(family, target)
  }

  private init(push parts: [String], _ method: String) {
    switch parts.first {
    case nil: self.init(.push, method, ["POST": .push])
    case "validate" where parts.count == 1: self.init(.push, method, ["POST": .validatePush])
    case "cid" where parts.count == 1: self.init(.push, method, ["GET": .clientIDs])
    case "schedules": self.init(schedule: Array(parts.dropFirst()), method)
    case "batch" where parts == ["batch", "regid", "single"]:
      self.init(.push, method, ["POST": .pushBatch(.registrationID)])
    case "batch" where parts == ["batch", "alias", "single"]:
      self.init(.push, method, ["POST": .pushBatch(.alias)])
    case "quota" where parts.count == 1: self.init(.push, method, ["GET": .quota])
    case "file" where parts.count == 1: self.init(.push, method, ["POST": .filePush])
    case "template": self.init(.push, .notServed)
    case let id? where parts.count == 1 && id.utf8.allSatisfy({ 0x30...0x39 ~= $0 }):
      self.init(.push, method, ["DELETE": .withdrawPush(id)])
    case _?: self.init(.push, .unknown)
    }
  }

  private init(schedule parts: [String], _ method: String) {
    switch parts.count {
    case 0: self.init(.schedule, method, ["GET": .schedules, "POST": .createSchedule])
    case 1:
      let id = parts[0].lowercased()
      self.init(
        .schedule, method, ["GET": .schedule(id), "PUT": .changeSchedule(id), "DELETE": .deleteSchedule(id)])
    case 2 where parts[1] == "msg_ids":
      self.init(.schedule, method, ["GET": .scheduleMessages(parts[0].lowercased())])
    case _: self.init(.schedule, .unknown)
    }
  }

  private init(device parts: [String], _ method: String) {
    switch parts.first {
    case "status" where parts.count == 1: self.init(.device, method, ["POST": .deviceStatuses])
    case "tags": self.init(tag: Array(parts.dropFirst()), method)
    case "aliases": self.init(alias: Array(parts.dropFirst()), method)
    case let id? where parts.count == 1:
      self.init(.device, method, ["GET": .device(id), "POST": .changeDevice(id)])
    case _: self.init(.device, .unknown)
    }
  }

  private init(tag parts: [String], _ method: String) {
    switch parts.count {
    case 0: self.init(.device, method, ["GET": .tags])
    case 1: self.init(.device, method, ["POST": .changeTag(parts[0]), "DELETE": .deleteTag(parts[0])])
    case 3 where parts[1] == "registration_ids":
      self.init(.device, method, ["GET": .tagMember(parts[0], parts[2])])
    case _: self.init(.device, .unknown)
    }
  }

  private init(alias parts: [String], _ method: String) {
    switch parts.count {
    case 1:
      self.init(
        .device, method,
        ["GET": .alias(parts[0]), "POST": .changeAlias(parts[0]), "DELETE": .deleteAlias(parts[0])])
    case _: self.init(.device, .unknown)
    }
  }

  private init(own parts: [String], _ method: String) {
    guard let path = OwnPath.all.first(where: { $0.matches(parts) }) else {
      self.init(parts.first == "device" ? .registration : .native, .unknown)
      return
    }
    let route = path.routes[method]?.make(path.arguments(parts))
    self.init(path.family, route.map(Target.served) ?? .wrongMethod(allowed: path.routes.keys.sorted()))
  }
}
