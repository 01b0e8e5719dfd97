/// A body of `multipart/form-data` (RFC 7578), taken apart in place: contents are slices of the body.
struct MultipartForm {
  struct Part: Equatable {
    var name: String
    var fileName: String?
    var content: ArraySlice<UInt8>
  }

  let parts: [Part]

  private static let mostParts = 64

  /// nil when the content type is another, or the body is not as it says.
  init?(_ body: [UInt8], contentType: String?) {
    guard let contentType, let boundary = Self.boundary(contentType) else { return nil }
    let delimiter = Array("--\(boundary)".utf8)
    guard var start = Self.find(delimiter, in: body[...]), start == 0 || Self.isLineStart(body, start) else {
      return nil
    }
    let separator = Array("\r\n".utf8) + delimiter
    var parts: [Part] = []
    while true {
      var rest = body[(start + delimiter.count)...]
      if rest.starts(with: "--".utf8) { break }
      rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }  // padding (RFC 2046 §5.1.1)
      guard rest.starts(with: "\r\n".utf8), parts.count < Self.mostParts else { return nil }
      rest = rest.dropFirst(2)
      guard let headEnd = Self.find(Array("\r\n\r\n".utf8), in: rest),
        let end = Self.find(separator, in: body[(headEnd + 2)...])
      else { return nil }
      if let part = Self.part(head: rest[..<headEnd], content: body[min(headEnd + 4, end)..<end]) { parts.append(part) }
      start = end + 2
    }
    self.parts = parts
  }

  subscript(name: String) -> Part? { parts.first { $0.name == name } }

  /// nil for what is not there or no UTF-8.
  func text(_ name: String) -> String? {
    self[name].flatMap { String(validating: $0.content, as: UTF8.self) }
  }

  // MARK: Reading

  private static func isLineStart(_ body: [UInt8], _ index: Int) -> Bool {
    index >= 2 && body[index - 2] == UInt8(ascii: "\r") && body[index - 1] == UInt8(ascii: "\n")
  }

  private static func boundary(_ contentType: String) -> String? {
    let fields = parameters(contentType)
    guard fields.value.lowercased() == "multipart/form-data", let boundary = fields.parameters["boundary"],
      1...70 ~= boundary.utf8.count
    else { return nil }
    return boundary
  }

  private static func part(head: ArraySlice<UInt8>, content: ArraySlice<UInt8>) -> Part? {
    for line in String(decoding: head, as: UTF8.self).split(separator: "\r\n") {
      guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "content-disposition" else { continue }
      let fields = parameters(String(line[line.index(after: colon)...]))
      guard fields.value.lowercased() == "form-data", let name = fields.parameters["name"] else { return nil }
      return Part(name: name, fileName: fields.parameters["filename"], content: content)
    }
    return nil
  }

  /// `form-data; name="a"; filename="b \"c\".txt"`.
  private static func parameters(_ header: String) -> (value: String, parameters: [String: String]) {
    var fields: [String] = []
    var field = ""
    var isQuoted = false
    var isEscaped = false
    for character in header {
      if isEscaped {
        field.append(character)
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == ";", !isQuoted {
        fields.append(field)
        field = ""
      } else {
        field.append(character)
      }
    }
    fields.append(field)
    var parameters: [String: String] = [:]
    for field in fields.dropFirst() {
      guard let equals = field.firstIndex(of: "=") else { continue }
      let name = field[..<equals].filter { $0 != " " && $0 != "\t" }.lowercased()
      parameters[name] = String(field[field.index(after: equals)...])
    }
    return (fields[0].filter { $0 != " " && $0 != "\t" }, parameters)
  }

  /// The index of the first byte of `pattern`.
  private static func find(_ pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    guard let first = pattern.first, bytes.count >= pattern.count else { return nil }
    return bytes.withUnsafeBufferPointer { buffer in
      var index = 0
      let last = buffer.count - pattern.count
      while index <= last {
        if buffer[index] == first, buffer[index..<(index + pattern.count)].elementsEqual(pattern) {
          return bytes.startIndex + index
        }
        index += 1
      }
      return nil
    }
  }
}
