import PushPayload

/// Texts that a push names by key, in the words of the app for the phone's language (D-205 … D-208).
extension Phone {
  /// The notification with literal texts: keys are looked up now, so a change of language before counts (D-206).
  func localised(_ notice: Notice, of app: Int) -> Notice {
    guard let alert = notice.content.payload.alert else { return notice }
    let isLocal = notice.isLocal
    let needsWork = [alert.title, alert.subtitle, alert.body].contains { $0?.isLocalized == true }
    guard needsWork || (isLocal && (alert.body?.shown.utf8.contains(UInt8(ascii: "%")) ?? false)) else { return notice }
    let strings = apps[app].description.strings(for: settings.language)
    func words(_ text: Payload.Text?) -> Payload.Text? { text.map { .literal($0.words(from: strings)) } }
    var notice = notice
    notice.content = notice.content.changed {
      $0.alert?.title = words(alert.title)
      $0.alert?.subtitle = words(alert.subtitle)
      $0.alert?.body = words(alert.body)
      if isLocal, case .literal(let body) = alert.body { $0.alert?.body = .literal(body.withoutPrintfEscapes) }
    }
    return notice
  }
}

extension AppDescription {
  /// Localizable.strings for a language: its own, else without region, then without script, else those of the development
  /// language. A key that is missing there is not looked for in another language.
  func strings(for language: String) -> [String: String] {
    var parts = language.split(whereSeparator: { $0 == "-" || $0 == "_" })
    while !parts.isEmpty {
      if let found = strings[parts.joined(separator: "-")] { return found }
      parts.removeLast()
    }
    return strings[developmentLanguage] ?? [:]
  }
}

extension Payload.Text {
  /// The key's string filled with the arguments; without one the plain text beside the key, else the key (D-207).
  func words(from strings: [String: String]) -> String {
    switch self {
    case .literal(let text): return text
    case .localized(let key, let arguments, let fallback):
      if let format = strings[key] { return format.filled(with: arguments) }
      return fallback.flatMap { $0.isEmpty ? nil : $0 } ?? key
    }
  }
}

extension String {
  /// `%@` takes the next argument, `%2$@` the second, `%%` is a percent sign. A placeholder without an argument stays as
  /// it is written, an argument without a placeholder is left out (D-207).
  func filled(with arguments: [String]) -> String {
    var result = ""
    var next = 0
    var rest = self[...]
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      rest = rest[percent...]
      let after = rest.dropFirst()
      if after.first == "%" {
        result += "%"
        rest = after.dropFirst()
      } else if after.first == "@" {
        result += next < arguments.count ? arguments[next] : "%@"
        next += 1
        rest = after.dropFirst()
      } else if let (number, length) = after.position {
        result += arguments.indices.contains(number - 1) ? arguments[number - 1] : String(rest.prefix(length + 1))
        rest = after.dropFirst(length)
      } else {
        result += "%"
        rest = after
      }
    }
    return result + rest
  }

  /// What `UNNotificationContent.body` of a local notification shows: `%%` is a percent sign, any other printf escape is
  /// taken out (D-208).
  var withoutPrintfEscapes: String {
    var result = ""
    var rest = self[...]
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      rest = rest[percent...].dropFirst()
      if rest.first == "%" {
        result += "%"
        rest = rest.dropFirst()
      } else if let length = rest.escapeLength {
        rest = rest.dropFirst(length)
      } else {
        result += "%"
      }
    }
    return result + rest
  }
}

extension Substring {
  /// `2$@` at the start: the number, and how many characters that is.
  fileprivate var position: (number: Int, length: Int)? {
    let digits = prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, let number = Int(digits), dropFirst(digits.count).hasPrefix("$@") else { return nil }
    return (number, digits.count + 2)
  }

  /// What follows the `%` of a printf escape: flags, width, precision, length, conversion; nil: it is none.
  fileprivate var escapeLength: Int? {
    let modifiers = prefix { "0123456789$-+#.*hlqLztj".contains($0) }
    guard let conversion = dropFirst(modifiers.count).first, "@dDiuUxXoOfFeEgGaAcCsSp".contains(conversion) else {
      return nil
    }
    return modifiers.count + 1
  }
}
