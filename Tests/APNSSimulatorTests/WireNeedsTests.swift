import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

/// What each provider library sends and needs on the wire, row by row of the table in the specification (apns.md §15,
/// measured or read in the library's source). The libraries that CI runs themselves are in ExampleTests.
@Suite("§15 what libraries need on the wire", .timeLimit(.minutes(1)))
struct WireNeedsTests {
  /// How one library talks.
  struct Library: Sendable, CustomTestStringConvertible {
    var name: String
    /// Offers `h2` by ALPN; else it begins with the preface all the same.
    var offersH2 = true
    /// The host, as `:authority` or as a `host` field.
    var host: (name: String, value: String)
    var iat: IssuedAt = .integer
    var signature: TestProvider.SignatureForm = .raw
    /// `kid` among the claims, too.
    var repeatsKeyID = false
    var others: [(String, String)] = []
    /// What it sends behind the preface.
    var settings: [(UInt8, UInt32)] = []
    /// Streams that it opens before it has read anything.
    var eagerStreams = 1
    var pings = 0
    /// One message, one token a connection.
    var isOneShot = false

    var testDescription: String { name }
  }

  enum IssuedAt: Sendable { case integer, fraction, text }

  static let sandbox = "api.sandbox.push.apple.com"
  static let libraries: [Library] = [
    Library(
      name: "aioapns 4.0", offersH2: false, host: ("host", "api.development.push.apple.com"),
      settings: [(1, 4096), (2, 1), (4, 65535), (5, 16384), (6, 65536)]),
    Library(
      name: "django-push-notifications (aioapns 3.3)", offersH2: false,
      host: ("host", "api.development.push.apple.com")),
    Library(
      name: "apns2 0.7.2 (Python)", host: (":authority", "\(sandbox):443"), iat: .fraction, settings: [(2, 0)],
      eagerStreams: 8),
    Library(name: "apns2 0.7.2 (Python), without ALPN", offersH2: false, host: (":authority", sandbox), iat: .fraction),
    Library(
      name: "kalyke 1.5.0", host: (":authority", sandbox), iat: .text,
      others: [
        ("accept", "*/*"), ("accept-encoding", "gzip, deflate"), ("user-agent", "python-httpx"),
        ("content-type", "application/json"), ("content-length", "25"),
      ], settings: [(2, 0), (3, 100), (4, 65535)], isOneShot: true),
    Library(name: "gobiko.apns 0.1.6", host: (":authority", sandbox), iat: .fraction, isOneShot: true),
    Library(name: "Pushy 0.15", offersH2: false, host: (":authority", "localhost"), signature: .der),
    Library(
      name: "APNSwift", host: (":authority", "localhost:2197"), iat: .text, repeatsKeyID: true,
      others: [("content-type", "application/json"), ("user-agent", "APNS/swift-nio")]),
    Library(
      name: "apns2 (Go)", host: (":authority", "localhost:2197"),
      others: [("content-type", "application/json; charset=utf-8"), ("user-agent", "Go-http-client/2.0")], pings: 3),
    Library(
      name: "node-apn 7.1.0", host: (":authority", "localhost"), others: [("content-type", "application/json")],
      pings: 5),
    Library(name: "Node http2 without ALPN", offersH2: false, host: (":authority", "localhost:2197")),
    Library(
      name: "curl, Apple's recipe", host: (":authority", "localhost:2197"), signature: .der,
      others: [("user-agent", "curl/8"), ("accept", "*/*"), ("content-type", "application/x-www-form-urlencoded")]),
  ]

  /// A provider of that library's manners and what it needs for its requests.
  struct Talk {
    var library: Library
    let provider: RawProvider
    let authorization: (String, String)
    private let scene: LiveScene

    init(_ library: Library, _ scene: LiveScene, key: TestProvider) async throws {
      self.library = library
      self.scene = scene
      let now = SystemClock().now.seconds
      let iat =
        switch library.iat {
        case .integer: "\(now)"
        case .fraction: "\(now).25"
        case .text: "\"\(now)\""
        }
      let kid = key.key.keyID
      let token = key.token(
        header: #"{"alg":"ES256","typ":"JWT","kid":"\#(kid)"}"#,
        claims: #"{"iss":"\#(key.key.teamID)","iat":\#(iat)\#(library.repeatsKeyID ? #","kid":"\#(kid)""# : "")}"#,
        form: library.signature)
      authorization = ("authorization", "bearer \(token)")
      provider = RawProvider(loop: scene.loops.next())
      let tls = try TLSClientContext(
        trust: .pem(scene.simulator.credentials.authority.pem), identity: nil, offersH2: library.offersH2)
      await provider.connect(to: scene.simulator.endpoint, tls: tls, settings: library.settings)
    }

