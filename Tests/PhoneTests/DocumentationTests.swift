import Foundation
import Phone
import Testing

@Suite("docs/iphone.md")
struct DocumentationTests {
  @Test("tells of every rule that the phone's code names")
  func everyRule() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let document = try String(contentsOf: root.appending(path: "docs/iphone.md"), encoding: .utf8)
    var told: Set<Int> = []
    for match in document.matches(of: /D-(\d{3})(?: … D-(\d{3}))?/) {
      guard let first = Int(match.1) else { continue }
      told.formUnion(first...(match.2.flatMap { Int($0) } ?? first))
    }
    let folder = root.appending(path: "Sources/1-rules/Phone")
    var named: Set<Int> = []
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      let text = try String(contentsOf: file, encoding: .utf8)
      named.formUnion(text.matches(of: /"D-(\d{3})"/).compactMap { Int($0.1) })
    }
    #expect(named.count > 90)
    #expect(named.subtracting(told).sorted() == [])
    // and every one says what it says, and who says so
    let worded = Set(Rule.all.compactMap { Int($0.id.dropFirst(2)) })
    #expect(named.subtracting(worded).sorted() == [])
  }
}
