import Foundation
import Testing

@testable import belfry

@Suite("The table of commands in the README")
struct CommandTableTests {
  @Test(
    "names every command, but for those of a phone and of the shell, and none that there is not",
    arguments: ["README.md", "README.zh-CN.md"])
  func table(name: String) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: name), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains("`belfry ") }
    let told = rows.flatMap { row in
      row.split(separator: "`").filter { $0.hasPrefix("belfry ") }.map { $0.dropFirst("belfry ".count) }
    }
    let known = allCommands.filter { !$0.hidden }.map(\.name)
    for command in known where command != "completion" && !command.hasPrefix("phone ") {
      #expect(told.contains { $0 == command || $0.hasPrefix("\(command) ") }, "'\(command)' is not in \(name)")
    }
    for words in told {
      #expect(known.contains { words == $0 || words.hasPrefix("\($0) ") }, "\(name) names 'belfry \(words)'")
    }
  }
}
