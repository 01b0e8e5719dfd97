import Basics
import BelfryTesting
import Phone
import PushPayload
import Testing

@Suite("A phone in a team's own tests")
struct TestPhoneTests {
  static var app: AppDescription {
    var app = AppDescription(bundleID: "com.example.app", name: "App")
    app.delegate = .beforeLaunchEnds
    app.backgroundModes = [.remoteNotification]
    app.presentation = [.banner, .list, .sound, .badge]
    app.script = [
      .didFinishLaunching: [.askAndRegister(.usual)], .didRegisterForRemoteNotifications: [.handTokenToService],
    ]
    return app
  }

  @Test("registers, shows, wakes, and tells of a tap")
  func story() throws {
    var phone = TestPhone(ios: IOSVersion(17, 5))
    phone.install(Self.app)
    #expect(phone.timeline.contains { $0.rule == "D-018" } && phone.state() == .suspended)
    let id = phone.push(["aps": ["alert": "Hello", "badge": 3, "content-available": 1], "order": 7])
    try phone.expectShown("BCN")
    try phone.expectCallbacks("DRF(B)")
    #expect(phone.badge() == 3 && phone.centre() == [id])
    phone.tap()
    try phone.expectCallbacks("willEnterForeground", "didReceiveResponse(default)", "didBecomeActive")
    try phone.expect(.inOrder(["shown", "user", "removed"]), in: .everything)
    #expect(phone.failure(of: .never(["fault", "notModelled"]), in: .everything) == nil)
  }

  @Test("a failure is an error that reads well in any framework")
  func failure() throws {
    var phone = TestPhone()
    phone.install(Self.app, start: .forceQuit)
    phone.push(["aps": ["content-available": 1]])
    let failure = #expect(throws: ExpectationFailure.self) { try phone.expectCallbacks("DRF(B)") }
    #expect(failure?.description.contains("- DRF(background)") == true && failure?.rules == ["D-110"])
  }

  @Test("D-116 APNs keeps the newest for a phone without network, until it expires")
  func offline() throws {
    var phone = TestPhone()
    phone.install(Self.app)
    phone.goOffline()
    phone.push(["aps": ["alert": "one"]])
    phone.push(["aps": ["alert": "two"]])
    try phone.expect(.never(["arrived"]), in: .everything)
    phone.goOnline()
    try phone.expect(.exactly([EntryPattern(["shown": ["body": "two"]])], of: ["shown"]))
    phone.goOffline()
    phone.push(["aps": ["alert": "three"]], expiration: phone.now + .seconds(60))
    phone.wait(.minutes(2))
    phone.goOnline()
    try phone.expectShown()
  }

  @Test("a year passes in a moment, and everything due happens at its time")
  func time() throws {
    var phone = TestPhone()
    var app = Self.app
    app.fetchAnswer = .never
    phone.install(app)
    phone.push(["aps": ["content-available": 1]])
    phone.wait(.days(365))
    try phone.expect(.contains([EntryPattern(["what": "fault", "rule": "D-005"])]))
    #expect(phone.recent.first { $0.rule == "D-005" }?.time == Instant(seconds: 1_796_029_230))
    #expect(phone.state() == .notRunning)
  }
}
