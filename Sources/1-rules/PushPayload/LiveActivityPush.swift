public import Basics

/// A push that starts, updates or ends a Live Activity, with what each of the three needs and nothing that it must not
/// have. Dates go out in seconds since 1970. (Apple, "Starting and updating Live Activities with ActivityKit push
/// notifications"; spec apns.md §12)
///
/// One text for a device token (4,096 bytes) or a channel (5,120); a broadcast starts nothing.
public struct LiveActivityPush: Hashable, Sendable {
  public enum Event: Hashable, Sendable {
    /// By a push-to-start token.
    case start(Start)
    case update
    case end(LiveActivity.Dismissal)
  }

  public struct Start: Hashable, Sendable {
    /// The Swift type's name, as the app spells it.
    public var attributesType: String
    /// What never changes of the activity; an object.
    public var attributes: JSONValue
    /// From iOS 18: the activity listens to this channel; an older phone does not start it.
    public var channel: String?
    /// From iOS 18: the app is woken with a fresh update token.
    public var wantsToken: Bool

    public init(attributesType: String, attributes: JSONValue, channel: String? = nil, wantsToken: Bool = false) {
      self.attributesType = attributesType
      self.attributes = attributes
      self.channel = channel
      self.wantsToken = wantsToken
    }
  }

  /// What lights the phone up; required by a start.
  public struct Alert: Hashable, Sendable {
    public var title: Payload.Text
    public var body: Payload.Text
    /// A file of the app, or `default`; nil is silent.
    public var sound: String?

    public init(title: Payload.Text, body: Payload.Text, sound: String? = nil) {
      self.title = title
      self.body = body
      self.sound = sound
    }
  }

  public var event: Event
  /// When the content was true: a phone ignores what is older than what it shows, whatever came last.
  public var timestamp: Instant
  /// The app's `ContentState`, an object; nil only at an end, which then keeps what was shown.
  public var contentState: JSONValue?
  public var alert: Alert?
  public var staleDate: Instant?
  /// The highest owns the Dynamic Island.
  public var relevanceScore: Double?

  private init(
    _ event: Event, _ timestamp: Instant, _ contentState: JSONValue?, _ alert: Alert?, _ staleDate: Instant?,
    _ relevanceScore: Double?
  ) {
    self.event = event
    self.timestamp = timestamp
    self.contentState = contentState
    self.alert = alert
    self.staleDate = staleDate
    self.relevanceScore = relevanceScore
  }

  public static func start(
    _ start: Start, contentState: JSONValue, alert: Alert, at timestamp: Instant, staleDate: Instant? = nil,
    relevanceScore: Double? = nil
  ) -> LiveActivityPush {
    LiveActivityPush(.start(start), timestamp, contentState, alert, staleDate, relevanceScore)
  }

  public static func update(
    contentState: JSONValue, at timestamp: Instant, alert: Alert? = nil, staleDate: Instant? = nil,
    relevanceScore: Double? = nil
  ) -> LiveActivityPush {
    LiveActivityPush(.update, timestamp, contentState, alert, staleDate, relevanceScore)
  }

  /// - Parameter dismissal: when it leaves the Lock Screen; a past date is at once, none is later than four hours.
  public static func end(
    contentState: JSONValue?, at timestamp: Instant, dismissal: LiveActivity.Dismissal = .standard
  ) -> LiveActivityPush {
    LiveActivityPush(.end(dismissal), timestamp, contentState, nil, nil, nil)
  }

  /// The body. Its keys stand in the order of Apple's examples.
  public var json: JSONValue {
    var aps = JSONObject()
    func set(_ key: ApsKey, _ value: JSONValue?) {
      if let value { aps.members.append(JSONObject.Member(key.rawValue, value)) }
    }
    set(.timestamp, .number(JSONNumber(timestamp.seconds)))
    set(.event, .string(word.rawValue))
    set(.contentState, contentState)
    switch event {
    case .start(let start):
      set(.attributesType, .string(start.attributesType))
      set(.attributes, start.attributes)
      set(.inputPushChannel, start.channel.map(JSONValue.string))
      set(.inputPushToken, start.wantsToken ? 1 : nil)
    case .update: break
    case .end(.standard): break
    case .end(.at(let date)): set(.dismissalDate, .number(JSONNumber(date.seconds)))
    }
    set(.alert, alert.map { .object($0.json) })
    set(.staleDate, staleDate.map { .number(JSONNumber($0.seconds)) })
    set(.relevanceScore, relevanceScore.flatMap(JSONNumber.init).map(JSONValue.number))
    return ["aps": .object(aps)]
  }

  public var bytes: [UInt8] { json.encoded() }

  private var word: Payload.LiveActivity.Event {
    switch event {
    case .start: .start
    case .update: .update
    case .end: .end
    }
  }

  /// What lint says of it, errors first: what goes to a channel is judged as a broadcast.
  public func findings(isBroadcast: Bool, at now: Instant) -> [Finding] {
    var context = LintContext()
    context.headers.pushType = PushType.liveactivity.rawValue
    context.isBroadcast = isBroadcast
    context.now = now
    let findings = Lint.check(bytes, context)
    return findings.filter { $0.severity == .error } + findings.filter { $0.severity != .error }
  }
}

extension LiveActivityPush.Alert {
  /// Words to be looked up stand as objects in place of the text, and the sound inside (spec apns.md §9.4).
  fileprivate var json: JSONObject {
    var object: JSONObject = ["title": title.inPlace, "body": body.inPlace]
    if let sound { object["sound"] = .string(sound) }
    return object
  }
}

extension Payload.Text {
  fileprivate var inPlace: JSONValue {
    switch self {
    case .literal(let text): return .string(text)
    case .localized(let key, let arguments, fallback: _):
      var object: JSONObject = ["loc-key": .string(key)]
      if !arguments.isEmpty { object["loc-args"] = .array(arguments.map(JSONValue.string)) }
      return .object(object)
    }
  }
}

/// What a channel keeps for phones that are away (Apple, "Setting up broadcast push notifications"); fixed when the
/// channel is made.
public enum ChannelStoragePolicy: Int, CaseIterable, Sendable {
  /// Nothing; allows more broadcasts, which then must have expiration 0.
  case nothing = 0
  /// The newest message, for eight hours at most.
  case newest = 1
}
