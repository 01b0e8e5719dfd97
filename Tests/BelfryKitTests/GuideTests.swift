import Foundation
import Testing

@Suite("docs/ios-integration.md")
struct GuideTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("every piece of Swift in it stands so in Examples/ios, which is compiled")
  func pieces() throws {
    let guide = try String(contentsOf: Self.root.appendingPathComponent("docs/ios-integration.md"), encoding: .utf8)
    let folder = Self.root.appendingPathComponent("Examples/ios")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    let sources = try files.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
    let pieces = guide.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(pieces.count >= 8)
    for piece in pieces { #expect(sources.contains { $0.contains(piece) }, "\(piece)") }
  }

  @Test("the library names nothing of the server, and its own package needs only what it says")
  func walls() throws {
    let folder = Self.root.appendingPathComponent("Sources/3-services/BelfryKit")
    let allowed: Set = [
      "Foundation", "FoundationNetworking", "Dispatch", "SQLite3", "CSQLite", "UIKit", "Network", "UserNotifications",
      "PackageDescription",
    ]
    let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
    for file in files where file.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), place <= 1, place + 1 < words.count else { continue }
        #expect(allowed.contains(String(words[place + 1])), "\(file): \(line)")
      }
    }
  }
}
