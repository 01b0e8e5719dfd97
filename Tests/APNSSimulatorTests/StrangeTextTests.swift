import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

private let documents: [String] = [
  #"{"faults":[{"id":"a","when":{"token":["ab01"],"topic":"com.example.app","per":"connection","after":5,"first":7,"every":2,"rate":0.25,"from":"2026-11-30T10:00:00.250Z","until":"10m","repeat":{"every":"1m","for":"5s"}},"limit":3,"action":{"refuse":"BadDeviceToken","delay":"250ms","jitter":"2s","retryAfter":"30"}}]}"#,
  #"[{"action":{"goAway":{"below":2,"code":"REFUSED_STREAM","text":"x","then":"close"}}},{"action":{"streams":0,"for":"1s"}}]"#,
  #"{"action":{"answer":{"status":502,"body":"<html>","contentType":"text/html"}}}"#,
  #"{"action":{"halfOpen":{"pings":true}}}"#, #"{"action":{"refuse":"Unregistered","timestamp":1796000000000}}"#,
  #"{"suite":"s","since":0,"that":[{"device":"phone","payload":{"aps":{"alert":"Hello"}},"headers":{"apns-priority":"10","apns-id":null},"count":1},{"findings":"error","never":true},{"inOrder":true,"atLeast":1,"atMost":3,"since":"2026-11-30T09:00:00Z"}]}"#,
  #"{"device":"phone","bundle":"com.example.app","environment":"sandbox","kind":"liveactivity","token":"ab01"}"#,
  #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#,
  #"{"aps":{"timestamp":1800000000,"event":"update","content-state":{"n":1}}}"#,
  #"{"preset":"apple","groupWindow":5,"backgroundPerHour":null,"isReordering":true}"#,
]

private let pieces: [String] = [
  "{", "}", "[", "]", ",", ":", "\"", "\\u0000", "\\ud83d", "-", "1e999", "1e-999", "-1", "9223372036854775807", "9e18",
  "0.1", "null", "true", "\"\"", "\"a\"", "\"9999999999999d\"", "\"0001-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59Z\"",
  "\"delay\":\"9e9h\",", "\"count\":1000000,", "\"name\":\"&<]]>\",", "\u{0}", "😀",
]

/// One of the documents after a few slips of the pen.
private func slipped(_ dice: inout Dice) -> [UInt8] {
  var text = Array((documents.randomElement(using: &dice) ?? "").utf8)
  for _ in 0..<Int.random(in: 1...5, using: &dice) {
    let at = Int.random(in: 0...text.count, using: &dice)
    switch Int.random(in: 0..<5, using: &dice) {
    case 0 where at < text.count: text[at] = UInt8.random(in: 0...255, using: &dice)
    case 1 where at < text.count: text.remove(at: at)
    case 2:
      let end = min(text.count, at + Int.random(in: 0...30, using: &dice))
      text.insert(contentsOf: text[at..<end], at: Int.random(in: 0...text.count, using: &dice))
    case 3:
      // A whole value becomes another.
      let colons = text.indices.filter { text[$0] == UInt8(ascii: ":") }
      guard let colon = colons.randomElement(using: &dice) else { continue }
      let end = text[(colon + 1)...].firstIndex { ",}]".utf8.contains($0) } ?? text.count
      text.replaceSubrange(colon + 1..<end, with: (pieces.randomElement(using: &dice) ?? "").utf8)
    default: text.insert(contentsOf: (pieces.randomElement(using: &dice) ?? "").utf8, at: at)
    }
  }
  return text
}

@Suite("No text from a test or a provider is too strange")
struct StrangeTextTests {
  @Test(
    "rules of faults are taken, and are the same when written and read again, or refused",
    arguments: 0..<8 as Range<UInt64>)
  func faults(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    for _ in 0..<500 {
      guard let value = try? JSONReader.read(slipped(&dice)).value, let rules = try? FaultRule.read(value) else {
        continue
      }
      let written = JSONValue.array(rules.map { .object(FaultJSON.object(of: $0)) })
      #expect(try FaultRule.read(written) == rules)
      var engine = FaultEngine(seed: seed)
      engine.set(rules, at: FaultEngineTests.start)
      for step in 0..<20 as Range<Int64> {
        let now = FaultEngineTests.start + .seconds(step * step * 1_000)
        _ = engine.decide(FaultEngineTests.request(connection: UInt64(step)), at: now)
        _ = (engine.standing(of: .sandbox, .push, at: now), engine.nextChange(after: now))
      }
    }
  }

