public import PushPayload

/// How a push differs by recipient: texts in the language of each device, and places (`{{name|there}}`) that hold what is
/// known of a recipient.
public struct PersonalContent: Sendable, Equatable {
  /// Alert texts by BCP 47 tag, in the place of the push's own.
  public var languages: [String: PersonalPayload.Texts]
  /// Whether `{{…}}` in the strings of the payload is a place.
  public var hasPlaces: Bool
  /// Values by recipient, a registration id or an alias, then by name. They win over what a device tells of itself.
  public var recipients: [String: [String: String]]
  /// Whether texts that make the payload too large are shortened (case C10); else such a push is refused.
  public var shortens: Bool

  public init(
    languages: [String: PersonalPayload.Texts] = [:], hasPlaces: Bool = false,
    recipients: [String: [String: String]] = [:], shortens: Bool = false
  ) {
    self.languages = languages
    self.hasPlaces = hasPlaces
    self.recipients = recipients
    self.shortens = shortens
  }

  /// Names of places that need no `recipients`: every device has the first, and tells the others or not.
  enum DeviceName: String, CaseIterable {
    case registrationID = "registrationId"
    case alias, language, appVersion, osVersion, timeZone, model
  }

  func payload(_ payload: JSONObject) throws(PersonalPayloadFault) -> PersonalPayload {
    try PersonalPayload(payload, languages: languages, hasPlaces: hasPlaces)
  }
}

// MARK: As it is kept

extension PersonalContent {
  var stored: [UInt8] {
    var languages = JSONObject()
    for (language, texts) in self.languages.sorted(by: { $0.key < $1.key }) {
      var object = JSONObject()
      object["title"] = texts.title.map(JSONValue.string)
      object["subtitle"] = texts.subtitle.map(JSONValue.string)
      object["body"] = texts.body.map(JSONValue.string)
      languages[language] = .object(object)
    }
    var recipients = JSONObject()
    for (recipient, values) in self.recipients.sorted(by: { $0.key < $1.key }) {
      recipients.members.append(
        .init(
          recipient, .object(JSONObject(values.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }))))
    }
    return JSONValue.object([
      "languages": .object(languages), "places": .bool(hasPlaces), "recipients": .object(recipients),
      "shortens": .bool(shortens),
    ]).encoded()
  }

  /// nil for what `stored` did not write.
  init?(stored: [UInt8]) {
    guard let object = try? JSONReader.read(stored).value.object, let hasPlaces = object["places"]?.bool,
      let shortens = object["shortens"]?.bool, let languages = object["languages"]?.object,
      let recipients = object["recipients"]?.object
    else { return nil }
    self.init(hasPlaces: hasPlaces, shortens: shortens)
    for member in languages.members {
      let texts = member.value.object
      self.languages[member.key] = PersonalPayload.Texts(
        title: texts?["title"]?.string, subtitle: texts?["subtitle"]?.string, body: texts?["body"]?.string)
    }
    for member in recipients.members {
      self.recipients[member.key] = member.value.object?.members.reduce(into: [:]) { $0[$1.key] = $1.value.string }
    }
  }
}
