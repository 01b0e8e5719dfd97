import Basics
import Phone
import PushPayload
import Testing

/// In-app messages as far as the phone decides (spec section K).
@Suite("In-app messages and the notification beside them")
struct MessageTests {
  static var app: AppDescription { .complete { $0.usesMessages = true } }

  private func message(_ number: Int64, id: Int64? = nil) -> Phone.Event {
    .message(
      bundleID: Story.bundle, InAppMessage(sequence: number, messageID: id, title: "T", content: "text \(number)"))
  }

  private func received(_ story: Story) -> [Int64] {
    story.callbacks.compactMap { callback in
      guard callback.method == .didReceiveMessage, case .message(let message) = callback.arguments else { return nil }
      return message.sequence
    }
  }

  /// In front and connected.
  private func connected(_ ios: IOSVersion = .g3, allowed: Bool = true, app: AppDescription = Self.app) -> Story {
    var story = Story(ios, app: app, allowed: allowed)
    story.happens(.launch(bundleID: Story.bundle), .messagesConnected(bundleID: Story.bundle))
    story.forget()
    return story
  }

  @Test(
    "D-300 D-308 messages need no token, no certificate, no permission and no environment",
    arguments: [IOSVersion.g1, .g2, .g3])
  func needNothing(version: IOSVersion) {
    var app = Self.app
    app.apsEnvironment = .none
    var story = connected(version, allowed: false, app: app)
    #expect(story.phone.token(of: Story.bundle) == nil)
    story.happens(message(1))
    let got = InAppMessage(sequence: 1, title: "T", content: "text 1")
    #expect(story.callbacks.map(\.arguments) == [.message(got)])
    #expect(story.callbacks.first?.state == .active)
  }

  @Test("D-301 D-320 a message is there at once")
  func atOnce() {
    var story = connected()
    let before = story.now
    story.happens(message(1))
    #expect(story.told.last?.time == before + .seconds(1))
  }

  @Test("D-302 D-322 the whole history can be fetched, by code that runs")
  func history() {
    var story = connected()
    story.happens(.app(bundleID: Story.bundle, .fetchMessageHistory))
    #expect(story.effects == [.fetchMessageHistory(bundleID: Story.bundle, registrationID: nil)])
    let all = (1...7).map { InAppMessage(sequence: $0, content: "m") }
    story.happens(.messageHistory(bundleID: Story.bundle, all))
    #expect(story.callbacks.last?.arguments == .messages(all))
    story.happens(.home, .suspend(bundleID: Story.bundle), .messageHistory(bundleID: Story.bundle, all))
    #expect(story.said("does not run", "D-302"))
  }

  @Test("D-303 an app that is started and left at once has no connection yet")
  func leftAtOnce() {
    var story = Story(.g3, app: Self.app)
    story.happens(.launch(bundleID: Story.bundle), message(1), .home, .messagesConnected(bundleID: Story.bundle))
    #expect(received(story).isEmpty)
    #expect(story.said("there is no connection yet", "D-303"))
    #expect(story.said("no longer wants", "D-303"))
    #expect(!story.phone.isConnectedForMessages(Story.bundle))
  }

  @Test("D-304 received only in front, active or inactive; leaving closes the connection")
  func onlyInFront() {
    var story = connected()
    story.happens(message(1), .openCentre, message(2))
    #expect(story.state == .inactive)
    story.happens(.closeCentre, .home, message(3))
    #expect(received(story) == [1, 2])
    #expect(story.effects == [.disconnectFromMessages(bundleID: Story.bundle)])
    #expect(story.said("message 3 waits", "D-304"))
  }

  @Test("D-304 D-184 woken in the background it does not connect")
  func wokenBehind() {
    var story = Story(.g3, app: Self.app)
    story.push(Sample.k3, .background)
    #expect(story.calls.contains("DRF(B)"))
    #expect(story.effects.isEmpty)
  }

