import APNSSimulator
import Basics
import PushPayload

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The file of `belfry apns --faults`: JSON5 with the rules of docs/faults.md.
enum FaultsFile {
  /// As much as the control API takes.
  private static let largest = 1 << 20

  /// Faults name the file, the place in it, what was found, and what to write.
  static func read(_ path: String) throws(CommandFault) -> [FaultRule] {
    guard Files.size(path) ?? 0 <= largest else {
      throw CommandFault("\(path): larger than 1 MiB; is it a file of faults? A rule has some hundred bytes.")
    }
    let bytes = try Files.read(path)
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let value: JSONValue
    do { value = try decoder.decode(JSON5.self, from: Data(bytes)).value } catch let fault as DecodingError {
      throw CommandFault("\(path): \(words(of: fault))")
    } catch {
      throw CommandFault("\(path): not readable as JSON5 (\(error))")
    }
    guard value.object?["faults"] != nil || value.array != nil else {
      throw CommandFault("\(path): there is no list of rules. Write { faults: [ … ] }.")
    }
    do { return try FaultRule.read(value) } catch { throw CommandFault("\(path): \(error)") }
  }

  private static func words(of fault: DecodingError) -> String {
    switch fault {
    case .dataCorrupted(let context):
      let cause = context.underlyingError.map { "\($0)" } ?? context.debugDescription
      return "not JSON5: \(cause)"
    // What is neither object, list, null, flag, finite number nor text.
    default: return "a number is infinite, too large, or NaN, which mean nothing in a rule. Write another."
    }
  }
}

/// Any JSON5 value as ours. Members come in no order, and of a key that is there twice one is lost: what the decoder
/// gives.
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
