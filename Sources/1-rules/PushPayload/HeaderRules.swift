public import Basics

extension PushHeaders {
  /// What headers are judged against.
  public struct Setting: Sendable {
    /// Nothing else will be sent: what is absent is judged too.
    public var isComplete = true
    /// For a push without `apns-push-type`: what its payload is taken for; nil when that is not known.
    public var inferredType: PushType?
    /// nil leaves the past and the far future unjudged.
    public var now: Instant?
    /// Off for a connection whose certificate has a single topic.
    public var needsTopic = true
    public var isBroadcast = false
    /// The same headers go with several different pushes.
    public var isTemplate = false

    public init() {}
  }

  /// Every fault, in the order in which our simulated APNs checks (spec apns.md §8.3): the first with a `reason` is the
  /// one that APNs would answer.
  public func faults(_ setting: Setting = Setting()) -> [HeaderFault] {
    var faults: [HeaderFault] = []
    judgeNames(setting, &faults)
    judgeID(&faults)
    if setting.isBroadcast { judgeChannel(setting, &faults) } else { judgeTopic(setting, &faults) }
    judgePushType(setting, &faults)
    judgePriority(setting, &faults)
    judgeExpiration(setting, &faults)
    judgeCollapseID(setting, &faults)
    return faults
  }

  private func judgeNames(_ setting: Setting, _ faults: inout [HeaderFault]) {
    for name in repeated {
      faults.append(
        HeaderFault(
          .duplicateHeader, .error, Name(rawValue: name) ?? .id, .duplicateHeaders, "\(name) comes more than once",
          "APNs refuses the push.", "Send every header once."))
    }
    for name in unknown {
      switch Name(rawValue: name) {
      case .requestID, .channelID:
        if setting.isBroadcast { continue }
        faults.append(
          HeaderFault(
            .unknownHeader, .warning, .channelID, nil, "\(name) belongs to broadcasts to channels",
            "A push to a device token ignores it.", "Leave it out."))
      case .id, .topic, .pushType, .priority, .expiration, .collapseID, .authorization, .uniqueID, nil:
        let near = nearest(to: name, in: Name.allCases.map(\.rawValue))
        faults.append(
          HeaderFault(
            .unknownHeader, .warning, near.flatMap(Name.init(rawValue:)) ?? .id, nil, "APNs knows no header \(name)",
            "It is ignored.", near.map { "Write \($0)." } ?? "Leave it out."))
      }
    }
  }

  private func judgeID(_ faults: inout [HeaderFault]) {
    guard let id else { return }
    if !UUIDText.isCanonical(id.utf8) {
      faults.append(
        HeaderFault(
          .idInvalid, .error, .id, .badMessageID, "apns-id is \(quoted(id)), not a UUID", "APNs refuses the push.",
          "Send 8-4-4-4-12 lower-case hexadecimal digits, or leave the header out."))
    } else if id.utf8.contains(where: { UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0 }) {
      faults.append(
        HeaderFault(
          .idUpperCase, .hint, .id, nil, "apns-id has upper-case digits",
          "APNs takes it; Apple's page asks for lower case.", "Send \(id.lowercased())."))
    }
  }

  /// A broadcast names its channel in a header and its app in the path (spec apns.md §13.2).
  private func judgeChannel(_ setting: Setting, _ faults: inout [HeaderFault]) {
    if let requestID, !UUIDText.isCanonical(requestID.utf8) {
      faults.append(
        HeaderFault(
          .idInvalid, .error, .requestID, .badMessageID, "apns-request-id is \(quoted(requestID)), not a UUID",
          "APNs refuses the broadcast.", "Send 8-4-4-4-12 lower-case hexadecimal digits, or leave the header out."))
    }
    if let channelID, !channelID.isEmpty {
      if !ChannelID.isWellFormed(channelID.utf8) {
        faults.append(
          HeaderFault(
            .channelIDInvalid, .error, .channelID, .badChannelID, "apns-channel-id is \(quoted(channelID)), no base64",
            "APNs refuses the broadcast.", "Send the id as APNs gave it when the channel was made."))
      }
    } else if setting.isComplete || channelID != nil {
      faults.append(
        HeaderFault(
          .channelIDMissing, .error, .channelID, .missingChannelID,
          "apns-channel-id is \(channelID == nil ? "absent" : "empty")", "APNs refuses the broadcast.",
          "Send the channel's id, as APNs gave it."))
    }
    if topic != nil {
      faults.append(
        HeaderFault(
          .unknownHeader, .hint, .topic, nil, "a broadcast has no apns-topic", "It is ignored: the app is in the path.",
          "Leave it out."))
    }
  }