  @Test("D-305 back in front it connects by itself and gets what was missed, in order, each once")
  func missed() {
    var story = connected()
    story.happens(message(1), message(2), .home)
    story.forget()
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.effects == [.connectForMessages(bundleID: Story.bundle, registrationID: nil, after: 2)])
    story.happens(.messagesConnected(bundleID: Story.bundle), message(2), message(3), message(4), message(3))
    #expect(received(story) == [3, 4])
    #expect(story.said("message 2 came again", "D-305"))
    #expect(story.phone.newestMessage(of: Story.bundle) == 4)
  }

  @Test("D-305 what was received is remembered beyond the process, not beyond the app")
  func remembered() {
    var story = connected()
    story.happens(message(5), .forceQuit(bundleID: Story.bundle), .launch(bundleID: Story.bundle))
    #expect(story.effects.last == .connectForMessages(bundleID: Story.bundle, registrationID: nil, after: 5))
    story.happens(
      .uninstallApp(bundleID: Story.bundle), .installApp(Self.app), .launch(bundleID: Story.bundle))
    #expect(story.effects.last == .connectForMessages(bundleID: Story.bundle, registrationID: nil, after: 0))
  }

  @Test("D-305 the network comes back in front: it connects again; the service may end the connection too")
  func reconnects() {
    var story = connected()
    story.happens(.networkChanged(online: false), message(1))
    #expect(received(story).isEmpty)
    story.forget()
    story.happens(.networkChanged(online: true), .messagesConnected(bundleID: Story.bundle))
    #expect(story.effects.contains(.connectForMessages(bundleID: Story.bundle, registrationID: nil, after: 0)))
    story.happens(message(1))
    #expect(received(story) == [1])
    story.forget()
    story.happens(.messagesDisconnected(bundleID: Story.bundle))
    #expect(story.effects == [.connectForMessages(bundleID: Story.bundle, registrationID: nil, after: 1)])
  }

  @Test("D-306 D-323 nothing shows: no banner, centre, badge or sound", arguments: [IOSVersion.g1, .g2, .g3])
  func nothingShows(version: IOSVersion) {
    var story = connected(version)
    story.happens(message(1), message(2))
    #expect(story.letters == "-")
    #expect(story.centre.isEmpty)
    #expect(story.badge == 0)
  }

  @Test("D-321 content reaches code: a message only in front, of notifications K2 and K3 also behind")
  func reachesCode() {
    var story = connected()
    story.happens(.home, .suspend(bundleID: Story.bundle))
    story.forget()
    story.happens(message(1))
    story.push(Sample.k1)
    #expect(story.calls == "-")
    story.push(Sample.k2)
    #expect(story.calls == "DRF(B)")
  }

  @Test("D-324 chat: the notification calls the user, the messages fill the app, then live chat")
  func chat() {
    var story = Story(.g3, app: Self.app)
    story.push(["aps": ["alert": "hello"], "_j_msgid": 11])
    #expect(story.centre.count == 1)
    story.happens(
      .launch(bundleID: Story.bundle), .messagesConnected(bundleID: Story.bundle), message(1, id: 11), message(2))
    #expect(received(story) == [1, 2])
    #expect(story.centre.count == 1, "opening by the icon takes nothing away")
  }

  @Test("D-325 notification received, network cut, app opened: its text is not in the app")
  func experiment() {
    var story = Story(.g3, app: Self.app)
    story.push(["aps": ["alert": "hello"], "_j_msgid": 11])
    story.forget()
    story.happens(.networkChanged(online: false), .launch(bundleID: Story.bundle))
    #expect(received(story).isEmpty)
    #expect(story.callbacks.allSatisfy { $0.arguments.userInfo == nil })
    #expect(story.said("does not take their place", "D-325"))
    #expect(story.centre.count == 1)
  }

  @Test("D-326 both for one event in front: linked by the message id, whichever comes first", arguments: [true, false])
  func pair(messageFirst: Bool) {
    var story = connected()
    if messageFirst { story.happens(message(1, id: 11)) }
    story.push(["aps": ["alert": "hello"], "_j_msgid": 11])
    if !messageFirst { story.happens(message(1, id: 11)) }
    #expect(story.calls == (messageFirst ? "message WP" : "WP message"))
    #expect(story.told.count { $0.rule == "D-326" } == 1)
    story.push(["aps": ["alert": "other"], "_j_msgid": 12])
    #expect(story.told.count { $0.rule == "D-326" } == 1)
  }

  @Test("D-308 an app without the SDK, or without a handler, is told of nothing")
  func withoutSDK() {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle), message(1))
    #expect(story.effects.isEmpty)
    #expect(received(story).isEmpty)
    var app = Self.app
    app.implements.remove(.didReceiveMessage)
    var deaf = connected(app: app)
    deaf.happens(message(1))
    #expect(deaf.said("no handler for messages", "D-002"))
  }

  @Test(
    "D-348 D-349 what APNs did with a push stands in the timeline, by the words of its metrics",
    arguments: [
      (DeliveryMetric.storedOffline, "stored, device offline"),
      (.storedForPower, "stored, power considerations"),
      (.discardedTokenInactive, "discarded, token inactive"), (.discardedExpired, "discarded, expired"),
      (.discardedReplaced, "discarded, replaced in storage"),
    ])
  func fates(fate: DeliveryMetric, words: String) {
    var story = Story(.g3)
    story.happens(.pushFate(pushID: "p", bundleID: Story.bundle, fate))
    #expect(story.said(words, "D-349"))
  }

  @Test("D-047 disabled by the user: told as APNs tells it")
  func disabled() {
    var story = Story(.g3)
    story.happens(.pushFate(pushID: "p", bundleID: Story.bundle, .discardedDisabled))
    #expect(story.said("discarded, disabled by user", "D-047"))
  }
}
