import Basics

extension LintRun {
  func node(_ key: ApsKey) -> Int? { members.first { $0.key == key }?.node }

  func alertNode(_ key: AlertKey) -> Int? { alertMembers.first { $0.key == key }?.node }

  /// Every member of `aps`, then of `alert` and `sound`.
  mutating func walkAps() {
    guard tape.nodes[aps].kind == .object else { return }
    members.reserveCapacity(8)
    var strangers = 0
    for value in tape.children(of: aps) {
      if let key = ApsKey.table.key(of: tape, at: value - 1) {
        if let index = members.firstIndex(where: { $0.key == key }) {
          members[index].node = value
        } else {
          members.append((key, value))
        }
      } else {
        strangers += 1
        judgeStrangerInAps(value, isJudged: strangers <= Self.strangersJudged)
      }
    }
    let setting = ApsSetting(isLiveActivity: statedType == .liveactivity || node(.event) != nil)
    for (key, value) in members { judge(key, value, setting) }
    if let alert = node(.alert) {
      if tape.nodes[alert].kind == .object {
        walkAlert(alert, setting)
      } else {
        judgePlainText(alert, nil)
      }
    }
    if let sound = node(.sound) { judgeSound(sound) }
  }

  private mutating func judge(_ key: ApsKey, _ value: Int, _ setting: ApsSetting) {
    switch key {
    case .alert where tape.nodes[value].kind == .string || tape.nodes[value].kind == .object: return
    case .threadID, .category, .targetContentID, .filterCriteria, .attributesType, .sound:
      if tape.nodes[value].kind == .string { return }
    case .contentAvailable, .mutableContent, .inputPushToken:
      if tape.isOne(value) { return }
    case .contentState, .attributes:
      if tape.nodes[value].kind == .object { return }
    case .alert, .badge, .interruptionLevel, .relevanceScore, .contentChanged, .timestamp, .event, .staleDate,
      .dismissalDate, .inputPushChannel, .urlArgs:
      break
    }
    let shape = tape.shape(of: value)
    if let flaw = key.flaw(in: shape, setting) { return add(flaw, .error, value, JSONPath("aps", key.rawValue)) }
    switch key {
    case .contentAvailable, .mutableContent, .inputPushToken:
      add(
        .flagZero, .hint, value, "aps.\(key.rawValue) is 0, which says nothing", "It is as if the key were absent.",
        "Leave it out, or write 1.", path: JSONPath("aps", key.rawValue))
    case .timestamp, .staleDate, .dismissalDate: judgeDate(key, value, shape)
    case .inputPushChannel: judgeChannel(value)
    case .urlArgs:
      add(
        .deprecatedKey, .hint, value - 1, "aps.\(key.rawValue) is only read by Safari's old web push",
        "iOS ignores it.",
        "Leave it out.", path: JSONPath("aps", key.rawValue))
    case .alert, .badge, .sound, .threadID, .category, .targetContentID, .interruptionLevel, .relevanceScore,
      .filterCriteria, .contentChanged, .event, .contentState, .attributesType, .attributes:
      break
    }
  }

  private mutating func judgeDate(_ key: ApsKey, _ value: Int, _ shape: JSONShape) {
    guard let seconds = shape.number else { return }
    let path = JSONPath("aps", key.rawValue)
    if seconds >= 1e11 {
      add(
        .milliseconds, .error, value, "\(path) looks like milliseconds",
        key == .timestamp
          ? "Read as seconds it lies thousands of years ahead: every later update counts as older and is ignored."
          : "Read as seconds it lies thousands of years ahead: it never comes.",
        "Write seconds since 1970: divide by 1000.", path: path)
    } else if let now = context.now, key == .staleDate, seconds < Double(now.seconds) {
      add(
        .datePast, .warning, value, "\(path) is past", "The activity is stale at once.",
        "Write a time to come, in seconds since 1970.", path: path)
    } else if let now = context.now, key == .timestamp, seconds > Double((now + .minutes(5)).seconds) {
      add(
        .timestampAhead, .warning, value, "\(path) lies ahead of the time now",
        "Updates that are sent before that time count as older and are ignored.",
        "Write the time now, in seconds since 1970: \(now.seconds).", path: path)
    } else if let now = context.now, key == .dismissalDate, seconds > Double((now + .hours(4)).seconds) {
      add(
        .dismissalDateTooFar, .warning, value, "\(path) is more than four hours ahead",
        "iOS removes an ended activity after four hours at the latest.",
        "Write at most \((now + .hours(4)).seconds), or send the end later.", path: path)
    }
  }

