internal import Basics

/// JUnit's XML as CI systems read it: one `testsuite`, a `testcase` for each expectation.
enum JUnitText {
  static func write(_ report: AssertionReport) -> String {
    let time = seconds(report.time)
    let counts = "tests=\"\(report.cases.count)\" failures=\"\(report.failures)\" errors=\"0\" time=\"\(time)\""
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(counts)>\n"
    // JUnit's times have no zone and no fraction; UTC is meant.
    let timestamp = String("\(report.startedAt)".prefix(19))
    text += "  <testsuite name=\"\(escaped(report.suite))\" \(counts) skipped=\"0\" timestamp=\"\(timestamp)\">\n"
    for one in report.cases {
      text += "    <testcase classname=\"\(escaped(report.suite))\" name=\"\(escaped(one.name))\""
      text += " time=\"\(seconds(one.time))\""
      guard let failure = one.failure else {
        text += "/>\n"
        continue
      }
      text += ">\n      <failure type=\"assertion\" message=\"\(escaped(failure.summary))\">"
      text += escaped(failure.text, inAttribute: false) + "</failure>\n    </testcase>\n"
    }
    return text + "  </testsuite>\n</testsuites>\n"
  }

  private static func seconds(_ span: Instant.Span) -> String {
    let milliseconds = String(span.milliseconds % 1000)
    return "\(span.milliseconds / 1000)." + String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
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
