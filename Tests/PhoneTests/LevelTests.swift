import Basics
import Phone
import PushPayload
import Testing

/// A push of a level, with badge 3 and the default sound.
func levelled(_ level: String?, _ extra: JSONObject = [:], alert: String = "Hello") -> JSONValue {
  var aps: JSONObject = ["alert": .string(alert), "badge": 3, "sound": "default"]
  if let level { aps["interruption-level"] = .string(level) }
  for member in extra.members { aps[member.key] = member.value }
  return ["aps": .object(aps)]
}

extension AppDescription {
  /// May send time-sensitive and critical ones.
  static var urgent: AppDescription { .complete { $0.entitlements = [.timeSensitive, .criticalAlerts] } }
}

extension Story {
  /// The user has allowed everything that the app asked for, critical alerts too; the app is suspended.
  static func urgent(
    _ version: IOSVersion, locked: Bool = false, app: AppDescription = .urgent,
    _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) -> Story {
    var story = Story(version, app: app, allowed: false, adjust)
    story.happens(
      .launch(bundleID: Story.bundle),
      .app(bundleID: Story.bundle, .requestAuthorization([.alert, .sound, .badge, .criticalAlert])),
      .answerPrompt(allow: true), .answerPrompt(allow: true), .home, .suspend(bundleID: Story.bundle))
    if locked { story.happens(.lock) }
    story.forget()
    return story
  }

  mutating func user(_ adjust: (inout Phone.UserSettings) -> Void) {
    var user = Phone.UserSettings()
    adjust(&user)
    happens(.changePermission(bundleID: Self.bundle, user))
    forget()
  }
}

