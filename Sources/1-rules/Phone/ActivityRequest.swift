public import Basics
public import PushPayload

/// How an app stands to Live Activities: its Info.plist and what its code observes.
public struct LiveActivitySupport: Hashable, Sendable {
  /// The Swift types of its `ActivityAttributes`, as they are spelled: each has its own push-to-start token.
  public var attributesTypes: [String]
  /// `NSSupportsLiveActivitiesFrequentUpdates`.
  public var frequentUpdates: Bool

  public init(attributesTypes: [String], frequentUpdates: Bool = false) {
    self.attributesTypes = attributesTypes
    self.frequentUpdates = frequentUpdates
  }
}

/// What an app gives to `Activity.request`.
public struct ActivityRequest: Hashable, Sendable {
  public var attributesType: String
  public var attributes: JSONObject
  public var content: ActivityContent
  public var pushType: PushType?

  /// ActivityKit's `PushType`: one of the two or none.
  public enum PushType: Hashable, Sendable {
    case token
    /// iOS 18.
    case channel(String)
  }

  /// nil for `pushType`: only the app itself updates it.
  public init(
    attributesType: String, attributes: JSONObject = [:], content: ActivityContent, pushType: PushType? = nil
  ) {
    self.attributesType = attributesType
    self.attributes = attributes
    self.content = content
    self.pushType = pushType
  }
}

/// ActivityKit's `ActivityContent`, with the alert that an update may carry.
public struct ActivityContent: Hashable, Sendable {
  public var state: JSONObject
  /// Outdated so long after it was set; nil: never.
  public var staleAfter: Instant.Span?
  public var relevanceScore: Double?
  /// `AlertConfiguration`; a start by the app takes none.
  public var alert: LiveActivityPush.Alert?

  public init(
    state: JSONObject, staleAfter: Instant.Span? = nil, relevanceScore: Double? = nil,
    alert: LiveActivityPush.Alert? = nil
  ) {
    self.state = state
    self.staleAfter = staleAfter
    self.relevanceScore = relevanceScore
    self.alert = alert
  }
}

/// ActivityKit's word for where an activity is in its life.
public enum ActivityState: String, CaseIterable, Sendable {
  case active
  /// Active, and its content is out of date.
  case stale
  /// Visible, and nothing changes it any more.
  case ended
  case dismissed
}

/// What became of a Live Activity, for the timeline.
public struct ActivityChange: Hashable, Sendable {
  public var id: String
  public var attributesType: String
  public var kind: Kind
  /// What it shows now.
  public var contentState: JSONObject

  public enum Kind: Hashable, Sendable {
    case started, updated, becameStale
    case ended(LiveActivity.Ending)
    case dismissed
  }
}

extension ActivityChange: CustomStringConvertible {
  public var description: String {
    switch kind {
    case .started, .updated: "activity \(id) \(word): \(JSONValue.object(contentState).text)"
    case .becameStale: "activity \(id) is out of date"
    case .ended(let ending): "activity \(id) ended by \(ending.rawValue): \(JSONValue.object(contentState).text)"
    case .dismissed: "activity \(id) leaves the Lock Screen"
    }
  }

  private var word: String {
    switch kind {
    case .started: "started"
    case .updated: "updated"
    case .becameStale: "stale"
    case .ended: "ended"
    case .dismissed: "dismissed"
    }
  }

  var json: JSONValue {
    var object: JSONObject = [
      "id": .string(id), "attributesType": .string(attributesType), "became": .string(word),
      "contentState": .object(contentState),
    ]
    if case .ended(let ending) = kind { object["by"] = .string(ending.rawValue) }
    return .object(object)
  }
}
