import APNSClient
import Basics
import Delivery
import PushPayload
import Testing
import Transport

@Suite("What the client checks before sending")
struct PushChecksTests {
  /// Spec apns.md §5, written out again: type, suffix, body limit, and the priorities that raise no finding.
  static let types: [(PushType, String, Int, Set<PushPriority>)] = [
    (.alert, "", 4096, [.immediate, .considerate, .powerFirst]),
    (.background, "", 4096, [.considerate, .powerFirst]),
    (.voip, ".voip", 5120, [.immediate, .considerate, .powerFirst]),
    (.complication, ".complication", 4096, [.immediate, .considerate, .powerFirst]),
    (.fileprovider, ".pushkit.fileprovider", 4096, [.immediate, .considerate, .powerFirst]),
    (.mdm, "", 4096, [.immediate, .considerate]),
    (.location, ".location-query", 4096, [.immediate, .considerate, .powerFirst]),
    (.liveactivity, ".push-type.liveactivity", 4096, [.immediate, .considerate]),
    (.pushtotalk, ".voip-ptt", 4096, [.immediate]),
    (.controls, ".push-type.controls", 4096, [.immediate, .considerate, .powerFirst]),
    (.widgets, ".push-type.widgets", 4096, [.immediate, .considerate, .powerFirst]),
  ]

  /// A JSON object of so many bytes.
  static func body(_ count: Int) -> String {
    #"{"x":""# + String(repeating: "a", count: count - 8) + #""}"#
  }

