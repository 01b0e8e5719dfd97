import Basics
import Phone
import PushPayload
import Testing

@Suite("Arrival, row by row")
struct ArrivalTests {
  @Test("D-100 in front, iOS 9 app with DRN only: DRN")
  func onlyDRN() {
    var story = Story(.g2, app: .complete { $0.implements.remove(.didReceiveRemoteNotificationFetch) })
    story.bring(to: .active)
    story.push(Sample.k1)
    #expect(story.calls == "DRN(A)")
  }

  @Test("D-101 in front exactly what willPresent answers is shown")
  func presentation() {
    for (options, letters) in [
      (PresentationOptions.banner, "B"), (.list, "C"), (.sound, "S"), (.badge, "N"), (.alert, "BC"), ([], "-"),
      ([.banner, .badge], "BN"), ([.banner, .list, .sound, .badge], "BCSN"),
    ] {
      var story = Story(.g3, app: .complete { $0.presentation = options })
      story.bring(to: .active)
      story.push(Sample.k1)
      #expect(story.calls == "WP")
      #expect(story.letters == letters)
      #expect(story.badge == (options.contains(.badge) ? 3 : 0))
      #expect(story.centre.count == (letters.contains("C") ? 1 : 0))
    }
  }

  @Test("D-102 C-25 both calls for K2 in front; the order is a switch, tests of apps must accept either")
  func pairOrder() {
    for (order, calls) in [(PhoneSettings.PairOrder.fetchFirst, "DRF(A) WP"), (.presentFirst, "WP DRF(A)")] {
      var story = Story(.g3) { $0.foregroundPairOrder = order }
      story.bring(to: .active)
      story.push(Sample.k2)
      #expect(story.calls == calls)
    }
  }

  @Test("D-102 without the background mode only willPresent")
  func noMode() {
    var story = Story(.g3, app: .complete { $0.backgroundModes = [] })
    story.bring(to: .active)
    story.push(Sample.k2)
    #expect(story.calls == "WP")
  }

  @Test(
    "D-103 a silent push in front: no willPresent, nothing shown", arguments: [Sample.k3, Sample.k7, Sample.s0Silent])
  func silentInFront(payload: JSONValue) {
    var story = Story(.g3)
    story.bring(to: .active)
    story.push(payload, .background)
    #expect(story.calls == "DRF(A)")
    #expect(story.letters == "-")
  }

  @Test("D-105 D-127 how an alert looks: banner, modal, none; before iOS 5 always modal and nowhere listed")
  func styles() {
    for (style, letters) in [(PhoneSettings.AlertStyle.banner, "BCSN"), (.modal, "BCSN"), (.none, "CSN")] {
      var story = Story(.g3) { $0.appearanceOfAlert = style }
      story.push(Sample.k1)
      #expect(story.letters == letters)
    }
    var old = Story(IOSVersion(4))
    old.push(["aps": ["alert": "hi"]])
    #expect(old.shown.map(\.parts) == [.modal])
    #expect(old.centre.isEmpty)
    old.happens(.closeAlert(bundleID: Story.bundle), .tap(bundleID: Story.bundle, id: nil))
    #expect(old.calls == "-")
  }

  @Test("D-106 the newsstand note: before iOS 7 nothing wakes")
  func oldSystem() {
    var story = Story(.g1)
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    #expect(story.said("wakes no app", "D-106"))
  }

  @Test("D-107 woken from nothing, the app is suspended afterwards and shows no screen")
  func wokenFromNothing() {
    var story = Story(.g3, app: .complete { $0.fetchAnswer = .after(.seconds(10)) })
    story.push(Sample.k3, .background)
    #expect(story.state == .background)
    story.pass(.seconds(10))
    #expect(story.state == .suspended)
    #expect(story.calls == "LO(p) DEB DRF(B)")
  }

