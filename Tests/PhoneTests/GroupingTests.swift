import Basics
import Phone
import PushPayload
import Testing

@Suite("Grouping")
struct GroupingTests {
  private static let other = "com.example.other"

  /// Two of thread a, one of b, two without, one of another app, in this order.
  private func mixed(_ version: IOSVersion, _ grouping: Phone.UserSettings.Grouping, locked: Bool = false) -> Story {
    var story = Story(version)
    story.user { $0.grouping = grouping }
    story.happens(
      .installApp(AppDescription(bundleID: Self.other, name: "Other")),
      .changePermission(bundleID: Self.other, Phone.UserSettings()))
    if locked { story.happens(.lock) }
    for (id, thread) in [("a1", "a"), ("b1", "b"), ("n1", nil), ("a2", "a"), ("n2", nil)] as [(String, String?)] {
      story.push(levelled(nil, thread.map { ["thread-id": .string($0)] } ?? [:], alert: id), id: id)
    }
    story.happens(.push(DeliveredPayload(id: "o1", bundleID: Self.other, bytes: Sample.k1.encoded())))
    return story
  }

  private func ids(_ groups: [Screen.Group]) -> String {
    groups.map { $0.notifications.map(\.id).joined(separator: "+") }.joined(separator: " ")
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    var version: IOSVersion
    var grouping: Phone.UserSettings.Grouping
    var centre: String
    var lockScreen: String
    var testDescription: String { name }
  }

  static let flat = "o1 n2 a2 n1 b1 a1"
  static let rows = [
    Row(
      name: "D-240 iOS 12+, automatic: by thread, else by app", version: .g3, grouping: .automatic,
      centre: "o1 n2+n1 a2+a1 b1", lockScreen: "o1 n2+n1 a2+a1 b1"),
    Row(
      name: "D-240 iOS 12 itself", version: IOSVersion(12), grouping: .automatic,
      centre: "o1 n2+n1 a2+a1 b1", lockScreen: "o1 n2+n1 a2+a1 b1"),
    Row(
      name: "D-240 iOS 12+, by app", version: .g3, grouping: .byApp, centre: "o1 n2+a2+n1+b1+a1",
      lockScreen: "o1 n2+a2+n1+b1+a1"),
    Row(name: "D-240 iOS 12+, off", version: .g3, grouping: .off, centre: flat, lockScreen: flat),
    Row(
      name: "D-240 iOS 11: one list by time", version: IOSVersion(11), grouping: .automatic, centre: flat,
      lockScreen: flat),
    Row(
      name: "D-240 iOS 9: the centre in sections by app", version: .g2, grouping: .automatic,
      centre: "o1 n2+a2+n1+b1+a1", lockScreen: flat),
    Row(
      name: "D-240 iOS 5: by time, if the user wants", version: IOSVersion(5), grouping: .off, centre: flat,
      lockScreen: flat),
  ]

  @Test("D-240 how entries lie together", arguments: rows)
  func groups(row: Row) {
    let unlocked = mixed(row.version, row.grouping)
    #expect(ids(unlocked.phone.screen.centre) == row.centre)
    #expect(unlocked.phone.screen.lockScreen.isEmpty)
    let locked = mixed(row.version, row.grouping, locked: true)
    #expect(ids(locked.phone.screen.lockScreen) == row.lockScreen)
  }

  /// Four messages of one category, the newest on top.
  private func summary(
    _ version: IOSVersion, format: String?, arguments: [String?], counts: [Int64?] = [], categories: [String]? = nil
  ) -> String? {
    var story = Story(version)
    story.happens(
      .launch(bundleID: Story.bundle),
      .app(bundleID: Story.bundle, .setCategories([NotificationCategory(id: "chat", summaryFormat: format)])), .home,
      .suspend(bundleID: Story.bundle))
    for index in arguments.indices {
      var alert: JSONObject = ["body": "Hi"]
      alert["summary-arg"] = arguments[index].map(JSONValue.string)
      if index < counts.count { alert["summary-arg-count"] = counts[index].map { .number(JSONNumber($0)) } }
      story.push(["aps": ["alert": .object(alert), "category": .string(categories?[index] ?? "chat")]])
    }
    return story.phone.screen.centre.first?.summary
  }

  @Test("D-241 the text under a stack: categorySummaryFormat; summary-arg and its count on iOS 12–14 only")
  func summaryText() {
    let people = ["Lin", "Ada", "Lin", nil, "Max"] as [String?]
    let format = "%u more messages from %@"
    for version in [IOSVersion(12), IOSVersion(14, 8)] {
      #expect(summary(version, format: format, arguments: people) == "4 more messages from Lin, Ada")
      #expect(
        summary(version, format: format, arguments: people, counts: [5, nil, 2]) == "9 more messages from Lin, Ada")
      #expect(summary(version, format: "%2$@: %1$u (100%%)", arguments: ["Lin", nil]) == "Lin: 1 (100%)")
    }
    #expect(summary(.g3, format: format, arguments: people, counts: [5]) == "4 more notifications")
    #expect(summary(.g3, format: "%u more messages", arguments: people, counts: [5]) == "4 more messages")
  }

  @Test("D-241 without format, with an argument missing, or beneath several categories: the system's words")
  func usualText() {
    #expect(summary(IOSVersion(13), format: nil, arguments: [nil, nil]) == "1 more notification")
    #expect(summary(IOSVersion(13), format: "%u from %@", arguments: [nil, nil, nil]) == "2 more notifications")
    #expect(
      summary(IOSVersion(13), format: "%u x", arguments: [nil, nil, nil], categories: ["chat", "other", "chat"])
        == "2 more notifications")
    #expect(summary(IOSVersion(13), format: "%u %z 5%", arguments: [nil, nil]) == "1 %z 5%")
    #expect(
      summary(IOSVersion(13), format: "%u", arguments: ["a", "b", "c"], counts: [.max, .max, 1]) == "\(Int64.max)")
    #expect(summary(IOSVersion(13), format: "%u", arguments: [nil]) == nil)
    #expect(summary(.g2, format: "%u", arguments: [nil, nil]) == nil)
  }
}
