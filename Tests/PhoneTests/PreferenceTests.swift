import Phone
import Testing

/// The preference "only the scheduled push" on the phone's side (spec section L).
@Suite("The user's own switch: only the scheduled push")
struct PreferenceTests {
  private static let bundle = Story.bundle

  private func open() -> Story {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Self.bundle))
    story.forget()
    return story
  }

  private func flip(_ value: Bool) -> Phone.Event { .app(bundleID: Self.bundle, .setPreference(onlyScheduled: value)) }

  private func answers(_ story: Story) -> [Callback.Arguments] {
    story.callbacks.filter { $0.method == .preferenceAnswer }.map(\.arguments)
  }

  @Test("D-330 D-331 the app offers it, off by default; it is the service's value, and notifications stay allowed")
  func offered() {
    var story = open()
    #expect(!story.phone.onlyScheduled(of: Self.bundle))
    story.happens(flip(true))
    #expect(story.phone.onlyScheduled(of: Self.bundle), "the switch moves with the finger")
    #expect(
      story.effects == [.changePreference(bundleID: Self.bundle, registrationID: nil, onlyScheduled: true)])
    story.happens(.preferenceAnswered(bundleID: Self.bundle, onlyScheduled: true, accepted: true))
    #expect(answers(story) == [.preference(onlyScheduled: true, failure: nil)])
    #expect(story.phone.onlyScheduled(of: Self.bundle))
    story.happens(.home)
    story.push(Sample.k1)
    #expect(story.letters != "-", "the phone filters nothing")
  }

  @Test("D-332 offline the change fails, the switch returns, and nothing is sent later")
  func offline() {
    var story = open()
    story.happens(.networkChanged(online: false))
    story.forget()
    story.happens(flip(true))
    #expect(!story.phone.onlyScheduled(of: Self.bundle))
    #expect(answers(story) == [.preference(onlyScheduled: false, failure: "there is no network")])
    story.happens(.networkChanged(online: true))
    #expect(story.effects == [.connectionChanged(online: true)])
  }

  @Test("D-332 the network goes before the answer: failed, and an answer that comes late changes nothing")
  func networkGoes() {
    var story = open()
    story.happens(flip(true), .networkChanged(online: false))
    #expect(!story.phone.onlyScheduled(of: Self.bundle))
    #expect(answers(story).count == 1)
    story.happens(.preferenceAnswered(bundleID: Self.bundle, onlyScheduled: true, accepted: true))
    #expect(!story.phone.onlyScheduled(of: Self.bundle))
    #expect(story.said("nobody waits for", "D-332"))
  }

  @Test("D-332 the service refuses: the switch returns to what it was")
  func refused() {
    var story = open()
    story.happens(flip(true), .preferenceAnswered(bundleID: Self.bundle, onlyScheduled: true, accepted: true))
    story.happens(flip(false), .preferenceAnswered(bundleID: Self.bundle, onlyScheduled: false, accepted: false))
    #expect(story.phone.onlyScheduled(of: Self.bundle))
    #expect(answers(story).last == .preference(onlyScheduled: true, failure: "the push service refused"))
  }

  @Test("D-332 the process ends before the answer: the switch shows the old value again")
  func processEnds() {
    var story = open()
    story.happens(flip(true), .forceQuit(bundleID: Self.bundle))
    #expect(!story.phone.onlyScheduled(of: Self.bundle))
  }

  @Test("D-335 D-031 the settings button of iOS can lead to the app's own switch")
  func fromSettings() {
    var app = AppDescription.complete
    app.script[.openSettings] = [.setPreference(onlyScheduled: true)]
    var story = Story(.g3, app: app, allowed: false)
    story.happens(
      .launch(bundleID: Self.bundle),
      .app(bundleID: Self.bundle, .requestAuthorization([.alert, .providesAppNotificationSettings])),
      .answerPrompt(allow: true), .openNotificationSettings(bundleID: Self.bundle, id: nil))
    #expect(story.phone.onlyScheduled(of: Self.bundle))
  }
}
