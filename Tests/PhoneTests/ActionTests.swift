import Basics
import Phone
import PushPayload
import Testing

@Suite("Buttons, and taking notifications away")
struct ActionTests {
  static let invite = NotificationCategory(
    id: "invite",
    actions: [
      NotificationAction(id: "later"), NotificationAction(id: "open", options: .foreground),
      NotificationAction(id: "delete", options: [.authenticationRequired, .destructive]),
      NotificationAction(id: "reply", textInput: NotificationAction.TextInput()),
    ], options: .customDismissAction, minimalActions: nil)
  static let payload: JSONValue = ["aps": ["alert": "Lunch?", "category": "invite", "badge": 3]]

  /// A phone whose app has registered its categories, is where it should be, and got an invitation.
  static func story(
    _ version: IOSVersion, _ state: AppState, locked: Bool = false, category: NotificationCategory = invite,
    app: AppDescription = .complete, payload: JSONValue = payload, _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) -> Story {
    var story = Story(version, app: app) {
      $0.appearanceOfAlert = .modal  // so that iOS 8 and 9 show all four buttons
      adjust(&$0)
    }
    let bundle = Story.bundle
    story.happens(.launch(bundleID: bundle), .app(bundleID: bundle, .setCategories([category])))
    switch state {
    case .notRunning: story.happens(.endBySystem(bundleID: bundle))
    case .forceQuit: story.happens(.forceQuit(bundleID: bundle))
    case .suspended: story.happens(.home, .suspend(bundleID: bundle))
    case .background: story.happens(.home)
    case .inactive: story.happens(.openCentre)
    case .active: break
    }
    if locked { story.happens(.lock) }
    story.push(payload)
    story.forget()
    return story
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var id: String
    var from: AppState
    var locked = false
    var action: String
    /// Before the unlock, where there is one.
    var atOnce = ""
    /// From the act on, iOS 8 and 9; in iOS 17 the same with DRR.
    var calls: String
    var testDescription: String { "\(id): \(action) from \(from)\(locked ? ", locked" : "")" }
  }

  static let rows = [
    Row(id: "D-141", from: .notRunning, action: "later", calls: "LO(∅) DEB HAI(later)"),
    Row(id: "D-141", from: .suspended, action: "later", calls: "HAI(later)"),
    Row(id: "D-141", from: .background, action: "later", calls: "HAI(later)"),
    Row(id: "D-141", from: .suspended, locked: true, action: "later", calls: "HAI(later)"),
    Row(id: "D-142", from: .notRunning, action: "open", calls: "LO(∅) HAI(open) DBA"),
    Row(id: "D-142", from: .suspended, action: "open", calls: "WEF HAI(open) DBA"),
    Row(id: "D-142", from: .background, action: "open", calls: "WEF HAI(open) DBA"),
    Row(id: "D-142", from: .suspended, locked: true, action: "open", atOnce: "-", calls: "WEF HAI(open) DBA"),
    Row(id: "D-143", from: .suspended, action: "delete", calls: "HAI(delete)"),
    Row(id: "D-143", from: .suspended, locked: true, action: "delete", atOnce: "-", calls: "HAI(delete)"),
    Row(
      id: "D-143", from: .notRunning, locked: true, action: "delete", atOnce: "-", calls: "LO(∅) DEB HAI(delete)"),
    Row(id: "D-144", from: .suspended, action: "reply", calls: "HAI(reply)"),
    Row(id: "D-148", from: .forceQuit, action: "later", calls: "LO(∅) DEB HAI(later)"),
    Row(id: "D-148", from: .forceQuit, action: "open", calls: "LO(∅) HAI(open) DBA"),
  ]

  @Test(
    "D-141 … D-144, D-148 a button: HAI on iOS 8 and 9, DRR from 10 on, once, behind or in front by its options",
    arguments: rows, [IOSVersion(8, 4), .g2, IOSVersion(10), .g3])
  func press(row: Row, version: IOSVersion) {
    var category = Self.invite
    category.minimalActions = [row.action]  // what iOS 8 and 9 show on the lock screen
    var story = Self.story(version, row.from, locked: row.locked, category: category)
    story.happens(.action(bundleID: Story.bundle, id: nil, action: row.action, text: nil))
    if !row.atOnce.isEmpty {
      #expect(story.calls == row.atOnce, "nothing before the user has authenticated")
      #expect(story.centre == ["p1"])
      story.happens(.unlock)
    }
    let calls = version.major >= 10 ? row.calls.replacing("HAI", with: "DRR") : row.calls
    #expect(story.calls == calls)
    #expect(story.centre.isEmpty, "p leaves the centre")
    #expect(story.lockScreen.isEmpty, "and the lock screen")
    #expect(story.badge == 3, "the badge stays")
    #expect(story.state == (row.action == "open" ? .active : .suspended) || row.from == .background)
    #expect(story.rules.contains(row.id) || row.id == "D-144" && version.major == 8)
  }

  @Test("D-141 before iOS 8 notifications have no buttons", arguments: [IOSVersion.g1, IOSVersion(7)])
  func noActions(version: IOSVersion) {
    var story = Self.story(version, .suspended)
    #expect(story.phone.buttons(of: Story.bundle, id: nil).isEmpty)
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
    #expect(story.calls == "-")
    #expect(story.centre == ["p1"])
    #expect(story.said("has no actions", "D-150"))
  }

  @Test("D-141 the switch actionLaunchOptions: the launch options hold the payload")
  func launchOptions() {
    var story = Self.story(.g3, .notRunning) { $0.actionLaunchOptions = true }
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
    #expect(story.calls == "LO(p) DEB DRR(later)")
  }

