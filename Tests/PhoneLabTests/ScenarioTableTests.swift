import Basics
import Foundation
import PushPayload
import Testing

@testable import Phone
@testable import PhoneLab

@Suite("The tables of scenarios")
struct ScenarioTableTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The names of an enum's cases, from its source: Swift tells none of those with payloads.
  static func cases(of name: String) throws -> [String] {
    let folder = root.appending(path: "Sources/1-rules/Phone")
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      let text = try String(contentsOf: file, encoding: .utf8)
      guard let start = text.firstMatch(of: try Regex("( *)public enum \(name): [^\n]*\\{\n")) else { continue }
      let indent = String(start.output[1].substring ?? "")
      let body = text[start.range.upperBound...].components(separatedBy: "\n\(indent)}\n")[0]
      return body.split(separator: "\n").filter { $0.hasPrefix("\(indent)  case ") }.flatMap { line in
        line.dropFirst(indent.count + 7).split(separator: "(")[0].split(separator: ",").map {
          $0.trimmingCharacters(in: .whitespaces)
        }
      }
    }
    return []
  }

  @Test("every event of a phone has a verb, or is one that happens by itself")
  func events() throws {
    let cases = Set(try Self.cases(of: "Event"))
    #expect(cases.count > 20)
    let covered = Set(Verb.all.flatMap(\.covers)).union(Verb.byItself)
    #expect(cases.subtracting(covered).sorted() == [], "give each a row in Verbs.swift")
    #expect(covered.subtracting(cases).sorted() == [])
    #expect(Set(Verb.all.map(\.name)).count == Verb.all.count)
  }

  @Test("every act of an app's code has a row")
  func acts() throws {
    let cases = try Self.cases(of: "AppAct")
    #expect(cases.count > 10)
    #expect(Set(cases).subtracting(ActRow.all.map(\.name)).sorted() == [], "give each a row in ActRows.swift")
    #expect(Set(ActRow.all.map(\.name)).subtracting(cases).sorted() == [])
  }

  /// Stored properties and the rows that read them under another name.
  static func fields(of value: Any) -> Set<String> { Set(Mirror(reflecting: value).children.compactMap(\.label)) }

  @Test("every switch of a phone, of the user and of an app can be set")
  func settings() {
    let phone = Set(SettingRows.phone.map(\.name))
    #expect(Self.fields(of: PhoneSettings()).subtracting(phone) == ["iosVersion"])
    #expect(phone.subtracting(Self.fields(of: PhoneSettings())) == ["ios"])
    #expect(Self.fields(of: Phone.UserSettings()) == Set(SettingRows.user.map(\.name)))
    #expect(Self.fields(of: Focus()) == Set(SettingRows.focusRows.map(\.name)))
    #expect(Self.fields(of: NotificationCategory(id: "")) == Set(CategoryRows.category.map(\.name)))
    #expect(Self.fields(of: NotificationAction(id: "")) == Set(CategoryRows.action.map(\.name)))
    #expect(Self.fields(of: ServiceExtension()) == Set(ExtensionRows.service.map(\.name)))
    #expect(Self.fields(of: ContentExtension(categories: [])) == Set(ExtensionRows.content.map(\.name)))
    #expect(Self.fields(of: NotificationAttachment(file: "")) == Set(ExtensionRows.attachment.map(\.name)))
    #expect(Self.fields(of: SoundFile("")) == Set(ExtensionRows.sound.map(\.name)))
    #expect(Self.fields(of: LiveActivitySupport(attributesTypes: [])) == Set(ActivityRows.support.map(\.name)))
    let renamed = [
      "bundleID": "bundle", "apsEnvironment": "environment", "hasSceneManifest": "sceneManifest",
      "supportsMultipleScenes": "multipleScenes", "isAppClip": "appClip",
    ]
    let app = Set(AppRows.all.map(\.name))
    #expect(Set(Self.fields(of: AppDescription(bundleID: "a")).map { renamed[$0] ?? $0 }) == app)
  }

  /// Something of everything.
  private static var fullScreen: Screen {
    let at = Instant(seconds: 1_796_029_200)
    let note = Screen.Notification(
      bundleID: "a", appName: "A", id: "1", heading: "", subtitle: "", body: "", shownAt: at,
      actions: [NotificationAction(id: "x")], choices: ["Keep"])
    let group = Screen.Group(bundleID: "a", title: "", threadID: "t", notifications: [note], summary: "1 more")
    let icon = Screen.Icon(bundleID: "a", name: "A", badge: 1)
    let call = PhoneCall(bundleID: "a", caller: "Lin", since: at)
    var screen = Phone(PhoneSettings()).screen
    screen.front = icon
    screen.icons = [icon]
    screen.banners = [note]
    screen.alert = Screen.Alert(notification: note, buttons: ["Close"])
    screen.expanded = note
    screen.lockScreen = [group]
    screen.centre = [group]
    screen.activities = [
      ShownActivity(
        bundleID: "a", id: "1", state: .active,
        activity: LiveActivity(
          attributesType: "T", attributes: [:], contentState: [:], channel: "c", staleDate: nil, relevanceScore: 1,
          startedAt: at))
    ]
    screen.island = screen.activities
    screen.prompt = Screen.Prompt(bundleID: "a", text: "", detail: "", buttons: ["Allow"])
    screen.call = call
    screen.waitingCall = call
    screen.indicators.focus = "Sleep"
    return screen
  }

  /// Where a value is not of that shape, or lacks a member of it.
  private static func misfits(_ value: JSONValue, _ shape: Shape, at place: String) -> [String] {
    switch shape {
    case .fields(let fields, _):
      guard let object = value.object else { return [place] }
      let names = Set(object.members.map(\.key)).symmetricDifference(fields.map(\.name)).sorted()
      return names.map { "\(place).\($0)" }
        + fields.flatMap { field in
          object[field.name].map { misfits($0, field.shape, at: "\(place).\(field.name)") } ?? []
        }
    case .list(let element):
      guard let list = value.array, !list.isEmpty else { return [place] }
      return list.flatMap { misfits($0, element, at: "\(place)[]") }
    case .orNull(let shape): return misfits(value, shape, at: place)
    case .flag: return value.bool == nil ? [place] : []
    case .text: return value.string == nil ? [place] : []
    case .whole, .number: return value.number == nil ? [place] : []
    case .object: return value.object == nil ? [place] : []
    case .yes, .span, .time, .any, .word, .oneOrMore, .map, .either, .named: return ["\(place): no shape of a screen"]
    }
  }

  @Test("the screen as JSON has the members that an expectation may speak of, all the way down, and no other")
  func screen() {
    #expect(Self.misfits(.object(Self.fullScreen.json), ScreenShape.whole, at: "screen") == [])
  }

  @Test("docs/scenario.schema.json is what the tables say: belfry scenario --schema writes it")
  func schema() throws {
    let bytes = try Data(contentsOf: Self.root.appending(path: "docs/scenario.schema.json"))
    let schema = try JSONReader.read([UInt8](bytes)).value
    #expect(JSONDifference.between(ScenarioSchema.value, schema, match: .exact, root: "schema").prefix(5) == [])
  }

  @Test("docs/scenarios.md tells of every verb, act, field and expectation")
  func documentation() throws {
    let text = try String(contentsOf: Self.root.appending(path: "docs/scenarios.md"), encoding: .utf8)
    let names =
      Verb.all.map(\.name) + Verb.all.flatMap(\.more).map(\.name) + Verb.common.map(\.name) + ActRow.all.map(\.name)
      + ScenarioApp.rows.map(\.name) + Scenario.fields.map(\.name)
      + (ScenarioExpectation.lists + ScenarioExpectation.facts + ScenarioExpectation.others).map(\.name)
    #expect(Set(names.filter { !text.contains("`\($0)`") }).sorted() == [])
  }
}
