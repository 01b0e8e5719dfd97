/// What lint found in several files, written for people, programs and code scanners.
public struct LintReport: Sendable {
  public struct File: Sendable {
    /// As the caller named it; `<stdin>` for standard input.
    public var name: String
    public var text: [UInt8]
    public var findings: [Finding]

    public init(name: String, text: [UInt8], findings: [Finding]) {
      self.name = name
      self.text = text
      self.findings = findings
    }
  }

  public var files: [File]

  public init(_ files: [File]) { self.files = files }

  public func count(_ severity: Severity) -> Int {
    files.reduce(0) { $0 + $1.findings.count { $0.severity == severity } }
  }

  /// `2 files: 1 error, no warnings, 3 hints`.
  public var summary: String {
    func words(_ count: Int, _ noun: String) -> String {
      "\(count == 0 ? "no" : "\(count)") \(noun)\(count == 1 ? "" : "s")"
    }
    let counts = Severity.allCases.map { words(count($0), $0.rawValue) }.joined(separator: ", ")
    return "\(words(files.count, "file")): \(counts)"
  }

  // MARK: JSON

  /// `{"files": [{"file", "findings": [{"code", "severity", "path", "line", "column", "offset", "length", "message",
  /// "effect", "fix"}]}], "errors", "warnings", "hints"}`; a finding about a header has `header` instead of a place.
  public var json: JSONValue {
    [
      "files": .array(
        files.map { file in ["file": .string(file.name), "findings": .array(file.findings.map(\.json))] }),
      "errors": .number(JSONNumber(count(.error))), "warnings": .number(JSONNumber(count(.warning))),
      "hints": .number(JSONNumber(count(.hint))),
    ]
  }

  // MARK: SARIF

  /// SARIF 2.1.0 (OASIS), as code scanners read it; one run, a rule for each code that was found.
  public func sarif(version: String) -> JSONValue {
    let codes = LintCode.allCases.filter { code in files.contains { $0.findings.contains { $0.code == code } } }
    let rules = codes.map { code -> JSONValue in
      ["id": .string(code.rawValue), "shortDescription": ["text": .string(code.summary)]]
    }
    let results = files.flatMap { file in
      zip(file.findings, Self.ends(file)).map { finding, end in
        Self.result(finding, to: end, in: file, rule: codes.firstIndex(of: finding.code) ?? 0)
      }
    }
    return [
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
      "version": "2.1.0",
      "runs": [
        [
          "tool": [
            "driver": ["name": "belfry lint", "semanticVersion": .string(version), "rules": .array(rules)]
          ],
          "columnKind": "unicodeCodePoints",
          "results": .array(results),
        ]
      ],
    ]
  }

  /// Where each finding ends, found in one pass over the text.
  private static func ends(_ file: File) -> [SourcePlace] {
    let offsets = file.findings.map { $0.offset + $0.length }
    var places = [SourcePlace](repeating: SourcePlace(offset: 0, line: 1, column: 1), count: offsets.count)
    var counter = PlaceCounter(file.text)
    for index in offsets.indices.sorted(by: { offsets[$0] < offsets[$1] }) {
      places[index] = counter.place(at: offsets[index])
    }
    return places
  }

  private static func result(_ finding: Finding, to end: SourcePlace, in file: File, rule: Int) -> JSONValue {
    let level =
      switch finding.severity {
      case .error: "error"
      case .warning: "warning"
      case .hint: "note"
      }
    var physical: JSONObject = ["artifactLocation": ["uri": .string(uri(file.name))]]
    if finding.header == nil {
      physical["region"] = [
        "startLine": .number(JSONNumber(finding.line)), "startColumn": .number(JSONNumber(finding.column)),
        "endLine": .number(JSONNumber(end.line)), "endColumn": .number(JSONNumber(end.column)),
        "byteOffset": .number(JSONNumber(finding.offset)), "byteLength": .number(JSONNumber(finding.length)),
      ]
    }
    let name = finding.header?.rawValue ?? finding.path.description
    return [
      "ruleId": .string(finding.code.rawValue), "ruleIndex": .number(JSONNumber(rule)), "level": .string(level),
      "message": ["text": .string("\(finding.message). \(finding.effect) \(finding.fix)")],
      "locations": [
        [
          "physicalLocation": .object(physical),
          "logicalLocations": [["fullyQualifiedName": .string(name)]],
        ]
      ],
      "properties": ["effect": .string(finding.effect), "fix": .string(finding.fix)],
    ]
  }

  /// A relative reference of RFC 3986: what may not stand in a path is percent-encoded.
  private static func uri(_ name: String) -> String {
    var uri = ""
    for byte in name.utf8 {
      if byte.isLetter || byte.isDigit || "-._~/".utf8.contains(byte) {
        uri.append(Character(Unicode.Scalar(byte)))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        uri += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return uri
  }
}

extension Finding {
  /// As `LintReport.json` has it.
  public var json: JSONValue {
    var object: JSONObject = [
      "code": .string(code.rawValue), "severity": .string(severity.rawValue),
    ]
    if let header {
      object["header"] = .string(header.rawValue)
    } else {
      object["path"] = .string(path.description)
      object["line"] = .number(JSONNumber(line))
      object["column"] = .number(JSONNumber(column))
      object["offset"] = .number(JSONNumber(offset))
      object["length"] = .number(JSONNumber(length))
    }
    object["message"] = .string(message)
    object["effect"] = .string(effect)
    object["fix"] = .string(fix)
    return .object(object)
  }
}
