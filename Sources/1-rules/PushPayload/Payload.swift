/// A payload as an iPhone takes it (Apple, "Generating a remote notification"; spec apns.md §9, §12).
///
/// Reading never fails on content: what iOS would not understand is as if it were absent, and `ignored` keeps why. Lint
/// judges by the same rules, so a value that is in `ignored` is one that lint finds.
public struct Payload: Hashable, Sendable {
  /// nil when absent or malformed; an alert with nothing in it is there but `isEmpty`.
  public var alert: Alert?
  /// nil leaves the number as it is, 0 removes it.
  public var badge: Int64?
  public var sound: Sound?
  public var threadID: String?
  public var category: String?
  /// The number 1 and nothing else.
  public var contentAvailable = false
  /// The number 1 and nothing else.
  public var mutableContent = false
  public var targetContentID: String?
  /// nil when absent or unknown; iOS then means `active`.
  public var interruptionLevel: InterruptionLevel?
  public var relevanceScore: Double?
  public var filterCriteria: String?
  /// `true` asks a control or widget to reload.
  public var contentChanged = false
  public var urlArguments: [String]?
  /// nil unless one of the keys of a Live Activity is there.
  public var liveActivity: LiveActivity?
  /// The push magic of device management, which stands instead of `aps`.
  public var mdm: String?
  /// Members of `aps` that no part of iOS reads; they reach the app all the same.
  public var unknownInAps = JSONObject()
  /// The app's own data: every member beside `aps`, unchanged.
  public var custom = JSONObject()
  /// Whether `aps` is there and an object.
  public var hasAps = false
  /// What iOS makes nothing of, in document order.
  public internal(set) var ignored: [Ignored] = []
  /// The whole dictionary as the app's callbacks get it: `aps` and every custom key (D-001).
  public internal(set) var userInfo = JSONObject()

  public enum InterruptionLevel: String, CaseIterable, Sendable {
    case passive, active, critical
    case timeSensitive = "time-sensitive"
  }

  /// A text to show: as sent, or looked up in the app's strings for the phone's language.
  public enum Text: Hashable, Sendable {
    case literal(String)
    /// `%@` and `%n$@` in the found string are filled with `arguments` in order; `fallback` is the plain text that was
    /// sent beside the key.
    case localized(key: String, arguments: [String], fallback: String?)

    public var isEmpty: Bool {
      switch self {
      case .literal(let text): text.isEmpty
      case .localized(let key, _, let fallback): key.isEmpty && fallback?.isEmpty ?? true
      }
    }
  }

  public struct Alert: Hashable, Sendable {
    public var title: Text?
    public var subtitle: Text?
    public var body: Text?
    public var launchImage: String?
    /// The modal alert's second button; nil: the system's word.
    public var actionLocKey: String?
    public var action: String?
    public var summaryArgument: String?
    public var summaryArgumentCount: Int64?
    /// Live Activities carry the sound of an alert in here.
    public var sound: String?
    public var unknown = JSONObject()

    public init(title: Text? = nil, subtitle: Text? = nil, body: Text? = nil) {
      self.title = title
      self.subtitle = subtitle
      self.body = body
    }

    /// Nothing to read: iOS shows no notification for it (case C24).
    public var isEmpty: Bool { [title, subtitle, body].allSatisfy { $0?.isEmpty ?? true } }
  }

  public struct Sound: Hashable, Sendable {
    /// `default` is the system's tri-tone, everything else a file of the app.
    public var name: String
    /// Plays through mute and Focus, given the entitlement and the user's leave.
    public var isCritical = false
    /// 0 … 1; only read for a critical sound.
    public var volume = 1.0

    public init(name: String = "default", isCritical: Bool = false, volume: Double = 1) {
      self.name = name
      self.isCritical = isCritical
      self.volume = volume
    }
  }

  public struct LiveActivity: Hashable, Sendable {
    public enum Event: String, CaseIterable, Sendable { case start, update, end }
    public var event: Event?
    /// Seconds since 1970; the newest update wins.
    public var timestamp: Double?
    public var contentState: JSONObject?
    public var staleDate: Double?
    public var dismissalDate: Double?
    public var attributesType: String?
    public var attributes: JSONObject?
    public var wantsPushToken = false
    public var pushChannel: String?

    public init() {}
  }

  /// A value that iOS does not take as it was meant.
  public struct Ignored: Hashable, Sendable {
    public var path: JSONPath
    /// `is the string "1", not a whole number from 0 up`.
    public var found: String
    /// What the phone does; a sentence.
    public var effect: String
  }

  public init() {}

  /// `value` as it came; anything but an object is a payload that iOS drops, with the reason in `ignored`.
  public init(_ value: JSONValue) {
    guard let object = value.object else {
      note(.root, "is \(JSONShape(value).words), not an object", "The phone drops the push.")
      return
    }
    userInfo = object
    for member in object.members where member.key != "aps" { custom.members.append(member) }
    mdm = object["mdm"]?.string
    guard let aps = object["aps"] else { return }
    guard let aps = aps.object else {
      note(JSONPath("aps"), "is \(JSONShape(aps).words), not an object", "Nothing is shown and nothing wakes.")
      return
    }
    hasAps = true
    read(aps)
  }

  /// - Throws: what keeps `bytes` from being JSON; iOS drops such a push.
  public init(bytes: [UInt8]) throws(JSONFault) { self.init(try JSONReader.read(bytes).value) }

  mutating func note(_ path: JSONPath, _ found: String, _ effect: String) {
    ignored.append(Ignored(path: path, found: found, effect: effect))
  }
}
