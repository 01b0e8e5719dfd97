/// Who says what a rule says.
public struct RuleSource: Hashable, Sendable, CustomStringConvertible {
  /// `A4` Apple, `S0` an article that Belfry is built from, `X3` a field report, `-` our decision.
  public let code: String

  /// The document's title, or what kind of report it is.
  public var title: String {
    switch code.first {
    case "A": Self.apple[code] ?? "Apple's documentation"
    case "S": "seed article 00\(code.dropFirst())"
    case "X": Self.field[code] ?? "a field report"
    default: "our decision"
    }
  }

  public var description: String { code.hasPrefix("A") ? "Apple, “\(title)”" : title }

  private static let apple = [
    "A1": "Asking permission to use notifications", "A2": "Registering your app with APNs",
    "A3": "Generating a remote notification", "A4": "Pushing background updates to your App",
    "A5": "Handling notifications and notification-related actions",
    "A6": "Declaring your actionable notification types",
    "A7": "Modifying content in newly delivered notifications", "A8": "UNUserNotificationCenterDelegate",
    "A9": "UNUserNotificationCenter", "A10": "UNNotificationRequest", "A11": "UNNotificationSound",
    "A12": "UNNotificationAttachment", "A13": "UNNotificationCategory", "A14": "UNNotificationContent",
    "A15": "UNNotificationSettings", "A16": "Scheduling a notification locally from your app",
    "A17": "UIApplicationDelegate, remote notifications", "A18": "UIUserNotificationSettings",
    "A19": "UIApplication", "A20": "UILocalNotification", "A21": "Managing your app's life cycle", "A22": "PushKit",
    "A23": "Customizing the Appearance of Notifications", "A24": "Entitlements", "A25": "Xcode Release Notes",
    "A26": "Sending notification requests to APNs", "A27": "Technical Note TN2265",
    "A28": "UIApplication.h, UNUserNotificationCenter.h", "A29": "Human Interface Guidelines, Managing notifications",
    "A30": "Local and Remote Notification Programming Guide",
  ]

  private static let field = [
    "X1": "measured on iOS 11", "X2": "measured on iOS 12", "X3": "measured on iOS 10",
    "X4": "a vendor's tests on iOS 8–10", "X5": "a report of 2019", "X6": "reports to iOS 10",
    "X7": "radars and libraries' issues", "X8": "libraries' issues", "X9": "vendors' documentation",
    "X10": "SDKs' pull requests", "X11": "vendors' pages on silent pushes", "X12": "a library's issue",
    "X14": "VoIP libraries' issues", "X15": "a report on iOS 7", "X16": "a developer's table in Apple's forums",
    "X18": "a question of the time",
  ]
}

extension Rule {
  /// What the rule says, in one sentence; nil: no rule of the device specification.
  public var sentence: String? { Self.said[id]?.sentence }

  public var sources: [RuleSource] { Self.said[id]?.sources ?? [] }

  /// `D-106: behind, a silent push wakes … [Apple, “Pushing background updates to your App”]`
  public var explanation: String {
    guard let sentence else { return id }
    return "\(id): \(sentence) [\(sources.map(\.description).joined(separator: "; "))]"
  }

  /// Every rule that has words, in order.
  public static var all: [Rule] { said.keys.sorted().map { Rule(stringLiteral: $0) } }

  /// Read when the first explanation is asked for.
  private static let said: [String: (sentence: String, sources: [RuleSource])] = {
    var said: [String: (sentence: String, sources: [RuleSource])] = [:]
    for line in RuleTable.text.split(separator: "\n") {
      let cells = line.split(separator: "|", maxSplits: 2).map(trimmed)
      guard cells.count == 3 else { continue }
      said[cells[0]] = (cells[2], cells[1].split(separator: " ").map { RuleSource(code: String($0)) })
    }
    return said
  }()

  private static func trimmed(_ cell: Substring) -> String {
    String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
