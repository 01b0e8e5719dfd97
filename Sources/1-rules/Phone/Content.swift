import PushPayload

/// A payload as the tables ask of it: what is visible in it, and whether it wakes (D-079, D-081, D-087).
struct Content: Sendable {
  var payload: Payload
  /// What is wrong with the bytes; nil: they are a JSON object.
  var flaw: String?

  init(_ bytes: [UInt8]) {
    do {
      payload = try Payload(bytes: bytes)
      if payload.userInfo.members.isEmpty, let reason = payload.ignored.first, reason.path == .root {
        flaw = "it \(reason.found)"
      }
    } catch {
      payload = Payload()
      flaw = "it is not JSON (\(error.found), line \(error.line))"
    }
  }

  var userInfo: JSONObject { payload.userInfo }

  var appearance: Appearance { payload.appearance }
  /// An alert with words in it; an empty one counts as absent (C-04, C24).
  var hasAlert: Bool { appearance.showsText }
  var hasBadge: Bool { payload.badge != nil }
  var hasSound: Bool { payload.sound != nil }
  var isVisible: Bool { !appearance.isNothing }
  /// The number 1, nothing else (D-171).
  var wakes: Bool { payload.contentAvailable }

  /// `content-available` is there but is not the number 1: what it is (D-171, C23).
  var wakeFlaw: String? {
    guard !wakes, let value = payload.userInfo["aps"]?.object?["content-available"] else { return nil }
    return "content-available is \(value.text), not the number 1"
  }

  /// Decided by what is visible, never by `content-available` alone (D-087); the push type decides only for K6 and the
  /// types that are not notifications.
  func kind(_ type: PushType) -> PushKind { payload.kind(pushType: type) }

  /// A badge of −1 in the payload (D-233 against C22).
  var badgeIsMinusOne: Bool { payload.userInfo["aps"]?.object?["badge"]?.number?.int64 == -1 }

  /// One line for the timeline.
  var summary: String {
    let whole = JSONValue.object(userInfo).text
    return whole.count > 300 ? "\(whole.prefix(299))…" : whole
  }
}

extension Payload.Text {
  /// As shown while the app's strings are not modelled: the plain text, else the key itself (D-207).
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