  private func judgeTopic(_ setting: Setting, _ faults: inout [HeaderFault]) {
    guard let topic, !topic.isEmpty else {
      guard setting.isComplete && setting.needsTopic || topic != nil else { return }
      faults.append(
        HeaderFault(
          .topicMissing, .error, .topic, .missingTopic, "apns-topic is \(topic == nil ? "absent" : "empty")",
          "APNs refuses the push.", "Send the app's bundle id, with the suffix of the push type."))
      return
    }
    guard topic.utf8.allSatisfy(\.isTopicCharacter) else {
      faults.append(
        HeaderFault(
          .topicInvalid, .error, .topic, .badTopic, "apns-topic is \(quoted(topic)), which no bundle id can be",
          "APNs refuses the push.", "Send the app's bundle id: letters, digits, dots and hyphens."))
      return
    }
    guard let type = knownPushType ?? (pushType == nil ? setting.inferredType : nil) else { return }
    let other = PushType.suffixed(topic: topic)
    if type == .mdm {
      if topic.hasPrefix("com.apple.mgmt.") { return }
      faults.append(
        HeaderFault(
          .topicInvalid, .warning, .topic, nil, "the topic of an mdm push does not begin with com.apple.mgmt.",
          "APNs refuses a topic that the certificate does not name.",
          "Send the UID of the MDM push certificate's subject."))
    } else if type.topicSuffix.isEmpty {
      guard let other, pushType != nil || setting.inferredType == nil else { return }
      faults.append(
        HeaderFault(
          .topicSuffix, .warning, .topic, nil,
          "the topic ends with \(other.topicSuffix), the suffix of push type \(other.rawValue), but the push is of type "
            + type.rawValue,
          "A token of the app itself is not for this topic: APNs answers DeviceTokenNotForTopic.",
          "Send \(quoted(String(topic.dropLast(other.topicSuffix.count)))), or push type \(other.rawValue)."))
    } else if type.bundleID(topic: topic) == nil {
      let bundle = other.map { String(topic.dropLast($0.topicSuffix.count)) } ?? topic
      faults.append(
        HeaderFault(
          .topicSuffix, .error, .topic, .deviceTokenNotForTopic,
          "the topic of push type \(type.rawValue) must end with \(type.topicSuffix)",
          "The tokens of this type belong to the topic with the suffix: APNs answers DeviceTokenNotForTopic.",
          "Send \(quoted(type.topic(bundleID: bundle)))."))
    }
  }

  private func judgePushType(_ setting: Setting, _ faults: inout [HeaderFault]) {
    guard let pushType else {
      guard setting.isComplete else { return }
      faults.append(
        HeaderFault(
          .pushTypeMissing, .warning, .pushType, nil, "apns-push-type is absent",
          "watchOS refuses the push; elsewhere it may be late or dropped.",
          "Send \((setting.inferredType ?? .alert).rawValue)."))
      return
    }
    if setting.isBroadcast {
      if pushType.lowercased() == PushType.liveactivity.rawValue { return }
      faults.append(
        HeaderFault(
          .pushTypeUnknown, .error, .pushType, .invalidPushType, "a broadcast of push type \(quoted(pushType))",
          "APNs refuses it: only Live Activities can be broadcast.", "Send liveactivity."))
    } else if knownPushType == nil {
      let known = PushType.allCases.map(\.rawValue)
      let near = nearest(to: pushType, in: known)
      faults.append(
        HeaderFault(
          .pushTypeUnknown, .error, .pushType, .invalidPushType, "APNs knows no push type \(quoted(pushType))",
          "APNs refuses the push.", near.map { "Send \($0)." } ?? "Send one of: \(known.joined(separator: ", "))."))
    }
  }

  private func judgePriority(_ setting: Setting, _ faults: inout [HeaderFault]) {
    guard let known = knownPriority else {
      faults.append(
        HeaderFault(
          .priorityInvalid, .error, .priority, .badPriority, "apns-priority is \(quoted(priority ?? ""))",
          "APNs refuses the push.", "Send 10, 5 or 1."))
      return
    }
    if setting.isBroadcast {
      guard priority == nil, setting.isComplete else { return }
      faults.append(
        HeaderFault(
          .priorityInvalid, .error, .priority, .badPriority, "apns-priority is absent", "A broadcast must state it.",
          "Send 5 or 10."))
      return
    }
    guard priority != nil || setting.isComplete, let type = knownPushType ?? setting.inferredType,
      !type.priorities.contains(known)
    else { return }
    let allowed = type.priorities.map { String($0.rawValue) }.joined(separator: " or ")
    let found = priority == nil ? "no apns-priority, which means 10," : "apns-priority \(known.rawValue)"
    faults.append(
      HeaderFault(
        .priorityUnfit, .warning, .priority, nil, "\(found) does not fit push type \(type.rawValue)",
        type == .background
          ? "Apple calls it an error: the push is throttled or silently dropped."
          : "APNs may delay or drop the push.",
        "Send \(allowed)."))
  }

