import PushPayload

/// What a notification says, read once and shared by all who handle it: a payload as the tables ask of it, or what an
/// app or its service extension put in its place (D-079, D-081, D-087, D-251).
final class Content: Sendable {
  let payload: Payload
  /// What the app's code gets: `aps` and every custom key, unchanged (D-001); of a local notification, its `userInfo`.
  let userInfo: JSONObject
  /// What is wrong with the bytes; nil: they are a JSON object.
  let flaw: String?
  /// What an app or its service extension put beside the text (D-256).
  let attachments: [NotificationAttachment]
  let appearance: Appearance
  /// What the bytes say beside the payload; of what was not read from bytes, nothing.
  private let reading: Reading
  private let kindForUser: PushKind

  init(
    _ payload: Payload, userInfo: JSONObject, flaw: String? = nil, attachments: [NotificationAttachment] = [],
    reading: Reading = Reading()
  ) {
    self.payload = payload
    self.userInfo = userInfo
    self.flaw = flaw
    self.attachments = attachments
    self.reading = reading
    appearance = payload.appearance
    kindForUser = payload.kind(pushType: .alert)
  }

  convenience init(_ bytes: [UInt8]) {
    do {
      let payload = try Payload(bytes: bytes)
      var flaw: String?
      if payload.userInfo.members.isEmpty, let reason = payload.ignored.first, reason.path == .root {
        flaw = "it \(reason.found)"
      }
      self.init(payload, userInfo: payload.userInfo, flaw: flaw, reading: Reading(payload))
    } catch {
      self.init(
        Payload(), userInfo: JSONObject(), flaw: "it is not JSON (\(error.found), line \(error.line))",
        reading: Reading(Payload()))
    }
  }

  /// The same with something said otherwise; what the app's code gets stays.
  func changed(_ change: (inout Payload) -> Void) -> Content {
    var payload = payload
    change(&payload)
    return Content(payload, userInfo: userInfo, flaw: flaw, attachments: attachments, reading: reading)
  }

  /// An alert with words in it; an empty one counts as absent (C-04, C24).
  var hasAlert: Bool { appearance.showsText }
  var hasBadge: Bool { payload.badge != nil }
  var hasSound: Bool { payload.sound != nil }
  var isVisible: Bool { !appearance.isNothing }
  /// For one that shows nothing (D-117).
  var whyNothing: String {
    let beside = ["alert", "sound", "badge"].filter { userInfo[$0] != nil }
    guard userInfo["aps"] == nil, !beside.isEmpty else { return "payload shows nothing" }
    return "\(beside.joined(separator: " and ")) beside aps, not in it"
  }

  /// The number 1, nothing else (D-171).
  var wakes: Bool { payload.contentAvailable }

  /// `content-available` is there but is not the number 1: what it is (D-171, C23).
  var wakeFlaw: String? { reading.wakeFlaw }

  /// Decided by what is visible, never by `content-available` alone (D-087); the push type decides only for K6 and the
  /// types that are not notifications.
  func kind(_ type: PushType) -> PushKind {
    type == .alert || type == .background ? kindForUser : payload.kind(pushType: type)
  }

  /// A badge of −1 in the payload (D-233 against C22).
  var badgeIsMinusOne: Bool { reading.badgeIsMinusOne }

  /// One line for the timeline.
  var summary: String { reading.summary }

  /// What is asked for at every phone that the push comes to, found once.
  struct Reading: Sendable {
    fileprivate var wakeFlaw: String?
    fileprivate var badgeIsMinusOne = false
    fileprivate var summary = ""

    init() {}

    fileprivate init(_ payload: Payload) {
      let whole = JSONValue.object(payload.userInfo).text
      summary = whole.count > 300 ? "\(whole.prefix(299))…" : whole
      let aps = payload.userInfo["aps"]?.object
      badgeIsMinusOne = aps?["badge"]?.number?.int64 == -1
      guard !payload.contentAvailable, let value = aps?["content-available"] else { return }
      wakeFlaw = "content-available is \(value.text), not the number 1"
    }
  }
}

extension Payload.Text {
  /// The words, of a text that has been looked up (`Phone.localised`); of another its plain text, else its key.
  var shown: String {
    switch self {
    case .literal(let text): text
    case .localized(let key, _, let fallback): fallback ?? key
    }
  }

  var isLocalized: Bool {
    switch self {
    case .literal: false
    case .localized: true
    }
  }
}
