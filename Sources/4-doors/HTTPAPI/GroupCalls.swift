internal import PushPayload
internal import PushService
internal import Transport

extension HTTPAPI {
  /// `POST /v3/grouppush` and `/v3/grouppush/file` (jpush.md §5.4): 200 with each app's own answer by its key, once all parts that were taken are
  /// durable.
  func pushToGroup(_ call: inout Call, byFile: Bool) async throws(RequestFault) -> HTTPResponse {
    let group = try await authenticateGroup(&call)
    try refuseEncryption(call)
    let order = try PushReading.read(call.request.body)
    if byFile { try PushReading.checkFile(order) }
    let receipt = try await service.push(group, order)
    var answer: JSONObject = ["group_msgid": .string(String(receipt.id))]
    var warnings: [String] = []
    for (app, result) in receipt.parts {
      switch result {
      case .success(let part):
        answer[app.key] = [
          "sendno": .string(String(part.sendNumber)), "msg_id": .string(String(part.messageID)),
        ]
        warnings += part.warnings.map { "\(app.key): \($0)" }
      case .failure(let fault): answer[app.key] = ["error": Answers.error(fault)]
      }
    }
    var response = Answers.ok(.object(answer))
    response.headers["X-Belfry-Warnings"] = Answers.warningHeader(warnings)
    return response
  }

  private static let mostGroupPushes = 10

  /// `GET /v3/group/messages/detail?group_msgids=`: the sums over the group's apps.
  func groupMessagesDetail(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let group = try await authenticateGroup(&call)
    let ids = try ReportReading.messageIDs(try call.query(.report), "group_msgids", most: Self.mostGroupPushes)
    var items: [JSONValue] = []
    for id in ids {
      let reports: [PushReport] =
        if let number = id.number { try await service.reports(group, groupPush: number) } else { [] }
      var object: JSONObject = ["group_msgid": .string(id.text)]
      let sum = reports.reduce(into: ReportWriting.Figures()) { $0.add(ReportWriting.Figures($1)) }
      object.members += ReportWriting.detail(reports.isEmpty ? nil : sum).members
      items.append(.object(object))
    }
    return Answers.ok(.array(items))
  }

  /// `GET /v3/group/users?time_unit=&start=&duration=`: the sums over the group's apps, of a month at most.
  func groupUsers(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let group = try await authenticateGroup(&call)
    let question = try ReportReading.users(try call.query(.report), mostDays: 31)
    var sums: [UsageRow] = []
    for app in try await service.apps(of: group) {
      let rows = try await service.usage(app, question.period, from: question.start, count: question.count)
      if sums.isEmpty {
        sums = rows
      } else {
        for index in sums.indices {
          sums[index].new += rows[index].new
          sums[index].active += rows[index].active
        }
      }
    }
    return Answers.ok(ReportWriting.users(question, sums))
  }
}

extension ReportWriting.Figures {
  mutating func add(_ other: Self) {
    targeted += other.targeted
    accepted += other.accepted
    received += other.received
    shown += other.shown
    clicked += other.clicked
    guard let others = other.message else { return }
    message = MessageCounts(
      targeted: others.targeted + (message?.targeted ?? 0), delivered: others.delivered + (message?.delivered ?? 0),
      read: others.read + (message?.read ?? 0))
  }
}
