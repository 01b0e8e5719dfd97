internal import PushPayload
internal import PushService

extension Field {
  /// The string that stands here, if `rule` allows it.
  func name(_ rule: NameRule) throws(RequestFault) -> String {
    let text = try string()
    try rule.check(text, codes.invalid, at: path.description)
    return text
  }

  /// Digits and hyphens, a plus in front allowed; at most 20 characters.
  func mobile() throws(RequestFault) -> String {
    let text = try string()
    let rest = text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard
      text.utf8.count <= 20, let first = rest.unicodeScalars.first, "0"..."9" ~= first,
      rest.unicodeScalars.allSatisfy({ "0"..."9" ~= $0 || $0 == "-" })
    else {
      throw wrong(
        "\(quoted(text)) is no phone number",
        "Give up to 20 digits and hyphens, beginning with a digit or +; \"\" removes the number.")
    }
    return text
  }
}
