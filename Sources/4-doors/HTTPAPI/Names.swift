internal import PushPayload
internal import PushService

/// The names that callers give: tags, aliases, registration ids, phone numbers (jpush.md §7).
enum Names {
  static let mostBytes = 40

  /// Letters, digits, underscore, Han, and `@!#$&*+=.|￥`; 1 to 40 bytes of UTF-8. A fault names the first character
  /// that is none of these and its place (case C30).
  static func checkTagOrAlias(_ field: Field) throws(RequestFault) -> String {
    let text = try field.string()
    guard !text.isEmpty else { throw field.wrong("the string is empty", "Give a name or leave the entry out.") }
    try refuse(
      field, text, "Allowed are letters, digits, underscore, Chinese characters and @!#$&*+=.|￥.", isAllowed)
    guard text.utf8.count <= mostBytes else {
      throw field.wrong(
        "\(quoted(text)) has \(text.utf8.count) bytes of UTF-8", "At most \(mostBytes) bytes are allowed.")
    }
    return text
  }

  /// 1 to 64 letters and digits; ours are 19 hex digits.
  static func checkRegistrationID(_ field: Field) throws(RequestFault) -> String {
    let text = try field.string()
    guard !text.isEmpty else { throw field.wrong("the string is empty", "Give a registration id or leave it out.") }
    try refuse(field, text, "A registration id has only digits and letters.") { $0.isASCIILetter || $0.isASCIIDigit }
    guard text.utf8.count <= 64 else {
      throw field.wrong("\(quoted(text)) has \(text.utf8.count) characters", "A registration id has at most 64.")
    }
    return text
  }

  /// As in a path, where nothing but a well-formed id can be one of ours.
  static func isRegistrationID(_ text: String) -> Bool {
    1...64 ~= text.utf8.count && text.unicodeScalars.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
  }

  /// Digits and hyphens, a plus in front allowed; at most 20 characters.
  static func checkMobile(_ field: Field) throws(RequestFault) -> String {
    let text = try field.string()
    let rest = text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard
      text.utf8.count <= 20, let first = rest.unicodeScalars.first, first.isASCIIDigit,
      rest.unicodeScalars.allSatisfy({ $0.isASCIIDigit || $0 == "-" })
    else {
      throw field.wrong(
        "\(quoted(text)) is no phone number",
        "Give up to 20 digits and hyphens, beginning with a digit or +; \"\" removes the number.")
    }
    return text
  }

  private static func refuse(
    _ field: Field, _ text: String, _ remedy: String, _ isAllowed: (Unicode.Scalar) -> Bool
  ) throws(RequestFault) {
    for (index, scalar) in text.unicodeScalars.enumerated() where !isAllowed(scalar) {
      throw field.wrong("\(quoted(text)) has \(scalar.inWords) at character \(index + 1)", remedy)
    }
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCIILetter || scalar.isASCIIDigit || scalar.properties.isIdeographic || special.contains(scalar)
  }

  private static let special = Set("_@!#$&*+=.|￥".unicodeScalars)
}

extension Unicode.Scalar {
  fileprivate var isASCIIDigit: Bool { ("0"..."9") ~= self }
  fileprivate var isASCIILetter: Bool { ("a"..."z") ~= self || ("A"..."Z") ~= self }
}
