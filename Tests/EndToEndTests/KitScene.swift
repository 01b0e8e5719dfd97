import Basics
import BelfryKit
import BelfryKitTransport
import Foundation
import HTTPClient
import Testing
import Transport

/// `belfry serve --gateway` as a process, and apps that link BelfryKit.
final class KitScene: @unchecked Sendable {  // one test, one task
  let folder: TemporaryFolder
  let loops = LoopGroup(count: 1)
  let key: String
  let secret: String
  private(set) var process: BelfryProcess
  private(set) var api: String
  private(set) var gateway: String

  init() async throws {
    folder = try TemporaryFolder()
    let created = try await BelfryProcess.run([
      "app", "create", "--bundle", "com.example.app", "--data", folder.path + "/service", "--json",
    ])
    let app = try #require(
      try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: String], "\(created.errors)")
    key = try #require(app["appKey"])
    secret = try #require(app["masterSecret"])
    (process, api, gateway) = try await Self.serve(folder, api: "127.0.0.1:0", gateway: "127.0.0.1:0")
  }

  private static func serve(
    _ folder: TemporaryFolder, api: String, gateway: String
  ) async throws -> (BelfryProcess, String, String) {
    let process = try BelfryProcess([
      "serve", "--listen", api, "--gateway", gateway, "--data", folder.path + "/service",
    ])
    let places = try await process.event("listening")
    return (process, try #require(places["api"]), try #require(places["gateway"]))
  }

  /// Ends the service, and returns once it is gone.
  func stop(_ signal: Int32 = SIGKILL) async throws {
    process.signal(signal)
    _ = try await process.end()
  }

  /// On the ports that it had.
  func start() async throws {
    (process, api, gateway) = try await Self.serve(
      folder, api: String(api.dropFirst("http://".count)), gateway: String(try place(gateway)))
  }

  private func place(_ gateway: String) throws -> Substring {
    try #require(gateway.dropFirst("ws://".count).split(separator: "/").first)
  }

  /// - Parameter name: of its folder: a second one with the same name is the app's next process.
  /// - Parameter transport: our own sockets, where none is given.
  func app(_ name: String, transport: (any BelfryTransport)? = nil) throws -> Belfry {
    try Belfry(
      Belfry.Configuration(
        appKey: key, service: try #require(URL(string: api)),
        gateway: URL(string: "ws://" + (try place(gateway))),
        folder: folder.url.appendingPathComponent(name)),
      transport: transport ?? LoopTransport(on: loops.next()))
  }

  /// Registered, in front, connected.
  func connectedApp(_ name: String, token: UInt8) async throws -> Belfry {
    let app = try app(name)
    try await app.register(token: [UInt8](repeating: token, count: 32), environment: .sandbox)
    await app.enterForeground()
    try await connected(app)
    return app
  }

  func connected(_ app: Belfry) async throws {
    try await waitUntil("connected") { await app.status == .connected }
  }

  @discardableResult
  func call(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> [String: Any] {
    let bytes = try body.map { [UInt8](try JSONSerialization.data(withJSONObject: $0)) }
    let answer = try await HTTPClient().call(
      method, api + path, headers: ["Content-Type": "application/json"], basic: (key, secret), body: bytes)
    #expect(answer.status < 300, "\(String(decoding: answer.body, as: UTF8.self))")
    return (try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]) ?? [:]
  }

  /// Sends a message to everybody or to some. Answers its id.
  @discardableResult
  func send(
    _ content: String, to audience: [String: Any]? = nil, _ more: [String: Any] = [:]
  ) async throws -> String {
    let answer = try await call(
      "POST", "/v3/push",
      ["platform": "all", "audience": audience ?? "all", "message": ["msg_content": content].merging(more) { $1 }])
    return try #require(answer["msg_id"] as? String)
  }

  /// A notification and a message in one push, to sandbox devices. Answers its id.
  func pair(_ alert: String, _ content: String) async throws -> String {
    let answer = try await call(
      "POST", "/v3/push",
      [
        "platform": "all", "audience": "all", "notification": ["ios": ["alert": alert]],
        "message": ["msg_content": content], "options": ["apns_production": false],
      ])
    return try #require(answer["msg_id"] as? String)
  }

  /// - Parameter what: `delivered` or `read`.
  func messageCount(_ what: String, of id: String) async throws -> Int? {
    (try await call("GET", "/v1/pushes/\(id)")["message"] as? [String: Any])?[what] as? Int
  }

  func waitUntil(_ what: String, within seconds: Double = 30, _ holds: () async throws -> Bool) async throws {
    let deadline = Date().addingTimeInterval(seconds)
    while try await !holds() {
      guard Date() < deadline else { throw ProcessFault(words: "not in \(seconds) s: \(what)") }
      try await Task.sleep(nanoseconds: 10_000_000)
    }
  }
}

/// The code of an app: what it made of its messages.
final class AppCode: Sendable {
  private let handled = Locked<[String]>([])
  private let loop: Task<Void, Never>

  init(_ belfry: Belfry) {
    loop = Task { [handled] in
      for await event in belfry.messages {
        switch event {
        case .message(let message): handled.withLock { $0.append(message.content) }
        case .withdrawn(let id): handled.withLock { $0.append("withdrawn \(id)") }
        }
      }
    }
  }

  var log: [String] { handled.withLock { $0 } }

  func stop() async {
    loop.cancel()
    await loop.value
  }
}