  @Test(
    "the control API answers every text with JSON, and never as if it were our mistake",
    arguments: 0..<8 as Range<UInt64>)
  func control(seed: UInt64) async throws {
    try await ControlScene.run { scene in
      var dice = Dice(seed: seed)
      scene.push(scene.token())
      for _ in 0..<200 {
        let body = String(decoding: slipped(&dice), as: UTF8.self)
        for target in ["/assertions", "/faults", "/devices", "/keys", "/certificates"] {
          let answer = await scene.call("POST", target, body)
          #expect((200..<500).contains(answer.status), "\(target) \(body) \(answer.text)")
          #expect((try? JSONReader.read(Array(answer.text.utf8))) != nil, "\(target) \(body) \(answer.text)")
        }
        #expect(await scene.call("PUT", "/delivery", body).status < 500, "\(body)")
        #expect(await scene.call("PUT", "/faults", body).status < 500, "\(body)")
        #expect(await scene.call("GET", "/faults").status == 200)
      }
    }
  }

  @Test(
    "channels and broadcasts: every request is answered with a status of Apple's", arguments: 0..<8 as Range<UInt64>)
  func channels(seed: UInt64) async throws {
    try await ControlScene.run { scene in
      var dice = Dice(seed: seed)
      let certificate = ProviderCertificate(
        userID: "com.example.app", environments: [.sandbox], topics: [], notBefore: scene.clock.now - .days(1),
        notAfter: scene.clock.now + .days(1))
      var trust = ConnectionTrust(.certificate(certificate))
      let desk = ChannelDesk(core: scene.core)
      let channel = try scene.core.attempt { state, now throws(Refusal) in
        try state.createChannel(
          ChannelRegistry.App(bundleID: "com.example.app", environment: .sandbox), policy: .newest, now: now)
      }
      for _ in 0..<500 {
        var fields = HTTP2FieldList()
        let usual = [
          (":method", ["POST", "GET", "DELETE", "PATCH"]),
          (
            ":path",
            ["/1/apps/com.example.app/channels", "/1/apps/com.example.app/all-channels", "/1/apps//channels", "//", ""]
          ),
          ("apns-channel-id", [channel, "dGVzdA==", "", "=", "😀"]), ("apns-push-type", ["liveactivity", "alert"]),
          ("apns-priority", ["10", "5", "-1", "99999999999999999999"]),
          ("apns-expiration", ["0", "1900000000", "-9223372036854775808", "9223372036854775807", "1e5"]),
          ("apns-request-id", ["aaaaaaaa-0000-0000-0000-000000000000", "x"]),
        ]
        let isBroadcast = Bool.random(using: &dice)
        for (name, values) in usual where Int.random(in: 0..<6, using: &dice) > 0 {
          let value = Int.random(in: 0..<3, using: &dice) > 0 ? values[0] : values.randomElement(using: &dice) ?? ""
          let path = isBroadcast && name == ":path" && value == values[0] ? "/4/broadcasts/apps/com.example.app" : value
          fields.append(name: name, value: path)
        }
        let request = ChannelRequest(fields: fields, body: slipped(&dice))
        let answer =
          isBroadcast
          ? desk.broadcast(request, trust: &trust, environment: .sandbox, dice: &dice)
          : desk.management(request, trust: &trust, environment: .sandbox, dice: &dice)
        #expect([200, 201, 204, 400, 403, 404, 405, 410, 413, 429].contains(answer.status), "\(answer)")
        #expect(answer.body.isEmpty || (try? JSONReader.read(answer.body)) != nil)
      }
    }
  }
}
