/// The way to a value inside a JSON document, as people write it: `aps.alert.loc-args[0]`; `$` is the whole document.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible, ExpressibleByArrayLiteral {
  public enum Step: Hashable, Sendable {
    case key(String)
    case index(Int)
  }

  public var steps: [Step]

  public init(_ steps: [Step] = []) { self.steps = steps }

  public init(arrayLiteral steps: Step...) { self.steps = steps }

  /// Keys only: `JSONPath("aps", "alert")`.
  public init(_ keys: String...) { steps = keys.map(Step.key) }

  public static let root = JSONPath([])

  public func appending(_ key: String) -> JSONPath { JSONPath(steps + [.key(key)]) }

  public func appending(_ index: Int) -> JSONPath { JSONPath(steps + [.index(index)]) }

  /// Keys of letters, digits, `-` and `_` stand bare, others in brackets and quotes: `["Simulator Target Bundle"]`.
  public var description: String {
    guard !steps.isEmpty else { return "$" }
    var text = ""
    for step in steps {
      switch step {
      case .index(let index):
        text += "[\(index)]"
      case .key(let key) where key.utf8.allSatisfy(\.isBareKeyCharacter) && !key.isEmpty:
        text += text.isEmpty ? key : ".\(key)"
      case .key(let key):
        text += "[\(JSONValue.string(key).text)]"
      }
    }
    return text
  }
}

/// A point in a text: the byte counted from 0, line and column from 1; the column counts Unicode scalars.
public struct SourcePlace: Hashable, Sendable {
  public var offset: Int
  public var line: Int
  public var column: Int

  public init(offset: Int, line: Int, column: Int) {
    self.offset = offset
    self.line = line
    self.column = column
  }

  /// Where byte `offset` of `bytes` is; an offset past the end is the end. Lines end with LF, CR LF or CR.
  public init(offset: Int, in bytes: [UInt8]) {
    let offset = min(max(offset, 0), bytes.count)
    var line = 1
    var lineStart = 0
    for index in 0..<offset where bytes[index] == 0x0A || bytes[index] == 0x0D {
      if bytes[index] == 0x0D, index + 1 < offset, bytes[index + 1] == 0x0A { continue }
      line += 1
      lineStart = index + 1
    }
    let column = 1 + bytes[lineStart..<offset].count { $0 & 0xC0 != 0x80 }
    self.init(offset: offset, line: line, column: column)
  }
}

extension UInt8 {
  fileprivate var isBareKeyCharacter: Bool {
    isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
  }
}
