internal import Foundation

/// The calls of `/device/v1` (docs/api.md).
struct DeviceAPI: Sendable {
  let transport: any BelfryTransport
  /// Without a path.
  let service: URL
  let appKey: String

  struct Registered: Decodable {
    var registrationId: String
    var deviceSecret: String
  }

  func register(_ token: DeviceToken, _ facts: DeviceFacts) async throws(BelfryFault) -> Registered {
    let answer = try await call(
      "POST", "", nil, Body(appKey: appKey, token: token.hex, environment: token.environment, facts: facts))
    guard let registered = try? JSONDecoder().decode(Registered.self, from: answer) else {
      throw BelfryFault(.unknown, "The service's answer is not understood. Is the address that of a Belfry service?")
    }
    return registered
  }

  func change(_ registration: Registration, _ body: Body) async throws(BelfryFault) {
    _ = try await call("POST", "/" + registration.id, registration, body)
  }

  func state(_ registration: Registration) async throws(BelfryFault) -> DeviceState {
    let answer = try await call("GET", "/" + registration.id, registration, nil)
    guard let state = try? JSONDecoder().decode(DeviceState.self, from: answer) else {
      throw BelfryFault(.unknown, "The service's answer is not understood.")
    }
    return state
  }

  func report(_ registration: Registration, _ reports: [AppStore.QueuedReport]) async throws(BelfryFault) {
    let body = Body(
      reports: reports.map { report in
        Body.Report(msgId: report.message, kind: report.kind, at: Body.time(milliseconds: report.at))
      })
    _ = try await call("POST", "/" + registration.id + "/reports", registration, body)
  }

  /// Members that are nil are not sent: they stay as they are.
  struct Body: Encodable {
    var appKey: String?
    var token: String?
    var environment: APNSEnvironment?
    var tags: Tags?
    /// "": none.
    var alias: String?
    var mobile: String?
    var badge: Int?
    var onlyScheduled: Bool?
    var quietHours: String?
    var channels: Channels?
    var voipToken: String?
    var activityStartTokens: [String: String]?
    var activities: [String: String]?
    var reports: [Report]?
    var facts: DeviceFacts?

    enum Tags: Encodable {
      case clear
      case change(add: [String], remove: [String])

      private enum Keys: String, CodingKey { case add, remove }

      func encode(to encoder: any Encoder) throws {
        switch self {
        case .clear:
          var value = encoder.singleValueContainer()
          try value.encode("")
        case .change(let add, let remove):
          var members = encoder.container(keyedBy: Keys.self)
          try members.encode(add, forKey: .add)
          try members.encode(remove, forKey: .remove)
        }
      }
    }

    enum Channels: Encodable {
      case all
      case only([String])

      func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .all: try value.encode("all")
        case .only(let names): try value.encode(names)
        }
      }
    }

    struct Report: Encodable {
      var msgId: String
      var kind: PushReport
      /// RFC 3339.
      var at: String
    }

    private enum Keys: String, CodingKey {
      case appKey, token, environment, tags, alias, mobile, badge, onlyScheduled, quietHours, channels, reports
      case voipToken, activityStartTokens, activities
      case osVersion, appVersion, language, timeZone, model, permission
    }

    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: Keys.self)
      try members.encodeIfPresent(appKey, forKey: .appKey)
      try members.encodeIfPresent(token, forKey: .token)
      try members.encodeIfPresent(environment, forKey: .environment)
      try members.encodeIfPresent(tags, forKey: .tags)
      try members.encodeIfPresent(alias, forKey: .alias)
      try members.encodeIfPresent(mobile, forKey: .mobile)
      try members.encodeIfPresent(badge, forKey: .badge)
      try members.encodeIfPresent(onlyScheduled, forKey: .onlyScheduled)
      try members.encodeIfPresent(quietHours, forKey: .quietHours)
      try members.encodeIfPresent(channels, forKey: .channels)
      try members.encodeIfPresent(voipToken, forKey: .voipToken)
      try members.encodeIfPresent(activityStartTokens, forKey: .activityStartTokens)
      try members.encodeIfPresent(activities, forKey: .activities)
      try members.encodeIfPresent(reports, forKey: .reports)
      guard let facts else { return }
      for (key, fact) in [
        (Keys.osVersion, facts.osVersion), (.appVersion, facts.appVersion), (.language, facts.language),
        (.timeZone, facts.timeZone), (.model, facts.model),
      ] {
        try members.encodeIfPresent(fact.map(Self.short), forKey: key)
      }
      try members.encodeIfPresent(facts.permission, forKey: .permission)
    }

    /// The service keeps 64 bytes of a fact.
    private static func short(_ fact: String) -> String {
      var fact = fact
      while fact.utf8.count > 64 { fact.removeLast() }
      return fact
    }

    static func time(milliseconds: Int64) -> String {
      let format = ISO8601DateFormatter()
      format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
      return format.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
    }
  }

  private func call(
    _ method: String, _ path: String, _ registration: Registration?, _ body: Body?
  ) async throws(BelfryFault) -> Data {
    let url = service.appendingPathComponent("device/v1/registrations" + path)
    var request = ServiceRequest(method: method, url: url)
    if let registration { (request.user, request.password) = (appKey, registration.secret) }
    if let body { request.body = Data(encoded(body).utf8) }
    let answer: ServiceAnswer
    do {
      answer = try await transport.call(request)
    } catch {
      throw BelfryFault(.noAnswer, "The service did not answer: \(error). Is there a network?")
    }
    guard answer.status == 200 else { throw Self.fault(answer) }
    return answer.body
  }

  private struct Refusal: Decodable {
    struct Cause: Decodable {
      var code: Int
      var message: String
    }

    var error: Cause
  }

  private static func fault(_ answer: ServiceAnswer) -> BelfryFault {
    let refusal = (try? JSONDecoder().decode(Refusal.self, from: answer.body))?.error
    let words = refusal?.message ?? "The service answered \(answer.status)."
    let code: BelfryFault.Code =
      switch (answer.status, refusal?.code) {
      case (_, 7015): .aliasFull
      case (_, 7016): .tagsFull
      case (429, _): .tooFrequent
      case (401, _): .notAuthorized
      case (500..., _): .serviceBusy
      // what is not a refusal of ours: another server, a proxy, a network that wants a login
      case (_, nil): .unknown
      default: .invalid
      }
    return BelfryFault(code, words)
  }
}

/// What the service keeps of this device.
public struct DeviceState: Hashable, Sendable, Codable {
  public let registrationId: String
  public let tags: [String]
  public let alias: String?
  public let mobile: String?
  /// The number that a push's "+1" counts from.
  public let badge: Int
  /// The user wants no notification but the scheduled one.
  public let onlyScheduled: Bool
  /// As "22:00-07:00"; nil: when the app's hours say.
  public let quietHours: String?
  /// nil: all.
  public let channels: [String]?
}
