import Basics
import Phone
import PushPayload
import Testing

@Suite("Sounds")
struct SoundTests {
  private func heard(
    _ sound: JSONValue?, _ files: [SoundFile] = [], version: IOSVersion = .g3,
    app: (inout AppDescription) -> Void = { _ in }, options: NotificationOptions? = nil,
    user: Phone.UserSettings = Phone.UserSettings(), mute: Bool = false
  ) -> (sound: TimelineEntry.Shown.Sound?, volume: Double?, rules: Set<String>) {
    var description = AppDescription.complete
    description.sounds = files
    app(&description)
    var story = Story(version, app: description, allowed: options == nil) { $0.mute = mute }
    if let options {
      story.happens(
        .launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .requestAuthorization(options)),
        .answerPrompt(allow: true), .home)
    }
    story.happens(.changePermission(bundleID: Story.bundle, user))
    story.forget()
    var aps: JSONObject = ["alert": "a"]
    aps["sound"] = sound
    story.push(["aps": .object(aps)])
    return (story.shown.first?.sound, story.shown.first?.volume, story.rules)
  }

  @Test(
    "D-220 default is the system's, a name a file, absent and empty are silent", arguments: [IOSVersion.g1, .g2, .g3])
  func names(version: IOSVersion) {
    #expect(heard("default", version: version).sound == .system)
    #expect(heard("bell.caf", ["bell.caf"], version: version).sound == .file("bell.caf"))
    #expect(heard(nil, version: version).sound == nil)
    #expect(heard("", version: version).sound == nil)
  }

  @Test("D-221 container before group before bundle; the first file of the name counts, even a bad one")
  func searchOrder() {
    let good = SoundFile("bell.caf", in: .bundle)
    #expect(heard("bell.caf", [good, SoundFile("bell.caf", in: .container, seconds: 31)]).sound == .system)
    #expect(heard("bell.caf", [good, SoundFile("bell.caf", in: .group, encoding: .other)]).sound == .system)
    #expect(
      heard("bell.caf", [SoundFile("bell.caf", in: .group, seconds: 31), SoundFile("bell.caf", in: .container)]).sound
        == .file("bell.caf"))
    #expect(
      heard("bell.caf", [SoundFile("bell.caf", seconds: 31), SoundFile("bell.caf", in: .group)]).sound
        == .file("bell.caf"))
  }

  static let formats: [(SoundFile, Bool)] = [
    (SoundFile("a.aiff"), true), (SoundFile("a.aif"), true), (SoundFile("a.wav", encoding: .muLaw), true),
    (SoundFile("a.CAF", encoding: .ima4), true), (SoundFile("a.caf", encoding: .aLaw), true),
    (SoundFile("a.mp3"), false), (SoundFile("a"), false), (SoundFile("a.caf", encoding: .other), false),
    (SoundFile("a.caf", seconds: 30), true), (SoundFile("a.caf", seconds: 30.1), false),
  ]

  @Test("D-222 formats, and 30 s at most; else the system's sound", arguments: formats.indices)
  func format(index: Int) {
    let (file, plays) = Self.formats[index]
    for version in [IOSVersion.g1, .g2, .g3] {
      let heard = heard(.string(file.name), [file], version: version)
      #expect(heard.sound == (plays ? .file(file.name) : .system))
      #expect(heard.rules.contains("D-222") != plays)
    }
  }

  @Test("D-223 a file that is missing: the system's sound, and it is told")
  func missing() {
    let heard = heard("gone.caf", ["bell.caf"])
    #expect(heard.sound == .system)
    #expect(heard.rules.contains("D-223"))
  }

  private static func critical(_ name: String?, volume: Double? = nil) -> JSONValue {
    var sound: JSONObject = ["critical": 1]
    sound["name"] = name.map(JSONValue.string)
    sound["volume"] = volume.flatMap { JSONNumber($0) }.map(JSONValue.number)
    return .object(sound)
  }

  struct Critical: CustomTestStringConvertible, Sendable {
    var name: String
    var version = IOSVersion.g3
    var isEntitled = true
    var options: NotificationOptions = [.alert, .sound, .badge, .criticalAlert]
    var isSwitchedOn = true
    var plays: Bool
    var testDescription: String { "D-224 \(name): \(plays ? "through mute" : "an ordinary one")" }
  }

  static let criticals = [
    Critical(name: "entitled and allowed", plays: true),
    Critical(name: "iOS 12.0", version: IOSVersion(12), plays: true),
    Critical(name: "iOS 11.4 knows none", version: IOSVersion(11, 4), plays: false),
    Critical(name: "not entitled", isEntitled: false, plays: false),
    Critical(name: "not asked for", options: .usual, plays: false),
    Critical(name: "switched off by the user", isSwitchedOn: false, plays: false),
  ]

  @Test("D-224 a critical sound", arguments: criticals)
  func critical(_ row: Critical) {
    var user = Phone.UserSettings()
    user.critical = row.isSwitchedOn
    for mute in [false, true] {
      let heard = heard(
        Self.critical("siren.caf", volume: 0.5), ["siren.caf"], version: row.version,
        app: { if row.isEntitled { $0.entitlements = [.criticalAlerts] } }, options: row.options, user: user, mute: mute
      )
      #expect(heard.sound == (mute && !row.plays ? .vibration : .file("siren.caf")))
      #expect(heard.volume == (row.plays ? 0.5 : nil))
    }
  }

  @Test("D-224 its forms: default file, no volume, critical 0, a name that is missing")
  func criticalForms() {
    for (sound, expected, volume) in [
      (Self.critical(nil), .system, 1), (Self.critical("default", volume: 0.25), .system, 0.25),
      (Self.critical("gone.caf"), .system, 1), (Self.critical("siren.caf", volume: 2), .file("siren.caf"), 1),
      (["critical": 0, "name": "siren.caf"], .file("siren.caf"), nil), (["name": "siren.caf"], .file("siren.caf"), nil),
    ] as [(JSONValue, TimelineEntry.Shown.Sound, Double?)] {
      let heard = heard(
        sound, ["siren.caf"], app: { $0.entitlements = [.criticalAlerts] }, options: [.alert, .sound, .criticalAlert])
      #expect(heard.sound == expected, "\(sound)")
      #expect(heard.volume == volume, "\(sound)")
    }
  }

  @Test("D-225 mute: a vibration, for the system's sound and for a file", arguments: [IOSVersion.g1, .g2, .g3])
  func mute(version: IOSVersion) {
    for sound in ["default", "bell.caf"] as [JSONValue] {
      #expect(heard(sound, ["bell.caf"], version: version, mute: true).sound == .vibration)
    }
  }
}
