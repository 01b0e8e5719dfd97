/// What a JSON value is, as far as the rules of `aps` ask.
enum JSONShape {
  case null
  case bool(Bool)
  /// Written without fraction and exponent, and within 64 bits.
  case integer(Int64)
  /// Every other number.
  case decimal(Double, literal: String)
  case string(String)
  case array(ofStrings: Bool)
  case object

  init(_ value: JSONValue) {
    switch value {
    case .null: self = .null
    case .bool(let bool): self = .bool(bool)
    case .number(let number): self.init(number)
    case .string(let string): self = .string(string)
    case .array(let elements): self = .array(ofStrings: elements.allSatisfy { $0.string != nil })
    case .object: self = .object
    }
  }

  init(_ number: JSONNumber) {
    self = number.int64.map(JSONShape.integer) ?? .decimal(number.double, literal: number.literal)
  }

  var isObject: Bool { if case .object = self { true } else { false } }

  var number: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .decimal(let double, _): double
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// In a sentence after "is": `the string "1"`.
  var words: String {
    switch self {
    case .null: "null"
    case .bool(let bool): "the boolean \(bool)"
    case .integer(let integer): "the number \(integer)"
    case .decimal(_, let literal): "the number \(literal.count > 24 ? literal.prefix(23) + "…" : literal)"
    case .string(let string):
      "the string \(JSONValue.string(string.count > 24 ? string.prefix(23) + "…" : string).text)"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// Why iOS makes nothing, or something else, of a value.
struct Flaw {
  var code: LintCode
  /// A clause: `is the string "1", not a whole number`.
  var found: String
  /// What happens on the phone; a sentence.
  var effect: String
  /// What to write instead; a sentence.
  var fix: String
}

/// What a rule needs to know of the push around a value.
struct ApsSetting {
  var isLiveActivity = false
}

/// The keys of `aps` (spec apns.md §9.3). Reading (`Payload`) and lint judge values by the same `flaw(in:_:)`.
enum ApsKey: String, CaseIterable, Sendable {
  case alert, badge, sound
  case threadID = "thread-id"
  case category
  case contentAvailable = "content-available"
  case mutableContent = "mutable-content"
  case targetContentID = "target-content-id"
  case interruptionLevel = "interruption-level"
  case relevanceScore = "relevance-score"
  case filterCriteria = "filter-criteria"
  case contentChanged = "content-changed"
  case timestamp, event
  case contentState = "content-state"
  case staleDate = "stale-date"
  case dismissalDate = "dismissal-date"
  case attributesType = "attributes-type"
  case attributes
  case inputPushToken = "input-push-token"
  case inputPushChannel = "input-push-channel"
  case urlArgs = "url-args"

  /// Only a Live Activity reads them.
  var isOfLiveActivity: Bool {
    switch self {
    case .timestamp, .event, .contentState, .staleDate, .dismissalDate, .attributesType, .attributes, .inputPushToken,
      .inputPushChannel:
      true
    case .alert, .badge, .sound, .threadID, .category, .contentAvailable, .mutableContent, .targetContentID,
      .interruptionLevel, .relevanceScore, .filterCriteria, .contentChanged, .urlArgs:
      false
    }
  }

  /// nil when iOS takes the value as it is.
  func flaw(in shape: JSONShape, _ setting: ApsSetting = ApsSetting()) -> Flaw? {
    switch self {
    case .alert:
      if case .string = shape { return nil }
      return shape.isObject
        ? nil
        : wrongType(
          shape, "a string or an object", "No text is shown.", #"Write "alert": {"title": "…", "body": "…"}."#)
    case .badge: return badgeFlaw(in: shape)
    case .sound:
      if case .string = shape { return nil }
      return shape.isObject
        ? nil : wrongType(shape, "a string or an object", "The push is silent.", #"Write "sound": "default"."#)
    case .threadID:
      return string(shape, "The notification is grouped with the app's others.", #"Write "thread-id": "…"."#)
    case .category:
      return string(
        shape, "The notification has no actions.",
        "Name a category that the app has registered.")
    case .targetContentID:
      return string(shape, "The key is ignored: the system chooses the window.", #"Write "target-content-id": "…"."#)
    case .filterCriteria:
      return string(shape, "The key is ignored: the Focus filter does not see it.", #"Write "filter-criteria": "…"."#)
    case .contentAvailable:
      return flag(
        shape, .contentAvailableInvalid, "The app is not woken: only the number 1 wakes it.",
        #"Write "content-available": 1."#)
    case .mutableContent:
      return flag(
        shape, .mutableContentInvalid, "The service extension does not run: only the number 1 asks for it.",
        #"Write "mutable-content": 1."#)
    case .inputPushToken:
      return flag(
        shape, .wrongType, "The started activity gets no push token.", #"Write "input-push-token": 1."#)
    case .interruptionLevel: return interruptionFlaw(in: shape)
    case .relevanceScore: return relevanceFlaw(in: shape, setting)
    case .contentChanged:
      if case .bool(true) = shape { return nil }
      return wrongType(
        shape, "the boolean true", "Nothing is reloaded.", #"Write "content-changed": true."#)
    case .timestamp: return date(shape, "The update is ignored.")
    case .staleDate: return date(shape, "The key is ignored: the activity never becomes stale by itself.")
    case .dismissalDate: return date(shape, "The key is ignored: the activity stays up to four hours after its end.")
    case .event: return eventFlaw(in: shape)
    case .contentState:
      return object(shape, "The update is ignored.", "Write the app's ContentState as an object.")
    case .attributes:
      return object(shape, "The activity does not start.", "Write the app's ActivityAttributes as an object.")
    case .attributesType:
      return string(shape, "The activity does not start.", "Name the Swift type of the app's ActivityAttributes.")
    case .inputPushChannel:
      return string(shape, "The activity does not start.", "Write the channel id, in base64, as a string.")
    case .urlArgs:
      if case .array(ofStrings: true) = shape { return nil }
      return wrongType(shape, "an array of strings", "Safari ignores the key.", #"Write "url-args": ["…"]."#)
    }
  }

  private func wrongType(
    _ shape: JSONShape, _ wanted: String, _ effect: String, _ fix: String, code: LintCode = .wrongType
  ) -> Flaw {
    Flaw(code: code, found: "is \(shape.words), not \(wanted)", effect: effect, fix: fix)
  }

  private func string(_ shape: JSONShape, _ effect: String, _ fix: String) -> Flaw? {
    if case .string = shape { return nil }
    return wrongType(shape, "a string", effect, fix)
  }

  private func object(_ shape: JSONShape, _ effect: String, _ fix: String) -> Flaw? {
    shape.isObject ? nil : wrongType(shape, "an object", effect, fix)
  }

  /// 1 asks for it and 0 does not; nothing else is understood.
  private func flag(_ shape: JSONShape, _ code: LintCode, _ effect: String, _ fix: String) -> Flaw? {
    if case .integer(0...1) = shape { return nil }
    return wrongType(shape, "the number 1", effect, fix, code: code)
  }

  private func badgeFlaw(in shape: JSONShape) -> Flaw? {
    let fix: String
    switch shape {
    case .integer(0...): return nil
    case .string(let text) where text.hasPrefix("+") || text.hasPrefix("-"):
      fix =
        "Let the push service reckon the number (notification.ios.badge of /v3/push takes \(text)), or send a number."
    case .string(let text) where Int64(text).map { $0 >= 0 } == true:
      fix = "Write \"badge\": \(Int64(text) ?? 0), without quotes."
    case .decimal(_, let literal) where literal.utf8.first?.isDigit == true && literal.contains("."):
      fix = "Write \"badge\": \(literal.prefix { $0 != "." }), without a fraction."
    case .null: fix = "Leave the key out to keep the badge, or write 0 to remove it."
    case .integer: fix = "Write 0 to remove the badge, or a number above it."
    case .bool, .decimal, .string, .array, .object: fix = "Write a whole number from 0 up, as in \"badge\": 1."
    }
    return wrongType(
      shape, "a whole number from 0 up", "The badge stays as it was.", fix, code: .badgeInvalid)
  }

  private func interruptionFlaw(in shape: JSONShape) -> Flaw? {
    let levels = Payload.InterruptionLevel.allCases.map(\.rawValue)
    if case .string(let text) = shape {
      if levels.contains(text) { return nil }
      let near = nearest(to: text, in: levels)
      return Flaw(
        code: .interruptionLevelUnknown, found: "is \(shape.words), which iOS does not know",
        effect: "The notification is treated as active.",
        fix: near.map { "Write \"\($0)\"." } ?? "Write one of: \(levels.joined(separator: ", ")).")
    }
    return wrongType(
      shape, "a string", "The notification is treated as active.", "Write one of: \(levels.joined(separator: ", ")).")
  }

  private func relevanceFlaw(in shape: JSONShape, _ setting: ApsSetting) -> Flaw? {
    guard let score = shape.number else {
      return wrongType(shape, "a number", "The key is ignored.", #"Write "relevance-score": 0.5."#)
    }
    if setting.isLiveActivity || 0...1 ~= score { return nil }
    return Flaw(
      code: .relevanceOutOfRange, found: "is \(shape.words), outside 0 to 1", effect: "The key is ignored.",
      fix: "Write a number from 0 to 1; 1 is the most relevant.")
  }

  private func date(_ shape: JSONShape, _ effect: String) -> Flaw? {
    let fix = "Write the seconds since 1970 as a number."
    guard let seconds = shape.number else { return wrongType(shape, "a number of seconds", effect, fix) }
    if seconds < 0 {
      return Flaw(code: .dateInvalid, found: "is \(shape.words), before 1970", effect: effect, fix: fix)
    }
    return nil
  }

  private func eventFlaw(in shape: JSONShape) -> Flaw? {
    let events = Payload.LiveActivity.Event.allCases.map(\.rawValue)
    if case .string(let text) = shape {
      if events.contains(text) { return nil }
      return Flaw(
        code: .eventUnknown, found: "is \(shape.words), which ActivityKit does not know",
        effect: "The update is ignored.", fix: "Write start, update or end.")
    }
    return wrongType(shape, "a string", "The update is ignored.", "Write start, update or end.")
  }
}

/// The keys of `aps.alert` (spec apns.md §9.4).
enum AlertKey: String, CaseIterable, Sendable {
  case title, subtitle, body
  case launchImage = "launch-image"
  case titleLocKey = "title-loc-key"
  case subtitleLocKey = "subtitle-loc-key"
  case locKey = "loc-key"
  case titleLocArgs = "title-loc-args"
  case subtitleLocArgs = "subtitle-loc-args"
  case locArgs = "loc-args"
  case action
  case actionLocKey = "action-loc-key"
  case summaryArg = "summary-arg"
  case summaryArgCount = "summary-arg-count"
  /// Only in the alert of a Live Activity.
  case sound

  var isDeprecated: Bool {
    switch self {
    case .action, .actionLocKey, .summaryArg, .summaryArgCount: true
    case .title, .subtitle, .body, .launchImage, .titleLocKey, .subtitleLocKey, .locKey, .titleLocArgs,
      .subtitleLocArgs, .locArgs, .sound:
      false
    }
  }

  func flaw(in shape: JSONShape, _ setting: ApsSetting = ApsSetting()) -> Flaw? {
    switch self {
    case .title, .body:
      if setting.isLiveActivity, shape.isObject { return nil }
      return string(shape, "The \(rawValue) is not shown.")
    case .subtitle: return string(shape, "The subtitle is not shown.")
    case .titleLocKey, .subtitleLocKey, .locKey:
      return string(shape, "The key is ignored: the text that it stands for is not shown.")
    case .launchImage: return string(shape, "The key is ignored: the app shows its own launch screen.")
    case .action: return string(shape, "The key is ignored.")
    case .actionLocKey:
      if case .null = shape { return nil }  // asks for a modal alert without the second button
      return string(shape, "The key is ignored.")
    case .summaryArg: return string(shape, "The key is ignored.")
    case .summaryArgCount:
      guard case .integer(0...) = shape else {
        return Flaw(
          code: .wrongType, found: "is \(shape.words), not a whole number", effect: "The key is ignored.",
          fix: "Leave it out: iOS has not read it since 15.")
      }
      return nil
    case .titleLocArgs, .subtitleLocArgs, .locArgs:
      if case .array(ofStrings: true) = shape { return nil }
      let found: String
      if case .array = shape { found = "holds something else than strings" } else { found = "is \(shape.words)" }
      return Flaw(
        code: .wrongType, found: "\(found), not an array of strings",
        effect: "The placeholders are not filled.", fix: #"Write every argument as a string: ["5", "Lin"]."#)
    case .sound: return string(shape, "The alert of the activity is silent.")
    }
  }

  private func string(_ shape: JSONShape, _ effect: String) -> Flaw? {
    if case .string = shape { return nil }
    return Flaw(
      code: .wrongType, found: "is \(shape.words), not a string", effect: effect, fix: "Write \"\(rawValue)\": \"…\".")
  }
}

/// The keys of a `sound` object (spec apns.md §9.3).
enum SoundKey: String, CaseIterable, Sendable {
  case critical, name, volume

  func flaw(in shape: JSONShape) -> Flaw? {
    switch self {
    case .critical:
      if case .integer(0...1) = shape { return nil }
      return Flaw(
        code: .wrongType, found: "is \(shape.words), not the number 1",
        effect: "The sound is an ordinary one: it does not play through mute and Focus.", fix: #"Write "critical": 1."#)
    case .name:
      if case .string = shape { return nil }
      return Flaw(
        code: .wrongType, found: "is \(shape.words), not a string", effect: "The default sound plays.",
        fix: #"Write "name": "default"."#)
    case .volume:
      guard let volume = shape.number else {
        return Flaw(
          code: .wrongType, found: "is \(shape.words), not a number",
          effect: "The volume is ignored: it plays in full.",
          fix: #"Write "volume": 1.0."#)
      }
      if 0...1 ~= volume { return nil }
      return Flaw(
        code: .volumeOutOfRange, found: "is \(shape.words), outside 0 to 1",
        effect: "The volume is taken for \(volume < 0 ? 0 : 1).", fix: "Write a number from 0 (silent) to 1 (full).")
    }
  }
}
