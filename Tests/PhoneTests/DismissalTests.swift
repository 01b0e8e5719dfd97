import Basics
import Phone
import PushPayload
import Testing

@Suite("Notifications that leave unused")
struct DismissalTests {
  static let plain = NotificationCategory(id: "invite", actions: [NotificationAction(id: "later")])

  @Test(
    "D-145 dismissing is told only from iOS 10 on, only if the category asks for it; the app is launched for it",
    arguments: [AppState.notRunning, .forceQuit, .suspended, .active])
  func dismiss(state: AppState) {
    for (version, asks) in [(IOSVersion.g2, true), (.g3, true), (.g3, false)] {
      var story = ActionTests.story(version, state, category: asks ? ActionTests.invite : Self.plain)
      guard !story.centre.isEmpty else { continue }  // in front nothing shows before iOS 10
      story.happens(.dismiss(bundleID: Story.bundle, id: nil))
      let told = version.major >= 10 && asks
      #expect(story.calls == (told ? state.isAlive ? "DRR(dismiss)" : "LO(∅) DEB DRR(dismiss)" : "-"))
      #expect(story.centre.isEmpty)
      #expect(story.badge == 3)
    }
  }

  @Test("D-145 from the lock screen, without unlocking")
  func locked() {
    var story = ActionTests.story(.g3, .suspended, locked: true)
    story.happens(.dismiss(bundleID: Story.bundle, id: "p1"))
    #expect(story.calls == "DRR(dismiss)")
    #expect(story.lockScreen.isEmpty && story.phone.isLocked)
  }

  @Test("D-145 clearing one entry by its identifier is dismissing it; an unknown one is nothing")
  func clearOne() {
    var story = ActionTests.story(.g3, .suspended)
    story.happens(.clear(bundleID: Story.bundle, id: "unknown"))
    #expect(story.calls == "-" && story.centre == ["p1"])
    story.happens(.clear(bundleID: Story.bundle, id: "p1"))
    #expect(story.calls == "DRR(dismiss)")
  }

  @Test("D-146 flicking the banner away is told to nobody, even with customDismissAction; the entry stays")
  func flick() {
    for state in [AppState.active, .suspended] {
      var story = ActionTests.story(.g3, state) { $0.appearanceOfAlert = .banner }
      story.happens(.flickAway(bundleID: Story.bundle))
      #expect(story.calls == "-")
      #expect(story.centre == ["p1"])
    }
  }

  @Test("D-146 D-131 what was only on the screen is gone with it")
  func onlyBanner() {
    var story = ActionTests.story(
      .g3, .active, app: .complete { $0.presentation = [.banner] }, payload: ActionTests.payload)
    story.happens(.flickAway(bundleID: Story.bundle))
    #expect(story.calls == "-")
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "-")
  }

  @Test("D-147 Clear all: one DRR(dismiss) for each entry whose category asks for it, in one launch")
  func clearAll() {
    var story = ActionTests.story(.g3, .notRunning)
    story.push(Sample.k1)
    story.push(ActionTests.payload)
    story.forget()
    story.happens(.clear(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "LO(∅) DEB DRR(dismiss) DRR(dismiss)")
    let ids = story.callbacks.compactMap { callback -> String? in
      guard case .response(let response) = callback.arguments else { return nil }
      return response.notification.identifier
    }
    #expect(ids == ["p3", "p1"], "newest first")
    #expect(story.callbacks.allSatisfy { $0.state == .background })
    #expect(story.centre.isEmpty)
    #expect(story.state == .suspended)
  }

  @Test("D-147 before iOS 10, and for plain categories, nobody learns of it")
  func clearAllSilently() {
    for (version, category) in [(IOSVersion.g2, ActionTests.invite), (.g3, Self.plain)] {
      var story = ActionTests.story(version, .suspended, category: category)
      story.happens(.clear(bundleID: Story.bundle, id: nil))
      #expect(story.calls == "-")
      #expect(story.centre.isEmpty)
    }
  }
}

@Suite("The modal alert's buttons")
struct AlertButtonTests {
  private func alert(_ alert: JSONValue, _ version: IOSVersion = IOSVersion(4)) -> Story {
    var story = Story(version)
    story.push(["aps": ["alert": alert]])
    story.forget()
    return story
  }

  @Test("D-127 D-209 Close and View, Close and the app's word, or Close only")
  func buttons() {
    let rows: [(JSONValue, [String])] = [
      ("Hello", ["Close", "View"]), (["body": "Hello"], ["Close", "View"]),
      (["body": "Hello", "action-loc-key": "PLAY"], ["Close", "PLAY"]),
      (["body": "Hello", "action-loc-key": .null], ["Close"]),
      (["body": "Hello", "show-view": false], ["Close"]),
    ]
    for (alert, buttons) in rows {
      #expect(self.alert(alert).phone.alertButtons(of: Story.bundle, id: nil) == buttons)
    }
  }

  @Test("D-127 Close only: nothing to use, and unlocking starts nothing", arguments: [IOSVersion(3), IOSVersion(4)])
  func closeOnly(version: IOSVersion) {
    let only: JSONValue = ["aps": ["alert": ["body": "Hello", "action-loc-key": .null]]]
    var story = Story(version)
    story.push(only)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "-")
    #expect(story.said("only Close", "D-127"))
    story.happens(.closeAlert(bundleID: Story.bundle), .lock)
    story.push(only)
    story.happens(.unlock)
    #expect(story.calls == "-")
    #expect(story.said("unlocking starts nothing", "D-127"))
  }

  @Test("D-127 a modal alert cannot be flicked away, it stays until it is answered")
  func stays() {
    var modal = Story(.g1) { $0.appearanceOfAlert = .modal }
    modal.push(Sample.k1)
    modal.happens(.flickAway(bundleID: Story.bundle))
    #expect(modal.said("wants an answer", "D-127"))
    modal.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(modal.calls == "LO(p) DBA")
  }

  @Test("D-127 Close only binds alerts, not a banner whose app the centre does not list")
  func banner() {
    var story = Story(.g3)
    var user = Phone.UserSettings()
    user.centre = false
    story.happens(.changePermission(bundleID: Story.bundle, user))
    story.push(["aps": ["alert": ["body": "Hello", "action-loc-key": .null]]])
    story.forget()
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "LO(p) DRR(default) DBA")
  }

  @Test("D-127 from iOS 5 on the centre's entry opens the app all the same")
  func centre() {
    var story = alert(["body": "Hello", "action-loc-key": .null], .g1)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "LO(p) DBA")
  }

  @Test("D-209 the launch image is told when the notification starts the app, not when the app was there")
  func launchImage() {
    for state in [AppState.notRunning, .suspended] {
      var story = Story(.g3)
      story.bring(to: state)
      story.push(["aps": ["alert": ["body": "Hello", "launch-image": "Rain.png"]]])
      story.happens(.tap(bundleID: Story.bundle, id: nil))
      #expect(story.said("Rain.png", "D-209") == (state == .notRunning))
    }
  }
}
