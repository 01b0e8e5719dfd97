extension Payload {
  /// Reads `aps` leniently; of a key that came twice the last counts.
  mutating func read(_ aps: JSONObject) {
    let setting = ApsSetting(isLiveActivity: aps["event"] != nil)
    for member in aps.countingMembers {
      guard let key = ApsKey(rawValue: member.key) else {
        unknownInAps.members.append(member)
        continue
      }
      if let flaw = key.flaw(in: JSONShape(member.value), setting) {
        note(JSONPath("aps", member.key), flaw.found, flaw.effect)
        if key.isOfLiveActivity, liveActivity == nil { liveActivity = LiveActivity() }
        continue
      }
      take(key, member.value, setting)
    }
  }

  private mutating func take(_ key: ApsKey, _ value: JSONValue, _ setting: ApsSetting) {
    if key.isOfLiveActivity, liveActivity == nil { liveActivity = LiveActivity() }
    switch key {
    case .alert: alert = readAlert(value, setting)
    case .badge: badge = value.number?.int64
    case .sound: sound = readSound(value)
    case .threadID: threadID = value.string
    case .category: category = value.string
    case .contentAvailable: contentAvailable = value.number?.int64 == 1
    case .mutableContent: mutableContent = value.number?.int64 == 1
    case .targetContentID: targetContentID = value.string
    case .interruptionLevel: interruptionLevel = value.string.flatMap(InterruptionLevel.init(rawValue:))
    case .relevanceScore: relevanceScore = value.number?.double
    case .filterCriteria: filterCriteria = value.string
    case .contentChanged: contentChanged = value.bool ?? false
    case .urlArgs: urlArguments = value.array?.compactMap(\.string)
    case .timestamp: liveActivity?.timestamp = value.number?.double
    case .event: liveActivity?.event = value.string.flatMap(LiveActivity.Event.init(rawValue:))
    case .contentState: liveActivity?.contentState = value.object
    case .staleDate: liveActivity?.staleDate = value.number?.double
    case .dismissalDate: liveActivity?.dismissalDate = value.number?.double
    case .attributesType: liveActivity?.attributesType = value.string
    case .attributes: liveActivity?.attributes = value.object
    case .inputPushToken: liveActivity?.wantsPushToken = value.number?.int64 == 1
    case .inputPushChannel: liveActivity?.pushChannel = value.string
    }
  }

  private mutating func readAlert(_ value: JSONValue, _ setting: ApsSetting) -> Alert {
    guard let object = value.object else { return Alert(body: value.string.map(Text.literal)) }
    var alert = Alert()
    var known: [AlertKey: JSONValue] = [:]
    for member in object.countingMembers {
      guard let key = AlertKey(rawValue: member.key), key != .sound || setting.isLiveActivity else {
        alert.unknown.members.append(member)
        continue
      }
      if let flaw = key.flaw(in: JSONShape(member.value), setting) {
        note(JSONPath("aps", "alert", member.key), flaw.found, flaw.effect)
      } else {
        known[key] = member.value
      }
    }
    alert.title = Self.text(known[.title], key: known[.titleLocKey], arguments: known[.titleLocArgs])
    alert.subtitle = Self.text(known[.subtitle], key: known[.subtitleLocKey], arguments: known[.subtitleLocArgs])
    alert.body = Self.text(known[.body], key: known[.locKey], arguments: known[.locArgs])
    alert.launchImage = known[.launchImage]?.string
    alert.action = known[.action]?.string
    alert.actionLocKey = known[.actionLocKey]?.string
    alert.summaryArgument = known[.summaryArg]?.string
    alert.summaryArgumentCount = known[.summaryArgCount]?.number?.int64
    alert.sound = known[.sound]?.string
    return alert
  }

  /// A text may be plain, a key beside it, or (Live Activities) an object with the key inside.
  private static func text(_ plain: JSONValue?, key: JSONValue?, arguments: JSONValue?) -> Text? {
    if let key = key?.string {
      return .localized(key: key, arguments: arguments?.strings ?? [], fallback: plain?.string)
    }
    if let inner = plain?.object {
      guard let key = inner["loc-key"]?.string else { return nil }
      return .localized(key: key, arguments: inner["loc-args"]?.strings ?? [], fallback: nil)
    }
    return plain?.string.map(Text.literal)
  }

  /// An empty name is silence.
  private mutating func readSound(_ value: JSONValue) -> Sound? {
    guard let object = value.object else {
      return value.string.flatMap { $0.isEmpty ? nil : Sound(name: $0) }
    }
    var sound = Sound()
    for member in object.countingMembers {
      guard let key = SoundKey(rawValue: member.key) else { continue }
      let flaw = key.flaw(in: JSONShape(member.value))
      if let flaw { note(JSONPath("aps", "sound", member.key), flaw.found, flaw.effect) }
      switch key {
      case .critical: sound.isCritical = flaw == nil && member.value.number?.int64 == 1
      case .name: sound.name = member.value.string ?? sound.name
      case .volume: sound.volume = min(max(member.value.number?.double ?? 1, 0), 1)
      }
    }
    return sound.name.isEmpty ? nil : sound
  }
}

extension JSONObject {
  /// The members that count, in their order: of a key that came twice, the last. Linear for objects of any size.
  var countingMembers: [Member] {
    var seen: Set<[UInt8]> = []
    return members.reversed().filter { seen.insert(Array($0.key.utf8)).inserted }.reversed()
  }
}

extension JSONValue {
  fileprivate var strings: [String] { array?.compactMap(\.string) ?? [] }
}
