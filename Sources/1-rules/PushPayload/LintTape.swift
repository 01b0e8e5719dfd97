extension JSONTape {
  func range(of node: Int) -> Range<Int> { Int(nodes[node].start)..<Int(nodes[node].end) }

  /// Byte in the text that people see.
  func offset(of node: Int) -> Int { Int(origin?.offsets[node] ?? nodes[node].start) }

  func end(of node: Int) -> Int { Int(origin?.ends[node] ?? nodes[node].end) }

  /// A key or string in quotes, at most 40 characters of it.
  func quoted(_ node: Int) -> String {
    let text = string(node)
    return JSONValue.string(text.count > 40 ? text.prefix(39) + "…" : text).text
  }

  /// Whether a key has the letters of `aps` in some order or case, or is `apns`.
  func isNearAps(_ node: Int) -> Bool {
    let text = string(node).lowercased()
    return text == "apns" || text.utf8.sorted().elementsEqual("aps".utf8)
  }

  /// Whether neither 64 bits nor a double hold all digits of a number.
  func losesDigits(_ node: Int) -> Bool {
    let literal = bytes[range(of: node)]
    if literal.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") }) {
      let text = String(decoding: literal, as: UTF8.self)
      return Int64(text) == nil && UInt64(text) == nil
    }
    let mantissa = literal.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }.filter(\.isDigit)
    let significant = mantissa.drop { $0 == UInt8(ascii: "0") }.reversed().drop { $0 == UInt8(ascii: "0") }
    return significant.count > 17
  }

  /// `%@`, `%1$@` and the like; `%%` is none.
  func placeholders(in node: Int) -> Int {
    guard nodes[node].kind == .string else { return 0 }
    var count = 0
    var at = Int(nodes[node].start) + 1
    let end = Int(nodes[node].end) - 1
    while at < end {
      guard bytes[at] == UInt8(ascii: "%") else {
        at += 1
        continue
      }
      at += 1
      if at < end, bytes[at] == UInt8(ascii: "%") {
        at += 1
        continue
      }
      var ahead = at
      while ahead < end, bytes[ahead].isDigit { ahead += 1 }
      if ahead > at, ahead < end, bytes[ahead] == UInt8(ascii: "$") { at = ahead + 1 }
      if at < end, bytes[at] == UInt8(ascii: "@") { count += 1 }
    }
    return count
  }

  /// Bytes that a value has when written in the shortest form.
  func compactSize(of node: Int) -> Int {
    var size = 0
    var open: [Int] = []
    var index = node
    let end = Int(nodes[node].next)
    while index < end {
      while let container = open.last, index >= Int(nodes[container].next) { open.removeLast() }
      let place = nodes[index]
      if place.kind != .key, let container = open.last, place.next < nodes[container].next { size += 1 }  // a comma
      switch place.kind {
      case .object, .array:
        size += 2
        if place.next > index + 1 { open.append(index) }
      case .string: size += compactStringSize(of: index)
      case .key: size += compactStringSize(of: index) + 1  // the colon
      case .null, .false, .true, .number: size += Int(place.end - place.start)
      }
      index += 1
    }
    return size
  }

  private func compactStringSize(of node: Int) -> Int {
    nodes[node].isEscaped ? JSONValue.string(string(node)).encodedSize : Int(nodes[node].end - nodes[node].start)
  }

  /// Bytes that leaving out a top-level member saves in the shortest form.
  func compactMemberSize(_ value: Int) -> Int {
    guard value > 0 else { return 0 }
    let isOnly = Int(nodes[0].next) == Int(nodes[value].next) && value == 2
    return compactStringSize(of: value - 1) + 1 + compactSize(of: value) + (isOnly ? 0 : 1)
  }

  /// The strings that take most room, largest first.
  func largestStrings(_ count: Int) -> [(node: Int, size: Int)] {
    var largest: [(node: Int, size: Int)] = []
    for node in nodes.indices where nodes[node].kind == .string && nodes[node].end - nodes[node].start > 100 {
      largest.append((node, compactStringSize(of: node)))
      largest.sort { $0.size > $1.size }
      if largest.count > count { largest.removeLast() }
    }
    return largest
  }
}

/// Line and column of ascending byte offsets, in one pass over the text.
struct PlaceCounter {
  private let bytes: [UInt8]
  private var place = SourcePlace(offset: 0, line: 1, column: 1)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// `offset` must not be less than the one before.
  mutating func place(at offset: Int) -> SourcePlace {
    let end = min(offset, bytes.count)
    while place.offset < end {
      let byte = bytes[place.offset]
      place.offset += 1
      let isBeforeLineFeed = byte == 0x0D && place.offset < bytes.count && bytes[place.offset] == 0x0A
      if byte == 0x0A || byte == 0x0D && !isBeforeLineFeed {
        place.line += 1
        place.column = 1
      } else if byte & 0xC0 != 0x80, !isBeforeLineFeed {
        place.column += 1
      }
    }
    return place
  }
}

extension Finding {
  /// A text that cannot be read.
  init(_ fault: JSONFault, form: LintContext.Form) {
    let effect: String
    switch fault.code {
    case .empty: effect = "APNs refuses the push: 400 PayloadEmpty."
    case .tooLong: effect = "APNs refuses the push: 413 PayloadTooLarge."
    case .numberTooLarge, .tooDeep: effect = "iOS cannot read the payload and drops the push."
    case .byteOrderMark, .notUTF8, .loneSurrogate, .badEscape, .controlCharacter, .unexpectedEnd,
      .unexpectedCharacter, .trailingComma, .comment, .badNumber, .trailing:
      effect = "APNs refuses what is not JSON (400 PayloadEmpty), or the phone drops it: nothing is shown."
    }
    self.init(
      code: form == .json ? LintCode(fault.code) : LintCode(plist: fault.code), severity: .error, path: .root,
      header: nil, offset: fault.offset, line: fault.line, column: fault.column, length: 1, message: fault.found,
      effect: effect, fix: fault.remedy)
  }
}

extension LintCode {
  init(_ code: JSONFault.Code) {
    switch code {
    case .empty: self = .emptyText
    case .byteOrderMark: self = .byteOrderMark
    case .notUTF8: self = .notUTF8
    case .loneSurrogate: self = .loneSurrogate
    case .badEscape: self = .badEscape
    case .controlCharacter: self = .controlCharacter
    case .unexpectedEnd: self = .unexpectedEnd
    case .unexpectedCharacter: self = .syntax
    case .trailingComma: self = .trailingComma
    case .comment: self = .comment
    case .badNumber: self = .badNumber
    case .numberTooLarge: self = .numberTooLarge
    case .trailing: self = .trailingText
    case .tooDeep: self = .tooDeep
    case .tooLong: self = .tooLong
    }
  }

  fileprivate init(plist code: JSONFault.Code) {
    switch code {
    case .unexpectedCharacter, .badEscape, .controlCharacter, .badNumber, .trailingComma, .comment: self = .plistSyntax
    case .empty, .byteOrderMark, .notUTF8, .loneSurrogate, .unexpectedEnd, .numberTooLarge, .trailing, .tooDeep,
      .tooLong:
      self = LintCode(code)
    }
  }
}
