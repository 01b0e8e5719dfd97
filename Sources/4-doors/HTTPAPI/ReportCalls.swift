internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

/// JPush's report calls (jpush.md §8). What is counted nowhere (Android) is null, as is all of an id that
/// the app has no push under.
extension HTTPAPI {
  private static let mostMessages = 100

  /// `GET /v3/received?msg_ids=`.
  func received(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try await reports(&call) { _, id, report in
      [
        "msg_id": .string(id), "android_received": .null, "ios_apns_sent": ReportWriting.count(report?.accepted),
        "ios_apns_received": ReportWriting.count(report?.received),
        "ios_msg_received": ReportWriting.count(report?.message?.delivered), "wp_mpns_sent": .null,
      ]
    }
  }

  /// `GET /v3/received/detail?msg_ids=`.
  func receivedDetail(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try await reports(&call) { _, id, report in
      var object: JSONObject = ["msg_id": .string(id)]
      let unknown = ReportWriting.nulls(
        "jpush_received", "android_pns_sent", "android_pns_received", "ios_apns_sent", "ios_apns_received",
        "ios_msg_received", "live_acivity_sent", "live_acivity_received", "wp_mpns_sent", "quickapp_jpush_received",
        "quickapp_pns_sent", "hmos_hmpns_sent", "hmos_hmpns_received", "hmos_msg_sent", "hmos_msg_received")
      object.members += unknown.members
      if report?.isOfLiveActivity == true {
        object["live_acivity_sent"] = ReportWriting.count(report?.accepted)
      } else {
        object["ios_apns_sent"] = ReportWriting.count(report?.accepted)
        object["ios_apns_received"] = ReportWriting.count(report?.received)
      }
      object["ios_msg_received"] = ReportWriting.count(report?.message?.delivered)
      return object
    }
  }

  /// `GET /v3/messages?msg_ids=`.
  func messages(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try await reports(&call) { _, id, report in
      [
        "msg_id": .string(id),
        "android": .object(ReportWriting.nulls("received", "target", "online_push", "click", "msg_click")),
        "ios": [
          "apns_sent": ReportWriting.count(report?.accepted), "apns_target": ReportWriting.count(report?.targeted),
          "apns_received": ReportWriting.count(report?.received), "click": ReportWriting.count(report?.clicked),
          "target": ReportWriting.count(report?.message?.targeted),
          "received": ReportWriting.count(report?.message?.delivered),
        ],
        "winphone": .object(ReportWriting.nulls("mpns_target", "mpns_sent", "click")),
      ]
    }
  }

  /// `GET /v3/messages/detail?msg_ids=`.
  func messagesDetail(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try await reports(&call) { app, id, report throws(RequestFault) in
      let beside: PushReport? =
        if let companion = report?.companion { try await service.report(app, messageID: companion) } else { nil }
      var object: JSONObject = ["msg_id": .string(id)]
      object.members += ReportWriting.detail(of: report, beside: beside).members
      return object
    }
  }

  private func reports(
    _ call: inout Call, _ write: (AppRecord, String, PushReport?) async throws(RequestFault) -> JSONObject
  ) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let ids = try ReportReading.messageIDs(try call.query(.report), "msg_ids", most: Self.mostMessages)
    var items: [JSONValue] = []
    for id in ids {
      let report: PushReport? =
        if let number = id.number { try await service.report(app, messageID: number) } else { nil }
      items.append(.object(try await write(app, id.text, report)))
    }
    return Answers.ok(.array(items))
  }

  /// `GET /v3/users?time_unit=&start=&duration=`.
  func users(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let question = try ReportReading.users(try call.query(.report))
    let rows = try await service.usage(app, question.period, from: question.start, count: question.count)
    return Answers.ok(ReportWriting.users(question, rows))
  }

  /// `POST /v3/status/message`: whether each device has said that it had the push.
  func messageStatus(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let question = try ReportReading.status(call.request.body)
    var answer = JSONObject()
    let statuses = try await service.arrivals(
      app, messageID: question.message.number ?? 0, registrationIDs: question.registrationIDs)
    for (id, status) in zip(question.registrationIDs, statuses) where answer[id] == nil {
      answer.members.append(.init(id, ["status": .number(JSONNumber(status.number))]))
    }
    return Answers.ok(.object(answer))
  }
}

