internal import Basics
internal import PushPayload

/// A push whose headers and body are in order; whether its token lives is the registry's to say.
struct CheckedPush: Sendable {
  /// What stood behind `/3/device/`.
  var token: Bytes
  var environment: SimulatedEnvironment
  /// `apns-id` as it came, byte for byte; nil when the server has to make one.
  var id: Bytes?
  var topic: Bytes
  /// Inferred when the header was absent.
  var pushType: PushType
  var isPushTypeInferred: Bool
  var priority: PushPriority
  /// Seconds since 1970; nil when the header was absent.
  var expiration: Int64?
  var collapseID: Bytes?
  var sentHeaders = SentHeaders()
  /// What lint says of body and headers.
  var findings: [Finding] = []
}

/// Every check that needs no more than the request and its connection, in this order, which is ours since Apple publishes
/// none: method, path, repeated headers, `apns-id`, authentication, topic, push type, priority, expiration, collapse id,
/// body empty, body too large.
struct RequestChecks: Sendable {
  struct Rules: Sendable {
    var trust = ConnectionTrust.Rules()
    /// Refuse a push type whose suffix the topic lacks with `BadTopic` (case C13). Off: let the token decide.
    var isTopicSuffixStrict = true
    /// Refuse `background` at priority 10 with `BadPriority`; Apple's page calls it an error but names no reason.
    var isBackgroundPriorityStrict = false
    /// Refuse a body that is not a JSON object with `PayloadEmpty`. Off: accept and drop.
    var isJSONRequired = true
  }

  let rules: Rules

  /// Judges one request; `trust` learns what it proves. Where the sandbox is the usual environment, a request whose host
  /// is `api.push.apple.com` is production all the same.
  func check(
    _ request: PushRequest, body: [UInt8], trust: inout ConnectionTrust, defaultEnvironment: SimulatedEnvironment,
    now: Instant, directory: ProviderDirectory
  ) throws(Refusal) -> CheckedPush {
    guard request.method.equals(Self.post) else {
      throw Refusal(.methodNotAllowed, "the method is \(text(request.method)); only POST is known here")
    }
    let token = try Self.token(inPath: request.path)
    if let repeated = request.repeated {
      throw Refusal(.duplicateHeaders, "the header \(text(repeated)) came twice")
    }
    let id = request[.messageID]
    try Self.messageID(id, "apns-id")
    let environment: SimulatedEnvironment =
      switch defaultEnvironment {
      case .sandbox: request.host.flatMap { SimulatedEnvironment(host: $0) } ?? .sandbox
      case .production: .production
      }
    let grant = try trust.authenticate(
      request[.authorization], environment: environment, now: now, rules: rules.trust, directory: directory)
    let topic = try Self.topic(request[.topic], grant: grant)
    let (pushType, isInferred) = try pushType(request[.pushType], topic: topic, body: body)
    let priority = try priority(request[.priority], pushType: pushType)
    let expiration = try Self.expiration(request[.expiration])
    let collapseID = request[.collapseID]
    if let collapseID, collapseID.count > 64 {
      throw Refusal(
        .badCollapseID, "apns-collapse-id is \(collapseID.count) bytes long; 64 bytes of UTF-8 are the most")
    }
    let text = try check(body: body, pushType: pushType)
    var push = CheckedPush(
      token: token, environment: environment, id: id, topic: topic, pushType: pushType,
      isPushTypeInferred: isInferred, priority: priority, expiration: expiration, collapseID: collapseID,
      sentHeaders: SentHeaders(
        hasID: id != nil, hasPushType: !isInferred, hasPriority: request[.priority] != nil,
        unknown: request.unknownAPNSHeaders))
    push.findings = text.findings(push.lintContext(now: now))
    return push
  }

  // MARK: Each header

  private static let post: StaticString = "POST"
  private static let devicePath: StaticString = "/3/device"

  static func messageID(_ value: Bytes?, _ header: StaticString) throws(Refusal) {
    guard let value, !UUIDText.isCanonical(value) else { return }
    throw Refusal(.badMessageID, "\(header) is \"\(text(value))\"; it must be a UUID in the form 8-4-4-4-12")
  }

  private static func token(inPath path: Bytes) throws(Refusal) -> Bytes {
    let length = devicePath.utf8CodeUnitCount
    guard path.prefix(length).equals(devicePath) else {
      throw Refusal(.badPath, "the path is \"\(text(path))\"; a push goes to /3/device/<token>")
    }
    let rest = path.dropFirst(length)
    let token = rest.dropFirst()
    guard rest.isEmpty || rest.first == UInt8(ascii: "/"), !token.contains(UInt8(ascii: "/")) else {
      throw Refusal(.badPath, "the path is \"\(text(path))\"; a push goes to /3/device/<token>")
    }
    if token.isEmpty { throw Refusal(.missingDeviceToken, "the path ends before the device token") }
    return token
  }

