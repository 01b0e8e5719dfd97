import APNSClient
import Basics
import Delivery
import PushPayload
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Pushes as a campaign makes them: each with its own device token, badge, message id and `apns-id`, the body rendered
/// from a template.
struct PushSource: Sendable {
  static let topic = "com.example.shop"
  /// Tomorrow: lint has nothing to say of it.
  static let expiration = (SystemClock().now + .days(1)).seconds
  static let sample = Array(
    #"{"aps":{"alert":{"title":"Order shipped","body":"Your parcel 4711 is on its way and comes tomorrow."},"badge":42,"sound":"default","thread-id":"orders"},"_j_msgid":200000000000000001}"#
      .utf8)

  private let tokens: [[UInt8]]
  private let renderer: PayloadRenderer
  private let topic: String
  private var dice = Dice(seed: 7)
  private var made = 0

  init(tokens: [[UInt8]], topic: String) throws {
    guard let template = try JSONReader.read(Self.sample).value.object, !tokens.isEmpty else {
      throw BenchFault("no template or no tokens")
    }
    self.tokens = tokens
    self.topic = topic
    renderer = PayloadRenderer(template)
  }

  mutating func next(_ count: Int) -> PushBatch {
    let size = renderer.maximumSize
    var batch = PushBatch()
    batch.reserve(count, bodySize: size)
    let shared = batch.share(
      PushBatch.Shared(topic: topic, pushType: .alert, priority: .immediate, expiration: Self.expiration))
    for number in made..<made + count {
      batch.append(
        id: UUIDBits(version4: dice.next(), dice.next()), token: tokens[number % tokens.count], shared: shared,
        bodySize: size
      ) { body in
        renderer.write(
          badge: Int64(10 + number % 90), messageID: 200_000_000_000_000_000 + Int64(number), into: body) ?? 0
      }
    }
    made += count
    return batch
  }
}

/// Batches until all are made.
struct Batches: AsyncSequence, Sendable {
  var source: PushSource
  var count: Int
  var size = 2000

  struct AsyncIterator: AsyncIteratorProtocol {
    var source: PushSource
    var left: Int
    let size: Int

    mutating func next() async -> PushBatch? {
      guard left > 0 else { return nil }
      let count = Swift.min(size, left)
      left -= count
      return source.next(count)
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source, left: count, size: size) }
}

/// The measured process of our side: sends all and says what became of them.
func sendProcess(_ words: Words) async throws {
  let folder = try words.text("folder")
  let count = try words.number("pushes")
  let connections = try words.number("connections")
  let tokens = try lines(of: "\(folder)/tokens").compactMap { bytes(fromHex: $0.utf8) }
  let settings = try JSONReader.read(contents(of: "\(folder)/credential.json")).value.object
  let key = try ProviderKey(
    p8: contents(of: "\(folder)/key.p8"), keyID: settings?["keyId"]?.string ?? "",
    teamID: settings?["teamId"]?.string ?? "", name: "key.p8")
  var configuration = APNSClient.Configuration(
    server: APNSServer(Endpoint(host: "127.0.0.1", port: UInt16(try words.number("port")))), credential: .token(key))
  configuration.trust = .pem(try contents(of: "\(folder)/ca.pem"))
  configuration.pool.streamsEach = try words.number("streams")
  configuration.pool.size.limit = connections
  configuration.pool.size.growAfter = .milliseconds(0)
  let loop = EventLoop(name: "sender")
  let client = try APNSClient(configuration, clock: SystemClock(), loop: loop)
  let source = try PushSource(tokens: tokens, topic: settings?["bundle"]?.string ?? "")
  let ahead = max(2, 2 * connections)

  var accepted = 0
  var done = 0
  var others: [String: Int] = [:]
  var warm = 0.0
  // The steady part begins once all connections are up, of which the pool opens four a second.
  var isUp = false
  var (upDone, upAt) = (0, 0.0)
  var most = 0.0
  let start = monotonicSeconds()
  for try await sent in client.outcomes(of: Batches(source: source, count: count), ahead: ahead) {
    for outcome in sent.outcomes {
      if case .accepted = outcome { accepted += 1 } else { others["\(outcome)", default: 0] += 1 }
    }
    done += sent.outcomes.count
    if done * 10 >= count {
      let now = residentMiB()
      if warm == 0 { warm = now }
      most = max(most, now)
      if !isUp, await client.health.connections >= connections {
        isUp = true
        (upDone, upAt) = (done, monotonicSeconds() - start)
      }
    }
  }
  let seconds = monotonicSeconds() - start
  await client.close()
  await loop.stop()
  let steady = Double(done - upDone) / (seconds - upAt)
  let report: JSONObject = [
    "seconds": number(seconds), "accepted": .number(JSONNumber(Int64(accepted))), "growth": number(most - warm),
    "steady": number(steady),
    "others": .string(others.map { "\($0.value) × \($0.key)" }.prefix(5).joined(separator: "; ")),
  ]
  print(JSONValue.object(report).text)
}

private func number(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? .null }

/// What the process holds in memory now (Linux; 0 elsewhere).
func residentMiB() -> Double {
  guard let text = try? contents(of: "/proc/self/statm") else { return 0 }
  let words = text.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
  return (words.dropFirst().first.flatMap { Double($0) } ?? 0) * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
}
