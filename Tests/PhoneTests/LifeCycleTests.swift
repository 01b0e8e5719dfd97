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

  @Test("D-157 didEnterBackground that takes longer than leaveSeconds ends the app, whatever version it is")
  func slowToLeave() {
    for version in [IOSVersion(4), .g2, .g3] {
      for (seconds, limit, ended) in [(4, 5, false), (5, 5, false), (6, 5, true), (6, 10, false)]
        as [(Int64, Int64, Bool)]
      {
        var story = Story(version, app: .complete { $0.enterBackgroundSeconds = seconds }) { $0.leaveSeconds = limit }
        story.bring(to: .active)
        story.happens(.home)
        story.pass(.seconds(limit))
        #expect(story.state == (ended ? .notRunning : .suspended))
        #expect(story.faults.map(\.rule) == (ended ? ["D-157"] : []))
        #expect(!story.calls.contains("willTerminate"))
      }
    }
    var back = Story(.g3, app: .complete { $0.enterBackgroundSeconds = 6 })
    back.happens(.launch(bundleID: Story.bundle), .home, .launch(bundleID: Story.bundle))
    back.pass(.minutes(1))
    #expect(back.state == .active, "it came back in time")
  }

  @Test("D-162 D-163 willTerminate that takes longer than leaveSeconds is cut off, and said so")
  func slowToEnd() {
    for (seconds, cut) in [(5, false), (6, true)] as [(Int64, Bool)] {
      for byUser in [true, false] {
        var story = Story(.g3, app: .complete { $0.terminateSeconds = seconds })
        story.bring(to: .background)
        story.happens(byUser ? .forceQuit(bundleID: Story.bundle) : .endBySystem(bundleID: Story.bundle))
        #expect(story.calls == "willTerminate")
        #expect(story.said("killed before it was done", "D-162") == cut)
        #expect(story.state == (byUser ? .forceQuit : .notRunning))
      }
      var suspended = Story(.g3, app: .complete { $0.terminateSeconds = seconds })
      suspended.bring(to: .suspended)
      suspended.happens(.endBySystem(bundleID: Story.bundle))
      #expect(suspended.calls == "-" && suspended.faults.isEmpty)
    }
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

/// Section F, each row in every generation and at the point releases where it changes.
@Suite("Life cycle, version by version")
struct LifeCycleRowTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var id: String
    var from: AppState
    var event: Phone.Event
    /// By the first version that does so; a later one in the list takes over.
    var calls: [(since: IOSVersion, calls: String)]
    /// With a scene manifest, from iOS 13 on.
    var scenes: String
    var testDescription: String { "\(id) from \(from)" }
  }

  static let versions = [
    IOSVersion(3, 1, 3), IOSVersion(4), IOSVersion(4, 3, 5), IOSVersion(5, 1, 1), IOSVersion(6), IOSVersion(6, 1, 6),
    IOSVersion(7), IOSVersion(8, 4, 1), IOSVersion(9, 3, 6), IOSVersion(10), IOSVersion(12, 5, 7), IOSVersion(13),
    IOSVersion(15, 8, 3), IOSVersion(17), IOSVersion(18, 5),
  ]

  static let other = "com.example.other"

  static let rows = [
    Row(
      id: "D-155", from: .notRunning, event: .launch(bundleID: Story.bundle),
      calls: [(IOSVersion(3), "didFinish DBA"), (IOSVersion(6), "willFinish didFinish DBA")],
      scenes: "willFinish didFinish configurationForConnecting SWC sceneWEF sceneDBA"),
    Row(
      id: "D-155", from: .forceQuit, event: .launch(bundleID: Story.bundle),
      calls: [(IOSVersion(4), "didFinish DBA"), (IOSVersion(6), "willFinish didFinish DBA")],
      scenes: "willFinish didFinish SWC sceneWEF sceneDBA"),
    Row(
      id: "D-156", from: .suspended, event: .launch(bundleID: Story.bundle),
      calls: [(IOSVersion(4), "WEF DBA")], scenes: "sceneWEF sceneDBA"),
    Row(
      id: "D-156", from: .background, event: .launch(bundleID: Story.bundle),
      calls: [(IOSVersion(4), "WEF DBA")], scenes: "sceneWEF sceneDBA"),
    Row(
      id: "D-157 D-164", from: .active, event: .home,
      calls: [(IOSVersion(3), "willTerminate"), (IOSVersion(4), "WRA DEB")], scenes: "sceneWRA sceneDEB"),
    Row(
      id: "D-157 D-164", from: .active, event: .launch(bundleID: other),
      calls: [(IOSVersion(3), "willTerminate"), (IOSVersion(4), "WRA DEB")], scenes: "sceneWRA sceneDEB"),
    Row(
      id: "D-157", from: .active, event: .lock, calls: [(IOSVersion(3), "WRA"), (IOSVersion(4), "WRA DEB")],
      scenes: "sceneWRA sceneDEB"),
    Row(
      id: "D-124", from: .active, event: .openCentre, calls: [(IOSVersion(5), "WRA")], scenes: "sceneWRA"),
    Row(
      id: "D-157", from: .inactive, event: .home, calls: [(IOSVersion(5), "DEB")], scenes: "sceneDEB"),
    Row(
      id: "D-162", from: .suspended, event: .terminateForMemory(bundleID: Story.bundle), calls: [(IOSVersion(4), "-")],
      scenes: "-"),
    Row(
      id: "D-162", from: .background, event: .terminateForMemory(bundleID: Story.bundle),
      calls: [(IOSVersion(4), "willTerminate")], scenes: "willTerminate"),
    Row(
      id: "D-163", from: .active, event: .forceQuit(bundleID: Story.bundle), calls: [(IOSVersion(4), "willTerminate")],
      scenes: "sceneDidDisconnect willTerminate"),
    Row(
      id: "D-163", from: .suspended, event: .forceQuit(bundleID: Story.bundle), calls: [(IOSVersion(4), "-")],
      scenes: "-"),
  ]

  @Test("D-155 … D-164", arguments: rows)
  func row(_ row: Row) {
    for version in Self.versions {
      guard let calls = row.calls.last(where: { $0.since <= version })?.calls else { continue }
      #expect(told(row, version, scenes: false) == calls, "iOS \(version)")
      #expect(told(row, version, scenes: true) == (version.major >= 13 ? row.scenes : calls), "iOS \(version)")
    }
  }

  /// All calls by their short names.
  private func told(_ row: Row, _ version: IOSVersion, scenes: Bool) -> String {
    var story = Story(version, app: .complete { $0.hasSceneManifest = scenes })
    story.happens(.installApp(AppDescription(bundleID: Self.other)))
    story.bring(to: row.from)
    story.happens(row.event)
    let calls = story.told.filter { $0.bundleID == Story.bundle }.compactMap {
      if case .callback(let callback) = $0.what { callback.method.short } else { nil }
    }
    return calls.isEmpty ? "-" : calls.joined(separator: " ")
  }

  @Test("D-158 launched in the background: will and did finish, DEB, the event; with scenes neither DEB nor a scene")
  func behind() {
    for version in Self.versions where version.major >= 7 {
      for scenes in [false, true] {
        var story = Story(version, app: .complete { $0.hasSceneManifest = scenes })
        story.push(Sample.k3, .background)
        let calls = story.callbacks.map(\.method.short).joined(separator: " ")
        #expect(
          calls == (scenes && version.major >= 13 ? "willFinish didFinish DRF" : "willFinish didFinish DEB DRF"),
          "iOS \(version)")
        #expect(story.state == .suspended)
      }
    }
  }

  @Test("D-160 a prompt over the app: WRA, DBA after the answer, in every version that asks")
  func prompt() {
    for version in Self.versions {
      var story = Story(version, allowed: false)
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .askAndRegister(.usual)), .answerPrompt(allow: false))
      #expect(story.calls.hasPrefix("WRA DBA"), "iOS \(version)")
    }
  }
}
