import Basics
import Phone
import PushPayload
import Testing

@Suite("What holds everywhere")
struct PrincipleTests {
  @Test("D-001 the app gets the whole payload, unchanged, in every callback that carries it")
  func wholePayload() throws {
    let bytes = Array(
      #"{"z": 1.50, "aps": {"content-available": 1, "alert": "hi", "unknown": [1e3]}, "a": {"b": null}}"#.utf8)
    let object = try #require(JSONReader.read(bytes).value.object)
    func deliver(_ story: inout Story) {
      story.happens(.push(DeliveredPayload(id: "p", bundleID: Story.bundle, bytes: bytes)))
    }
    var front = Story(.g3)
    front.bring(to: .active)
    deliver(&front)
    var cold = Story(.g3)
    deliver(&cold)
    cold.happens(.tap(bundleID: Story.bundle, id: nil))
    var old = Story(.g1)
    old.bring(to: .active)
    deliver(&old)
    let methods = Set(
      (front.callbacks + cold.callbacks + old.callbacks).filter { $0.arguments.userInfo != nil }.map(\.method))
    #expect(
      methods == [
        .willFinishLaunching, .didFinishLaunching, .didReceiveRemoteNotification, .didReceiveRemoteNotificationFetch,
        .willPresent, .didReceiveResponse,
      ])
    for callback in front.callbacks + cold.callbacks + old.callbacks {
      if let userInfo = callback.arguments.userInfo { #expect(userInfo == object, "\(callback)") }
    }
  }

  @Test(
    "D-152 locked differs only in where it shows: the calls at arrival are those of the unlocked phone",
    arguments: ["K1", "K2", "K3", "K4", "K5", "K6", "K7"])
  func lockedArrival(kind: String) throws {
    let (payload, type) = try #require(Sample.of(kind))
    for version in [IOSVersion(5), .g1, .g2, .g3] {
      for state in [AppState.notRunning, .forceQuit, .suspended, .background] {
        let stories = [false, true].map { locked in
          var story = Story(version, app: .calling)
          story.bring(to: state, locked: locked)
          story.push(payload, type)
          return story
        }
        #expect(stories[0].calls == stories[1].calls, "\(version), \(state)")
        #expect(stories[0].badge == stories[1].badge && stories[0].centre == stories[1].centre)
        let letters = stories.map { Set($0.letters) }
        #expect(letters[1].subtracting("LW") == letters[0].subtracting("B"))
        guard kind == "K1" || kind == "K2" else { continue }
        #expect(letters[1].isSuperset(of: "LW") && letters[0].contains("B"))
        // authentication before the app comes to the front
        var locked = stories[1]
        locked.forget()
        locked.happens(.tap(bundleID: Story.bundle, id: nil))
        #expect(locked.calls == "-" && locked.state?.isFront == false)
        locked.happens(.unlock)
        #expect(locked.state == .active)
      }
    }
  }

  @Test("D-002 an app on iOS 17 without a delegate is called as on iOS 9")
  func callbacksAreTheApps() {
    var story = Story(.g3, app: .complete { $0.delegate = .never })
    story.push(Sample.k1)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "LO(p) DRF(I) DBA")
    story.forget()
    story.push(Sample.k1)
    #expect(story.calls == "DRF(A)")
  }

  @Test("D-002 what the app does not implement is not called")
  func nothingImplemented() {
    var story = Story(.g3, app: .complete { $0.implements = [] })
    story.bring(to: .active)
    story.push(Sample.k2)
    #expect(story.calls == "-")
  }

  @Test("D-003 with both callbacks only the one with the handler is called", arguments: [IOSVersion.g2, .g3])
  func fetchWins(version: IOSVersion) {
    for state in [AppState.active, .suspended, .notRunning] {
      var story = Story(version, app: .complete { $0.delegate = .never })
      story.bring(to: state)
      story.push(Sample.k2)
      story.happens(.tap(bundleID: Story.bundle, id: nil))
      #expect(!story.callbacks.contains { $0.method == .didReceiveRemoteNotification }, "\(state)")
      #expect(story.callbacks.contains { $0.method == .didReceiveRemoteNotificationFetch }, "\(state)")
    }
  }

  @Test("D-004 a delegate set after launch loses the response that launched the app, and only that one")
  func lateDelegate() {
    var story = Story(.g3, app: .complete { $0.delegate = .afterLaunch })
    story.push(Sample.k1)
    story.push(Sample.k1)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "LO(p) DBA")
    #expect(story.said("delegate set too late", "D-004"))
    story.happens(.home)
    story.forget()
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "WEF DRR(default) DBA")
  }

  @Test("D-005 a fetch handler not called within 30 s: the app is ended, later wakes become rarer")
  func handlerNeverCalled() {
    var story = Story(.g3, app: .complete { $0.fetchAnswer = .never })
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    story.pass(.seconds(29))
    #expect(story.state == .background)
    story.pass(.seconds(1))
    #expect(story.state == .notRunning)
    #expect(story.said("within 30 s", "D-005"))
    #expect(story.rules.contains("D-174"))
    // two wakes an hour are left of three
    story.push(Sample.k3, .background)
    story.pass(.seconds(30))
    story.forget()
    story.push(Sample.k3, .background)
    #expect(story.calls == "-")
    #expect(story.said("held", "D-175"))
  }

  @Test("D-005 a handler called late is a handler not called")
  func handlerCalledLate() {
    var story = Story(.g3, app: .complete { $0.fetchAnswer = .after(.seconds(31)) })
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    story.pass(.minutes(1))
    #expect(story.state == .notRunning)
  }

  @Test("D-005 a handler called twice is a fault of the app")
  func handlerTwice() {
    var story = Story(.g3, app: .complete { $0.fetchAnswer = .twice })
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    #expect(story.faults.map(\.rule) == ["D-005"])
    #expect(story.state == .suspended)
  }

  @Test("D-005 a response handler not called is told")
  func responseNotCompleted() {
    var story = Story(.g3, app: .complete { $0.responseAnswer = .never })
    story.push(Sample.k1)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.faults.isEmpty)
    story.pass(.seconds(30))
    #expect(story.faults.map(\.rule) == ["D-005"])
    #expect(story.state == .active)
  }

  @Test("D-006 the older calls still work on iOS 17, the newer ones do not exist before")
  func bridged() {
    var new = Story(.g3, allowed: false)
    new.bring(to: .active)
    new.happens(.app(bundleID: Story.bundle, .registerUserNotificationSettings(.usual)), .answerPrompt(allow: true))
    #expect(new.callbacks.contains { $0.arguments == .userNotificationSettings(.usual, categories: []) })
    var old = Story(.g2, allowed: false)
    old.bring(to: .active)
    old.happens(.app(bundleID: Story.bundle, .requestAuthorization(.usual)))
    #expect(old.said("needs iOS 10.0", "D-006"))
    #expect(old.phone.promptedApp == nil)
  }
}
