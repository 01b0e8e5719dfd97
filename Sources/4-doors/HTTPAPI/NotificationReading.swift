internal import PushPayload
internal import PushService

/// Reads `notification` (jpush.md §4.4). Strict where a wrong word silently costs the user (`ios`), lenient with what
/// other platforms take, which is checked for shape and told to be ignored.
struct NotificationReading {
  private(set) var warnings: [String] = []

  private static let known = [
    "alert", "ios", "android", "hmos", "quickapp", "winphone", "voip", "alternate_alert",
  ]

  mutating func read(_ field: Field, into order: inout PushOrder) throws(RequestFault) {
    let fields = try field.object()
    try fields.refuseUnknown(besides: Self.known)
    let shared = try fields["alert"]?.string()
    try checkOthers(fields, hasSharedAlert: shared != nil)
    let voip = try fields["voip"].map(Self.voip)
    if let ios = fields["ios"] {
      try readIOS(ios, shared: shared, into: &order)
      order.voip = voip
    } else if let shared {
      order.alert = .string(shared)
      order.voip = voip
    } else if let voip {
      order.special = .voip(voip)
    } else {
      throw field.wrong("it holds nothing for an iPhone", "Give notification.alert, or notification.ios with an alert.")
    }
  }

  // MARK: ios

  static let levels = ["active", "critical", "passive", "time-sensitive"]

  private static let iosKnown = [
    "alert", "sound", "badge", "content-available", "mutable-content", "category", "thread-id", "interruption-level",
    "extras",
  ]

  private mutating func readIOS(_ field: Field, shared: String?, into order: inout PushOrder) throws(RequestFault) {
    let ios = try field.object()
    try ios.refuseUnknown(besides: Self.iosKnown)
    if let alert = ios["alert"] {
      order.alert = try self.alert(alert)
    } else if let shared {
      order.alert = .string(shared)
    } else {
      throw field.wrong(
        "it has no alert, and notification has none either",
        "Give an alert; for a silent push, \"alert\": \"\" beside \"content-available\": true.")
    }
    if let sound = ios["sound"] { order.sound = try self.sound(sound) }
    if let badge = ios["badge"] { order.badge = try Self.badge(badge) }
    order.contentAvailable = try ios["content-available"]?.bool(orNumber: true) ?? false
    order.mutableContent = try ios["mutable-content"]?.bool(orNumber: true) ?? false
    order.category = try ios["category"]?.string()
    order.threadID = try ios["thread-id"]?.string()
    order.interruptionLevel = try ios["interruption-level"]?.word(
      outOf: Self.levels)
    if let extras = ios["extras"] { order.extras = try Self.extras(extras) }
  }

  private static let alertTexts = [
    "title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key", "action-loc-key",
    "action", "summary-arg",
  ]
  private static let alertLists = ["title-loc-args", "subtitle-loc-args", "loc-args"]

  /// The string or Apple's alert dictionary, unchanged. Keys that are not Apple's go along with a warning, since Apple's
  /// list grows, but one that is close to a real one is refused.
  mutating func alert(_ field: Field) throws(RequestFault) -> JSONValue {
    guard let alert = try Self.object(field, orString: "It must be a string or an alert object.") else {
      return field.value
    }
    let others = try alert.refuseMistyped(besides: Self.alertTexts + Self.alertLists + ["summary-arg-count"])
    for key in Self.alertTexts { _ = try alert[key]?.string() }
    for key in Self.alertLists {
      for element in try alert[key]?.array() ?? [] { _ = try element.string() }
    }
    for key in others { warnings.append("\(field.path.appending(key)) is not a key that iOS knows") }
    return field.value
  }

  mutating func sound(_ field: Field) throws(RequestFault) -> JSONValue {
    guard let sound = try Self.object(field, orString: "It must be a file name or a sound object.") else {
      return field.value
    }
    try sound.refuseUnknown(besides: ["critical", "name", "volume"])
    _ = try sound["critical"]?.bool(orNumber: true)
    _ = try sound["name"]?.string()
    if let volume = sound["volume"] {
      guard let number = volume.value.number, (0...1).contains(number.double) else {
        throw volume.wrong("\(volume.value.kindInWords) stands here", "It must be a number from 0 to 1.")
      }
    }
    return field.value
  }

  /// The members of an object, nil for a string; what is neither throws with the remedy.
  private static func object(_ field: Field, orString remedy: String) throws(RequestFault) -> Fields? {
    switch field.value {
    case .string: return nil
    case .object: return try field.object()
    case .null, .bool, .number, .array:
      throw field.wrong("\(field.value.kindInWords) stands here", remedy)
    }
  }

  /// `N`, `"N"`, `"+N"`, `"-N"`, `""`; N from 0 to 99999.
  static func badge(_ field: Field) throws(RequestFault) -> BadgeChange {
    let remedy = "It must be a whole number from 0 to 99999, or a string such as \"+1\", \"-1\", \"5\" or \"\"."
    switch field.value {
    case .number(let number):
      guard let count = number.int64, 0...99_999 ~= count else {
        throw field.wrong("the number \(quoted(number.literal)) stands here", remedy)
      }
      return .set(Int(count))
    case .string(let text):
      guard !text.isEmpty else { return .set(0) }
      let sign = text.utf8.first.flatMap { $0 == UInt8(ascii: "+") ? 1 : $0 == UInt8(ascii: "-") ? -1 : nil }
      let digits = sign == nil ? text[...] : text.dropFirst()
      guard 1...5 ~= digits.utf8.count, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let count = Int(digits) else {
        throw field.wrong("\(quoted(text)) stands here", remedy)
      }
      return sign.map { .add($0 * count) } ?? .set(count)
    case .null, .bool, .array, .object:
      throw field.wrong("\(field.value.kindInWords) stands here", remedy)
    }
  }

  /// Any keys and values, as written (case C45), but those that the service itself puts beside them.
  static func extras(_ field: Field) throws(RequestFault) -> JSONObject {
    let extras = try field.object()
    for member in extras.object.members where member.key == "aps" || member.key.hasPrefix("_j_") {
      throw RequestFault(
        field.codes.invalid, at: extras.path.appending(member.key).description,
        found: "the key \(quoted(member.key)) is the service's own",
        remedy: "Take another name: extras stand beside aps and the keys that begin with _j_.")
    }
    return extras.object
  }

  /// The payload for PushKit, as written, but for the key that tells the push.
  private static func voip(_ field: Field) throws(RequestFault) -> JSONObject {
    let voip = try field.object()
    guard let id = voip[PayloadRenderer.messageIDKey] else { return voip.object }
    throw id.wrong("the key is the service's own", "Take another name.")
  }

  // MARK: what is not for iPhones

  private mutating func checkOthers(_ fields: Fields, hasSharedAlert: Bool) throws(RequestFault) {
    for platform in ["android", "hmos", "quickapp", "winphone"] {
      guard let field = fields[platform] else { continue }
      let form = try field.object()
      if !hasSharedAlert, form["alert"] == nil, platform != "quickapp" {
        if platform == "hmos", form.isEmpty { throw form.missing("alert", "Give an alert here or in notification.") }
        throw field.wrong("it has no alert, and notification has none either", "Give one here or in notification.")
      }
      if let builder = form["builder_id"] { _ = try builder.integer(Int64.min...Int64.max) }
      warnings.append("\(field.path) is ignored: only iOS devices are served")
    }
    if fields["alternate_alert"] != nil { warnings.append("notification.alternate_alert is ignored") }
  }
}
