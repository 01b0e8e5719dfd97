import Foundation
import Phone
import PushPayload
import Testing

/// One cell of the matrix, played.
struct MatrixCell {
  static let versions: [String: IOSVersion] = [
    "G1": IOSVersion(6, 1), "G2": IOSVersion(9, 3), "G3": IOSVersion(17), "G3s": IOSVersion(17),
  ]

  var calls: String
  /// What is shown at arrival, or whether the entry is still there after the act.
  var after: String
  var rules: Set<String>

  var text: String { "\(calls) \(after)" }

  /// nil: there is no such cell, as an action before iOS 8.
  init?(_ row: MatrixFile.Row, _ generation: String) {
    guard let version = Self.versions[generation], let state = AppState(rawValue: row.state),
      let (payload, type) = Sample.of(row.kind)
    else { return nil }
    if generation == "G1", ["action", "foreground", "text"].contains(row.act) { return nil }
    var story = Story(version, app: Self.app(hasScenes: generation == "G3s"))
    // The app has run once: what it registered outlives the run.
    story.happens(.launch(bundleID: Story.bundle), .endBySystem(bundleID: Story.bundle))
    story.bring(to: state, locked: row.device == "locked")
    let id = story.push(Self.withCategory(row.act == "text" ? "chat" : "letter", payload), type)
    let shown = story.letters
    guard row.act != "none" else {
      (calls, after, rules) = (story.calls, shown, story.rules)
      return
    }
    let wasListed = Self.isListed(id, in: story)
    story.forget()
    for event in Self.events(of: row.act, id: id, isLocked: row.device == "locked") { story.happens(event) }
    calls = story.calls
    rules = story.rules
    after = wasListed ? Self.isListed(id, in: story) ? "stays" : "gone" : "none"
  }

  private static func isListed(_ id: String, in story: Story) -> Bool {
    story.centre.contains(id) || story.lockScreen.contains(id)
  }

  /// Implements every call, has its delegate in time, a background mode, a category with every sort of button, shows all
  /// in front, takes VoIP pushes and reports their calls.
  private static func app(hasScenes: Bool) -> AppDescription {
    .complete { app in
      app.hasSceneManifest = hasScenes
      app.backgroundModes = [.remoteNotification, .voip]
      // two buttons each, which is all that a banner of iOS 8 and 9 has room for
      let letter = NotificationCategory(
        id: "letter",
        actions: [NotificationAction(id: "later"), NotificationAction(id: "open", options: [.foreground])],
        options: [.customDismissAction])
      let chat = NotificationCategory(
        id: "chat", actions: [NotificationAction(id: "reply", textInput: NotificationAction.TextInput())])
      app.script = [
        .didFinishLaunching: [.setCategories([letter, chat]), .setPushTypes([.voip])],
        .pushRegistryDidReceive: [.reportIncomingCall(from: "Ann")],
      ]
    }
  }

  private static func withCategory(_ category: String, _ payload: JSONValue) -> JSONValue {
    guard var object = payload.object, var aps = object["aps"]?.object, aps["alert"] != nil else { return payload }
    aps["category"] = .string(category)
    object["aps"] = .object(aps)
    return .object(object)
  }

  private static func events(of act: String, id: String, isLocked: Bool) -> [Phone.Event] {
    let bundle = Story.bundle
    let unlock: [Phone.Event] = isLocked ? [.unlock] : []
    return switch act {
    case "tap": [.tap(bundleID: bundle, id: id)] + unlock
    case "icon": unlock + [.launch(bundleID: bundle)]
    case "action": [.action(bundleID: bundle, id: id, action: "later", text: nil)]
    case "foreground": [.action(bundleID: bundle, id: id, action: "open", text: nil)] + unlock
    case "text": [.action(bundleID: bundle, id: id, action: "reply", text: "Hi")]
    case "dismiss": [.dismiss(bundleID: bundle, id: id)]
    case "flick": [.flickAway(bundleID: bundle)]
    default: []
    }
  }
}

@Suite("The delivery matrix, docs/matrix.txt")
struct MatrixTests {
  static let file = (try? String(contentsOf: MatrixFile.url, encoding: .utf8)).map(MatrixFile.init)
  private static var updates: Bool { ProcessInfo.processInfo.environment["BELFRY_UPDATE"] == "matrix" }

  @Test(
    "D-100…D-151, every state, kind, act and generation: what is called, shown and left", arguments: file?.rows ?? [])
  func row(_ row: MatrixFile.Row) throws {
    var told: Set<String> = []
    for (generation, expected) in zip(MatrixFile.generations, row.cells) {
      let cell = MatrixCell(row, generation)
      #expect(cell?.text ?? "–" == expected, "\(row.place): \(row.kind) \(row.act), \(generation)")
      if let cell {
        told.formUnion(cell.rules)
        #expect(!cell.rules.isDisjoint(with: row.rules), "\(generation): \(cell.rules.sorted()) decided")
      }
    }
    #expect(told.isSuperset(of: row.rules), "\(row.rules) decide, told were \(told.sorted())")
  }

  @Test("the file has every row there is, and more than 600 cells")
  func isWhole() throws {
    let rows = try #require(Self.file).rows
    let places = rows.map { "\($0.place) \($0.kind) \($0.act)" }
    let all = MatrixFile.devices.flatMap { device in
      MatrixFile.states.filter { device == "unlocked" || $0 != "inactive" }.flatMap { state in
        MatrixFile.kinds.flatMap { kind in
          MatrixFile.acts(with: kind).map { act in "\(device), \(state) \(kind) \(act)" }
        }
      }
    }
    #expect(places == all)
    #expect(rows.count * MatrixFile.generations.count > 600)
  }

  @Test("docs/matrix.md is rendered from it: script/matrix")
  func rendered() throws {
    var file = try #require(Self.file)
    let page = MatrixFile.url.deletingLastPathComponent().appending(path: "matrix.md")
    if Self.updates {
      file.rows = Self.played(like: file.rows)
      try file.text.write(to: MatrixFile.url, atomically: true, encoding: .utf8)
      try file.markdown.write(to: page, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: page, encoding: .utf8) == file.markdown)
  }

  /// What the phone does now, in every cell; rules stay, and new rows get those that were told in all generations.
  private static func played(like rows: [MatrixFile.Row]) -> [MatrixFile.Row] {
    let known = Dictionary(rows.map { ("\($0.place) \($0.kind) \($0.act)", $0.rules) }) { first, _ in first }
    return MatrixFile.devices.flatMap { device in
      MatrixFile.states.filter { device == "unlocked" || $0 != "inactive" }.flatMap { state in
        MatrixFile.kinds.flatMap { kind in
          MatrixFile.acts(with: kind).map { act in
            var row = MatrixFile.Row(device: device, state: state, kind: kind, act: act, rules: [], cells: [])
            let cells = MatrixFile.generations.map { MatrixCell(row, $0) }
            row.cells = cells.map { $0?.text ?? "–" }
            row.rules = known["\(row.place) \(kind) \(act)"] ?? []
            if row.rules.isEmpty {
              let sets = cells.compactMap { $0?.rules.filter { (100...151).contains(Int($0.dropFirst(2)) ?? 0) } }
              row.rules = sets.reduce(Set()) { $0.union($1) }.sorted()
            }
            return row
          }
        }
      }
    }
  }
}
