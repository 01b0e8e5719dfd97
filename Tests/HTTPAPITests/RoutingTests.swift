import Store
import Testing

@testable import HTTPAPI

@Suite("Routes")
struct RoutingTests {
  struct Row: Sendable {
    var request: String
    var family: APIFamily
    var target: Routing.Target

    init(_ request: String, _ family: APIFamily, _ target: Routing.Target) {
      self.request = request
      self.family = family
      self.target = target
    }
  }

  static let rows = [
    Row("POST /v3/push", .push, .served(.push)),
    Row("POST /v3/push/", .push, .served(.push)),
    Row("POST /v3//push/validate", .push, .served(.validatePush)),
    Row("POST //v3/push//validate//", .push, .served(.validatePush)),
    Row("POST /v3/%70ush", .push, .served(.push)),
    Row("GET /v3/push", .push, .wrongMethod(allowed: ["POST"])),
    Row("HEAD /v3/push/cid", .push, .served(.clientIDs)),
    Row("GET /v3/push/cid/", .push, .served(.clientIDs)),
    Row("GET /v3/devices/1507bfd3f7c466c355c", .device, .served(.device("1507bfd3f7c466c355c"))),
    Row("POST /v3/devices/090c1f59f89", .device, .served(.changeDevice("090c1f59f89"))),
    Row("GET /v3/device/090c1f59f89", .device, .served(.device("090c1f59f89"))),
    Row("GET /v3/devices/a%20b", .device, .served(.device("a b"))),
    Row("DELETE /v3/devices/090c1f59f89", .device, .wrongMethod(allowed: ["GET", "POST"])),
    Row("POST /v3/devices/status/", .device, .served(.deviceStatuses)),
    Row("POST /v3/device/status", .device, .served(.deviceStatuses)),
    Row("GET /v3/device/tags/", .device, .served(.tags)),
    Row("GET /v3/tags/", .device, .served(.tags)),
    Row("POST /v3/tags//x", .device, .served(.changeTag("x"))),
    Row("DELETE /v3/tags/%E5%8C%97@!#", .device, .served(.deleteTag("北@!#"))),
    Row("DELETE /v3/device/tags/x/?platform=ios%2Candroid", .device, .served(.deleteTag("x"))),
    Row("GET /v3/tags/x/registration_ids/090c1f59f89", .device, .served(.tagMember("x", "090c1f59f89"))),
    Row("GET /v3/tags/x/registration_ids", .device, .unknown),
    Row("PUT /v3/tags/x", .device, .wrongMethod(allowed: ["DELETE", "POST"])),
    Row("GET /v3/aliases/x/?platform=ios", .device, .served(.alias("x"))),
    Row("POST /v3/aliases/x", .device, .served(.changeAlias("x"))),
    Row("DELETE /v3/device/aliases/x/", .device, .served(.deleteAlias("x"))),
    Row("GET /v3/aliases", .device, .unknown),
    Row("DELETE /v3/push/18100287008546132", .push, .served(.withdrawPush("18100287008546132"))),
    Row("POST /v1/pushes/7/pause", .native, .served(.controlPush("7", .paused))),
    Row("POST /v1/pushes/7/resume", .native, .served(.controlPush("7", .running))),
    Row("POST /v1/pushes/7/withdraw", .native, .served(.controlPush("7", .withdrawn))),
    Row("POST /v1/pushes/7/stop", .native, .unknown),
    Row("POST /v1/schedules", .native, .served(.makeSchedule)),
    Row("PATCH /v1/schedules/0A", .native, .served(.patchSchedule("0a"))),
    Row("GET /v1/schedules/0a/firings", .native, .served(.scheduleFirings("0a"))),
    Row("GET /v1/schedules/0a/msg_ids", .native, .unknown),
    Row("GET /v3/schedules/?page=1", .schedule, .served(.schedules)),
    Row("POST /v3/push/schedules/", .schedule, .served(.createSchedule)),
    Row("PUT /v3/push/schedules/0A", .schedule, .served(.changeSchedule("0a"))),
    Row("GET /v3/schedules/0a/msg_ids", .schedule, .served(.scheduleMessages("0a"))),
    Row("GET /v3/schedules/0a/msg_ids/1", .schedule, .unknown),
    Row("POST /v3/push/batch/regid/single", .push, .served(.pushBatch(.registrationID))),
    Row("POST /v3/push/batch/alias/single/", .push, .served(.pushBatch(.alias))),
    Row("POST /v3/push/batch/alias", .push, .unknown),
    Row("POST /v3/grouppush", .push, .served(.groupPush)),
    Row("POST /v3/grouppush/file", .push, .served(.groupFilePush)),
    Row("POST /v3/push/file/", .push, .served(.filePush)),
    Row("GET /v3/files/", .push, .served(.files)),
    Row("POST /v3/files/alias", .push, .served(.uploadFile(.alias))),
    Row("POST /v3/files/registration_id/", .push, .served(.uploadFile(.registrationID))),
    Row("GET /v3/files/0123-4", .push, .served(.file("0123-4"))),
    Row("DELETE /v3/files/0123-4", .push, .served(.deleteFile("0123-4"))),
    Row("GET /v3/group/messages/detail/?group_msgids=1", .report, .served(.groupMessagesDetail)),
    Row("GET /v3/received", .report, .served(.received)),
    Row("GET /v3/report/messages/detail/?msg_ids=1", .report, .served(.messagesDetail)),
    Row("POST /v3/status/message/", .report, .served(.messageStatus)),
    Row("GET /v3/report/users", .report, .served(.users)),
    Row("GET /v3/push/quota", .push, .served(.quota)),
    Row("POST /v1/app/", .admin, .served(.createApp)),
    Row("POST /v1/app/0123/delete", .admin, .served(.deleteApp("0123"))),
    Row("DELETE /v1/app/0123", .admin, .served(.deleteApp("0123"))),
    Row("POST /v1/app/0123/certificate", .admin, .served(.uploadCertificates("0123"))),
    Row("POST /v3/pusch", .push, .unknown),
    Row("GET /v1/pushes/18100287008546132", .native, .served(.pushReport("18100287008546132"))),
    Row("GET /v1/pushes", .native, .served(.listPushes)),
    Row("POST /device/v1/registrations", .registration, .served(.register)),
    Row("GET /device/v1/registrations/1507bfd3f7c466c355c", .registration, .served(.ownDevice("1507bfd3f7c466c355c"))),
    Row("GET /healthz", .server, .served(.health)),
    Row("GET /readyz/", .server, .served(.readiness)),
    Row("GET /metrics", .server, .served(.metrics)),
    Row("POST /metrics", .server, .wrongMethod(allowed: ["GET"])),
    Row("GET /", .server, .unknown),
    Row("GET /%zz", .server, .malformed),
  ]

  @Test("jpush.md §1: paths lead where every shipping SDK's do", arguments: rows)
  func routes(row: Row) {
    let words = row.request.split(separator: " ").map(String.init)
    let path = String(words[1].prefix { $0 != "?" })
    let routing = Routing(method: words[0], path: path)
    #expect(routing.family == row.family, "\(row.request)")
    #expect(routing.target == row.target, "\(row.request)")
  }

  @Test("Basic credentials are read as RFC 7617 has them")
  func readsCredentials() {
    #expect(BasicCredentials("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")?.user == "Aladdin")
    #expect(BasicCredentials("basic QWxhZGRpbjpvcGVuIHNlc2FtZQ")?.password == "open sesame")
    #expect(BasicCredentials("Basic  QTo6Og==")?.password == "::")
    #expect(BasicCredentials("Basic Og==")?.user == "")
    for wrong in ["", "Basic", "Basic ", "Bearer QTpi", "Basic QQ==", "Basic A*Q=", "Basic /////w=="] {
      #expect(BasicCredentials(wrong) == nil, "\(wrong)")
    }
  }
}