  @Test("D-109 D-110 after a force-quit nothing runs until the user opens the app or restarts the phone")
  func forceQuit() {
    for way in [Phone.Event.launch(bundleID: Story.bundle), .restart] {
      var story = Story(.g3)
      story.bring(to: .forceQuit)
      story.push(Sample.k2)
      story.push(Sample.k3, .background)
      #expect(story.calls == "-")
      #expect(story.letters == "BCSN")
      #expect(story.rules.isSuperset(of: ["D-109", "D-110"]))
      story.happens(way, .home)
      if story.phone.isLocked { story.happens(.unlock) }
      story.forget()
      story.push(Sample.k3, .background)
      #expect(story.calls.hasSuffix("DRF(B)"))
    }
  }

  @Test("D-111 badge only: the number, no entry, no light; 0 takes number and entries away")
  func badgeOnly() {
    var story = Story(.g3)
    story.push(Sample.k1)
    story.happens(.lock)
    story.forget()
    story.push(["aps": ["badge": 9]])
    #expect(story.letters == "N")
    #expect(story.centre.count == 1)
    story.push(["aps": ["badge": 0]])
    #expect(story.badge == 0)
    #expect(story.centre.isEmpty)
  }

  @Test("D-112 sound only: heard, listed nowhere; with mute a vibration")
  func soundOnly() {
    for mute in [false, true] {
      var story = Story(.g3) { $0.mute = mute }
      story.push(Sample.k5)
      #expect(story.letters == "S")
      #expect(story.shown.first?.sound == (mute ? .vibration : .system))
      #expect(story.centre.isEmpty)
    }
  }

  @Test("D-116 offline: the phone gets nothing; APNs brings the newest on reconnect, never an expired one")
  func offline() {
    var story = Story(.g3)
    var stored: [DeliveredPayload] = []  // APNs: one per app, the newest
    story.happens(.networkChanged(online: false))
    for (id, seconds) in [("a", 60), ("b", 5)] as [(String, Int64)] {
      let push = DeliveredPayload(
        id: id, bundleID: Story.bundle, expiration: story.now + .seconds(seconds), bytes: Sample.k1.encoded())
      story.forget()
      story.happens(.push(push))
      #expect(story.effects == [.notReached(pushID: id)])
      stored = [push]
    }
    story.happens(.networkChanged(online: true))
    #expect(story.effects.contains(.connectionChanged(online: true)))
    story.forget()
    for push in stored { story.happens(.push(push)) }
    #expect(story.letters == "BCSN")
    story.pass(.seconds(30))
    story.forget()
    for push in stored { story.happens(.push(push)) }
    #expect(story.letters == "-")
    #expect(story.said("it expired", "D-116"))
  }

  @Test("D-116 C21 shown in the second before, never from the second on")
  func expiryEdge() {
    var story = Story(.g3)
    story.push(Sample.k1, expires: story.now + .seconds(2))
    #expect(story.letters == "BCSN")
    story.forget()
    story.push(Sample.k1, expires: story.now + .seconds(1))
    #expect(story.letters == "-")
  }

  @Test("D-116 expiration 0, or past when APNs took the push: the one attempt is shown")
  func oneAttempt() {
    for expiration in [Instant(seconds: 0), Instant(seconds: 120)] {
      var story = Story(.g3)
      story.happens(
        .push(
          DeliveredPayload(
            id: "p", bundleID: Story.bundle, expiration: expiration, acceptedAt: story.now, bytes: Sample.k1.encoded()
          )))
      #expect(story.letters == "BCSN")
    }
  }

  @Test("D-117 nothing to show, nothing to wake: in front DRN or DRF before iOS 10, else only a line in the log")
  func nothing() {
    let payload: JSONValue = ["aps": ["category": "x"], "key": "v"]
    for (version, state, calls) in [
      (IOSVersion.g1, AppState.active, "DRN(A)"), (.g2, .active, "DRF(A)"), (.g3, .active, "-"),
      (.g1, .suspended, "-"), (.g2, .suspended, "-"), (.g3, .suspended, "-"), (.g2, .notRunning, "-"),
    ] {
      var story = Story(version)
      story.bring(to: state)
      story.push(payload)
      #expect(story.calls == calls)
      #expect(story.letters == "-")
      #expect(story.said("payload shows nothing", "D-117"))
    }
  }