  @Test("D-141 in front: the call alone from the banner; out of the centre, which lies over the app, it stays there")
  func inFront() {
    var story = Self.story(.g3, .active)
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
    #expect(story.calls == "DRR(later)")
    story.push(Self.payload)
    story.happens(.openCentre)
    story.forget()
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
    #expect(story.calls == "DRR(later)")
    #expect(story.callbacks.map(\.state) == [.inactive])
    story.happens(.closeCentre)
    #expect(story.calls == "DRR(later) DBA")
  }

  @Test("D-143 turning away from the unlock: nothing, and the notification stays", arguments: ["open", "delete"])
  func cancelled(action: String) {
    var story = Self.story(.g3, .suspended, locked: true)
    story.happens(.action(bundleID: Story.bundle, id: nil, action: action, text: nil), .cancelUnlock, .unlock)
    #expect(story.calls == "-")
    #expect(story.centre == ["p1"])
  }

  @Test("D-143 after the unlock for a button behind, the app that was in front is there again")
  func backInFront() {
    var story = Self.story(.g3, .active, locked: true)
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "delete", text: nil), .unlock)
    #expect(story.calls == "DRR(delete) WEF DBA")
  }

  @Test("D-144 typed text: lost on iOS 8, in the response info on iOS 9, in the response from iOS 10 on")
  func text() throws {
    for (version, method, typed) in [
      (IOSVersion(8), Callback.Method.handleAction, nil), (.g2, .handleActionWithResponse, "Yes"),
      (.g3, .didReceiveResponse, "Yes"),
    ] as [(IOSVersion, Callback.Method, String?)] {
      var story = Self.story(version, .suspended)
      story.happens(.action(bundleID: Story.bundle, id: nil, action: "reply", text: "Yes"))
      let callback = try #require(story.callbacks.first)
      #expect(callback.method == method)
      switch callback.arguments {
      case .action(let action): #expect(action.typedText == typed)
      case .response(let response): #expect(response.userText == typed)
      default: Issue.record("\(callback)")
      }
    }
  }

  @Test("D-144 nothing typed is an empty text, a plain button has none", arguments: [IOSVersion.g2, .g3])
  func emptyText(version: IOSVersion) throws {
    for (action, text) in [("reply", ""), ("later", nil)] as [(String, String?)] {
      var story = Self.story(version, .suspended)
      story.happens(.action(bundleID: Story.bundle, id: nil, action: action, text: nil))
      switch try #require(story.callbacks.first).arguments {
      case .action(let argument): #expect(argument.typedText == text)
      case .response(let response): #expect(response.userText == text)
      default: Issue.record("\(story.calls)")
      }
    }
  }

  @Test("D-144 iOS 9 without the call for typed text: the older one, and the text is lost")
  func olderCall() {
    var story = Self.story(.g2, .suspended, app: .complete { $0.implements.remove(.handleActionWithResponse) })
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "reply", text: "Yes"))
    #expect(story.callbacks.map(\.method) == [.handleAction])
    #expect(story.said("the typed text", "D-144"))
  }

  @Test("D-120 D-006 iOS 17 without delegate: the button comes by the call of iOS 9")
  func withoutDelegate() {
    var story = Self.story(.g3, .suspended, app: .complete { $0.delegate = .never })
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
    #expect(story.callbacks.map(\.method) == [.handleActionWithResponse])
  }

  @Test("D-004 a delegate set too late loses the response that launched the app behind")
  func lateDelegate() {
    var story = Self.story(.g3, .notRunning, app: .complete { $0.delegate = .afterLaunch })
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
    #expect(story.calls == "LO(∅) DEB")
    #expect(story.faults.map(\.rule) == ["D-004"])
  }

  @Test("D-005 HAI not completed ends the app behind; DRR not completed is told")
  func notCompleted() {
    for (version, state) in [(IOSVersion.g2, AppState.notRunning), (.g3, .suspended)] {
      var story = Self.story(version, .suspended, app: .complete { $0.responseAnswer = .never })
      story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
      #expect(story.state == .background, "it runs until it has answered")
      story.pass(.seconds(30))
      #expect(story.faults.map(\.rule) == ["D-005"])
      #expect(story.state == state)
    }
  }

  @Test("D-150 without a registered category of that name: no buttons, shown plain, and the tap works as ever")
  func unknownCategory() {
    for payload: JSONValue in [
      ["aps": ["alert": "Lunch?", "category": "INVITE"]], ["aps": ["alert": "Lunch?"]],
    ] {
      var story = Self.story(.g3, .suspended, payload: payload)
      #expect(story.phone.buttons(of: Story.bundle, id: "p1").isEmpty)
      story.happens(.action(bundleID: Story.bundle, id: "p1", action: "later", text: nil))
      #expect(story.calls == "-")
      #expect(story.rules == ["D-150"])
      story.happens(.dismiss(bundleID: Story.bundle, id: "p1"))
      #expect(story.calls == "-")
    }
    var story = Self.story(.g3, .suspended, payload: ["aps": ["alert": "Lunch?", "category": "x"]])
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "WEF DRR(default) DBA")
  }

  @Test("D-151 what shows no entry has no buttons and cannot be dismissed", arguments: ["K3", "K4", "K5", "K7"])
  func noEntry(kind: String) throws {
    let (payload, type) = try #require(Sample.of(kind))
    var story = Story(.g3)
    story.bring(to: .forceQuit)
    story.push(payload, type)
    story.forget()
    story.happens(
      .action(bundleID: Story.bundle, id: nil, action: "later", text: nil), .dismiss(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "-")
    #expect(story.rules == ["D-151"])
  }
}
