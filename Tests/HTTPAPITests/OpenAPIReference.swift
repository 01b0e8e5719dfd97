import PushPayload

/// An OpenAPI document as the tables of docs/api.md.
struct OpenAPIReference {
  private let document: JSONObject
  private let common: Set<String> = ["400", "401", "404", "405", "413", "429", "431", "500", "503"]

  init(_ document: JSONValue) { self.document = document.object ?? [:] }

  var markdown: String {
    let tags = document["tags"]?.array?.compactMap { $0.object } ?? []
    let calls = tags.flatMap { tag in
      let name = tag["name"]?.string ?? ""
      return ["### Calls: \(name)", ""] + (tag["description"]?.string.map { ["\($0)", ""] } ?? [])
        + ["| call | does | takes | answers |", "| --- | --- | --- | --- |"] + operations(of: name) + [""]
    }
    let schemas = document["components"]?.object?["schemas"]?.object?.members ?? []
    return (calls + schemas.flatMap { schema($0.key, $0.value.object ?? [:]) }).joined(separator: "\n")
  }

  // MARK: Calls

  private func operations(of tag: String) -> [String] {
    (document["paths"]?.object?.members ?? []).flatMap { path in
      let item = path.value.object ?? [:]
      return item.members.compactMap { member -> String? in
        guard let operation = member.value.object, operation["tags"] == [.string(tag)] else { return nil }
        return row(member.key.uppercased(), path.key, operation)
      }
    }
  }

  private func row(_ method: String, _ path: String, _ operation: JSONObject) -> String {
    let parameters = (operation["parameters"]?.array ?? []).compactMap { resolved($0).object }
    func names(_ place: String) -> [String] {
      parameters.filter { $0["in"]?.string == place }.compactMap { $0["name"]?.string }
    }
    let query = names("query").map { "\($0)=" }.joined(separator: "&")
    let does = [operation["summary"], operation["description"]].compactMap { $0?.string }.joined(separator: ". ")
    let body = operation["requestBody"]?.object.map { words(of: content($0)) }
    let takes = [body].compactMap { $0 } + names("header").map { "header `\($0)`" }
    let answers = (operation["responses"]?.object?.members ?? []).filter { !common.contains($0.key) }.map { answer in
      let object = resolved(answer.value).object ?? [:]
      let form = Int(answer.key) ?? 0 < 300 ? content(object).object?["$ref"].map { words(of: ["$ref": $0]) } : nil
      return ([answer.key] + [form].compactMap { $0 }).joined(separator: " ")
    }
    return
      "| `\(method) \(path)\(query.isEmpty ? "" : "?")\(query)` | \(cell(does)) | \(takes.joined(separator: ", ")) "
      + "| \(answers.joined(separator: ", ")) |"
  }

  private func content(_ object: JSONObject) -> JSONValue {
    object["content"]?.object?.members.first?.value.object?["schema"] ?? .null
  }

  func resolved(_ value: JSONValue) -> JSONValue {
    guard let reference = value.object?["$ref"]?.string else { return value }
    return reference.split(separator: "/").dropFirst().reduce(.object(document)) { $0.object?[String($1)] ?? .null }
  }

  // MARK: Schemas

  private func schema(_ name: String, _ schema: JSONObject) -> [String] {
    let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
    let properties = schema["properties"]?.object?.members ?? []
    let description = schema["description"]?.string.map { [cell($0), ""] } ?? []
    let example = schema["examples"]?.array?.first.map { ["```json", $0.text, "```", ""] } ?? []
    guard !properties.isEmpty else {
      return ["#### \(name)", ""] + description + ["It is \(words(of: .object(schema))).", ""]
    }
    let base = schema["allOf"]?.array?.map { words(of: $0) } ?? []
    let rows = properties.map { member in
      let mark = required.contains(member.key) ? "`\(member.key)`" : "`\(member.key)`, optional"
      return "| \(mark) | \(words(of: member.value)) | \(cell(member.value.object?["description"]?.string ?? "")) |"
    }
    return ["#### \(name)", ""] + description
      + (base.isEmpty ? [] : ["All of \(base.joined(separator: ", ")), and:", ""])
      + ["| field | is | |", "| --- | --- | --- |"] + rows + [""] + example
  }

  private func words(of value: JSONValue) -> String {
    guard let schema = value.object else { return "" }
    if let name = schema["$ref"]?.string?.split(separator: "/").last { return "[\(name)](#\(name.lowercased()))" }
    if let constant = schema["const"] { return "`\(constant.text)`" }
    if let values = schema["enum"]?.array { return values.map { "`\($0.text)`" }.joined(separator: ", ") }
    if let choices = schema["anyOf"]?.array { return choices.map { words(of: $0) }.joined(separator: ", or ") }
    let types = schema["type"]?.string.map { [$0] } ?? schema["type"]?.array?.compactMap(\.string) ?? ["any JSON"]
    return types.map { type in ([type] + limits(of: type, schema)).joined(separator: " ") }.joined(separator: ", or ")
  }

  private func limits(of type: String, _ schema: JSONObject) -> [String] {
    func range(_ low: String, _ high: String, _ unit: String) -> String? {
      switch (schema[low]?.text, schema[high]?.text) {
      case (nil, nil): nil
      case (let least?, nil): "of at least \(least)\(unit)"
      case (nil, let most?): "of at most \(most)\(unit)"
      case (let least?, let most?): "of \(least) to \(most)\(unit)"
      }
    }
    switch type {
    case "string":
      let pattern = schema["pattern"]?.string.map { "like `\(cell($0))`" }
      return [schema["format"]?.string.map { "(\($0))" }, range("minLength", "maxLength", " characters"), pattern]
        .compactMap { $0 }
    case "integer", "number": return [range("minimum", "maximum", "")].compactMap { $0 }
    case "array":
      return [range("minItems", "maxItems", " entries"), schema["items"].map { "(each \(words(of: $0)))" }]
        .compactMap { $0 }
    case "object":
      let inner = (schema["properties"]?.object?.members ?? []).map { "`\($0.key)` (\(words(of: $0.value)))" }
      let others = schema["additionalProperties"].flatMap { $0.object == nil ? nil : "of \(words(of: $0))" }
      return [inner.isEmpty ? nil : "of \(inner.joined(separator: ", "))", others].compactMap { $0 }
    default: return []
    }
  }

  /// Within a table's cell.
  private func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