    func request(_ stream: Int32, to token: String, more: [(String, String)] = [], body: String?) -> [RawFrame] {
      let common = [(":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)")]
      let own = [authorization, ("apns-topic", "com.example.app"), ("apns-push-type", "alert")]
      // Pseudo-header fields come first (RFC 9113 §8.3).
      let fields = common + [library.host] + own + library.others + more
      return [RawFrame.headers(stream, fields, endsStream: body == nil)]
        + (body.map { [.data(stream, $0, endsStream: true)] } ?? [])
    }

    func send(_ frames: [RawFrame]) async { for frame in frames { await provider.send(frame) } }

    /// The frames of one stream up to its end; others are kept out. Anything that would upset a client is an issue.
    func answer(_ stream: Int32) async -> [RawFrame] {
      let frames = await provider.until { $0.stream == stream && ($0.endsStream || $0.kind == .resetStream) }
      #expect(!frames.contains { $0.kind == .goAway || $0.kind == .resetStream }, "\(library.name)")
      return frames.filter { $0.stream == stream && $0.kind != .windowUpdate }
    }
  }

  private static let hello = #"{"aps":{"alert":"Hello"}}"#

  private static func scene(_ body: (LiveScene, TestProvider, String) async throws -> Void) async throws {
    let key = try TestProvider()
    let setUp: (inout APNSSimulator.Configuration) -> Void = { $0.keys = [key.key] }
    try await LiveScene.run(setUp) { scene in
      try await body(scene, key, scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex)
    }
  }

  @Test(
    "SETTINGS come first and at once; a push is taken as the library sends it: 200 in one HEADERS frame",
    arguments: libraries)
  func taken(library: Library) async throws {
    try await Self.scene { scene, key, token in
      let talk = try await Talk(library, scene, key: key)
      let first = await talk.provider.next()
      #expect(first?.kind == .settings && first?.flags == 0 && first?.setting(3) == 1)
      await talk.send(talk.request(1, to: token, body: Self.hello))
      let answer = await talk.answer(1)
      #expect(answer.map(\.kind) == [.headers] && answer.first?.endsStream == true)
      #expect(answer.first?.status == 200)
      #expect(scene.simulator.notifications.map(\.push.payload) == [Array(Self.hello.utf8)])
      await talk.provider.close()
    }
  }

  @Test("streams opened before the first SETTINGS was read are all answered, none is reset", arguments: libraries)
  func eager(library: Library) async throws {
    try await Self.scene { scene, key, token in
      let talk = try await Talk(library, scene, key: key)
      let streams = (0..<max(3, Int32(library.eagerStreams))).map { 1 + 2 * $0 }
      for stream in streams { await talk.send(talk.request(stream, to: token, body: Self.hello)) }
      var ended: Set<Int32> = []
      while ended.count < streams.count, let frame = await talk.provider.next() {
        #expect(frame.kind != .resetStream && frame.kind != .goAway, "\(frame)")
        if frame.kind == .headers, frame.endsStream, frame.status == 200 { ended.insert(frame.stream) }
      }
      #expect(ended == Set(streams))
      await talk.provider.close()
    }
  }