  @Test("D-118 push type background with an alert: not shown, wakes, told as misconfigured")
  func typeDisagrees() {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(Sample.k2, .background)
    #expect(story.letters == "-")
    #expect(story.badge == 0)
    #expect(story.calls == "DRF(B)")
    #expect(story.said("misconfigured", "D-118"))
    var other = Story(.g3)
    other.push(Sample.k3, .alert)
    #expect(other.said("misconfigured", "D-118"))
  }

  @Test("D-120 C-20 iOS 10 and later without a delegate: DRF, nothing shown; the switch shows what was sent")
  func noDelegate() {
    for (shows, letters) in [(false, "-"), (true, "BCSN")] {
      var story = Story(.g3, app: .complete { $0.delegate = .never }) { $0.noDelegateShows = shows }
      story.bring(to: .active)
      story.push(Sample.k1)
      #expect(story.calls == "DRF(A)")
      #expect(story.letters == letters)
      #expect(story.rules.contains("D-120"))
    }
    var story = Story(.g3, app: .complete { $0.delegate = .never })
    story.bring(to: .suspended)
    story.push(Sample.k1)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "WEF DRF(I) DBA")
  }

  @Test("D-121 a delegate without willPresent: nothing shown, DRF instead")
  func noWillPresent() {
    var story = Story(.g3, app: .complete { $0.implements.remove(.willPresent) })
    story.bring(to: .active)
    story.push(Sample.k1)
    #expect(story.calls == "DRF(A)")
    #expect(story.letters == "-")
    #expect(story.rules.contains("D-121"))
    story.forget()
    story.push(Sample.k2)
    #expect(story.calls == "DRF(A)", "once, not twice")
  }

  @Test("D-122 willPresent not answered in time: not presented")
  func presentTimeOut() {
    for answer in [AppDescription.Answer.never, .after(.seconds(31))] {
      var story = Story(.g3, app: .complete { $0.presentationAnswer = answer })
      story.bring(to: .active)
      story.push(Sample.k1)
      story.pass(.minutes(1))
      #expect(story.letters == "-")
      #expect(story.rules.contains("D-122"))
    }
    var late = Story(.g3, app: .complete { $0.presentationAnswer = .after(.seconds(10)) })
    late.bring(to: .active)
    late.push(Sample.k1)
    #expect(late.letters == "-")
    late.pass(.seconds(10))
    #expect(late.letters == "BCSN")
  }

  @Test(
    "D-123 of several queued pushes each is shown, only the one used reaches the app",
    arguments: [IOSVersion.g1, .g2, .g3])
  func severalQueued(version: IOSVersion) {
    var story = Story(version)
    let ids = (0..<3).map { number in story.push(["aps": ["alert": "hi"], "n": .number(JSONNumber(number))]) }
    #expect(story.centre == ids.reversed())
    story.happens(.tap(bundleID: Story.bundle, id: ids[1]))
    let seen = Set(story.callbacks.compactMap { $0.arguments.userInfo?["n"] })
    #expect(seen == [1])
    #expect(story.centre == [ids[2], ids[0]])
    story.happens(.home, .launch(bundleID: Story.bundle))
    #expect(Set(story.callbacks.compactMap { $0.arguments.userInfo?["n"] }) == [1])
  }

  @Test("D-124 D-125 under the open centre the app is in front, state I", arguments: [IOSVersion.g1, .g2])
  func underTheCentre(version: IOSVersion) {
    var story = Story(version)
    story.bring(to: .inactive)
    story.push(Sample.k1)
    #expect(story.calls == (version == .g1 ? "DRN(I)" : "DRF(I)"))
    #expect(story.letters == "-")
  }

  @Test("D-189 what is not modelled says so and does nothing")
  func notModelled() {
    for type in PushType.allCases where ![.alert, .background, .voip, .liveactivity].contains(type) {
      var story = Story(.g3)
      story.bring(to: .suspended)
      story.push(Sample.k2, type)
      #expect(story.calls == "-")
      #expect(story.letters == "-")
      #expect(story.said("not modelled", "D-189"))
    }
  }
}
