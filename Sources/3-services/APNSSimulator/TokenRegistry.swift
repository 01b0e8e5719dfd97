internal import Basics
internal import PushPayload

/// A device token as Apple's side knows it.
struct TokenRecord: Hashable, Sendable {
  /// An app on a device may have one token of each kind in each environment; of Live Activities one for each attributes
  /// type and each activity.
  struct Owner: Hashable, Sendable {
    var device: String
    var bundleID: String
    var environment: SimulatedEnvironment
    var kind: TokenKind
    /// The attributes type of a push-to-start token, the activity of an update token; else empty.
    var detail = ""
  }

  /// The app is gone, or the token's life is over.
  struct End: Hashable, Sendable {
    var reason: RefusalReason
    /// What 410 tells as `timestamp`.
    var since: Instant
    /// From then on 410 is answered; nil until a push has met the dead token (Apple delays it on purpose).
    var toldFrom: Instant?
  }

  let bytes: [UInt8]
  let owner: Owner
  /// Bundle id and suffix of the kind.
  let topic: [UInt8]
  let topicText: String
  var end: End?

  init(bytes: [UInt8], owner: Owner, end: End? = nil) {
    self.bytes = bytes
    self.owner = owner
    topicText = owner.bundleID + owner.kind.topicSuffix
    topic = Array(topicText.utf8)
    self.end = end
  }
}

/// Every device token ever issued. Sandbox and production never share one; an app that is installed keeps its tokens, and
/// gets new ones when it is installed again.
struct TokenRegistry: Sendable {
  private(set) var records: [[UInt8]: TokenRecord] = [:]
  private var living: [TokenRecord.Owner: [UInt8]] = [:]

  /// The living token of `owner`, or a new one of `size` bytes. `isFresh` makes a new one in any case; a former one lives
  /// on until it is ended.
  mutating func issue(
    to owner: TokenRecord.Owner, isFresh: Bool = false, size: Int = 32, dice: inout some RandomNumberGenerator
  ) -> TokenRecord {
    if !isFresh, let bytes = living[owner], let record = records[bytes] { return record }
    var bytes: [UInt8]
    repeat { bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &dice) } } while records[bytes] != nil
    let record = TokenRecord(bytes: bytes, owner: owner)
    adopt(record)
    return record
  }

  /// Takes a record as it is: from a store, or a token that the caller chose. Replaces one of the same bytes.
  mutating func adopt(_ record: TokenRecord) {
    if let former = records[record.bytes], living[former.owner] == record.bytes { living[former.owner] = nil }
    records[record.bytes] = record
    if record.end == nil { living[record.owner] = record.bytes }
  }

  /// The app was removed from the device, or the token's life is over: false for an unknown token. `toldFrom` sets the
  /// time of the first 410; nil leaves it to the next push.
  mutating func end(_ bytes: [UInt8], reason: RefusalReason, since: Instant, toldFrom: Instant?) -> TokenRecord? {
    guard var record = records[bytes] else { return nil }
    if record.end == nil || toldFrom != nil {
      record.end = TokenRecord.End(reason: reason, since: record.end?.since ?? since, toldFrom: toldFrom)
      records[bytes] = record
    }
    if living[record.owner] == bytes { living[record.owner] = nil }
    return record
  }

  /// The living tokens of an app on a device, former ones that were never ended among them.
  func tokens(device: String, bundleID: String) -> [[UInt8]] {
    records.values.filter { $0.end == nil && $0.owner.device == device && $0.owner.bundleID == bundleID }.map(\.bytes)
  }

  /// The newest living token of each kind of each app on a device, in a fixed order.
  func livingTokens(device: String) -> [TokenRecord] {
    living.filter { $0.key.device == device }.values.compactMap { records[$0] }
      .sorted { ($0.owner.environment.rawValue, $0.topicText) < ($1.owner.environment.rawValue, $1.topicText) }
  }

  /// A device token written in hex, of either case: any even count of digits from 2 to 200 is a token's form.
  static func tokenBytes(_ hex: some Collection<UInt8>) -> [UInt8]? {
    (2...200).contains(hex.count) ? bytes(fromHex: hex) : nil
  }

  /// What a push to `token` (hex from the path) in `environment` with `topic` meets: a living token, one whose end is not
  /// told yet, or a refusal.
  func find(
    token: Bytes, environment: SimulatedEnvironment, topic: Bytes, now: Instant
  ) throws(Refusal) -> TokenRecord {
    guard let bytes = Self.tokenBytes(token) else {
      throw Refusal(
        .badDeviceToken, "\"\(text(token))\" is no device token: 2 to 200 hex digits, an even count, are expected")
    }
    guard let record = records[bytes] else {
      throw Refusal(
        .badDeviceToken, "no device has the token \(text(token.prefix(16)))…; issue it first (POST /devices)")
    }
    guard record.owner.environment == environment else {
      throw Refusal(
        .badDeviceToken, "the token is of \(record.owner.environment.rawValue), this is \(environment.rawValue)")
    }
    guard topic.equals(record.topic) else {
      throw Refusal(
        .deviceTokenNotForTopic,
        "the token is for the topic \"\(text(record.topic))\", apns-topic is \"\(text(topic))\"")
    }
    if let end = record.end, let toldFrom = end.toldFrom, toldFrom <= now {
      throw Refusal(
        end.reason, since: end.since, "the token is dead since \(end.since); drop it unless it registered later")
    }
    return record
  }
}
