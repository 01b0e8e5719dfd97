import Basics
import Phone
import PushPayload
import Testing

@Suite("Life cycle")
struct LifeCycleTests {
  /// With willFinish, which the other tests leave out.
  private func methods(_ story: Story) -> [Callback.Method] { story.callbacks.map(\.method) }

  @Test("D-155 launch by icon: willFinish, didFinish in state I, DBA in state A")
  func launch() {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(methods(story) == [.willFinishLaunching, .didFinishLaunching, .didBecomeActive])
    #expect(story.callbacks.map(\.state) == [.inactive, .inactive, .active])
  }

  @Test("D-156 back by icon: WEF in state B, DBA in state A")
  func back() {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(methods(story) == [.willEnterForeground, .didBecomeActive])
    #expect(story.callbacks.map(\.state) == [.background, .active])
  }

  @Test("D-157 to the background: WRA, DEB, five seconds, suspended; so does locking, and so another app")
  func leave() {
    for event in [Phone.Event.home, .lock] {
      var story = Story(.g3)
      story.bring(to: .active)
      story.happens(event)
      #expect(methods(story) == [.willResignActive, .didEnterBackground])
      #expect(story.state == .background)
      story.pass(.milliseconds(4999))
      #expect(story.state == .background)
      story.pass(.milliseconds(1))
      #expect(story.state == .suspended)
    }
    var story = Story(.g3)
    story.happens(.installApp(AppDescription(bundleID: "com.example.other")))
    story.bring(to: .active)
    story.happens(.launch(bundleID: "com.example.other"))
    #expect(story.state == .background)
    #expect(story.phone.state(of: "com.example.other") == .active)
  }

  @Test("D-157 due tells when, and the suspension has its own time in the timeline")
  func due() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.happens(.home)
    let due = story.now + .seconds(5)
    #expect(story.phone.due == due)
    story.pass(.hours(1))
    #expect(story.told.last { $0.appState == .suspended }?.time == due)
    #expect(story.phone.due == nil)
  }

  @Test("D-158 launched in the background: willFinish, didFinish, DEB, the event, snapshot, suspended")
  func behind() {
    var story = Story(.g3)
    story.push(Sample.k3, .background)
    #expect(
      methods(story) == [
        .willFinishLaunching, .didFinishLaunching, .didEnterBackground, .didReceiveRemoteNotificationFetch,
      ])
    #expect(story.callbacks.allSatisfy { $0.state == .background })
    #expect(story.said("snapshot", "D-173"))
    #expect(story.state == .suspended)
  }

  @Test("D-159 C-24 resumed for an event: no second DEB; the switch debOnResume calls it")
  func resumed() {
    for (again, calls) in [(false, "DRF(B)"), (true, "DEB DRF(B)")] {
      var story = Story(.g3) { $0.debOnResume = again }
      story.bring(to: .suspended)
      story.push(Sample.k3, .background)
      #expect(story.calls == calls)
    }
  }

  @Test("D-160 under a prompt the app is inactive: WRA, a push is the inactive row, DBA after the answer")
  func prompt() {
    var story = Story(.g2, allowed: false)
    story.bring(to: .active)
    story.happens(.app(bundleID: Story.bundle, .askAndRegister(.usual)))
    story.push(Sample.k1)
    story.happens(.answerPrompt(allow: true))
    #expect(story.calls.hasPrefix("WRA DRF(I) DBA"))
  }

  @Test("D-162 ended by the system: willTerminate only if it executes, then notRunning")
  func endedBySystem() {
    for (state, calls) in [
      (AppState.suspended, "-"), (.background, "willTerminate"), (.active, "willTerminate"), (.notRunning, "-"),
    ] {
      var story = Story(.g3)
      story.bring(to: state)
      story.happens(.endBySystem(bundleID: Story.bundle))
      #expect(story.calls == calls)
      #expect(story.state == .notRunning)
    }
  }

  @Test("D-163 ended by the user: willTerminate if it executes, then forceQuit until opened or restarted")
  func endedByUser() {
    for (state, calls) in [(AppState.suspended, "-"), (.background, "willTerminate"), (.active, "willTerminate")] {
      var story = Story(.g3)
      story.bring(to: state)
      story.happens(.forceQuit(bundleID: Story.bundle))
      #expect(story.calls == calls)
      #expect(story.state == .forceQuit)
      story.happens(.restart)
      #expect(story.state == .notRunning)
      #expect(story.phone.isLocked)
    }
  }

  @Test("D-164 without multitasking, or for an app that wants none, leaving ends the app")
  func exits() {
    var old = Story(IOSVersion(3, 1))
    old.bring(to: .active)
    old.happens(.home)
    #expect(old.calls == "willTerminate")
    #expect(old.state == .notRunning)
    var opted = Story(.g3, app: .complete { $0.exitsOnSuspend = true })
    opted.bring(to: .active)
    opted.happens(.home)
    #expect(opted.calls == "WRA willTerminate")
    #expect(opted.state == .notRunning)
  }
}
