extension Payload {
  /// The payload in Apple's form: `aps` with what is set, then the custom members (or `mdm`). Reading it again gives an
  /// equal payload, but for `ignored` and `userInfo`.
  public var json: JSONValue {
    var object = JSONObject()
    let aps = aps
    if hasAps || !aps.members.isEmpty { object.members.append(.init("aps", .object(aps))) }
    if let mdm, custom["mdm"] == nil { object.members.append(.init("mdm", .string(mdm))) }
    object.members += custom.members
    return .object(object)
  }

  private var aps: JSONObject {
    var aps = JSONObject()
    func set(_ key: ApsKey, _ value: JSONValue?) {
      if let value { aps.members.append(.init(key.rawValue, value)) }
    }
    set(.alert, alert.map { .object($0.json) })
    set(.badge, badge.map { .number(JSONNumber($0)) })
    set(.sound, sound?.json)
    set(.threadID, threadID.map(JSONValue.string))
    set(.category, category.map(JSONValue.string))
    set(.contentAvailable, contentAvailable ? 1 : nil)
    set(.mutableContent, mutableContent ? 1 : nil)
    set(.targetContentID, targetContentID.map(JSONValue.string))
    set(.interruptionLevel, interruptionLevel.map { .string($0.rawValue) })
    set(.relevanceScore, relevanceScore.flatMap(JSONNumber.init).map(JSONValue.number))
    set(.filterCriteria, filterCriteria.map(JSONValue.string))
    set(.contentChanged, contentChanged ? true : nil)
    set(.urlArgs, urlArguments.map { .array($0.map(JSONValue.string)) })
    if let activity = liveActivity {
      set(.timestamp, activity.timestamp.flatMap(JSONNumber.init).map(JSONValue.number))
      set(.event, activity.event.map { .string($0.rawValue) })
      set(.contentState, activity.contentState.map(JSONValue.object))
      set(.staleDate, activity.staleDate.flatMap(JSONNumber.init).map(JSONValue.number))
      set(.dismissalDate, activity.dismissalDate.flatMap(JSONNumber.init).map(JSONValue.number))
      set(.attributesType, activity.attributesType.map(JSONValue.string))
      set(.attributes, activity.attributes.map(JSONValue.object))
      set(.inputPushToken, activity.wantsPushToken ? 1 : nil)
      set(.inputPushChannel, activity.pushChannel.map(JSONValue.string))
    }
    aps.members += unknownInAps.members
    return aps
  }
}

extension Payload.Alert {
  fileprivate var json: JSONObject {
    var object = JSONObject()
    func set(_ key: AlertKey, _ value: JSONValue?) {
      if let value { object.members.append(.init(key.rawValue, value)) }
    }
    func set(_ text: Payload.Text?, _ plain: AlertKey, _ key: AlertKey, _ arguments: AlertKey) {
      switch text {
      case nil: break
      case .literal(let text): set(plain, .string(text))
      case .localized(let name, let values, let fallback):
        set(plain, fallback.map(JSONValue.string))
        set(key, .string(name))
        set(arguments, values.isEmpty ? nil : .array(values.map(JSONValue.string)))
      }
    }
    set(title, .title, .titleLocKey, .titleLocArgs)
    set(subtitle, .subtitle, .subtitleLocKey, .subtitleLocArgs)
    set(body, .body, .locKey, .locArgs)
    set(.launchImage, launchImage.map(JSONValue.string))
    set(.action, action.map(JSONValue.string))
    set(.actionLocKey, actionLocKey.map(JSONValue.string))
    set(.summaryArg, summaryArgument.map(JSONValue.string))
    set(.summaryArgCount, summaryArgumentCount.map { .number(JSONNumber($0)) })
    set(.sound, sound.map(JSONValue.string))
    object.members += unknown.members
    return object
  }
}

extension Payload.Sound {
  fileprivate var json: JSONValue {
    if !isCritical, volume == 1 { return .string(name) }
    var object: JSONObject = ["name": .string(name)]
    if isCritical { object["critical"] = 1 }
    object["volume"] = JSONNumber(volume).map(JSONValue.number)
    return .object(object)
  }
}

extension JSONValue {
  /// The value with the string at `path` cut, and `…` put in its place, until the whole fits into `limit` bytes; itself
  /// if it fits already. Never splits what a person sees as one character. nil when even nothing of the string would do,
  /// or there is no string at `path`.
  public func shortened(at path: JSONPath, toFit limit: Int) -> JSONValue? {
    let excess = encodedSize - limit
    if excess <= 0 { return self }
    guard let text = self[path]?.string else { return nil }
    let room = JSONValue.string(text).encodedSize - excess
    var used = JSONValue.string("…").encodedSize
    guard used <= room else { return nil }
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      let size = JSONValue.string(String(text[end..<next])).encodedSize - 2
      if used + size > room { break }
      used += size
      end = next
    }
    return replacing(path.steps[...], with: .string(text[..<end] + "…"))
  }

  /// The value at `path`; of a key that came twice, the last.
  public subscript(path: JSONPath) -> JSONValue? {
    var value = self
    for step in path.steps {
      let next: JSONValue? =
        switch step {
        case .key(let key): value.object?[key]
        case .index(let index): value.array.flatMap { $0.indices.contains(index) ? $0[index] : nil }
        }
      guard let next else { return nil }
      value = next
    }
    return value
  }

  private func replacing(_ steps: ArraySlice<JSONPath.Step>, with new: JSONValue) -> JSONValue {
    switch (steps.first, self) {
    case (nil, _): return new
    case (.key(let key), .object(var object)):
      object[key] = object[key]?.replacing(steps.dropFirst(), with: new)
      return .object(object)
    case (.index(let index), .array(var array)):
      array[index] = array[index].replacing(steps.dropFirst(), with: new)
      return .array(array)
    case (.key, _), (.index, _): return self
    }
  }
}
