internal import Phone
public import PushPayload

/// The JSON Schema of scenarios, for editors, made from the tables that the reader goes by.
public enum ScenarioSchema {
  public static var value: JSONValue {
    var schema = object(.fields(Scenario.fields, required: ["steps"]))
    schema.members.insert(
      contentsOf: [
        .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
        .init("title", "A scenario of belfry scenario"),
        .init("description", "docs/scenarios.md tells what each field means."),
      ], at: 0)
    schema["$defs"] = .object(JSONObject(definitions.map { .init($0.name, $0.value) }))
    return .object(schema)
  }

  /// What stands under a name.
  static let shapes: [(name: String, shape: Shape)] = [
    ("phone", SettingRows.phone.shape()), ("app", ScenarioApp.rows.shape()),
    (
      "expect",
      .oneOrMore(
        .fields(
          ScenarioExpectation.lists + ScenarioExpectation.facts + ScenarioExpectation.others, required: []))
    ),
    ("screen", ScreenShape.whole), ("act", ActRow.shape), ("focus", SettingRows.focusRows.shape()),
    ("category", CategoryRows.category.shape(required: ["id"])),
    (
      "edit",
      .either([
        .word(["empty"]),
        .fields(ExtensionRows.edits.map { .init(name: $0.name, shape: $0.shape, help: "") }, required: []),
      ])
    ),
    ("request", LocalRows.request.shape(required: ["id"])), ("localNotification", LocalRows.older.shape()),
    ("script", script),
  ]

  private static var definitions: [(name: String, value: JSONValue)] {
    shapes.map { ($0.name, .object(object($0.shape))) } + [
      ("step", step), ("answer", ["description": "atOnce, never, twice, or a span such as 40s.", "type": "string"]),
      ("pattern", pattern),
    ]
  }

  private static var script: Shape {
    .fields(
      Callback.Method.allCases.map {
        .init(name: $0.rawValue, shape: .oneOrMore(.named("act")), help: $0.selector)
      }, required: [])
  }

  /// A verb alone, or an object with one verb and what goes with it.
  private static var step: JSONValue {
    let bare = Verb.all.filter(\.shape.takesNothing)
    var seen: Set<String> = []
    let others = (Verb.all.flatMap(\.more) + Verb.common).filter { seen.insert($0.name).inserted }
    var object = object(
      .fields(Verb.all.map { .init(name: $0.name, shape: $0.shape, help: $0.help) } + others, required: []))
    object["oneOf"] = .array(Verb.all.map { ["required": [.string($0.name)]] })
    return ["anyOf": [["enum": .array(bare.map { .string($0.name) })], .object(object)]]
  }

  private static var pattern: JSONValue {
    let kinds = TimelineEntry.What.names + ["state"]
    var properties: JSONObject = [:]
    for kind in kinds { properties[kind] = ["description": "True, the short form, or members of the entry's JSON."] }
    for field in EntryPattern.fields where field != "state" { properties[field] = ["type": "string"] }
    return [
      "description":
        "What one entry must be: a short form such as \"callback didReceiveResponse\", or its JSON in part.",
      "anyOf": [
        ["type": "string"], ["type": "object", "properties": .object(properties)],
      ],
    ]
  }

  private static func object(_ shape: Shape) -> JSONObject {
    switch shape {
    case .yes: return ["const": true]
    case .flag: return ["type": "boolean"]
    case .text: return ["type": "string"]
    case .whole: return ["type": "integer"]
    case .number: return ["type": "number"]
    case .span: return ["type": "string", "pattern": "^[0-9][0-9.]*(ms|s|m|h|d)$"]
    case .time: return ["type": "string", "format": "date-time"]
    case .object: return ["type": "object"]
    case .any: return [:]
    case .word(let words): return ["enum": .array(words.map(JSONValue.string))]
    case .list(let element): return ["type": "array", "items": .object(object(element))]
    case .oneOrMore(let element):
      return ["anyOf": [.object(object(element)), .object(object(.list(element)))]]
    case .map(let element): return ["type": "object", "additionalProperties": .object(object(element))]
    case .either(let shapes): return ["anyOf": .array(shapes.map { .object(object($0)) })]
    case .orNull(let shape): return ["anyOf": [.object(object(shape)), ["type": "null"]]]
    case .named(let name): return ["$ref": .string("#/$defs/\(name)")]
    case .fields(let fields, let required):
      var properties: JSONObject = [:]
      for field in fields {
        var value = object(field.shape)
        if !field.help.isEmpty { value["description"] = .string(field.help) }
        properties[field.name] = .object(value)
      }
      var whole: JSONObject = ["type": "object", "properties": .object(properties), "additionalProperties": false]
      if !required.isEmpty { whole["required"] = .array(required.map(JSONValue.string)) }
      return whole
    }
  }
}