  private mutating func judgeChannel(_ value: Int) {
    guard !ChannelID.isWellFormed(tape.string(value).utf8) else { return }
    add(
      .channelIDInvalid, .error, value, "aps.input-push-channel is no base64", "The activity does not start.",
      "Write the channel's id as APNs gave it when the channel was made.", path: JSONPath("aps", "input-push-channel"))
  }

  private mutating func judgeStrangerInAps(_ value: Int, isJudged: Bool) {
    let key = value - 1
    let text = tape.string(key)
    let path = JSONPath("aps", text)
    if text == "aps" {
      return add(
        .apsNested, .error, key, "aps stands inside aps", "The inner one is ignored.",
        "Move its members up by one level.", path: path)
    }
    if AlertKey.table.key(of: tape, at: key) != nil {
      return add(
        .keyOutsideAlert, .error, key, "\(path) belongs inside alert", "It is ignored: the \(text) is not shown.",
        "Write \"alert\": {\"\(text)\": …}.", path: path)
    }
    let known = ApsKey.allCases.map(\.rawValue)
    let target = text == "target-content-identifier" ? ApsKey.targetContentID.rawValue : nil
    if isJudged, let near = target ?? nearest(to: text, in: known) {
      let hyphen = text.contains("_") ? ", with hyphens" : ""
      return add(
        .keyMisspelt, .error, key, "\(path) is not \"\(near)\"", "iOS does not know the key and ignores it.",
        "Write \"\(near)\"\(hyphen).", path: path)
    }
    add(
      .customKeyInsideAps, .warning, key, "\(path) is not one of Apple's keys",
      "iOS ignores it; Apple keeps the inside of aps for itself and may give the key a meaning.",
      "Move it out of aps to the top level.", path: path)
  }

  // MARK: alert

  private mutating func walkAlert(_ alert: Int, _ setting: ApsSetting) {
    alertMembers.reserveCapacity(4)
    var strangers = 0
    for value in tape.children(of: alert) {
      if let key = AlertKey.table.key(of: tape, at: value - 1), key != .sound || setting.isLiveActivity {
        if let index = alertMembers.firstIndex(where: { $0.key == key }) {
          alertMembers[index].node = value
        } else {
          alertMembers.append((key, value))
        }
      } else {
        strangers += 1
        judgeStrangerInAlert(value, isJudged: strangers <= Self.strangersJudged)
      }
    }
    for (key, value) in alertMembers {
      let isText = tape.nodes[value].kind == .string
      if isText, !key.isDeprecated, !key.isArguments { continue }
      let path = JSONPath("aps", "alert", key.rawValue)
      if let flaw = key.flaw(in: tape.shape(of: value), setting) {
        add(flaw, .error, value, path)
      } else if key.isDeprecated {
        add(
          .deprecatedKey, .hint, value - 1, "\(path) is a relic", "iOS of today does not read it.", "Leave it out.",
          path: path)
      }
    }
    judgePlaceholders(plain: .title, key: .titleLocKey, arguments: .titleLocArgs)
    judgePlaceholders(plain: .subtitle, key: .subtitleLocKey, arguments: .subtitleLocArgs)
    judgePlaceholders(plain: .body, key: .locKey, arguments: .locArgs)
  }

  private mutating func judgeStrangerInAlert(_ value: Int, isJudged: Bool) {
    let key = value - 1
    let text = tape.string(key)
    let path = JSONPath("aps", "alert", text)
    let fix: String
    if ApsKey(rawValue: text) != nil {
      fix = "Move it out of alert, into aps."
    } else if isJudged, let near = nearest(to: text, in: AlertKey.allCases.map(\.rawValue)) {
      fix = "Write \"\(near)\"."
    } else {
      fix = "Leave it out, or move it out of aps."
    }
    add(
      .unknownAlertKey, .error, key, "\(path) is not a key of alert", "It is ignored: nothing of it is shown.", fix,
      path: path)
  }

  private static let alertPath = JSONPath("aps", "alert")

