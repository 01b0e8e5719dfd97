internal import Basics
internal import PushPayload
internal import Transport

/// A broadcast whose headers and body are in order; whether its channel is there is the registry's to say.
struct CheckedBroadcast: Sendable {
  var key: ChannelRegistry.Key
  var priority: PushPriority
  var expiration: Int64
}

/// The checks of §13.3 that need no more than the request and its connection. Order, ours after Apple's list: method and
/// path, `apns-request-id`, authentication, app, then for a broadcast: channel id, push type, expiration, priority. The
/// channel itself, the body and its size come after that.
enum ChannelChecks {
  static func isMethod(_ request: ChannelRequest, _ method: StaticString) -> Bool { request.method.equals(method) }

  static func methodFault(_ request: ChannelRequest, _ allowed: String) -> Refusal {
    Refusal(.methodNotAllowed, "the method is \(text(request.method)); \(text(request.path)) knows \(allowed)")
  }

  /// Whether the app in the path is one that the credential is for.
  static func app(_ bundleID: String, grant: ConnectionTrust.Grant) throws(Refusal) {
    guard bundleID.utf8.count <= 255, bundleID.utf8.allSatisfy(\.isTopicCharacter), !bundleID.hasPrefix(".") else {
      throw Refusal(.topicDisallowed, "\"\(bundleID.shortened)\" cannot be a bundle id")
    }
    if let type = PushType.suffixed(topic: bundleID) {
      throw Refusal(
        .topicDisallowed,
        "the path names \(bundleID); it takes the bundle id without the suffix \(type.topicSuffix)")
    }
    let suffixed = PushType.liveactivity.topic(bundleID: bundleID)
    switch grant {
    case .certificate(let certificate):
      guard certificate.topics.contains(where: { $0 == bundleID || $0 == suffixed }) else {
        throw Refusal(
          .topicMismatch, "the certificate is for \(certificate.topics.joined(separator: ", ")), not \(bundleID)")
      }
    case .key(let key):
      if case .topics(let topics, _, family: _) = key.scope, !topics.contains(bundleID), !topics.contains(suffixed) {
        throw Refusal(.topicMismatch, "key \(key.keyID) is not associated with \(bundleID)")
      }
    }
  }

  static func channelID(_ request: ChannelRequest) throws(Refusal) -> String {
    guard let id = request.channelID, !id.isEmpty else {
      throw Refusal(.missingChannelID, "no apns-channel-id; the channel's id goes there, not into the path")
    }
    guard ChannelID.isWellFormed(id) else {
      throw Refusal(
        .badChannelID,
        id.count > ChannelID.longest
          ? "apns-channel-id is \(id.count) bytes long" : "apns-channel-id is \"\(text(id))\", no base64")
    }
    return String(decoding: id, as: UTF8.self)
  }

  static func broadcast(_ request: ChannelRequest, _ app: ChannelRegistry.App) throws(Refusal) -> CheckedBroadcast {
    let id = try channelID(request)
    guard let pushType = request.pushType, !pushType.isEmpty else {
      throw Refusal(.missingPushType, "no apns-push-type; a broadcast is of type liveactivity")
    }
    try liveActivity(String(decoding: pushType, as: UTF8.self), "apns-push-type")
    guard let expiration = try RequestChecks.expiration(request.expiration) else {
      throw Refusal(
        .badExpirationDate, "no apns-expiration; a broadcast must state it, 0 for a channel that stores nothing")
    }
    guard let priority = request.priority, let level = Int64(digits: priority),
      let known = UInt8(exactly: level).flatMap(PushPriority.init(rawValue:))
    else {
      throw Refusal(
        .badPriority,
        request.priority.map { "apns-priority is \"\(text($0))\"; it must be 10, 5 or 1" }
          ?? "no apns-priority; a broadcast must state it")
    }
    return CheckedBroadcast(key: ChannelRegistry.Key(app: app, id: id), priority: known, expiration: expiration)
  }

  /// What depends on the channel, and the body.
  static func content(
    of request: ChannelRequest, _ checked: CheckedBroadcast, policy: ChannelStoragePolicy
  ) throws(Refusal) {
    switch policy {
    case .newest: break
    case .nothing:
      guard checked.expiration == 0 else {
        throw Refusal(
          .badExpirationDate,
          "the channel stores nothing (policy 0), so apns-expiration must be 0, not \(checked.expiration)")
      }
    }
    try RequestChecks.size(of: request.body, limit: PushType.broadcastSizeLimit, "broadcast")
    _ = try object(request.body)
  }

  /// The body of a request to make a channel.
  static func creation(_ body: [UInt8]) throws(Refusal) -> ChannelStoragePolicy {
    if body.isEmpty { throw Refusal(.payloadEmpty, "the body is empty") }
    let object = try object(body)
    let known = ["message-storage-policy", "push-type"]
    if let stranger = object.members.first(where: { !known.contains($0.key) }) {
      throw Refusal(
        .badRequestParams, "\"\(stranger.key.shortened)\" is not known; \(known.joined(separator: " and ")) are")
    }
    guard let pushType = object["push-type"] else {
      throw Refusal(.missingPushType, "no push-type; send \"push-type\": \"LiveActivity\"")
    }
    try liveActivity(pushType.string ?? pushType.text, "push-type")
    guard let number = object["message-storage-policy"]?.number?.int64,
      let policy = ChannelStoragePolicy(rawValue: Int(clamping: number))
    else {
      throw Refusal(
        .missingChannelQueueSize,
        "message-storage-policy is \(object["message-storage-policy"]?.text.shortened ?? "absent"); send 0 or 1")
    }
    return policy
  }

  private static func object(_ body: [UInt8]) throws(Refusal) -> JSONObject {
    let value: JSONValue
    do { value = try JSONReader.read(body).value } catch {
      throw Refusal(.badRequestPayload, "the body is not JSON: \(error)")
    }
    guard let object = value.object else { throw Refusal(.badRequestPayload, "the body is JSON, but not an object") }
    return object
  }

  /// Apple's pages spell it in three ways.
  private static func liveActivity(_ word: String, _ place: String) throws(Refusal) {
    guard word.lowercased() == PushType.liveactivity.rawValue else {
      throw Refusal(.invalidPushType, "\(place) is \"\(word.shortened)\"; only Live Activities can be broadcast")
    }
  }
}

extension Int64 {
  /// Digits only, within 64 bits.
  fileprivate init?(digits: Bytes) {
    guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(String(decoding: digits, as: UTF8.self))
    else { return nil }
    self = number
  }
}
