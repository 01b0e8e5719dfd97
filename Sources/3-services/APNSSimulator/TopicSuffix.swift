internal import PushPayload

/// How topics and push types belong together (Apple, "Sending notification requests to APNs"): a topic is the bundle id
/// and the suffix of the push type.
enum TopicSuffix {
  private static let suffixes: [(type: PushType, suffix: [UInt8])] = PushType.allCases.compactMap { type in
    type.topicSuffix.isEmpty ? nil : (type, Array(type.topicSuffix.utf8))
  }

  /// The push type whose suffix the topic bears; nil for a plain one.
  static func pushType(ofTopic topic: Bytes) -> PushType? {
    suffixes.first { topic.ends(with: $0.suffix) }?.type
  }

  /// What is wrong when a push of `type` goes to `topic`, with the right topic in it; nil when they fit.
  static func fault(of type: PushType, topic: Bytes) -> String? {
    let born = pushType(ofTopic: topic)
    if type.topicSuffix.isEmpty {
      guard let born else { return nil }
      return
        "apns-push-type is \(type), but the topic \"\(text(topic))\" ends in \(born.topicSuffix), as only \(born) has it"
    }
    if born == type { return nil }
    let bundle = born.map { topic.dropLast($0.topicSuffix.utf8.count) } ?? topic
    return
      "apns-push-type is \(type), so the topic must end in \(type.topicSuffix): \"\(text(bundle))\(type.topicSuffix)\", not \"\(text(topic))\""
  }
}

extension PushType {
  /// The type of an exact header value.
  init?(bytes: Bytes) {
    guard let type = Self.byBytes.first(where: { bytes.equals($0.bytes) })?.type else { return nil }
    self = type
  }

  private static let byBytes = allCases.map { (type: $0, bytes: Array($0.rawValue.utf8)) }
}