  private mutating func judgePlaceholders(plain: AlertKey, key: AlertKey, arguments: AlertKey) {
    if let values = alertNode(arguments), alertNode(key) == nil {
      add(
        .argumentsWithoutKey, .warning, values - 1,
        "\(Self.alertPath).\(arguments.rawValue) is there without \(key.rawValue)", "The arguments are ignored.",
        "Add \"\(key.rawValue)\", or put the finished text into \(plain.rawValue).",
        path: Self.alertPath.appending(arguments.rawValue))
    }
    if let text = alertNode(plain), alertNode(key) == nil {
      judgePlainText(text, plain)
    }
    if let text = alertNode(key), tape.nodes[text].kind == .string {
      let wanted = tape.placeholders(in: text)
      let given = alertNode(arguments).map {
        tape.nodes[$0].kind == .array ? tape.children(of: $0).reduce(0) { n, _ in n + 1 } : wanted
      }
      guard wanted > given ?? 0 else { return }
      add(
        .placeholderWithoutArguments, .warning, text,
        "\(Self.alertPath).\(key.rawValue) has \(wanted) placeholder\(wanted == 1 ? "" : "s") and \(given ?? 0) arguments",
        "Placeholders without an argument stay empty or are shown as they are.",
        "Give \(wanted) strings in \(arguments.rawValue).", path: Self.alertPath.appending(key.rawValue))
    }
  }

  /// `key` is where in `alert` the text stands; nil when it is the alert itself.
  private mutating func judgePlainText(_ text: Int, _ key: AlertKey?) {
    guard tape.placeholders(in: text) > 0 else { return }
    let path = key.map { Self.alertPath.appending($0.rawValue) } ?? Self.alertPath
    add(
      .placeholderWithoutArguments, .warning, text, "\(path) has a placeholder, but nothing fills a plain text",
      "It is shown as it is written.",
      "Use loc-key and loc-args (for a title, title-loc-key and title-loc-args), or put the finished text here.",
      path: path)
  }

  // MARK: sound

  private mutating func judgeSound(_ sound: Int) {
    let path = JSONPath("aps", "sound")
    switch tape.nodes[sound].kind {
    case .string: judgeSoundName(sound, path)
    case .object:
      var critical = false
      var volume = false
      for value in tape.children(of: sound) {
        let inner = path.appending(tape.string(value - 1))
        guard let key = SoundKey.table.key(of: tape, at: value - 1) else {
          let near = nearest(to: tape.string(value - 1), in: SoundKey.allCases.map(\.rawValue))
          add(
            .unknownSoundKey, .warning, value - 1, "\(inner) is not a key of sound", "It is ignored.",
            near.map { "Write \"\($0)\"." } ?? "Leave it out: sound knows critical, name and volume.", path: inner)
          continue
        }
        if let flaw = key.flaw(in: tape.shape(of: value)) { add(flaw, .error, value, inner) }
        switch key {
        case .critical: critical = tape.isOne(value)
        case .volume: volume = true
        case .name: if tape.nodes[value].kind == .string { judgeSoundName(value, inner) }
        }
      }
      guard critical else { return }
      if node(.interruptionLevel).map({ tape.nodes[$0].kind == .string && tape.says("critical", $0) }) != true {
        add(
          .criticalWithoutLevel, .warning, sound, "a critical sound without \"interruption-level\": \"critical\"",
          "Sound and banner are treated differently by Focus and mute.",
          #"Add "interruption-level": "critical" to aps; it needs Apple's entitlement."#, path: path)
      }
      if !volume {
        add(
          .criticalWithoutVolume, .hint, sound, "a critical sound without volume", "It plays at full volume.",
          #"State "volume", from 0 to 1."#, path: path)
      }
    case .null, .false, .true, .number, .key, .array: return
    }
  }

  private mutating func judgeSoundName(_ value: Int, _ path: JSONPath) {
    if tape.isEmptyString(value) {
      return add(
        .soundEmpty, .hint, value, "\(path) is empty", "The push is silent.", "Leave it out, or write \"default\".",
        path: path)
    }
    guard !tape.says("default", value) else { return }
    let name = tape.string(value).lowercased()
    guard let format = [".mp3", ".m4a", ".aac", ".ogg", ".wma", ".flac", ".mp4"].first(where: name.hasSuffix) else {
      return
    }
    add(
      .soundFormat, .warning, value, "\(path) names a \(format) file", "iOS cannot play it: the default sound plays.",
      "Use linear PCM, IMA4, µLaw or aLaw in a .caf, .wav or .aiff file of at most 30 seconds.", path: path)
  }
}

extension AlertKey {
  fileprivate var isArguments: Bool {
    switch self {
    case .titleLocArgs, .subtitleLocArgs, .locArgs: true
    case .title, .subtitle, .body, .launchImage, .titleLocKey, .subtitleLocKey, .locKey, .action, .actionLocKey,
      .summaryArg, .summaryArgCount, .sound:
      false
    }
  }
}