  private static func topic(_ value: Bytes?, grant: ConnectionTrust.Grant) throws(Refusal) -> Bytes {
    guard let value, !value.isEmpty else {
      switch grant {
      case .certificate(let certificate) where certificate.topics.count == 1:
        return Array(certificate.topics[0].utf8)[...]
      case .certificate(let certificate):
        throw Refusal(
          .missingTopic, "no apns-topic, and the certificate lists \(certificate.topics.count) topics to choose from")
      case .key:
        throw Refusal(.missingTopic, "no apns-topic; put the bundle id there, with the suffix of the push type")
      }
    }
    guard value.count <= 255, value.allSatisfy(\.isTopicCharacter), value.first != UInt8(ascii: ".") else {
      throw Refusal(.badTopic, "apns-topic is \"\(text(value))\", which cannot be a bundle id")
    }
    switch grant {
    case .certificate(let certificate):
      guard certificate.topics.contains(where: { value.elementsEqual($0.utf8) }) else {
        throw Refusal(
          .topicDisallowed,
          "the certificate allows \(certificate.topics.joined(separator: ", ")), not \"\(text(value))\"")
      }
    case .key(let key):
      if case .topics(let topics, _, family: _) = key.scope, !topics.contains(String(decoding: value, as: UTF8.self)) {
        throw Refusal(.topicDisallowed, "key \(key.keyID) is not associated with the topic \"\(text(value))\"")
      }
    }
    return value
  }

  private func pushType(_ value: Bytes?, topic: Bytes, body: [UInt8]) throws(Refusal) -> (PushType, Bool) {
    guard let value else { return (TopicSuffix.pushType(ofTopic: topic) ?? Self.inferred(from: body), true) }
    guard let type = PushType(bytes: value) else {
      throw Refusal(
        .invalidPushType,
        "apns-push-type is \"\(text(value))\"; known are \(PushType.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    if rules.isTopicSuffixStrict, let fault = TopicSuffix.fault(of: type, topic: topic) {
      throw Refusal(.badTopic, fault)
    }
    return (type, false)
  }

  private static func inferred(from body: [UInt8]) -> PushType {
    (try? JSONReader.read(body)).map { PushType.inferred(from: $0.value) } ?? .alert
  }

  private func priority(_ value: Bytes?, pushType: PushType) throws(Refusal) -> PushPriority {
    let priority: PushPriority
    switch value {
    case .none: priority = .immediate
    case .some(let value) where value.equals("10" as StaticString): priority = .immediate
    case .some(let value) where value.equals("5" as StaticString): priority = .considerate
    case .some(let value) where value.equals("1" as StaticString): priority = .powerFirst
    case .some(let value):
      throw Refusal(.badPriority, "apns-priority is \"\(text(value))\"; it must be 10, 5 or 1")
    }
    if rules.isBackgroundPriorityStrict, pushType == .background, priority == .immediate {
      throw Refusal(.badPriority, "a background push must have priority 5, 10 is the default (strict mode)")
    }
    return priority
  }

  static func expiration(_ value: Bytes?) throws(Refusal) -> Int64? {
    guard let value else { return nil }
    var seconds: Int64 = 0
    var isNumber = !value.isEmpty
    for character in value where isNumber {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else {
        isNumber = false
        break
      }
      let (tenfold, tooLarge) = seconds.multipliedReportingOverflow(by: 10)
      let (sum, tooLargeSum) = tenfold.addingReportingOverflow(Int64(character - UInt8(ascii: "0")))
      if tooLarge || tooLargeSum { isNumber = false }
      seconds = sum
    }
    guard isNumber else {
      throw Refusal(
        .badExpirationDate, "apns-expiration is \"\(text(value))\"; it must be whole seconds since 1970, or 0")
    }
    return seconds
  }

  static func size(of body: [UInt8], limit: Int, _ kind: @autoclosure () -> String) throws(Refusal) {
    if body.isEmpty { throw Refusal(.payloadEmpty, "the body is empty") }
    guard body.count <= limit else {
      throw Refusal(
        .payloadTooLarge,
        "the body is \(body.count) bytes long, \(body.count - limit) more than the \(limit) of a \(kind())")
    }
  }

  /// The body, read: grammar and lint need it once.
  private func check(body: [UInt8], pushType: PushType) throws(Refusal) -> LintText {
    try Self.size(of: body, limit: pushType.sizeLimit, "\(pushType) push")
    let text = LintText(body)
    guard rules.isJSONRequired else { return text }
    if let fault = text.fault { throw Refusal(.payloadEmpty, "the body is not JSON: \(fault)") }
    guard text.isObject else { throw Refusal(.payloadEmpty, "the body is JSON, but not an object") }
    return text
  }
}

extension CheckedPush {
  /// Its headers as they came, for lint; a topic that the certificate gave counts as sent.
  func lintContext(now: Instant) -> LintContext {
    var headers = PushHeaders()
    if sentHeaders.hasID { headers.id = id.map { String(decoding: $0, as: UTF8.self) } }
    headers.topic = String(decoding: topic, as: UTF8.self)
    if sentHeaders.hasPushType { headers.pushType = pushType.rawValue }
    if sentHeaders.hasPriority { headers.priority = "\(priority.rawValue)" }
    headers.expiration = expiration.map { "\($0)" }
    headers.collapseID = collapseID.map { String(decoding: $0, as: UTF8.self) }
    for name in sentHeaders.unknown { headers.add(unknown: name) }
    var context = LintContext()
    context.headers = headers
    context.headersAreComplete = true
    context.now = now
    return context
  }
}
