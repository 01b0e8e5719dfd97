import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

/// What no library shows: the frames themselves.
@Suite("§2, §3 The providers' port, frame by frame", .timeLimit(.minutes(2)))
struct ProviderWireTests {
  /// Header fields of a push that is in order, with a token of its own: a connection may see one.
  private func fields(_ scene: LiveScene) -> [(String, String)] {
    [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-push-type", "alert")]
  }

  private func path(_ scene: LiveScene) -> String {
    "/3/device/" + scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
  }

  /// A push with the body `{}`.
  private func push(_ stream: Int32, _ path: String, _ fields: [(String, String)]) -> [RawFrame] {
    [.request(stream, path: path, extra: fields, endsStream: false), .data(stream, "{}", endsStream: true)]
  }

  /// The stream limits that SETTINGS frames announced.
  private func limits(_ frames: [RawFrame]) -> [UInt32] {
    frames.filter { $0.kind == .settings && $0.flags == 0 }.compactMap { $0.setting(3) }
  }

  @Test("§2.1 the first SETTINGS are Apple's, before the client has asked anything")
  func firstSettings() async throws {
    try await LiveScene.run { scene in
      let provider = try await scene.rawProvider()
      let first = await provider.next()
      #expect(first?.kind == .settings && first?.payload.count == 30)
      let values = [1, 3, 4, 5, 6].map { first?.setting($0) }
      #expect(values == [4096, 1, 65_535, 16_384, 8000])
      await provider.close()
    }
  }

  @Test("§2.1 with the gate off all streams are there at once; another number too")
  func ungated() async throws {
    try await LiveScene.run {
      $0.limits.isFirstStreamGated = false
      $0.limits.streams = 500
    } _: { scene in
      let provider = try await scene.rawProvider()
      #expect(await provider.next()?.setting(3) == 500)
      await provider.close()
    }
  }

  @Test("§2.1 streams sent before SETTINGS were read are served, each once, one after the other")
  func earlyStreams() async throws {
    for overrun in APNSSimulator.Overrun.allCases {
      try await LiveScene.run {
        $0.limits.overrun = overrun
      } _: { scene in
        let provider = try await scene.rawProvider()
        let (path, fields) = (path(scene), fields(scene))
        let streams = (0..<50).map { Int32(1 + 2 * $0) }
        for stream in streams { for frame in push(stream, path, fields) { await provider.send(frame) } }
        var answered: [Int32] = []
        _ = await provider.until { frame in
          if frame.kind == .headers, frame.endsStream { answered.append(frame.stream) }
          return frame.kind == .resetStream || answered.count == streams.count
        }
        #expect(answered == streams)
        #expect(scene.simulator.notifications.count == streams.count)
        await provider.close()
      }
    }
  }

  @Test("§2.1 over-running an acknowledged limit: the streams wait, or are refused to be sent again")
  func overrun() async throws {
    for overrun in APNSSimulator.Overrun.allCases {
      try await LiveScene.run {
        $0.limits.overrun = overrun
      } _: { scene in
        let provider = try await scene.rawProvider()
        _ = await provider.synchronize()  // what has not come cannot be acknowledged
        await provider.send(.settingsAcknowledged)
        _ = await provider.synchronize()
        let (path, fields) = (path(scene), fields(scene))
        // The first one's body is still to come, so that it is open while the second begins.
        await provider.send(.request(1, path: path, extra: fields, endsStream: false))
        for frame in push(3, path, fields) { await provider.send(frame) }
        let second = await provider.until { $0.stream == 3 }.last
        switch overrun {
        case .queue: #expect(second?.kind == .headers)
        case .refuse:
          #expect(second?.kind == .resetStream && second?.code == HTTP2ErrorCode.refusedStream.rawValue)
        }
        await provider.send(
          RawFrame(kind: .data, flags: RawFrame.endStream, stream: 1, payload: Array("{}".utf8)))
        #expect(await provider.until { $0.stream == 1 }.last?.kind == .headers)
        await provider.close()
      }
    }
  }

  @Test(
    "§2.1 a refusal takes the limit down, 410 does not, the next push that is taken restores it",
    arguments: [true, false])
  func narrowing(isOn: Bool) async throws {
    try await LiveScene.run {
      $0.limits.narrowsAfterRefusal = isOn
    } _: { scene in
      let provider = try await scene.rawProvider()
      let (path, fields) = (path(scene), fields(scene))
      let dead = scene.simulator.issueToken(device: "lost", bundle: "com.example.app")
      scene.simulator.end(token: dead, isToldAtOnce: true)
      var stream: Int32 = 1
      /// Sends one push, acknowledges all SETTINGS that have come, and tells the limits among them.
      func push(to path: String) async -> [UInt32] {
        for frame in self.push(stream, path, fields) { await provider.send(frame) }
        let sent = stream
        stream += 2
        var seen = await provider.until { $0.endsStream && $0.stream == sent }
        seen += await provider.synchronize()
        for _ in limits(seen) { await provider.send(.settingsAcknowledged) }
        return limits(seen + (await provider.synchronize()))
      }
      #expect(await push(to: path) == [1, 1000])
      #expect(await push(to: "/3/device/\(dead.hex)") == [])
      #expect(await push(to: "/3/device/abcd") == (isOn ? [1] : []))
      #expect(await push(to: "/3/device/abcd") == [])
      #expect(await push(to: path) == (isOn ? [1000] : []))
      await provider.close()
    }
  }

  @Test("§2.1 a connection that errs too much is told the last straw and closed; 410 and successes keep it")
  func errorBudget() async throws {
    try await LiveScene.run {
      $0.limits.errorBudget = 10
    } _: { scene in
      let provider = try await scene.rawProvider()
      let (path, fields) = (path(scene), fields(scene))
      var stream: Int32 = 1
      for place in [path, "/3/device/abcd", path, path, "/3/device/abcd"] {
        for frame in push(stream, place, fields) { await provider.send(frame) }
        let sent = stream
        #expect(await provider.until { $0.endsStream && $0.stream == sent }.last != nil)
        stream += 2
      }
      for frame in push(stream, "/3/device/abcd", fields) { await provider.send(frame) }
      let end = await provider.until { _ in false }
      let goAway = try #require(end.first { $0.kind == .goAway })
      #expect(String(decoding: goAway.payload.dropFirst(8), as: UTF8.self) == #"{"reason":"BadDeviceToken"}"#)
      #expect(goAway.number(at: 0) == UInt32(stream) && goAway.code == 0)
      #expect(end.contains { $0.kind == .data && $0.stream == stream })
    }
  }

  @Test("§2.2 a bad certificate: GOAWAY twice, code 0; a request that is there first gets its 403")
  func badCertificate() async throws {
    let stranger = try CertificateAuthority.stranger()
    for isRequestThere in [false, true] {
      try await LiveScene.run {
        if isRequestThere { $0.limits.firstAnswerDelay = .hours(1) }
      } _: { scene in
        let provider = try await scene.rawProvider(identity: stranger.identity)
        if isRequestThere { for frame in push(1, path(scene), fields(scene)) { await provider.send(frame) } }
        let frames = await provider.until { _ in false }
        let goAways = frames.filter { $0.kind == .goAway }
        #expect(goAways.map { $0.number(at: 0) } == (isRequestThere ? [1, 1] : [0, 0]))
        for frame in goAways {
          #expect(String(decoding: frame.payload.dropFirst(8), as: UTF8.self) == #"{"reason":"BadCertificate"}"#)
        }
        #expect(frames.contains { $0.kind == .data } == isRequestThere)
        // Never many streams for a stranger.
        #expect(limits(frames) == [1])
      }
    }
  }

  @Test("§8.1 an error is HEADERS and one DATA frame with END_STREAM; 200 is HEADERS alone")
  func answerShape() async throws {
    try await LiveScene.run { scene in
      let provider = try await scene.rawProvider()
      let common = fields(scene)
      for frame in push(1, path(scene), common) { await provider.send(frame) }
      let taken = await provider.until { $0.endsStream && $0.stream == 1 }.filter { $0.stream == 1 }
      #expect(taken.map(\.kind) == [.headers])
      for frame in push(3, "/3/device/abcd", common) { await provider.send(frame) }
      let refused = await provider.until { $0.endsStream && $0.stream == 3 }.filter { $0.stream == 3 }
      #expect(refused.map(\.kind) == [.headers, .data])
      #expect(refused.map(\.endsStream) == [false, true])
      await provider.close()
    }
  }

  /// What comes of requests that no library would send: on stream 1, then the connection must serve stream 3.
  @Test(
    "§3 strange requests never spoil the connection",
    arguments: [
      ("content-length too small", [("content-length", "1")], .resetStream),
      ("content-length too large", [("content-length", "9")], .resetStream),
      ("content-length that is right", [("content-length", "2")], .headers),
      ("content-length that is no number", [("content-length", "two")], .resetStream),
      ("upper-case name", [("Apns-Id", "x")], .resetStream),
      ("connection-specific header", [("connection", "close")], .resetStream),
      ("a header list of 9,000 bytes", [("x-large", String(repeating: "x", count: 9000))], .headers),
      ("four bytes that are no UTF-8 in a topic", [("x-odd", "\u{80}\u{FF}")], .headers),
      ("a hundred headers", (0..<100).map { ("x-\($0)", "1") }, .headers),
    ] as [(String, [(String, String)], RawFrame.Kind)])
  func strangeRequests(what: String, more: [(String, String)], kind: RawFrame.Kind) async throws {
    try await LiveScene.run { scene in
      let provider = try await scene.rawProvider()
      let (path, common) = (path(scene), fields(scene))
      for frame in push(1, path, common + more) { await provider.send(frame) }
      let first = await provider.until { $0.stream == 1 }.last
      #expect(first?.kind == kind)
      if kind == .resetStream { #expect(first?.code == HTTP2ErrorCode.protocolError.rawValue) }
      for frame in push(3, path, common) { await provider.send(frame) }
      let second = await provider.until { $0.stream == 3 }.last
      #expect(second?.kind == .headers && second?.endsStream == true)
      await provider.close()
    }
  }

  @Test("§3 trailers are read and ignored; header blocks in pieces and 100,000 bytes of headers do no harm")
  func trailersAndBlocks() async throws {
    try await LiveScene.run { scene in
      let provider = try await scene.rawProvider()
      let (path, common) = (path(scene), fields(scene))
      await provider.send(.request(1, path: path, extra: common, endsStream: false))
      await provider.send(RawFrame(kind: .data, stream: 1, payload: Array("{}".utf8)))
      let trailer: [UInt8] = [0x00, 7] + "apns-id".utf8 + [1] + "x".utf8
      await provider.send(
        RawFrame(
          kind: .headers, flags: RawFrame.endHeaders | RawFrame.endStream, stream: 1, payload: trailer))
      let first = await provider.until { $0.stream == 1 }.last
      #expect(first?.kind == .headers && first?.endsStream == true)

      var whole = RawFrame.request(3, path: path, extra: common, endsStream: false)
      let block = whole.payload
      whole.flags = 0
      whole.payload = Array(block.prefix(20))
      await provider.send(whole)
      for start in stride(from: 20, to: block.count, by: 50) {
        let isLast = start + 50 >= block.count
        await provider.send(
          RawFrame(
            kind: .continuation, flags: isLast ? RawFrame.endHeaders : 0, stream: 3,
            payload: Array(block[start..<min(start + 50, block.count)])))
      }
      await provider.send(RawFrame(kind: .data, flags: RawFrame.endStream, stream: 3, payload: Array("{}".utf8)))
      let second = await provider.until { $0.stream == 3 }.last
      #expect(second?.kind == .headers && second?.endsStream == true)
      #expect(scene.simulator.notifications.count == 2)
      await provider.close()

      // Far over every limit: the stream or the connection may end, the service goes on.
      let rude = try await scene.rawProvider()
      var huge = RawFrame.request(1, path: path, extra: fields(scene), endsStream: true)
      huge.flags = RawFrame.endStream
      await rude.send(huge)
      let field: [UInt8] = [0x00, 1] + "x".utf8 + [0x7F, 0x81, 0x7D] + [UInt8](repeating: 0x78, count: 16_128)
      for index in 0..<7 {
        await rude.send(
          RawFrame(kind: .continuation, flags: index == 6 ? RawFrame.endHeaders : 0, stream: 1, payload: field))
      }
      _ = await rude.until { $0.stream == 1 || $0.kind == .goAway }
      await rude.close()
      let polite = try await scene.provider()
      let answer = await polite.send(path, fields(scene))
      #expect(answer?.status == 200)
      await polite.close()
    }
  }
}
