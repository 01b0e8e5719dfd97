import APNSClient
import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import Foundation
import HTTPAPI
import HTTPClient
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing
import Transport

/// Same calls, same assertions, with and without sockets.
enum Depth: String, CaseIterable, Sendable {
  /// `HTTPAPI.answer`, a function.
  case inProcess
  /// Through `HTTPServer` and libcurl.
  case live
}

/// A door on a service with a store of its own and an APNs that takes everything.
final class Bench: Sendable {
  let service: PushService
  let api: HTTPAPI
  let apns: RecordingPushSender
  let channels = MemoryChannels()
  let clock: VirtualClock
  let app: NewApp
  /// What webhooks were told, and what they answer.
  let posts = WebhookPosts()
  private let depth: Depth
  private let server: HTTPServer?
  private let client = HTTPClient()
  let store: StoreSQLite
  private let folder: URL

  @discardableResult
  static func with<Result>(
    _ depth: Depth, _ settings: HTTPAPI.Settings = .init(), _ body: (Bench) async throws -> Result
  ) async throws -> Result {
    let bench = try await Bench(depth, settings)
    do {
      let result = try await body(bench)
      await bench.stop()
      return result
    } catch {
      await bench.stop()
      throw error
    }
  }

  private init(_ depth: Depth, _ settings: HTTPAPI.Settings) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "belfry-api-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let clock = VirtualClock()
    let apns = RecordingPushSender()
    store = try await StoreSQLite.open(folder: folder.path)
    service = PushService(
      store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 7,
      scheduling: Scheduling(
        zone: { try? ZoneDatabase.usual.zone(named: $0).rules },
        order: { request throws(RequestFault) in try HTTPAPI.scheduledPush(request) }), senders: { _, _ in apns },
      broadcasts: { [channels] _, _ in channels },
      sealing: SealingKey.random(), credentialReader: CredentialFiles(),
      webhooking: Webhooking { [posts] _, request, _ in posts.answer(request) })
    try await service.start()
    app = try await service.createApp(bundleID: "com.example.chat", name: nil)
    api = HTTPAPI(service: service, clock: clock, settings: settings)
    server = depth == .live ? try api.serve(on: Endpoint(host: "127.0.0.1", port: 0)) : nil
    self.depth = depth
    self.clock = clock
    self.apns = apns
  }

  private func stop() async {
    await server?.stop()
    await service.stop()
    await store.close()
    try? FileManager.default.removeItem(at: folder)
  }

  var endpoint: Endpoint { server!.endpoint }

  // MARK: calls

  struct Reply: Sendable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONReader.read(body).value) ?? .null }
    var errorCode: Int? { json.object?["error"]?.object?["code"]?.number?.int64.map(Int.init) }
    var errorMessage: String { json.object?["error"]?.object?["message"]?.string ?? "" }
    var warnings: [String] {
      let header = headers["x-belfry-warnings"] ?? "[]"
      return (try? JSONReader.read(Array(header.utf8)).value.array?.compactMap(\.string)) ?? []
    }
  }

  enum Who: Sendable {
    case app
    case nobody
    case other(String, String)
  }

  @discardableResult
  func call(
    _ method: String, _ target: String, as who: Who = .app, headers: [String: String] = [:], _ body: String? = nil
  ) async throws -> Reply {
    var headers = headers
    let credentials: (user: String, password: String)? =
      switch who {
      case .app: (app.appKey, app.masterSecret)
      case .nobody: nil
      case .other(let user, let password): (user, password)
      }
    switch depth {
    case .live:
      headers["Content-Type"] = headers["Content-Type"] ?? "application/json;charset:utf-8"
      let answer = try await client.call(
        method, "http://\(endpoint)\(target)", headers: headers, basic: credentials, body: body.map { Array($0.utf8) })
      return Reply(status: answer.status, headers: answer.headers, body: answer.body)
    case .inProcess:
      let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
      var request = HTTPRequest(
        method: method, path: parts[0], query: parts.dropFirst().first, body: Array((body ?? "").utf8))
      for (name, value) in headers { request.headers.add(name, value) }
      if let credentials {
        let pair = Data("\(credentials.user):\(credentials.password)".utf8)
        request.headers.add("Authorization", "Basic \(pair.base64EncodedString())")
      }
      let answer = await api.answer(request)
      let named = answer.headers.fields.map { ($0.name.lowercased(), $0.value) }
      return Reply(
        status: answer.status, headers: Dictionary(named) { first, _ in first },
        body: method == "HEAD" ? [] : answer.body)
    }
  }

  /// A device of the app, registered over the API, with what an app server would give it.
  func device(_ number: Int, alias: String? = nil, tags: [String] = [], sandbox: Bool = false) async throws -> String {
    let reply = try await call(
      "POST", "/device/v1/registrations", as: .nobody,
      """
      {"appKey":"\(app.appKey)","token":"\(Self.token(number).hex)","environment":"\(sandbox ? "sandbox" : "production")"}
      """)
    let id = try #require(reply.json.object?["registrationId"]?.string, "\(reply.text)")
    let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
    try await call(
      "POST", "/v3/devices/\(id)", "{\"alias\":\(alias.map { "\"\($0)\"" } ?? "null"),\"tags\":{\"add\":[\(list)]}}")
    return id
  }

  static func token(_ number: Int) -> [UInt8] { Array(repeating: UInt8(truncatingIfNeeded: number), count: 32) }
}
