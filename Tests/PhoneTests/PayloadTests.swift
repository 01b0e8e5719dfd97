import Basics
import Phone
import PushPayload
import Testing

@Suite("What a payload means on the phone")
struct PayloadTests {
  @Test(
    "D-200 bytes that are no JSON object are dropped, with the reason", arguments: ["", "{", "[1]", "7", "{\"aps\":"])
  func notJSON(text: String) {
    var story = Story(.g3)
    story.bring(to: .active)
    story.happens(.push(DeliveredPayload(id: "p", bundleID: Story.bundle, bytes: Array(text.utf8))))
    #expect(story.calls == "-")
    #expect(story.letters == "-")
    #expect(story.said("APNs would have refused it", "D-200"))
  }

  @Test("D-200 D-202 alert as string or object, badge a number, sound a string, flags 1")
  func keys() throws {
    var story = Story(.g3)
    story.push(["aps": ["alert": "text", "badge": 2, "sound": "default", "content-available": 1, "mutable-content": 1]])
    let shown = try #require(story.shown.first)
    #expect(shown.heading == "News")
    #expect(shown.body == "text")
    #expect(shown.parts.letters == "BCSN")
  }

  @Test("D-201 custom keys stand beside aps; inside it the system ignores them, yet the app sees all")
  func customInside() {
    var story = Story(.g2)
    story.bring(to: .suspended)
    story.push(["aps": ["content-available": 1, "task": "sync"]], .background)
    #expect(story.callbacks.first?.arguments.userInfo?["aps"]?.object?["task"] == "sync")
    #expect(story.told.contains { if case .arrived(_, .silent, _) = $0.what { true } else { false } }, "K3, not K7")
  }

  @Test("D-202 D-203 title and subtitle from iOS 10; before, the app's name heads the entry")
  func titles() throws {
    let payload: JSONValue = ["aps": ["alert": ["title": "T", "subtitle": "S", "body": "B"]]]
    for (version, heading, subtitle) in [(IOSVersion.g1, "News", ""), (.g2, "News", ""), (.g3, "T", "S")] {
      var story = Story(version)
      story.push(payload)
      let shown = try #require(story.shown.first)
      #expect(shown.heading == heading)
      #expect(shown.subtitle == subtitle)
      #expect(shown.body == "B")
    }
  }

  @Test("D-205 localised texts are not modelled: plain text or key, and it says so")
  func localised() {
    var story = Story(.g3)
    story.push(["aps": ["alert": ["loc-key": "GAME_PLAY", "loc-args": ["Jenna"]]]])
    #expect(story.shown.first?.body == "GAME_PLAY")
    #expect(story.said("not modelled", "D-205"))
  }

  @Test(
    "D-210 D-211 C22 badge 5, then each form",
    arguments: [
      (#""#, 5, 2), (#", "badge": 0"#, 0, 1), (#", "badge": "1""#, 5, 2), (#", "badge": -1"#, 5, 2),
      (#", "badge": 1.0"#, 5, 2), (#", "badge": true"#, 5, 2), (#", "badge": null"#, 5, 2),
    ])
  func badgeForms(member: String, badge: Int, entries: Int) {
    var story = Story(.g3)
    story.push(["aps": ["alert": "a", "badge": 5]])
    let bytes = Array("{\"aps\": {\"alert\": \"b\"\(member)}}".utf8)
    story.happens(.push(DeliveredPayload(id: "second", bundleID: Story.bundle, bytes: bytes)))
    #expect(story.badge == badge)
    #expect(story.centre.count == entries)
    #expect(story.centre.first == "second")
  }

  @Test("D-214 the number is shown as it came, up to what the system can count")
  func largeNumbers() {
    var story = Story(.g3)
    story.push(["aps": ["badge": 123_456_789]])
    #expect(story.badge == 123_456_789)
  }

  @Test("D-220 absent and empty are silent, an unknown file is the system's sound")
  func sounds() {
    for (sound, letters) in [(nil, "BC"), ("", "BC"), ("gone.caf", "BCS")] as [(JSONValue?, String)] {
      var aps: JSONObject = ["alert": "a"]
      aps["sound"] = sound
      var story = Story(.g3)
      story.push(["aps": .object(aps)])
      #expect(story.letters == letters)
      #expect(story.shown.first?.sound == (letters == "BCS" ? .system : nil))
    }
  }

  @Test("C23 a badge beside content-available is something to show; a category alone is not")
  func silentThatIsNone() {
    var badge = Story(.g3)
    badge.push(Sample.k1)
    badge.happens(.launch(bundleID: Story.bundle), .home, .suspend(bundleID: Story.bundle))
    badge.forget()
    badge.push(["aps": ["content-available": 1, "badge": 0]])
    #expect(badge.letters == "N")
    #expect(badge.calls == "DRF(B)")
    #expect(badge.centre.isEmpty)
    var category = Story(.g3)
    category.bring(to: .suspended)
    category.push(["aps": ["content-available": 1, "category": "x"]], .background)
    #expect(category.letters == "-")
    #expect(category.calls == "DRF(B)")
    var alert = Story(.g3)
    alert.push(["aps": ["category": "x"]])
    #expect(alert.letters == "-")
  }

  static let nothings: [(JSONValue, heading: String?, body: String, letters: String)] = [
    (["aps": ["alert": [:]]], nil, "", "-"),
    (["aps": ["alert": ""]], nil, "", "-"),
    (["aps": ["alert": ["title": "A"]]], "A", "", "BC"),
    (["aps": ["alert": ["title": "A", "body": ""]]], "A", "", "BC"),
    (["aps": ["alert": ["body": "B"]]], "News", "B", "BC"),
    (["aps": ["sound": "default"]], nil, "", "S"),
    (["aps": ["badge": 1]], nil, "", "N"),
    (["key": "value"], nil, "", "-"),
    (["aps": [:]], nil, "", "-"),
  ]

  @Test("C24 nothing to show: what the phone shows of each is what the shared table says", arguments: nothings.indices)
  func nothingToShow(index: Int) throws {
    let row = Self.nothings[index]
    var story = Story(.g3)
    story.push(row.0)
    #expect(story.letters == row.letters)
    let appearance = Payload(row.0).appearance
    #expect(appearance.isNothing == (row.letters == "-"))
    #expect(appearance.showsText == row.letters.contains("C"))
    if let heading = row.heading {
      #expect(story.shown.first?.heading == heading)
      #expect(story.shown.first?.body == row.body)
    }
  }
}
