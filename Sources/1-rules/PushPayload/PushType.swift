/// What a push asks the phone for: the values of `apns-push-type` (Apple, "Sending notification requests to APNs").
public enum PushType: String, CaseIterable, Sendable {
  case alert, background, voip, complication, fileprovider, mdm, location, liveactivity, pushtotalk, controls, widgets

  /// What stands in the topic after the bundle id; empty for `alert`, `background`, and `mdm`, whose topic is the UID of
  /// the MDM certificate. (spec apns.md §5)
  public var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .location: ".location-query"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .controls: ".push-type.controls"
    case .widgets: ".push-type.widgets"
    }
  }

  /// Bytes that the body of a push to a device token may have; one more and APNs answers 413. (spec apns.md §9.1)
  public var sizeLimit: Int {
    switch self {
    case .voip: 5120
    case .alert, .background, .complication, .fileprovider, .mdm, .location, .liveactivity, .pushtotalk, .controls,
      .widgets:
      4096
    }
  }

  /// Bytes that the body of a broadcast to a channel may have.
  public static let broadcastSizeLimit = 5120

  /// Priorities that Apple's pages allow or show for the type; the first is the usual one. (spec apns.md §5)
  public var priorities: [PushPriority] {
    switch self {
    case .alert, .complication, .fileprovider, .location, .widgets, .controls, .voip:
      [.immediate, .considerate, .powerFirst]
    case .background: [.considerate, .powerFirst]
    case .mdm, .liveactivity: [.immediate, .considerate]
    case .pushtotalk: [.immediate]
    }
  }

  /// The topic for an app; `bundleID` as it is for the types without a suffix.
  public func topic(bundleID: String) -> String { bundleID + topicSuffix }

  /// The app that a topic of this type belongs to; nil when the suffix is missing.
  public func bundleID(topic: String) -> String? {
    guard topic.utf8.count > topicSuffix.utf8.count, topic.hasSuffix(topicSuffix) else { return nil }
    return String(topic.dropLast(topicSuffix.count))
  }

  /// The topic with the suffix that this type wants, added if it is not there (case C13).
  public func completed(topic: String) -> String {
    topicSuffix.isEmpty || topic.hasSuffix(topicSuffix) ? topic : topic + topicSuffix
  }

  /// The type whose suffix a topic ends with; nil for a plain bundle id.
  public static func suffixed(topic: String) -> PushType? {
    allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
  }

  /// What a push without `apns-push-type` is taken for, judged by its payload: `liveactivity` for an `event` and
  /// `content-state`, `widgets` for `content-changed`, `mdm` for the key `mdm`, `background` for a `content-available`
  /// of 1 without alert, badge and sound, else `alert`. (spec apns.md §5, SIM)
  public static func inferred(from payload: JSONValue) -> PushType {
    guard let object = payload.object else { return .alert }
    let aps = object["aps"]?.object
    let payload = Payload(payload)
    return PushTraits(
      hasAps: aps != nil, hasMDM: payload.mdm != nil, hasEvent: aps?["event"] != nil,
      hasUpdate: aps?["content-state"] != nil || aps?["timestamp"] != nil,
      hasContentChanged: aps?["content-changed"] != nil, wakes: payload.contentAvailable,
      showsText: payload.appearance.showsText, hasBadge: aps?["badge"] != nil, hasSound: aps?["sound"] != nil
    ).inferredType
  }
}

/// The values of `apns-priority`.
public enum PushPriority: UInt8, CaseIterable, Sendable {
  case immediate = 10
  case considerate = 5
  case powerFirst = 1
}
