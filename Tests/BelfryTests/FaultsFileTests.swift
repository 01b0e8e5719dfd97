import APNSSimulator
import Foundation
import Testing

@testable import belfry

@Suite("belfry apns --faults")
struct FaultsFileTests {
  static func read(_ text: String) throws -> [FaultRule] {
    let path = try Files.temporaryFolder("faults") + "/faults.json5"
    try Files.writePrivate(text, to: path)
    defer { Files.remove(path) }
    return try FaultsFile.read(path)
  }

  /// The blocks of docs/faults.md that are files.
  static let examples: [String] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = (try? String(contentsOf: root.appending(path: "docs/faults.md"), encoding: .utf8)) ?? ""
    return text.components(separatedBy: "```json5\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }()

  @Test("every example of docs/faults.md is a file that is taken", arguments: examples)
  func documented(text: String) throws {
    #expect(try !Self.read(text).isEmpty)
  }

  @Test("there are examples") func some() { #expect(Self.examples.count >= 4) }

  @Test(
    "a mistake is told with file, place, finding and remedy",
    arguments: [
      (
        "{ faults: [ { action: { delay: '1s' } }, { action: { delay: 2 } } ] }",
        "faults[1].action.delay: found 2. Write a number with its unit (ms, s, m, h, d) as text, such as \"250ms\" or \"2s\"."
      ),
      (
        "[ { action: { goAwy: true } } ]",
        "[0].action.goAwy: there is no such field. Did you mean 'goAway'? Known are refuse, answer"
      ),
      ("{}", "there is no list of rules. Write { faults: [ … ] }."), ("{ faults: [ }", "not JSON5"),
      ("{ faults: [ { limit: NaN, action: { delay: '1s' } } ] }", "a number is infinite, too large, or NaN"),
      ("[ { when: { rate: -Infinity }, action: { delay: '1s' } } ]", "a number is infinite, too large, or NaN"),
      ("[" + String(repeating: " ", count: 1 << 20) + "]", "larger than 1 MiB"),
    ])
  func mistakes(text: String, told: String) throws {
    do {
      _ = try Self.read(text)
      Issue.record("it was taken")
    } catch let fault as CommandFault {
      #expect(fault.words.contains("faults.json5: \(told)"), "\(fault.words)")
    }
  }
}