@Suite("Interruption levels")
struct LevelTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    var level: String?
    var open: String
    var locked: String
    var rule: Rule?
    var testDescription: String { name }
  }

  static let rows = [
    Row(
      name: "D-260 passive: listed, no banner, no light, no sound", level: "passive", open: "CN", locked: "LCN",
      rule: "D-260"),
    Row(name: "D-261 active", level: "active", open: "BCSN", locked: "LWCSN"),
    Row(name: "D-261 no level is active", level: nil, open: "BCSN", locked: "LWCSN"),
    Row(name: "D-262 time-sensitive", level: "time-sensitive", open: "BCSN", locked: "LWCSN", rule: "D-266"),
    Row(name: "D-263 critical", level: "critical", open: "BCSN", locked: "LWCSN"),
  ]

  @Test("what is shown of each level from iOS 15 on", arguments: rows)
  func shownByLevel(row: Row) {
    for (locked, letters) in [(false, row.open), (true, row.locked)] {
      var story = Story.urgent(.g3, locked: locked)
      story.push(levelled(row.level))
      #expect(story.letters == letters)
      #expect(story.shown.first?.level.rawValue == row.level ?? "active")
      if let rule = row.rule { #expect(story.rules.contains(rule.id)) }
      #expect(!story.told.contains { $0.what.name == "notModelled" })
    }
  }

  @Test(
    "D-268 before iOS 15 the levels in the payload are ignored", arguments: [IOSVersion.g1, .g2, IOSVersion(14, 8)])
  func ignoredBefore15(version: IOSVersion) {
    for level in ["passive", "time-sensitive", "critical"] {
      var story = Story(version) { $0.mute = true }
      story.push(levelled(level))
      #expect(story.letters == "BCSN")
      #expect(story.shown.first?.sound == .vibration)
      #expect(story.said("ignores the level \(level)", "D-268"))
    }
    var modern = Story(IOSVersion(15))
    modern.push(levelled("passive"))
    #expect(modern.letters == "CN")
  }

  @Test("D-262 without the entitlement, or turned off by the user, time-sensitive counts as active")
  func timeSensitiveNeeds() {
    var none = Story(.g3) { $0.focus = Focus("Work") }
    none.push(levelled("time-sensitive"))
    #expect(none.letters == "CN")
    #expect(none.said("not entitled", "D-262"))
    var off = Story(.g3, app: .urgent) { $0.focus = Focus("Work") }
    off.user { $0.timeSensitive = false }
    off.push(levelled("time-sensitive"))
    #expect(off.letters == "CN")
    #expect(off.said("turned it off", "D-262"))
  }

  @Test("D-263 critical needs the approved entitlement and the permission; without them it is active")
  func criticalNeeds() {
    var unentitled = Story(.g3) { $0.mute = true }
    unentitled.push(levelled("critical"))
    #expect(unentitled.shown.map(\.sound) == [.vibration])
    #expect(unentitled.said("not entitled", "D-263"))
    var unasked = Story(.g3, app: .urgent) { $0.mute = true }
    unasked.push(levelled("critical"))
    #expect(unasked.shown.map(\.sound) == [.vibration])
    #expect(unasked.said("not allowed", "D-263"))
    var turnedOff = Story.urgent(.g3) { $0.mute = true }
    turnedOff.user { $0.critical = false }
    turnedOff.push(levelled("critical"))
    #expect(turnedOff.shown.map(\.sound) == [.vibration])
  }

  @Test("D-263 D-225 critical sounds always: muted, with sounds off, without a sound; passive never, the others obey")
  func mute() {
    for (level, sound) in [
      ("passive", nil), ("active", .vibration), ("time-sensitive", .vibration), ("critical", .system),
    ] as [(String, TimelineEntry.Shown.Sound?)] {
      var story = Story.urgent(.g3) { $0.mute = true }
      story.push(levelled(level))
      #expect(story.shown.map(\.sound) == [sound], "\(level)")
    }
    var quiet = Story.urgent(.g3)
    quiet.user { $0.sound = false }
    quiet.push(["aps": ["alert": "Fire", "interruption-level": "critical"]])
    #expect(quiet.letters == "BCS")
    #expect(quiet.shown.map(\.sound) == [.system])
    #expect(quiet.shown.map(\.volume) == [1])
  }

  @Test("D-224 a critical sound makes it critical from iOS 12 on, as loud as it says; before an ordinary one")
  func criticalSound() {
    let payload: JSONValue = [
      "aps": [
        "alert": "Fire",
        "sound": ["critical": 1, "name": "default", "volume": JSONNumber(0.5).map(JSONValue.number) ?? 0],
      ]
    ]
    for version in [IOSVersion(12), IOSVersion(14), .g3] {
      var story = Story.urgent(version) {
        $0.mute = true
        $0.focus = Focus("Sleep")
      }
      story.push(payload)
      #expect(story.letters == "BCS")
      #expect(story.shown.map(\.sound) == [.system])
      #expect(story.shown.map(\.volume) == [0.5])
    }
    var old = Story(IOSVersion(11), app: .urgent) { $0.mute = true }
    old.push(payload)
    #expect(old.shown.map(\.sound) == [.vibration])
    var unentitled = Story(.g3) { $0.mute = true }
    unentitled.push(payload)
    #expect(unentitled.shown.map(\.sound) == [.vibration])
    #expect(unentitled.said("not entitled", "D-224"))
  }

  @Test("D-101 in front willPresent decides, also about a passive one")
  func front() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.push(levelled("passive"))
    #expect(story.letters == "BCSN")
    #expect(story.shown.first?.level == .passive)
  }

  @Test("D-266 the first time-sensitive one asks whether to leave them on, once; turning off makes the next one active")
  func question() throws {
    for keep in [true, false] {
      var story = Story.urgent(.g3) { $0.focus = Focus("Work") }
      story.push(levelled("time-sensitive"))
      story.push(levelled("time-sensitive"))
      let centre = story.phone.screen.centre.flatMap(\.notifications)
      #expect(centre.map(\.choices) == [[], ["Leave On", "Turn Off"]])
      story.happens(.answerTimeSensitive(bundleID: Story.bundle, keep: keep))
      #expect(story.phone.screen.centre.flatMap(\.notifications).allSatisfy { $0.choices.isEmpty })
      story.forget()
      story.push(levelled("time-sensitive"))
      #expect(story.letters == (keep ? "BCSN" : "CN"))
      story.happens(.answerTimeSensitive(bundleID: Story.bundle, keep: false))
      #expect(story.said("finds no question", "D-266"))
    }
  }

  @Test("D-027 VoiceOver's announcements are off; on, what comes up is spoken, unless the user spares this app")
  func spoken() {
    for (speaks, announcement, expected) in [(false, true, false), (true, true, true), (true, false, false)] {
      var story = Story(.g3) { $0.voiceOverAnnouncements = speaks }
      story.user { $0.announcement = announcement }
      story.push(Sample.k1)
      #expect(story.shown.map { $0.parts.contains(.spoken) } == [expected])
      #expect(story.letters == "BCSN")
    }
    var passive = Story(.g3) { $0.voiceOverAnnouncements = true }
    passive.push(levelled("passive"))
    #expect(passive.shown.map { $0.parts.contains(.spoken) } == [false])
  }
}
