/// What tags, aliases and registration ids may look like (jpush.md §7; case C30).
enum NameRule: Sendable {
  case tag
  case alias
  case registrationID

  private var word: String {
    switch self {
    case .tag: "tag"
    case .alias: "alias"
    case .registrationID: "registration id"
    }
  }

  /// Bytes of UTF-8.
  private var limit: Int {
    switch self {
    case .tag, .alias: 40
    case .registrationID: 64
    }
  }

  private var allowed: String {
    switch self {
    case .tag, .alias: "letters, digits, underscore, Han characters and @ ! # $ & * + = . | ￥"
    case .registrationID: "letters and digits"
    }
  }

  private func allows(_ scalar: Unicode.Scalar) -> Bool {
    switch (self, scalar) {
    case (_, "a"..."z"), (_, "A"..."Z"), (_, "0"..."9"): true
    case (.registrationID, _): false
    case (_, "_"), (_, "@"), (_, "!"), (_, "#"), (_, "$"), (_, "&"), (_, "*"), (_, "+"), (_, "="), (_, "."), (_, "|"),
      (_, "￥"):
      true
    case (.tag, _), (.alias, _): scalar.properties.isIdeographic
    }
  }

  func check(_ name: String, _ code: RequestFault.Code, at place: String) throws(RequestFault) {
    guard !name.isEmpty else {
      throw RequestFault(code, at: place, found: "an empty \(word)", remedy: "Leave it out or give it a value.")
    }
    for (index, scalar) in name.unicodeScalars.enumerated() where !allows(scalar) {
      let shown = name.unicodeScalars.prefix(20).allSatisfy(allows) ? "" : " of “\(excerpt(name))”"
      throw RequestFault(
        code, at: place, found: "\(described(scalar)) as character \(index + 1)\(shown)",
        remedy: "A\(self == .alias ? "n" : "") \(word) has \(allowed) only.")
    }
    guard name.utf8.count <= limit else {
      throw RequestFault(
        code, at: place, found: "\(word) of \(name.utf8.count) bytes in UTF-8",
        remedy: "A\(self == .alias ? "n" : "") \(word) has at most \(limit) bytes.")
    }
  }

  /// `U+002C COMMA`; what cannot be seen is told by its name.
  private func described(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    let name: String
    switch scalar {  // controls have no names of their own
    case "\0": name = "NULL"
    case "\t": name = "TAB"
    case "\n": name = "LINE FEED"
    case "\r": name = "CARRIAGE RETURN"
    default: name = scalar.properties.name ?? "CONTROL CHARACTER"
    }
    return "\(code) \(name)"
  }

  private func excerpt(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars.prefix(20) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: text += "�"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return name.unicodeScalars.count > 20 ? text + "…" : text
  }
}
