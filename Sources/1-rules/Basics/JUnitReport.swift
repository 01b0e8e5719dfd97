/// Results as CI systems read them: JUnit's XML.
public struct JUnitReport: Sendable {
  public struct Suite: Sendable {
    public var name: String
    public var startedAt: Instant
    public var time: Instant.Span
    public var cases: [Case]

    public init(name: String, startedAt: Instant, time: Instant.Span, cases: [Case]) {
      self.name = name
      self.startedAt = startedAt
      self.time = time
      self.cases = cases
    }
  }

  public struct Case: Sendable {
    public var name: String
    public var time: Instant.Span
    /// nil when it passed: a line, and the whole.
    public var failure: (summary: String, text: String)?
    /// Why it was left out; nil when it ran.
    public var skipped: String?

    public init(
      name: String, time: Instant.Span, failure: (summary: String, text: String)?, skipped: String? = nil
    ) {
      self.name = name
      self.time = time
      self.failure = failure
      self.skipped = skipped
    }
  }

  public var suites: [Suite]

  public init(_ suites: [Suite]) { self.suites = suites }

  public var xml: String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(Self.counts(suites))>\n"
    for suite in suites {
      // JUnit's times have no zone and no fraction; UTC is meant.
      let timestamp = String("\(suite.startedAt)".prefix(19))
      let name = Self.escaped(suite.name)
      let skipped = suite.cases.count { $0.skipped != nil }
      text +=
        "  <testsuite name=\"\(name)\" \(Self.counts([suite])) skipped=\"\(skipped)\" timestamp=\"\(timestamp)\">\n"
      for one in suite.cases {
        text += "    <testcase classname=\"\(name)\" name=\"\(Self.escaped(one.name))\""
        text += " time=\"\(Self.seconds(one.time))\""
        if let why = one.skipped {
          text += ">\n      <skipped message=\"\(Self.escaped(why))\"/>\n    </testcase>\n"
          continue
        }
        guard let failure = one.failure else {
          text += "/>\n"
          continue
        }
        text += ">\n      <failure type=\"assertion\" message=\"\(Self.escaped(failure.summary))\">"
        text += Self.escaped(failure.text, inAttribute: false) + "</failure>\n    </testcase>\n"
      }
      text += "  </testsuite>\n"
    }
    return text + "</testsuites>\n"
  }

  private static func counts(_ suites: [Suite]) -> String {
    let cases = suites.flatMap(\.cases)
    let time = suites.reduce(Int64(0)) { $0 + $1.time.milliseconds }
    let failures = cases.count { $0.failure != nil }
    return "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" time=\"\(seconds(.milliseconds(time)))\""
  }

  private static func seconds(_ span: Instant.Span) -> String {
    "\(span.milliseconds / 1000).\(padded(span.milliseconds % 1000, 3))"
  }

  /// XML 1.0 §2.2 has no way to write most controls: they become U+FFFD. In an attribute a line break would become a space
  /// (§3.3.3), so it is written as a reference.
  private static func escaped(_ text: String, inAttribute: Bool = true) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\t" where !inAttribute, "\n" where !inAttribute: escaped.unicodeScalars.append(scalar)
      case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
