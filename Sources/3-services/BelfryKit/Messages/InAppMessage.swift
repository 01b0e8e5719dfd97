public import Foundation

/// A message of the push service to this app: not of APNs, shown by nobody but the app.
public struct InAppMessage: Hashable, Sendable, Codable, Identifiable {
  /// The same for a notification of the same push, which carries it as `_j_msgid`. Digits.
  public let id: String
  /// Its place among all messages; those of a device grow.
  public let seq: Int64
  /// When the service took it: milliseconds since 1970.
  public let at: Int64
  public let title: String?
  public let content: String
  public let contentType: String?
  /// The sender's own members, by name.
  public let extras: [String: ExtraValue]

  public var date: Date { Date(timeIntervalSince1970: Double(at) / 1000) }

  public init(
    id: String, seq: Int64, at: Int64, title: String? = nil, content: String, contentType: String? = nil,
    extras: [String: ExtraValue] = [:]
  ) {
    self.id = id
    self.seq = seq
    self.at = at
    self.title = title
    self.content = content
    self.contentType = contentType
    self.extras = extras
  }

  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try members.decode(String.self, forKey: .id), seq: try members.decode(Int64.self, forKey: .seq),
      at: try members.decodeIfPresent(Int64.self, forKey: .at) ?? 0,
      title: try members.decodeIfPresent(String.self, forKey: .title),
      content: try members.decodeIfPresent(String.self, forKey: .content) ?? "",
      contentType: try members.decodeIfPresent(String.self, forKey: .contentType),
      extras: try members.decodeIfPresent([String: ExtraValue].self, forKey: .extras) ?? [:])
  }
}

/// A value in a message's extras. Whole numbers are exact from −2⁶³ up to 2⁶³ − 1; others are doubles.
public enum ExtraValue: Hashable, Sendable, Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([ExtraValue])
  case object([String: ExtraValue])

  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([ExtraValue].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: ExtraValue].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .integer(let integer): try value.encode(integer)
    case .number(let number): try value.encode(number)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let object): try value.encode(object)
    }
  }
}

/// What became of the app's messages, one after the other.
public enum MessageEvent: Hashable, Sendable, Codable {
  case message(InAppMessage)
  /// Its sender took it back: the app shows it no more. Of one that the app was not given, this does not come.
  case withdrawn(id: String)
}

/// Where in the history to read.
public struct HistoryQuery: Hashable, Sendable {
  public enum Order: String, Sendable {
    case newest
    case oldest
  }

  /// Which come first.
  public var order: Order
  /// Only older than this `seq`.
  public var before: Int64?
  /// Only newer than this `seq`.
  public var after: Int64?
  /// 1 to 100.
  public var limit: Int

  public init(_ order: Order = .newest, before: Int64? = nil, after: Int64? = nil, limit: Int = 50) {
    self.order = order
    self.before = before
    self.after = after
    self.limit = limit
  }
}

/// A page of the history, in the order asked for.
public struct HistoryPage: Hashable, Sendable {
  public let messages: [InAppMessage]
  /// What the next page is asked with; nil: this was the last one.
  public let next: HistoryQuery?

  public init(messages: [InAppMessage], next: HistoryQuery?) {
    self.messages = messages
    self.next = next
  }
}