  private func judgeExpiration(_ setting: Setting, _ faults: inout [HeaderFault]) {
    func fault(
      _ code: LintCode, _ severity: Severity, _ reason: RefusalReason?, _ found: String, _ effect: String,
      _ fix: String
    ) {
      faults.append(HeaderFault(code, severity, .expiration, reason, found, effect, fix))
    }
    let type = knownPushType ?? setting.inferredType
    switch knownExpiration {
    case nil:
      fault(
        .expirationInvalid, .error, .badExpirationDate,
        "apns-expiration is \(quoted(expiration ?? "")), not whole seconds since 1970", "APNs refuses the push.",
        "Send the time in seconds since 1970, or 0 for a single attempt.")
    case .unstated:
      guard setting.isBroadcast, setting.isComplete else { return }
      fault(
        .expirationInvalid, .error, .badExpirationDate, "apns-expiration is absent", "A broadcast must state it.",
        "Send 0, or the time in seconds since 1970.")
    case .once: return
    case .at(let instant):
      if let date = Self.dateIfMilliseconds(instant.seconds) {
        return fault(
          .expirationMilliseconds, .warning, nil, "apns-expiration \(instant.seconds) looks like milliseconds",
          "Read as seconds it lies thousands of years ahead: APNs keeps the push as long as it keeps any, 30 days.",
          "Send \(date).")
      }
      if instant.seconds < Self.longestInterval {
        return fault(
          .expirationInterval, .warning, nil, "apns-expiration \(instant.seconds) looks like an interval",
          "Read as a date it lies in the 1970s: the push gets one attempt at most.",
          setting.now.map { "Send \($0.seconds + instant.seconds), which is now and \(instant.seconds) seconds." }
            ?? "Send the time now plus \(instant.seconds), in seconds since 1970.")
      }
      guard let now = setting.now else { return }
      if instant <= now {
        fault(
          .expirationPast, .warning, nil, "apns-expiration \(instant.seconds) is past: \(instant)",
          "The push gets one attempt at most and is not kept for a phone that is away.",
          "Send a time to come, or 0 if one attempt is meant.")
      } else if type == .voip || type == .pushtotalk, instant > now + .seconds(60) {
        fault(
          .expirationUnfit, .warning, nil,
          "a \(type?.rawValue ?? "") push that may be delivered \((instant - now).words) late",
          "The phone rings for a call that is long over.", "Send 0, or a few seconds from now.")
      } else if instant > now + .days(30) {
        fault(
          .expirationTooFar, .hint, nil, "apns-expiration is \((instant - now).words) ahead",
          "APNs keeps a push for 30 days at most.", "Send at most \((now + .days(30)).seconds).")
      }
    }
  }

  /// Up to here, ten years, a number is more likely a length of time than a date before 1980.
  private static let longestInterval: Int64 = 315_360_000

  /// The seconds meant, if `seconds` is a time in milliseconds: nobody means the year 5138 and later.
  static func dateIfMilliseconds(_ seconds: Int64) -> Int64? { seconds >= 100_000_000_000 ? seconds / 1000 : nil }

  private func judgeCollapseID(_ setting: Setting, _ faults: inout [HeaderFault]) {
    guard let collapseID else { return }
    let count = collapseID.utf8.count
    if count > Self.collapseIDLimit {
      faults.append(
        HeaderFault(
          .collapseIDTooLong, .error, .collapseID, .badCollapseID,
          "apns-collapse-id has \(count) bytes of UTF-8, \(count - Self.collapseIDLimit) more than the "
            + "\(Self.collapseIDLimit) allowed",
          "APNs refuses the push.",
          "Shorten it so that ids stay different, for instance to a hash: cut ids may replace each other."))
    } else if setting.isTemplate, !collapseID.contains(where: { "{$%<".contains($0) }) {
      faults.append(
        HeaderFault(
          .collapseIDShared, .warning, .collapseID, nil,
          "the same apns-collapse-id \(quoted(collapseID)) goes with several pushes",
          "On a phone each push replaces the one before: only the last stays.",
          "Give every push an id of its own, or put something variable into it."))
    }
  }

  private func quoted(_ text: String) -> String {
    JSONValue.string(text.count > 80 ? text.prefix(79) + "…" : text).text
  }
}

extension HeaderFault {
  fileprivate init(
    _ code: LintCode, _ severity: Severity, _ header: PushHeaders.Name, _ reason: RefusalReason?, _ found: String,
    _ effect: String, _ fix: String
  ) {
    self.init(code: code, severity: severity, header: header, reason: reason, found: found, effect: effect, fix: fix)
  }
}

extension Instant.Span {
  /// `2 days`, `5 hours`, `3 minutes`, `20 seconds`: the largest unit that holds at least two.
  fileprivate var words: String {
    let seconds = milliseconds / 1000
    for (unit, length) in [("days", Int64(86_400)), ("hours", 3600), ("minutes", 60)] where seconds >= 2 * length {
      return "\(seconds / length) \(unit)"
    }
    return "\(seconds) seconds"
  }
}
