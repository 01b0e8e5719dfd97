import Basics
import Transport

/// A provider over real TLS and HTTP/2 that tells all it sees, for tests of the simulator's port.
actor LiveProvider {
  enum Event: Equatable, Sendable {
    case settings(UInt32)
    case goAway(String)
    case closed
  }

  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var connection: HTTP2ClientConnection?
  private var answers: [Int32: CheckedContinuation<Answer?, Never>] = [:]
  private(set) var events: [Event] = []
  private var pongs = 0
  /// Streams in the order of their answers.
  private(set) var answered: [Int32] = []
  /// Last-stream-id and code of each GOAWAY.
  private(set) var goAways: [GoAway] = []
  /// Streams that were reset, and how.
  private(set) var resets: [Int32: HTTP2ErrorCode] = [:]

  struct GoAway: Equatable, Sendable {
    var lastStream: Int32
    var code: HTTP2ErrorCode
  }
  private var waiting: [(ready: ([Event]) -> Bool, wake: CheckedContinuation<[Event], Never>)] = []

  struct Answer: Equatable, Sendable {
    var status: Int
    var fields: [String: String]
    var body: String
  }

  init(loop: EventLoop) { self.loop = loop }

  /// Connects and waits for the first SETTINGS, or for the end.
  func connect(to endpoint: Endpoint, tls: TLSClientContext) async {
    connection = .connect(to: endpoint, tls: tls, on: loop, handler: LiveBridge(self))
    _ = await until { !$0.isEmpty }
  }

  /// nil when no answer came.
  func send(
    _ path: String, _ fields: [(String, String)], method: String = "POST", authority: String? = nil,
    body: String = #"{"aps":{"alert":"Hello"}}"#
  ) async -> Answer? {
    let common = [
      HTTP2Field(":method", method), HTTP2Field(":scheme", "https"), HTTP2Field(":authority", authority ?? "localhost"),
    ]
    return await withCheckedContinuation { done in
      guard
        let stream = try? connection?.submit(
          common: HTTP2FieldBlock(common), path: Array(path.utf8), own: fields.map { HTTP2Field($0.0, $0.1) },
          body: Array(body.utf8))
      else { return done.resume(returning: nil) }
      answers[stream] = done
    }
  }

  /// Everything seen, once it satisfies `ready`.
  func until(_ ready: @escaping ([Event]) -> Bool) async -> [Event] {
    if ready(events) { return events }
    return await withCheckedContinuation { waiting.append((ready, $0)) }
  }

  /// Whether the other end answers; false after a quarter of a second.
  func ping() async -> Bool {
    pongs = 0
    connection?.ping()
    for _ in 0..<50 where pongs == 0 { try? await Task.sleep(for: .milliseconds(5)) }
    return pongs > 0
  }

  fileprivate func pong() { pongs += 1 }

  func close() async {
    connection?.close(graceful: false)
    _ = await until { $0.contains(.closed) }
  }

  fileprivate func see(_ event: Event) {
    events.append(event)
    let due = waiting.filter { $0.ready(events) }
    waiting.removeAll { $0.ready(events) }
    for waiter in due { waiter.wake.resume(returning: events) }
    guard event == .closed else { return }
    for waiter in waiting { waiter.wake.resume(returning: events) }
    for answer in answers.values { answer.resume(returning: nil) }
    answers = [:]
    waiting = []
  }

  fileprivate func see(goAway: GoAway, _ words: String) {
    goAways.append(goAway)
    see(.goAway(words))
  }

  fileprivate func failed(_ stream: Int32, _ code: HTTP2ErrorCode) {
    resets[stream] = code
    answered(stream, nil)
  }

  fileprivate func answered(_ stream: Int32, _ answer: Answer?) {
    if answer != nil { answered.append(stream) }
    answers.removeValue(forKey: stream)?.resume(returning: answer)
  }
}

private final class LiveBridge: HTTP2ClientHandler {
  private let provider: LiveProvider

  init(_ provider: LiveProvider) { self.provider = provider }

  func connected() {}

  func settingsChanged(maxConcurrentStreams: UInt32) {
    provider.assumeIsolated { $0.see(.settings(maxConcurrentStreams)) }
  }

  func response(stream: Int32, _ response: HTTP2Response) {
    let answer = LiveProvider.Answer(
      status: response.status,
      fields: Dictionary(response.fields.pairs.map { ($0.name, $0.value) }) { first, _ in first },
      body: String(decoding: response.body, as: UTF8.self))
    provider.assumeIsolated { $0.answered(stream, answer) }
  }

  func streamFailed(stream: Int32, code: HTTP2ErrorCode) { provider.assumeIsolated { $0.failed(stream, code) } }

  func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {
    provider.assumeIsolated {
      $0.see(goAway: .init(lastStream: lastStream, code: code), String(decoding: debugData, as: UTF8.self))
    }
  }

  func pong() { provider.assumeIsolated { $0.pong() } }

  func closed(_ fault: TransportFault) { provider.assumeIsolated { $0.see(.closed) } }
}