  @Test("§5 × §4 every push type at every priority, at its limit of bytes and one over", arguments: types)
  func typesAndPriorities(type: PushType, suffix: String, limit: Int, priorities: Set<PushPriority>) async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    #expect(Self.types.count == PushType.allCases.count)
    for priority in PushPriority.allCases {
      var push = pushes(1..<2, pushType: type, payload: Self.body(limit))[0]
      push.priority = priority
      #expect(await fixture.client.send(push) == .accepted(uniqueID: nil), "an unfit priority is a finding, no refusal")
      let unfit = push.findings(at: Instant(seconds: 1_796_000_000)).contains { $0.code == .priorityUnfit }
      #expect(unfit == !priorities.contains(priority), "\(priority)")
      push.payload.append(UInt8(ascii: " "))
      guard case .refused(let refusal) = await fixture.client.send(push) else {
        Issue.record("sent")
        continue
      }
      #expect(refusal.status == 413 && refusal.reason == "PayloadTooLarge")
      #expect(refusal.explanation?.contains("\(limit + 1) bytes of UTF-8, 1 more than the \(limit)") == true)
    }
    let requests = peer.log.withLock { $0.requests }
    #expect(requests.count == 3, "one over was never sent")
    #expect(Set(requests.map(\.topic)) == ["com.example.app" + suffix])
    #expect(requests.map { $0.fields.text("apns-priority") } == ["10", "5", "1"])
    await fixture.stop()
    await peer.stop()
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var reason: RefusalReason
    var words: String
    var change: @Sendable (inout OutgoingPush) -> Void
    var testDescription: String { "\(reason.rawValue): \(words)" }
    init(_ reason: RefusalReason, _ words: String, _ change: @escaping @Sendable (inout OutgoingPush) -> Void) {
      self.reason = reason
      self.words = words
      self.change = change
    }
  }

  static let rows: [Row] = [
    Row(.payloadEmpty, "payload is empty") { $0.payload = [] },
    Row(.missingDeviceToken, "no device token") { $0.token = [] },
    Row(.badDeviceToken, "101 bytes") { $0.token = [UInt8](repeating: 1, count: 101) },
    Row(.badMessageID, #"apns-id is "7", not a UUID"#) { $0.id = "7" },
    Row(.missingTopic, "apns-topic is empty. ") { $0.topic = "" },
    Row(.badTopic, "no bundle id can be") { $0.topic = "com.example app" },
    Row(.badTopic, "no bundle id can be") { $0.topic = "com.example\r\napns-priority: 1" },
    Row(.badTopic, "no bundle id can be") { $0.topic = "com.例え.app" },
    Row(.badExpirationDate, #""-1", not whole seconds"#) { $0.expiration = -1 },
    Row(.badCollapseID, "65 bytes of UTF-8, 1 more") { $0.collapseID = String(repeating: "a", count: 65) },
    Row(.badCollapseID, "66 bytes of UTF-8, 2 more") { $0.collapseID = String(repeating: "推", count: 22) },
    Row(.badCollapseID, "control character") { $0.collapseID = "a\nb" },
  ]

  @Test(
    "§4 what APNs is certain to refuse is refused unsent, with its reason and a sentence to act on", arguments: rows)
  func refusedUnsent(row: Row) async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    var push = pushes(1..<2)[0]
    row.change(&push)
    guard case .refused(let refusal) = await fixture.client.send(push) else {
      Issue.record("sent")
      return
    }
    #expect(refusal.reason == row.reason.rawValue && refusal.status == row.reason.status)
    #expect(refusal.explanation?.contains(row.words) == true, "\(refusal.explanation ?? "")")
    #expect(refusal.explanation?.hasSuffix(".") == true)
    #expect(peer.log.withLock { $0.requests.isEmpty })
    #expect(await fixture.client.metrics.refusedUnsent == [row.reason.rawValue: 1])
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "§4 the lint's errors about headers and the client's refusals are the same", arguments: 0..<200 as Range<UInt64>)
  func agreesWithLint(seed: UInt64) async throws {
    var dice = Dice(seed: seed)
    var push = pushes(1..<2)[0]
    let topics = ["com.example.app", "", "a b", "x_y", "\u{7F}", "com.example.app.voip"]
    let ids = [push.id, push.id.uppercased(), "", "7", push.id + "0"]
    let collapseIDs = [nil, "", String(repeating: "推", count: 21), String(repeating: "推", count: 22)]
    push.topic = topics.randomElement(using: &dice)!
    push.id = ids.randomElement(using: &dice)!
    push.expiration = [nil, 0, -1, .min, .max, 120].randomElement(using: &dice)!
    push.collapseID = collapseIDs.randomElement(using: &dice)!
    push.pushType = PushType.allCases.randomElement(using: &dice)!
    let reasons = push.headers.faults().filter { $0.severity == .error }.compactMap(\.reason)
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    switch await fixture.client.send(push) {
    case .refused(let refusal): #expect(reasons.map(\.rawValue).contains(refusal.reason), "\(reasons)")
    case .accepted, .unanswered: #expect(reasons.isEmpty, "\(push.headers)")
    }
    await fixture.stop()
    await peer.stop()
  }

  @Test("C10 1,000 emoji and CJK: bytes of UTF-8 as they are sent count, escaped or raw; 4,097 are refused by one")
  func emoji() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    let text = String(repeating: "👍", count: 980) + String(repeating: "推", count: 20)
    func payload(_ count: Int, escaped: Bool) -> String {
      let alert = escaped ? text.utf16.map { "\\u" + hex4($0) }.joined() : text
      let shell = #"{"aps":{"alert":""# + alert + #""},"p":""#
      return shell + String(repeating: "x", count: max(0, count - shell.utf8.count - 2)) + #""}"#
    }
    let raw = payload(4096, escaped: false)
    #expect(raw.utf8.count == 4096)
    let sent = pushes(1..<2, payload: raw)[0]
    #expect(await fixture.client.send(sent) == .accepted(uniqueID: nil))
    #expect(peer.log.withLock { $0.requests.first?.body } == Array(raw.utf8), "never cut")
    for (form, count) in [(payload(4097, escaped: false), 4097), (payload(0, escaped: true), 11_900)] {
      guard case .refused(let refusal) = await fixture.client.send(pushes(2..<3, payload: form)[0]) else {
        Issue.record("sent")
        continue
      }
      #expect(form.utf8.count >= count)
      #expect(refusal.explanation?.contains("\(form.utf8.count - 4096) more than the 4096") == true)
    }
    #expect(peer.log.withLock { $0.requests.count } == 1)
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "C13 a live activity to the plain bundle id: the client adds the suffix; the lint names it for who sends by hand")
  func liveActivity() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    let push = pushes(1..<2, pushType: .liveactivity)[0]
    #expect(await fixture.client.send(push) == .accepted(uniqueID: nil))
    #expect(peer.log.withLock { $0.requests.first?.topic } == "com.example.app.push-type.liveactivity")
    let byHand = PushHeaders(topic: "com.example.app", pushType: "liveactivity")
    let fault = byHand.faults().first { $0.code == .topicSuffix }
    #expect(fault?.fix.contains("com.example.app.push-type.liveactivity") == true)
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "C20 a time in milliseconds and an interval are findings: APNs takes them", arguments: [120, 1_796_003_600_000])
  func expirations(expiration: Int64) async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    let push = pushes(1..<2, expiration: expiration)[0]
    let codes = push.findings(at: Instant(seconds: 1_796_000_000)).map(\.code)
    #expect(codes.contains(expiration == 120 ? .expirationInterval : .expirationMilliseconds))
    // 120 is long past: the client ends it as APNs would deliver it, not at all
    let outcome = await fixture.client.send(push)
    #expect(outcome == (expiration == 120 ? .unanswered(.expired) : .accepted(uniqueID: nil)))
    await fixture.stop()
    await peer.stop()
  }
}

private func hex4(_ unit: UInt16) -> String {
  [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)].hex
}
