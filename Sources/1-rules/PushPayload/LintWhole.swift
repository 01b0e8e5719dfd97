/// What a push is, as far as its payload tells.
struct PushTraits {
  var hasAps = false
  var hasMDM = false
  var hasEvent = false
  /// `content-state` or `timestamp`.
  var hasUpdate = false
  var hasContentChanged = false
  var wakes = false
  var showsText = false
  var hasBadge = false
  var hasSound = false

  var inferredType: PushType {
    if !hasAps { return hasMDM ? .mdm : .alert }
    if hasEvent, hasUpdate { return .liveactivity }
    if hasContentChanged { return .widgets }
    return wakes && !showsText && !hasBadge && !hasSound ? .background : .alert
  }
}

extension LintRun {
  var traits: PushTraits {
    PushTraits(
      hasAps: aps > 0 && tape.nodes[aps].kind == .object, hasMDM: mdm > 0 && tape.nodes[mdm].kind == .string,
      hasEvent: node(.event) != nil, hasUpdate: node(.contentState) != nil || node(.timestamp) != nil,
      hasContentChanged: node(.contentChanged) != nil, wakes: node(.contentAvailable).map(tape.isOne) ?? false,
      showsText: showsText, hasBadge: node(.badge) != nil, hasSound: node(.sound) != nil)
  }

  /// Whether the alert has anything to read (case C24).
  private var showsText: Bool {
    guard let alert = node(.alert) else { return false }
    if tape.nodes[alert].kind == .string { return !tape.isEmptyString(alert) }
    return alertMembers.contains { key, value in
      switch key {
      case .title, .subtitle, .body, .titleLocKey, .subtitleLocKey, .locKey:
        tape.nodes[value].kind == .string && !tape.isEmptyString(value) || tape.nodes[value].kind == .object
      case .launchImage, .titleLocArgs, .subtitleLocArgs, .locArgs, .action, .actionLocKey, .summaryArg,
        .summaryArgCount, .sound:
        false
      }
    }
  }