/// What reports have in common, in JPush's words.
enum ReportWriting {
  /// What JPush counts of a push.
  struct Figures {
    var targeted = 0
    var accepted = 0
    var received = 0
    var shown = 0
    var clicked = 0
    /// Of its in-app message; nil without one.
    var message: MessageCounts?
  }

  static func count(_ count: Int?) -> JSONValue { count.map { .number(JSONNumber($0)) } ?? .null }

  static func nulls(_ keys: String...) -> JSONObject { JSONObject(keys.map { .init($0, .null) }) }

  /// `beside` is the call that was accepted with it; a call alone is one itself.
  static func detail(of report: PushReport?, beside: PushReport?) -> JSONObject {
    detail(
      report.map(Figures.init), isOfLiveActivity: report?.isOfLiveActivity ?? false, isCall: report?.isCall ?? false,
      call: beside.map(Figures.init))
  }

  private static func channel(_ figures: Figures?) -> JSONObject {
    [
      "target": count(figures?.targeted), "sent": count(figures?.accepted), "received": count(figures?.received),
      "display": count(figures?.shown), "click": count(figures?.clicked),
    ]
  }

  static func detail(
    _ figures: Figures?, isOfLiveActivity: Bool = false, isCall: Bool = false, call: Figures? = nil
  ) -> JSONObject {
    var notification = channel(figures)
    var parts: JSONObject = [isCall ? "voip" : "apns": .object(notification)]
    if let call { parts["voip"] = .object(channel(call)) }
    notification["sub_ios"] = .object(parts)
    return [
      "jpush": .object(nulls("target", "online_push", "received", "click", "msg_click")),
      "android_pns": .object(nulls("pns_target", "pns_sent", "pns_received")),
      "ios": [
        "apns_target": count(figures?.targeted), "apns_sent": count(figures?.accepted),
        "apns_received": count(figures?.received), "apns_click": count(figures?.clicked),
        "msg_target": count(figures?.message?.targeted), "msg_received": count(figures?.message?.delivered),
      ],
      "winphone": .object(nulls("mpns_target", "mpns_sent", "click")),
      "details": [isOfLiveActivity ? "live_activity" : "notification": .object(notification)],
    ]
  }

  /// Who is heard of is both online and active: there is no way to tell the two apart.
  static func users(
    _ question: ReportReading.Users, _ rows: [UsageRow]
  ) -> JSONValue {
    func platform(new: Int, active: Int) -> JSONValue {
      ["new": count(new), "online": count(active), "active": count(active)]
    }
    return [
      "time_unit": .string(question.period.word), "start": .string(question.startText),
      "duration": .number(JSONNumber(question.count)),
      "items": .array(
        rows.map {
          [
            "time": .string(question.period.text($0.start)), "android": platform(new: 0, active: 0),
            "ios": platform(new: $0.new, active: $0.active),
          ]
        }),
    ]
  }
}

extension ReportWriting.Figures {
  init(_ report: PushReport) {
    self.init(
      targeted: report.targeted, accepted: report.accepted, received: report.received, shown: report.shown,
      clicked: report.clicked, message: report.message)
  }
}

extension UsagePeriod {
  var word: String {
    switch self {
    case .hour: "HOUR"
    case .day: "DAY"
    case .month: "MONTH"
    }
  }
}

extension PushArrival {
  /// JPush's (jpush.md §8); 4 would be a fault of the system.
  fileprivate var number: Int {
    switch self {
    case .arrived: 0
    case .notArrived: 1
    case .noSuchDevice: 2
    case .notTargeted: 3
    }
  }
}
