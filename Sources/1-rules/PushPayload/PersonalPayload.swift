/// A payload that differs by recipient: texts by language, and places in any of its strings (`TextTemplate`).
///
/// Each combination of language and values gives a plain payload, to be written by `PayloadRenderer`.
public struct PersonalPayload: Sendable {
  /// Alert texts of one language, which take the place of those in the payload: `title`, `subtitle`, `body`.
  public struct Texts: Hashable, Sendable {
    public var title: String?
    public var subtitle: String?
    public var body: String?

    public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
      self.title = title
      self.subtitle = subtitle
      self.body = body
    }
  }

  /// Something that can be compared and be the key of a cache: recipients of one variant without places get one payload.
  public struct Variant: Hashable, Sendable {
    fileprivate var index: Int
  }

  private struct Form: Sendable {
    var payload: JSONObject
    /// Where strings with places stand.
    var templates: [(path: [JSONPath.Step], template: TextTemplate)] = []
  }

  /// The first is for languages that have no texts.
  private var forms: [Form] = []
  private var languages: [String: Int] = [:]

  /// - Parameters:
  ///   - languages: texts by BCP 47 tag (`zh-Hans`, `pt-BR`).
  ///   - hasPlaces: whether `{{…}}` in strings is a place; else it is text.
  /// - Throws: the first template that cannot be read, with its way into the payload.
  public init(
    _ payload: JSONObject, languages: [String: Texts] = [:], hasPlaces: Bool
  ) throws(PersonalPayloadFault) {
    forms.append(try Self.form(payload, hasPlaces))
    for (language, texts) in languages.sorted(by: { $0.key < $1.key }) {
      self.languages[LanguageTag.normal(language)] = forms.count
      forms.append(try Self.form(Self.translated(payload, texts), hasPlaces))
    }
  }

  public var variants: [Variant] { forms.indices.map(Variant.init) }

  /// Every place of every variant.
  public var places: Set<TextTemplate.Place> {
    Set(forms.flatMap { $0.templates.flatMap(\.template.places) })
  }

  /// The variant for a device: its language's own texts, else those of the language without region or script, else the
  /// payload as it is.
  public func variant(for language: String?) -> Variant {
    guard let language, !languages.isEmpty else { return Variant(index: 0) }
    return Variant(index: LanguageTag.candidates(for: language).lazy.compactMap { languages[$0] }.first ?? 0)
  }

  /// Whether all recipients of the variant get the same.
  public func isFixed(_ variant: Variant) -> Bool { forms[variant.index].templates.isEmpty }

  public func payload(_ variant: Variant, filledBy value: (String) -> String?) -> JSONObject {
    let form = forms[variant.index]
    return form.templates.reduce(into: form.payload) { payload, item in
      payload.set(.string(item.template.filled(by: value)), at: item.path[...])
    }
  }

  private static func translated(_ payload: JSONObject, _ texts: Texts) -> JSONObject {
    var payload = payload
    var aps = payload["aps"]?.object ?? JSONObject()
    var alert =
      switch aps["alert"] {
      case .object(let object): object
      case .string(let body): JSONObject([.init("body", .string(body))])
      case nil, .null, .bool, .number, .array: JSONObject()
      }
    for (key, text) in [("title", texts.title), ("subtitle", texts.subtitle), ("body", texts.body)] {
      guard let text else { continue }
      alert[key] = .string(text)
      // a text that is said wins over the key that names one
      alert[key == "body" ? "loc-key" : "\(key)-loc-key"] = nil
      alert[key == "body" ? "loc-args" : "\(key)-loc-args"] = nil
    }
    aps["alert"] = .object(alert)
    payload["aps"] = .object(aps)
    return payload
  }

  private static func form(_ payload: JSONObject, _ hasPlaces: Bool) throws(PersonalPayloadFault) -> Form {
    var form = Form(payload: payload)
    guard hasPlaces else { return form }
    try find(in: .object(payload), at: [], &form)
    return form
  }

  private static func find(
    in value: JSONValue, at path: [JSONPath.Step], _ form: inout Form
  ) throws(PersonalPayloadFault) {
    switch value {
    case .null, .bool, .number: break
    case .string(let text):
      guard text.contains("{{") else { return }
      do { form.templates.append((path, try TextTemplate(text))) } catch {
        throw PersonalPayloadFault(path: JSONPath(path), fault: error)
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() { try find(in: element, at: path + [.index(index)], &form) }
    case .object(let object):
      for member in object.members { try find(in: member.value, at: path + [.key(member.key)], &form) }
    }
  }
}

/// A template of a payload that cannot be read.
public struct PersonalPayloadFault: Error, Hashable, Sendable {
  public var path: JSONPath
  public var fault: TemplateFault

  public init(path: JSONPath, fault: TemplateFault) {
    self.path = path
    self.fault = fault
  }
}

/// Language tags as devices and callers write them (BCP 47): `zh-Hans-CN`, `zh_CN`, `pt-br`.
enum LanguageTag {
  static func normal(_ tag: String) -> String { tag.lowercased().replacing("_", with: "-") }

  /// Tags whose texts suit a device, the best first: its own, without the script (`zh-CN` for `zh-Hans-CN`), then without
  /// the last part until only the language is left. (RFC 4647 §3.4, lookup; the step without script is ours, since iOS
  /// tells scripts and callers rarely write them)
  static func candidates(for tag: String) -> [String] {
    var parts = normal(tag).split(separator: "-")
    var candidates: [String] = []
    if parts.count > 2, parts[1].utf8.count == 4 {
      candidates = [parts.joined(separator: "-"), ([parts[0]] + parts[2...]).joined(separator: "-")]
      parts.removeLast()
    }
    while !parts.isEmpty {
      candidates.append(parts.joined(separator: "-"))
      parts.removeLast()
    }
    return candidates
  }
}

extension JSONObject {
  fileprivate mutating func set(_ value: JSONValue, at path: ArraySlice<JSONPath.Step>) {
    guard case .key(let key)? = path.first, let index = members.lastIndex(where: { $0.key == key }) else { return }
    members[index].value.set(value, at: path.dropFirst())
  }
}

extension JSONValue {
  fileprivate mutating func set(_ value: JSONValue, at path: ArraySlice<JSONPath.Step>) {
    guard let step = path.first else {
      self = value
      return
    }
    switch (step, self) {
    case (.key, .object(var object)):
      object.set(value, at: path)
      self = .object(object)
    case (.index(let index), .array(var elements)) where elements.indices ~= index:
      elements[index].set(value, at: path.dropFirst())
      self = .array(elements)
    case (_, _): break
    }
  }
}