  @Test(
    "a refusal is HEADERS and one DATA frame with END_STREAM, under 1,024 bytes of JSON; 410 has a whole number of ms",
    arguments: libraries)
  func refused(library: Library) async throws {
    try await Self.scene { scene, key, token in
      let talk = try await Talk(library, scene, key: key)
      let gone = scene.simulator.issueToken(device: "old", bundle: "com.example.app")
      scene.simulator.end(
        token: gone, reason: .expiredToken, since: Instant(milliseconds: 1_234_567_890_123), isToldAtOnce: true)
      let rows: [(token: String, more: [(String, String)], body: String?, status: Int, json: String)] = [
        (String(repeating: "ab", count: 32), [], Self.hello, 400, #"{"reason":"BadDeviceToken"}"#),
        (gone.hex, [], Self.hello, 410, #"{"reason":"ExpiredToken","timestamp":1234567890123}"#),
        (token, [], nil, 400, #"{"reason":"PayloadEmpty"}"#),
        (token, [], #"{"x":"\#(String(repeating: "x", count: 4096))"}"#, 413, #"{"reason":"PayloadTooLarge"}"#),
        (token, [("apns-priority", "7")], Self.hello, 400, #"{"reason":"BadPriority"}"#),
        (token, [("apns-id", "x")], Self.hello, 400, #"{"reason":"BadMessageId"}"#),
      ]
      for (index, row) in rows.enumerated() {
        let stream = Int32(1 + 2 * index)
        var talk = talk
        if row.body?.count != Self.hello.count { talk = talk.withoutLength }
        await talk.send(talk.request(stream, to: row.token, more: row.more, body: row.body))
        let answer = await talk.answer(stream)
        #expect(answer.map(\.kind) == [.headers, .data], "\(row.json)")
        #expect(answer.map(\.endsStream) == [false, true])
        #expect(answer.first?.status == row.status)
        let body = answer.last?.payload ?? []
        #expect(String(decoding: body, as: UTF8.self) == row.json && body.count < 1024)
      }
      await talk.provider.close()
    }
  }

  @Test(
    "each PING is acknowledged with its own eight bytes, also while nothing else happens",
    arguments: libraries.filter { $0.pings > 0 })
  func pings(library: Library) async throws {
    try await Self.scene { scene, key, token in
      let talk = try await Talk(library, scene, key: key)
      await talk.send(talk.request(1, to: token, body: Self.hello))
      _ = await talk.answer(1)
      for number in 1...library.pings {
        let payload = Array("ping000\(number)".utf8)
        await talk.provider.send(RawFrame(kind: .ping, payload: payload))
        let acknowledged = await talk.provider.until { $0.kind == .ping }.last
        #expect(acknowledged?.flags == RawFrame.acknowledge && acknowledged?.payload == payload)
      }
      await talk.provider.close()
    }
  }

  @Test(
    "a connection and a token for each message, twenty times in a row: no token comes too soon",
    arguments: libraries.filter(\.isOneShot))
  func oneShot(library: Library) async throws {
    try await Self.scene { scene, key, token in
      for _ in 1...20 {
        let talk = try await Talk(library, scene, key: key)
        await talk.send(talk.request(1, to: token, body: Self.hello))
        #expect(await talk.answer(1).first?.status == 200)
        await talk.provider.close()
      }
      #expect(scene.simulator.notifications.count == 20 && scene.simulator.refusals.isEmpty)
    }
  }

  @Test("a client that closes after idling, without a word, and comes back is served again", arguments: libraries)
  func comesBack(library: Library) async throws {
    try await Self.scene { scene, key, token in
      for _ in 1...2 {
        let talk = try await Talk(library, scene, key: key)
        await talk.send(talk.request(1, to: token, body: Self.hello))
        #expect(await talk.answer(1).first?.status == 200)
        await talk.provider.close()
        #expect(await talk.provider.until { _ in false }.allSatisfy { $0.kind != .goAway })
      }
    }
  }

  @Test(
    "apns-id comes back byte for byte, whatever its case, on success and refusal; without one there is a new one",
    arguments: [
      "6f1c5f6e-0b1f-4a53-9d0e-5e2a3f6f1c01", "6F1C5F6E-0B1F-4A53-9D0E-5E2A3F6F1C01",
      "6f1C5F6e-0b1F-4a53-9D0e-5E2a3f6F1c01",
    ])
  func identifier(id: String) async throws {
    try await LiveScene.run { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let provider = try await scene.provider()
      let fields = [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-push-type", "alert")]
      let taken = await provider.send("/3/device/\(token)", fields + [("apns-id", id)])
      #expect(taken?.status == 200 && taken?.fields["apns-id"] == id && taken?.body == "")
      let refused = await provider.send("/3/device/abcd", fields + [("apns-id", id)])
      #expect(refused?.status == 400 && refused?.fields["apns-id"] == id)
      let made = try #require(await provider.send("/3/device/\(token)", fields)?.fields["apns-id"])
      #expect(UUIDText.isCanonical(made.utf8))
      await provider.close()
    }
  }

  @Test("node-apn, Wallet: the body {} is legal; none at all is PayloadEmpty")
  func emptyObject() async throws {
    try await LiveScene.run { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let provider = try await scene.provider()
      let fields = [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-push-type", "alert")]
      #expect(await provider.send("/3/device/\(token)", fields, body: "{}")?.status == 200)
      #expect(await provider.send("/3/device/\(token)", fields, body: "")?.body == #"{"reason":"PayloadEmpty"}"#)
      await provider.close()
    }
  }

  @Test("a body of another length than its content-length says loses its stream only; the simulator stops as ever")
  func wrongLength() async throws {
    try await Self.scene { scene, key, token in
      let talk = try await Talk(Self.libraries[0], scene, key: key)
      await talk.send(talk.request(1, to: token, more: [("content-length", "26")], body: Self.hello))
      #expect(await talk.provider.until { $0.kind == .resetStream }.last?.stream == 1)
      await talk.send(talk.request(3, to: token, body: Self.hello))
      #expect(await talk.answer(3).first?.status == 200)
      await talk.provider.close()
    }
  }

  @Test("GOAWAY tells a reason, answers what was asked before, and the push sent again is taken", arguments: libraries)
  func goodbye(library: Library) async throws {
    let key = try TestProvider()
    try await withFolder { folder in
      let setUp: (inout APNSSimulator.Configuration) -> Void = {
        $0.keys = [key.key]
        $0.dataFolder = folder
      }
      var token = ""
      try await LiveScene.run(setUp) { scene in
        token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
        let talk = try await Talk(library, scene, key: key)
        await talk.send(talk.request(1, to: token, body: Self.hello))
        _ = await talk.answer(1)
        await scene.simulator.stop()
        let goodbye = await talk.provider.until { _ in false }.last { $0.kind == .goAway }
        #expect(goodbye?.code == 0 && goodbye?.number(at: 0) ?? 0 >= 1)
        #expect(String(decoding: goodbye?.payload.dropFirst(8) ?? [], as: UTF8.self) == #"{"reason":"Shutdown"}"#)
      }
      try await LiveScene.run(setUp) { scene in
        let talk = try await Talk(library, scene, key: key)
        await talk.send(talk.request(1, to: token, body: Self.hello))
        #expect(await talk.answer(1).first?.status == 200)
        await talk.provider.close()
      }
    }
  }
}

extension WireNeedsTests.Talk {
  /// For a body of another length than the library's usual one.
  fileprivate var withoutLength: WireNeedsTests.Talk {
    var library = library
    library.others.removeAll { $0.0 == "content-length" }
    return WireNeedsTests.Talk(self, library)
  }

  private init(_ other: WireNeedsTests.Talk, _ library: WireNeedsTests.Library) {
    self = other
    self.library = library
  }
}

extension RawFrame {
  /// Literals without tables or Huffman code (RFC 7541 §6.2.2).
  fileprivate static func headers(_ stream: Int32, _ fields: [(String, String)], endsStream: Bool) -> RawFrame {
    RawFrame(
      kind: .headers, flags: endHeaders | (endsStream ? endStream : 0), stream: stream, payload: block(fields))
  }

  /// Of HEADERS that begin with `:status`, in the two forms in which servers write it: a row of the static table (RFC 7541
  /// appendix A), or its name from there and a literal.
  fileprivate var status: Int? {
    // Before it may stand the size of the table (§6.3), after the client's SETTINGS named one.
    var payload = self.payload[...]
    while let first = payload.first, first & 0xE0 == 0x20 {
      let isLong = first & 0x1F == 0x1F
      payload = payload.dropFirst()
      if isLong { payload = payload.drop { $0 & 0x80 != 0 }.dropFirst() }
    }
    guard kind == .headers, let first = payload.popFirst() else { return nil }
    switch first {
    case 0x88...0x8E: return [200, 204, 206, 304, 400, 404, 500][Int(first - 0x88)]
    case 0x48, 0x08, 0x18:
      guard let length = payload.popFirst() else { return nil }
      // Three digits, plain, or two bytes of Huffman code, which begin with the digits' five bits each (appendix B).
      let coded = payload.prefix(Int(length & 0x7F))
      guard length & 0x80 != 0 else { return Int(String(decoding: coded, as: UTF8.self)) }
      return Self.digits(huffman: Array(coded))
    default: return nil
    }
  }

  /// `0`, `1`, `2` have five bits, 0 to 2; the other digits six, 25 to 31 (RFC 7541 appendix B).
  private static func digits(huffman bytes: [UInt8]) -> Int? {
    var bits = bytes.flatMap { byte in (0..<8).map { Int(byte >> (7 - $0) & 1) } }[...]
    func take(_ count: Int) -> Int { bits.prefix(count).reduce(0) { $0 << 1 | $1 } }
    var number = 0
    for _ in 0..<3 {
      let five = take(5)
      if five <= 2 {
        number = number * 10 + five
        bits = bits.dropFirst(5)
      } else {
        number = number * 10 + take(6) - 25 + 3
        bits = bits.dropFirst(6)
      }
    }
    return number
  }
}
