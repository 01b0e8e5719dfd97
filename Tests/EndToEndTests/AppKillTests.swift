import Foundation
import Testing

/// An app that links BelfryKit as a process of its own (Examples/chat), and what a kill does to it.
@Suite("An app that is killed", .timeLimit(.minutes(3)))
struct AppKillTests {
  @Test("kill -9 again and again while messages come: each is handled, in order; at most the last before a kill twice")
  func killed() async throws {
    let scene = try await KitScene()
    let count = 2000
    func start() throws -> BelfryProcess {
      let words = [scene.api, scene.gateway.replacing("/gateway/v1", with: ""), scene.key, scene.folder.path + "/chat"]
      return try BelfryProcess(words + [String(repeating: "ab", count: 32)], program: "belfry-chat")
    }
    var lives = [try start()]
    // registered, so that everything is for it
    try await scene.waitUntil("registered") {
      try await !(scene.call("GET", "/v1/devices")["devices"] as? [Any] ?? []).isEmpty
    }
    let sender = Task { for number in 1...count { try await scene.send("\(number)") } }
    var handled: [String] { Self.handled(lives.map(\.output)) }
    while handled.last != "\(count)" {
      try await Task.sleep(nanoseconds: UInt64.random(in: 20_000_000...300_000_000))
      guard handled.last != "\(count)" else { break }
      lives[lives.count - 1].signal(SIGKILL)
      _ = try await lives[lives.count - 1].end()
      lives.append(try start())
      #expect(lives.count < 200)
      // now and then long enough to get on
      if lives.count.isMultiple(of: 3) { try await Task.sleep(nanoseconds: 500_000_000) }
    }
    try await sender.value
    #expect(handled == (1...count).map { "\($0)" })
    #expect(lives.count > 3)
    lives[lives.count - 1].signal(SIGTERM)
  }

  /// What the lives of a process handled one after the other. What a life had handled last, the next may have handled again.
  private static func handled(_ outputs: [String]) -> [String] {
    var all: [String] = []
    for output in outputs {
      // a line that the kill cut off was not handled
      let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      let contents = lines.compactMap { $0.split(separator: " ").last.map(String.init) }
      all += contents.first == all.last && all.last != nil ? Array(contents.dropFirst()) : contents
    }
    return all
  }
}
