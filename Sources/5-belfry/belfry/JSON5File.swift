import PushPayload

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Files that people write by hand: JSON5.
enum JSON5File {
  /// The value in a file of at most 1 MiB, which `kind` describes to who gives another. Faults name the file, what was found,
  /// and what to write.
  static func read(_ path: String, kind: String) throws(CommandFault) -> JSONValue {
    guard Files.size(path) ?? 0 <= largest else {
      throw CommandFault("\(path): larger than 1 MiB; is it \(kind)?")
    }
    let bytes = try Files.read(path)
    do throws(JSON5Fault) { return try read(bytes) } catch {
      throw CommandFault("\(path): \(error.words)")
    }
  }

  private static let largest = 1 << 20

  static func read(_ bytes: [UInt8]) throws(JSON5Fault) -> JSONValue {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let flaws = JSON5Flaws(bytes)
    let value: JSONValue
    do { value = try decoder.decode(JSON5.self, from: Data(bytes)).value } catch let fault as DecodingError {
      throw JSON5Fault(words: flaws.syntax.map { "not JSON5: \($0)." } ?? words(of: fault))
    } catch {
      throw JSON5Fault(words: "not readable as JSON5 (\(error))")
    }
    if let twice = flaws.twice { throw JSON5Fault(words: "\(twice). Leave one out.") }
    return value
  }

  private static func words(of fault: DecodingError) -> String {
    switch fault {
    case .dataCorrupted(let context):
      let cause = context.underlyingError.map { "\($0)" } ?? context.debugDescription
      return "not JSON5: \(cause)"
    // What is neither object, list, null, flag, finite number nor text.
    default: return "a number is infinite, too large, or NaN, which mean nothing here. Write another."
    }
  }
}

struct JSON5Fault: Error, Equatable {
  var words: String
}

/// Any JSON5 value as ours. Members come in no order: what the decoder gives.
private struct JSON5: Decodable {
  var value: JSONValue

  init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: AnyKey.self) {
      value = .object(
        JSONObject(
          try object.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
            JSONObject.Member($0.stringValue, try object.decode(JSON5.self, forKey: $0).value)
          }))
    } else if var list = try? decoder.unkeyedContainer() {
      var values: [JSONValue] = []
      while !list.isAtEnd { values.append(try list.decode(JSON5.self).value) }
      value = .array(values)
    } else {
      value = try Self.scalar(decoder.singleValueContainer())
    }
  }

  private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
    if container.decodeNil() { return .null }
    if let flag = try? container.decode(Bool.self) { return .bool(flag) }
    if let integer = try? container.decode(Int64.self) { return .number(JSONNumber(integer)) }
    if let double = try? container.decode(Double.self), let number = JSONNumber(double) { return .number(number) }
    return .string(try container.decode(String.self))
  }

  private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
