import Basics
import PushPayload

/// Devices as text, a line each: comma-separated values under a line of names, or JSON objects of the same names.
public enum DeviceFile: String, CaseIterable, Sendable {
  case csv
  case jsonl

  /// In bytes.
  public static let longestLine = 1 << 16

  /// What a line may say of a device, named as in `/v1`; all but the token may be missing.
  public enum Column: String, CaseIterable, Sendable {
    case registrationID = "registrationId"
    case token
    /// `production` or `sandbox`; production when missing.
    case environment
    case alias
    /// In CSV with a space between them, which no tag has.
    case tags
    case mobile
    case badge
    case onlyScheduled
    /// `22:00-07:00`, by the clocks of its place.
    case quietHours
    /// Those that its user wants notifications of; all when missing. In CSV with a space between them, and a space alone when
    /// none is wanted.
    case channels
    /// Tokens beside its own. Each is hex, and may have `@` and the time behind it when it was told.
    case voipToken
    /// By their attributes types; in CSV `type=token`, with a space between them.
    case activityStartTokens
    /// By their ids; likewise.
    case activities
    case osVersion
    case appVersion
    case language
    case timeZone
    case model
    case permission
    /// Times are RFC 3339.
    case createdAt
    case registeredAt
    case lastSeen

    /// What stands for it in JSON.
    enum Shape { case text, list, number, truth, named }

    var shape: Shape {
      switch self {
      case .tags, .channels: .list
      case .badge: .number
      case .onlyScheduled: .truth
      case .activityStartTokens, .activities: .named
      case .registrationID, .token, .environment, .alias, .mobile, .quietHours, .voipToken, .osVersion, .appVersion,
        .language, .timeZone, .model, .permission, .createdAt, .registeredAt, .lastSeen:
        .text
      }
    }

    /// By its name, in whatever case, also with underscores, hyphens or spaces: `registration_id`.
    init?(_ name: String) {
      func bare(_ text: String) -> String { text.lowercased().filter { !"_- ".contains($0) } }
      let wanted = bare(name)
      guard let found = Self.allCases.first(where: { bare($0.rawValue) == wanted }) else { return nil }
      self = found
    }
  }

  /// What a line says, as text: as in CSV. What is empty is not said.
  public typealias Values = [Column: String]

  /// The columns that the first line of a CSV file names.
  public static func columns(ofHeader line: String) throws(DeviceLineFault) -> [Column] {
    var columns: [Column] = []
    for name in try fields(of: line) {
      guard let column = Column(name) else {
        throw DeviceLineFault(
          "“\(name.prefix(40))” is no column; all are \(Column.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      guard !columns.contains(column) else { throw DeviceLineFault("the column \(column.rawValue) is there twice") }
      columns.append(column)
    }
    guard columns.contains(.token) else { throw DeviceLineFault("the first line must name the columns, with token") }
    return columns
  }

  /// The values of a line; of a CSV file in the order of `columns`.
  public func values(of line: String, columns: [Column]) throws(DeviceLineFault) -> Values {
    switch self {
    case .csv:
      let fields = try Self.fields(of: line)
      guard fields.count == columns.count else {
        throw DeviceLineFault("\(fields.count) fields; the first line names \(columns.count)")
      }
      var values: Values = [:]
      for (column, field) in zip(columns, fields) where !field.isEmpty { values[column] = field }
      return values
    case .jsonl: return try Self.values(ofJSON: line)
    }
  }

  private static func fields(of line: String) throws(DeviceLineFault) -> [String] {
    do throws(CSVLine.Fault) { return try CSVLine.fields(of: line) } catch {
      switch error {
      case .openQuote: throw DeviceLineFault("a quoted field does not end on its line")
      case .afterQuote: throw DeviceLineFault("after a quoted field a comma must come")
      }
    }
  }

  private static func values(ofJSON line: String) throws(DeviceLineFault) -> Values {
    let value: JSONValue
    do throws(JSONFault) { value = try JSONReader.read(Array(line.utf8)).value } catch {
      throw DeviceLineFault("no JSON: \(error)")
    }
    guard case .object(let object) = value else { throw DeviceLineFault("no JSON object") }
    var values: Values = [:]
    for member in object.members {
      guard let column = Column(rawValue: member.key) else {
        throw DeviceLineFault(
          "“\(member.key.prefix(40))” is no field; all are \(Column.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      guard values[column] == nil else { throw DeviceLineFault("\(column.rawValue) is there twice") }
      values[column] = try text(member.value, column)
    }
    return values
  }

  /// nil for null and what is empty.
  private static func text(_ value: JSONValue, _ column: Column) throws(DeviceLineFault) -> String? {
    switch (value, column) {
    case (.null, _), (.string(""), _): return nil
    case (.string(let text), _) where column.shape != .list && column.shape != .named: return text
    case (.number(let number), .badge): return number.literal
    case (.bool(let isTrue), .onlyScheduled): return isTrue ? "true" : "false"
    case (.array(let elements), .tags), (.array(let elements), .channels):
      var names: [String] = []
      for element in elements {
        guard case .string(let name) = element, !name.isEmpty, !name.contains(" ") else {
          throw DeviceLineFault("\(column.rawValue): each must be a string, not empty and without spaces")
        }
        names.append(name)
      }
      guard names.isEmpty else { return names.joined(separator: " ") }
      return column == .channels ? " " : nil
    case (.object(let object), _) where column.shape == .named:
      var parts: [String] = []
      for member in object.members {
        guard case .string(let text) = member.value, !member.key.contains(where: { " =".contains($0) }) else {
          throw DeviceLineFault("\(column.rawValue): each must be a token under a name")
        }
        parts.append("\(member.key)=\(text)")
      }
      return parts.isEmpty ? nil : parts.joined(separator: " ")
    case (.string, _), (.number, _), (.bool, _), (.array, _), (.object, _):
      throw DeviceLineFault("\(column.rawValue): of the wrong kind")
    }
  }

  /// What stands under a name each; without one the name is empty.
  static func named(_ text: String) -> [(name: String, value: String)] {
    text.split(separator: " ").map { part in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      return pair.count == 2 ? (pair[0], pair[1]) : ("", pair[0])
    }
  }

  /// The line that names the columns; nil for a format that has none.
  public var header: String? {
    switch self {
    case .csv: CSVLine.text(Column.allCases.map(\.rawValue))
    case .jsonl: nil
    }
  }

  /// A line that `values` reads as these.
  public func line(_ values: Values) -> String {
    switch self {
    case .csv: return CSVLine.text(Column.allCases.map { values[$0] ?? "" })
    case .jsonl:
      var object = JSONObject()
      for column in Column.allCases {
        guard let text = values[column] else { continue }
        object[column.rawValue] =
          switch column.shape {
          case .list: .array(text.split(separator: " ").map { .string(String($0)) })
          case .number: Int64(text).map { .number(JSONNumber($0)) }
          case .truth: .bool(text == "true")
          case .named:
            .object(JSONObject(Self.named(text).map { .init($0.name, .string($0.value)) }))
          case .text: .string(text)
          }
      }
      return JSONValue.object(object).text
    }
  }
}

/// Why a line is no device, in words that quote no token.
public struct DeviceLineFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
  init(_ words: String) { description = words }
}
