import Foundation

@testable import BelfryKit

/// A service within the test: answers what it was told to, and notes what it was asked.
final class FakeService: BelfryTransport, @unchecked Sendable {  // guarded by `lock`
  private let lock = NSLock()
  private var isThere = true
  private var refusal: ServiceAnswer?
  private var asked: [String] = []
  private var sockets: [FakeSocket] = []

  struct Unreachable: Error {}

  /// false: there is no network.
  func set(isThere: Bool) { lock.withLock { self.isThere = isThere } }

  /// What calls are answered with from now on; nil: that all is well.
  func set(refusal: ServiceAnswer?) { lock.withLock { self.refusal = refusal } }

  /// Each call's path behind `/device/v1/registrations`, and its body.
  var calls: [String] { lock.withLock { asked } }

  /// The connections that were made, the newest last.
  var lines: [FakeSocket] { lock.withLock { sockets } }

  func call(_ request: ServiceRequest) async throws -> ServiceAnswer {
    try lock.withLock {
      guard isThere else { throw Unreachable() }
      let path = request.url.path.replacingOccurrences(of: "/device/v1/registrations", with: "")
      asked.append("\(request.method) \(path) \(request.body.map { String(decoding: $0, as: UTF8.self) } ?? "")")
      if let refusal { return refusal }
      let isRegistering = path.isEmpty
      let body = isRegistering ? #"{"registrationId":"id1","deviceSecret":"s\#(asked.count)"}"# : "{}"
      return ServiceAnswer(status: 200, body: Data(body.utf8))
    }
  }

  func open(_ url: URL) async throws -> any MessageSocket {
    try lock.withLock {
      guard isThere else { throw Unreachable() }
      sockets.append(FakeSocket())
      return sockets[sockets.count - 1]
    }
  }

  func download(_ url: URL, to destination: URL, limit: Int) async throws {
    guard url.lastPathComponent != "missing.png" else { throw Unreachable() }
    try Data(url.lastPathComponent.utf8).write(to: destination)
  }
}

/// One connection, whose other end the test holds.
final class FakeSocket: MessageSocket, @unchecked Sendable {  // guarded by `lock`; the stream has one reader
  private let lock = NSLock()
  private var said: [String] = []
  private let news: AsyncStream<SocketNews>.Continuation
  private var iterator: AsyncStream<SocketNews>.Iterator

  init() {
    let (stream, news) = AsyncStream<SocketNews>.makeStream()
    self.news = news
    iterator = stream.makeAsyncIterator()
  }

  /// What the app said.
  var frames: [String] { lock.withLock { said } }

  func tell(_ text: String) { news.yield(.text(text)) }

  func end(_ code: UInt16?) { news.yield(.closed(code: code)) }

  func welcome() { tell(#"{"type":"welcome","version":1,"cursor":"none","complete":true,"heartbeat":60}"#) }

  func message(_ seq: Int, _ content: String) {
    tell(#"{"type":"message","seq":\#(seq),"id":"\#(seq)00","at":0,"content":"\#(content)"}"#)
  }

  func send(_ text: String) async throws { lock.withLock { said.append(text) } }
  func receive() async -> SocketNews { await iterator.next() ?? .closed(code: nil) }
  func close() async { news.yield(.closed(code: 1000)) }
  func abandon() { news.yield(.closed(code: nil)) }
}

/// A clock on which nobody waits: whoever sleeps goes on at once, and it is later then.
final class HastyClock: KitClock, @unchecked Sendable {  // guarded by `lock`
  private let lock = NSLock()
  private var time: Int64 = 1_000_000

  var now: Int64 { lock.withLock { time } }

  func sleep(milliseconds: Int64) async throws {
    try await Task.sleep(nanoseconds: 1_000_000)  // lets others run, and cancellation come
    lock.withLock { time += max(0, milliseconds) }
  }
}

/// An app with its folder.
final class AppScene {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-kit-\(UUID().uuidString)")
  let service = FakeService()

  deinit { try? FileManager.default.removeItem(at: folder) }

  var configuration: Belfry.Configuration {
    var configuration = Belfry.Configuration(
      appKey: "key", service: URL(string: "https://push.example.com")!,
      gateway: URL(string: "wss://push.example.com")!, folder: folder)
    configuration.facts = DeviceFacts(appVersion: "1")
    return configuration
  }

  func app(_ clock: any KitClock = SystemKitClock()) throws -> Belfry {
    try Belfry(configuration, transport: service, clock: clock, times: MessageConnection.Times())
  }

  /// Registered, in front, welcomed.
  func connectedApp() async throws -> (Belfry, FakeSocket) {
    let app = try app()
    try await app.register(token: [1], environment: .sandbox)
    await app.enterForeground()
    let line = try await self.line(1)
    line.welcome()
    try await until { await app.status == .connected }
    return (app, line)
  }

  /// The connection of that number, once it has said hello.
  func line(_ number: Int) async throws -> FakeSocket {
    try await until { self.service.lines.count >= number && !self.service.lines[number - 1].frames.isEmpty }
    return service.lines[number - 1]
  }

  func until(_ holds: () async throws -> Bool) async throws {
    for _ in 0..<2000 {
      if try await holds() { return }
      try await Task.sleep(nanoseconds: 5_000_000)
    }
    throw Late()
  }

  struct Late: Error {}
}
