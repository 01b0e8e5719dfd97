internal import Basics
internal import PushPayload
internal import Transport

/// A request about channels or a broadcast as it came, sorted (spec apns.md §13.1, §13.2).
struct ChannelRequest {
  enum Place: Equatable {
    /// `/4/broadcasts/apps/<bundle>`, on the device hosts.
    case broadcast(bundleID: String)
    /// `/1/apps/<bundle>/channels` and `/1/apps/<bundle>/all-channels`, on the management hosts.
    case channels(bundleID: String)
    case allChannels(bundleID: String)
  }

  let method: Bytes
  let path: Bytes
  let host: Bytes?
  let authorization: Bytes?
  let channelID: Bytes?
  let pushType: Bytes?
  let expiration: Bytes?
  let priority: Bytes?
  /// `apns-request-id`; one of Apple's own samples sends `apns-id` instead.
  let requestID: Bytes?
  let body: [UInt8]

  init(_ request: HTTP2Request) { self.init(fields: request.fields, body: request.body) }

  init(fields: HTTP2FieldList, body: [UInt8]) {
    method = fields[":method"] ?? []
    path = fields[":path"] ?? []
    host = fields[":authority"] ?? fields["host"]
    authorization = fields["authorization"]
    channelID = fields["apns-channel-id"]
    pushType = fields["apns-push-type"]
    expiration = fields["apns-expiration"]
    priority = fields["apns-priority"]
    requestID = fields["apns-request-id"] ?? fields["apns-id"]
    self.body = body
  }

  /// Whether a request on the device port is a broadcast, or means to be one.
  static func isBroadcast(path: Bytes) -> Bool { path.starts(with: "/4/broadcasts".utf8) }

  var place: Place? {
    let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard parts.first == "", !parts.dropFirst().contains("") else { return nil }
    switch (parts.count, parts.dropFirst().first) {
    case (5, "4") where parts[2] == "broadcasts" && parts[3] == "apps": return .broadcast(bundleID: parts[4])
    case (5, "1") where parts[2] == "apps" && parts[4] == "channels": return .channels(bundleID: parts[3])
    case (5, "1") where parts[2] == "apps" && parts[4] == "all-channels": return .allChannels(bundleID: parts[3])
    default: return nil
    }
  }
}

extension ProviderAnswer {
  /// To a request about channels, which carries `apns-request-id` in place of `apns-id` (spec apns.md §13).
  init(_ status: Int, requestID: Bytes, _ more: [(name: String, value: String)] = [], body: JSONValue? = nil) {
    self.init(status: status, id: requestID)
    fields = [HTTP2Field(name: Array("apns-request-id".utf8), value: Array(requestID), neverIndexed: true)]
    fields += more.map { HTTP2Field($0.name, $0.value, neverIndexed: true) }
    if let body { self.body = body.encoded() }
  }

  init(_ refusal: Refusal, requestID: Bytes, spelling: KeyEnvironmentSpelling) {
    self.init(refusal.reason.status, requestID: requestID)
    body = refusal.body(spelling: spelling)
    reason = refusal.reason
  }
}
