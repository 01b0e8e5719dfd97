import Basics
import Phone
import PushPayload
import Testing

@Suite("The delivery grid, E2")
struct GridTests {
  static let versions: [String: IOSVersion] = ["G1": .g1, "G2": .g2, "G3": .g3, "G3s": .g3]

  @Test("D-100…D-115, every cell in every generation", arguments: GridTable.cells)
  func cell(_ cell: GridTable.Cell) throws {
    let version = try #require(Self.versions[cell.generation])
    let state = try #require(AppState(rawValue: cell.state))
    let (payload, type) = try #require(Sample.of(cell.kind))
    var app = cell.kind == "K6" ? AppDescription.calling : .complete
    app.hasSceneManifest = cell.generation == "G3s"
    var story = Story(version, app: app)
    story.bring(to: state, locked: cell.device == "locked")
    story.push(payload, type)

    #expect(story.calls == cell.calls)
    #expect(story.letters == cell.shown)
    // 100 is the row of G1 and G2, 101 that of G3
    let expected = cell.rules.filter { $0 != (cell.generation.hasPrefix("G3") ? "100" : "101") }.map { "D-\($0)" }
    #expect(story.rules.isSuperset(of: expected))
  }

  @Test("the table holds every state, kind and generation")
  func tableIsWhole() {
    #expect(GridTable.cells.count == 11 * 7 * 4)
  }
}
