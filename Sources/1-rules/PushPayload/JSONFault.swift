/// Why a text is not JSON that APNs and iOS can read. Holds at most a few characters of the text.
public struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let code: Code
  /// Byte offset from 0; line and column from 1, the column in Unicode scalars.
  public let offset: Int
  public let line: Int
  public let column: Int
  /// What stands there, in words.
  public let found: String
  /// What to do; a whole sentence.
  public let remedy: String

  public enum Code: String, CaseIterable, Sendable {
    case empty
    case byteOrderMark
    case notUTF8
    case loneSurrogate
    case badEscape
    case controlCharacter
    case unexpectedEnd
    case unexpectedCharacter
    case trailingComma
    case comment
    case badNumber
    case numberTooLarge
    case trailing
    case tooDeep
    case tooLong
  }

  init(_ code: Code, at offset: Int, in bytes: [UInt8], found: String, remedy: String) {
    let place = SourcePlace(offset: offset, in: bytes)
    self.code = code
    self.offset = place.offset
    line = place.line
    column = place.column
    self.found = found
    self.remedy = remedy
  }

  public var place: SourcePlace { SourcePlace(offset: offset, line: line, column: column) }

  public var description: String { "line \(line), column \(column): \(found). \(remedy)" }
}