  /// What the parts make together, and whether that is what the push type says.
  mutating func judgeWhole() {
    let traits = traits
    guard traits.hasAps else { return judgeAbsentAps(traits) }
    switch type {
    case .alert: judgeAlert(traits)
    case .background: judgeBackground(traits)
    case .liveactivity: judgeLiveActivity()
    case .controls, .widgets:
      if !traits.hasContentChanged {
        mismatch(
          aps, "a push of type \(type.rawValue) without content-changed", "Nothing is reloaded.",
          #"Write "aps": {"content-changed": true}."#)
      }
    case .mdm:
      if !traits.hasMDM {
        mismatch(
          aps, "a push of type mdm without the key mdm", "Device management is not woken.",
          #"Send {"mdm": "<push magic>"} and no aps."#)
      }
    case .voip, .complication, .fileprovider, .location, .pushtotalk: break
    }
    if type != .liveactivity {
      for (key, value) in members where key.isOfLiveActivity {
        let path = JSONPath("aps", key.rawValue)
        add(
          .liveActivityKeyMisplaced, statedType == nil ? .warning : .error, value - 1,
          "\(path) belongs to push type liveactivity, but the push is \(statedType == nil ? "taken for" : "of") type "
            + type.rawValue,
          "iOS ignores it.",
          "Send push type liveactivity with the topic's suffix \(PushType.liveactivity.topicSuffix).",
          path: path)
      }
      if let mutable = node(.mutableContent), tape.isOne(mutable), !traits.showsText,
        type == .alert || type == .background
      {
        add(
          .mutableContentWithoutAlert, .warning, mutable, "aps.mutable-content without an alert to change",
          "The service extension does not run.", "Add an alert, or leave mutable-content out.",
          path: JSONPath("aps", "mutable-content"))
      }
    }
    if let changed = node(.contentChanged), type != .controls, type != .widgets {
      mismatch(
        changed - 1, "aps.content-changed belongs to push types controls and widgets, not to \(type.rawValue)",
        "Nothing is reloaded.", "Send push type controls or widgets with its topic.")
    }
  }

  private mutating func mismatch(_ node: Int, _ message: String, _ effect: String, _ fix: String) {
    add(.pushTypeMismatch, .error, node, message, effect, fix)
  }

  private mutating func judgeAbsentAps(_ traits: PushTraits) {
    if aps > 0 || misspeltAps { return }  // told already
    switch statedType {
    case .voip, .complication, .fileprovider, .location, .pushtotalk: return
    case .mdm:
      if !traits.hasMDM {
        mismatch(
          0, "a push of type mdm without the key mdm", "Device management is not woken.",
          #"Send {"mdm": "<push magic>"}."#)
      }
    case nil where traits.hasMDM: return
    case nil where tape.nodes.count == 1:
      add(
        .apsMissing, .hint, 0, "the payload is empty",
        "Right for a Wallet pass, which is then fetched; everywhere else the phone shows nothing.",
        #"Add "aps": {…} unless the topic is a pass type id."#)
    case .alert, .background, .liveactivity, .controls, .widgets, nil:
      add(
        .apsMissing, .error, 0, "aps is absent", "The phone shows nothing and nothing wakes.",
        statedType == nil
          ? "Add \"aps\": {…}, or state the push type if it is voip, fileprovider or another that needs none."
          : #"Add "aps": {…}."#)
    }
  }

  private mutating func judgeAlert(_ traits: PushTraits) {
    if traits.showsText { return }
    if traits.wakes {
      if statedType == .alert, !traits.hasBadge, !traits.hasSound {
        mismatch(
          aps, "a push of type alert with nothing to show: it is a background push",
          "Apple warns of an error, a delay, or a silent drop when the push type is untrue.",
          "Send push type background with priority 5, or add an alert.")
      } else if let loud = node(.sound) ?? node(.badge) {
        let name = node(.sound) == nil ? "badge" : "sound"
        add(
          .backgroundNotAlone, .warning, loud - 1, "content-available beside aps.\(name) and no text",
          "It is no silent push: the \(name) is acted on, and the wake may be dropped with it.",
          "Leave \(name) out for a silent push, or add an alert.", path: JSONPath("aps", name))
      }
    } else if let alert = node(.alert), tape.nodes[alert].kind == .string || tape.nodes[alert].kind == .object {
      add(
        .emptyAlert, .warning, alert, "aps.alert has nothing to read",
        "No notification appears"
          + (traits.hasBadge || traits.hasSound ? "; only badge and sound are acted on." : ": nothing is shown."),
        "Give a title or a body, or leave alert out.", path: JSONPath("aps", "alert"))
    } else if !traits.hasBadge, !traits.hasSound, node(.alert) == nil, node(.contentChanged) == nil {
      let severity: Severity = statedType == nil ? .warning : .error
      add(
        statedType == nil ? .nothingToShow : .pushTypeMismatch, severity, aps,
        "aps has no alert, no badge, no sound and does not wake the app", "The phone shows nothing.",
        "Add an alert, or \"content-available\": 1 for a background push.", path: JSONPath("aps"))
    }
  }

  private mutating func judgeBackground(_ traits: PushTraits) {
    if !traits.wakes {
      let place = node(.contentAvailable) ?? aps
      mismatch(
        place, "a push of type background without \"content-available\": 1", "The app is not woken.",
        "Add \"content-available\": 1, or send push type alert.")
    }
    if let alert = node(.alert), !traits.showsText,
      tape.nodes[alert].kind == .string || tape.nodes[alert].kind == .object
    {
      add(
        .silentWithEmptyAlert, .warning, alert, "an empty alert in a silent push",
        "The phone shows nothing; Apple asks that a background push has no alert, and may treat it as none.",
        "Leave alert out.", path: JSONPath("aps", "alert"))
    }
    for (key, name) in [(ApsKey.alert, "alert"), (.badge, "badge"), (.sound, "sound")] {
      guard let value = node(key), key != .alert || traits.showsText else { continue }
      add(
        .backgroundNotAlone, .error, value - 1, "aps.\(name) in a push of type background",
        "It is no background push then: APNs may refuse, delay or drop it, and the phone does not show it.",
        "Leave \(name) out, or send push type alert.", path: JSONPath("aps", name))
    }
  }

  private mutating func judgeLiveActivity() {
    let event = node(.event).flatMap { Payload.LiveActivity.Event(rawValue: tape.shape(of: $0).text) }
    func isAbsent(_ key: ApsKey) -> Bool { node(key) == nil }
    if isAbsent(.timestamp) { missing(.timestamp, "The update is ignored.", "the time in seconds since 1970") }
    if isAbsent(.event) { missing(.event, "The update is ignored.", "start, update or end") }
    switch event {
    case .start:
      if isAbsent(.contentState) { missing(.contentState, "The activity does not start.", "its first state") }
      if isAbsent(.attributesType) { missing(.attributesType, "The activity does not start.", "the Swift type's name") }
      if isAbsent(.attributes) { missing(.attributes, "The activity does not start.", "what never changes of it") }
      if isAbsent(.alert) { missing(.alert, "The activity does not start.", "the words that announce it") }
      if context.isBroadcast {
        mismatch(
          node(.event) ?? aps, "a broadcast cannot start an activity", "Nothing starts.",
          "Start it with the push-to-start token of each phone.")
      }
    case .update:
      if isAbsent(.contentState) { missing(.contentState, "The update is ignored.", "the new state") }
    case .end:
      if isAbsent(.contentState) {
        missing(.contentState, "The activity ends with the state it had.", "the final state", .hint)
      }
    case nil: break
    }
    if let event, event != .start {
      for key in [ApsKey.attributesType, .attributes, .inputPushToken, .inputPushChannel] {
        misplaced(key, "is only read with the event start")
      }
    }
    if let event, event != .end { misplaced(.dismissalDate, "is only read with the event end") }
    misplaced(.sound, "has no effect here: the sound of an activity's alert stands inside alert")
  }

  private mutating func missing(_ key: ApsKey, _ effect: String, _ what: String, _ severity: Severity = .error) {
    add(
      .liveActivityKeyMissing, severity, aps, "aps.\(key.rawValue) is absent", effect,
      "Add \"\(key.rawValue)\": \(what).", path: JSONPath("aps", key.rawValue))
  }

  private mutating func misplaced(_ key: ApsKey, _ why: String) {
    guard let value = node(key) else { return }
    let path = JSONPath("aps", key.rawValue)
    add(
      .liveActivityKeyMisplaced, .warning, value - 1, "\(path) \(why)", "It is ignored.",
      key == .sound ? "Move it into alert." : "Leave it out.", path: path)
  }
}

extension JSONShape {
  /// Of a string; else empty.
  fileprivate var text: String { if case .string(let text) = self { text } else { "" } }
}
