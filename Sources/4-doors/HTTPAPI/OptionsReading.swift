internal import PushPayload
internal import PushService

/// Reads `options` (jpush.md §4.8). What Belfry cannot do is taken and told; a key close to a real one is refused, since
/// `apns_prodution` must not mean "production" (case C35).
struct OptionsReading {
  /// Ten days, JPush's longest.
  static let longestTimeToLive: Int64 = 864_000
  static let mostCollapseBytes = 64

  /// Ours, by a prefix that no field of JPush's has: this is the scheduled push (D-333).
  static let scheduled = "belfry_scheduled"

  /// Ours: what it does in quiet hours.
  static let quiet = "belfry_quiet_hours"

  /// Ours: devices a second.
  static let perSecond = "belfry_per_second"

  /// Ours: what the push is about.
  static let channel = "belfry_channel"

  private(set) var warnings: [String] = []

  private static let served = [
    "sendno", "time_to_live", "apns_collapse_id", "apns_production", scheduled, "big_push_duration", perSecond, quiet,
    channel, "override_msg_id",
  ]

  /// Checked by nobody, without effect on iOS, and why; nil where a word would only be noise.
  private static let ignored: [(key: String, why: String?)] = [
    ("classification", nil),
    ("third_party_channel", nil),
    ("notification_3rd_ver", nil),
    ("receipt_id", nil),
    ("auto_truncation", nil),
    ("portal_extra", nil),
    ("mkt_enable", nil),
    ("notification_switch_filter", nil),
    ("alternate_set", "no alternative wording is sent"),
    ("target_event", "no pushes wait for an event of the app in this version"),
    ("active_push", "only for Android"),
    ("need_backup", "only for Android"),
    ("business_operation_code", "there are no push plans"),
    ("test_model", "there are no test devices; the push went to its whole audience"),
    ("test_message", "there are no test devices; the push went to its whole audience"),
    ("geofence", "no geofences are served by this version"),
  ]

  mutating func read(_ field: Field, into order: inout PushOrder) throws(RequestFault) {
    let options = try field.object()
    if let nested = options["options"] {
      throw nested.wrong("options stand inside options", "Put them one level up, or they would be ignored.")
    }
    for key in try options.refuseMistyped(besides: Self.served + Self.ignored.map(\.key)) {
      warnings.append("\(field.path.appending(key)) is ignored: unknown")
    }
    if let number = options["sendno"] {
      order.sendNumber = Int32(try number.integer(Int64(Int32.min)...Int64(Int32.max)))
    }
    order.timeToLive = try options["time_to_live"]?.integer(0...Self.longestTimeToLive)
    order.collapseID = try options["apns_collapse_id"].map(Self.collapseID)
    order.replaces = try options["override_msg_id"].map { field throws(RequestFault) in try field.messageID() }
    order.channel = try options[Self.channel].map { field throws(RequestFault) in try field.name(.tag) }
    order.production = try options["apns_production"].map(Self.bool) ?? true
    order.isScheduled = try options[Self.scheduled].map(Self.bool)
    order.rate = try Self.rate(options, minutes: "big_push_duration", perSecond: Self.perSecond)
    if let quiet = options[Self.quiet] { order.inQuietHours = try Self.quietChoice(quiet) }
    if let classification = options["classification"] { _ = try classification.integer(0...1) }
    if let channels = options["third_party_channel"] { _ = try channels.object() }
    for (key, why) in Self.ignored where options[key] != nil {
      if let why { warnings.append("\(field.path.appending(key)) is ignored: \(why)") }
    }
  }

  static func quietChoice(_ field: Field) throws(RequestFault) -> QuietChoice {
    QuietChoice(rawValue: try field.word(outOf: QuietChoice.allCases.map(\.rawValue))) ?? .wait
  }

  static func rate(
    _ options: Fields, minutes minuteKey: String, perSecond secondKey: String
  ) throws(RequestFault) -> PushRate? {
    let minutes = try options[minuteKey]?.integer(1...Int64(PushRate.mostMinutes))
    let perSecond = try options[secondKey]?.integer(1...1_000_000)
    switch (minutes, perSecond) {
    case (nil, nil): return nil
    case (let minutes?, nil): return .over(minutes: Int(minutes))
    case (nil, let count?): return .perSecond(Int(count))
    case (_?, _?):
      throw (options[secondKey] ?? Field(value: .null, path: options.path, codes: options.codes)).wrong(
        "it stands beside \(minuteKey)", "Give one of the two.")
    }
  }

  /// Counted in bytes, never cut (case C15).
  static func collapseID(_ field: Field) throws(RequestFault) -> String {
    let text = try field.string()
    guard 1...mostCollapseBytes ~= text.utf8.count else {
      throw field.wrong(
        "\(quoted(text)) has \(text.utf8.count) bytes of UTF-8", "It must have 1 to \(mostCollapseBytes) bytes.")
    }
    if let control = text.unicodeScalars.first(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw field.wrong("\(quoted(text)) has \(control.inWords)", "It travels in a header: no control characters.")
    }
    return text
  }

  /// A bool, or its word in quotes as JPush's own examples have it.
  private static func bool(_ field: Field) throws(RequestFault) -> Bool {
    switch field.value {
    case .string("true"): return true
    case .string("false"): return false
    case .bool(let bool): return bool
    case .null, .number, .string, .array, .object:
      throw field.wrong("\(field.value.kindInWords) stands here", "It must be true or false.")
    }
  }
}
