import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

private let topic = ("apns-topic", "com.example.app")
private let alert = ("apns-push-type", "alert")

@Suite("The providers' port, over TLS and HTTP/2")
struct ProviderPortTests {
  @Test("one port serves clients with ALPN and without; apns-id comes back byte for byte", arguments: [true, false])
  func echo(offersH2: Bool) async throws {
    try await LiveScene.run { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let provider = try await scene.provider(offersH2: offersH2)
      let authorization = scene.authorization()
      for id in ["123e4567-e89b-12d3-a456-4266554400a0", "123E4567-E89B-12D3-A456-4266554400A0"] {
        let answer = await provider.send("/3/device/\(token)", [authorization, topic, alert, ("apns-id", id)])
        #expect(answer?.status == 200 && answer?.body == "" && answer?.fields["apns-id"] == id)
        #expect(answer?.fields["apns-unique-id"]?.count == 36)
      }
      #expect(scene.simulator.notifications.map(\.push.id).count == 2)
      await provider.close()
    }
  }

  @Test("without apns-id the server makes one, in capitals; errors carry the id too")
  func madeIDs() async throws {
    try await LiveScene.run { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let provider = try await scene.provider()
      let authorization = scene.authorization()
      let made = await provider.send("/3/device/\(token)", [authorization, topic])
      let id = try #require(made?.fields["apns-id"])
      #expect(UUIDText.isCanonical(Array(id.utf8)[...]) && id == id.uppercased())
      let mine = "123e4567-e89b-12d3-a456-4266554400a0"
      let refused = await provider.send("/3/device/abcd", [authorization, topic, ("apns-id", mine)])
      #expect(refused == .init(status: 400, fields: ["apns-id": mine], body: #"{"reason":"BadDeviceToken"}"#))
      let badID = await provider.send("/3/device/\(token)", [authorization, topic, ("apns-id", "7")])
      #expect(badID?.body == #"{"reason":"BadMessageId"}"# && badID?.fields["apns-id"]?.count == 36)
      #expect(scene.simulator.refusals.map(\.refusal.reason) == [.badDeviceToken, .badMessageID])
      await provider.close()
    }
  }

  @Test("one stream until the first valid token, then a thousand; a refused one changes nothing")
  func streamLimit() async throws {
    try await LiveScene.run { scene in
      let provider = try await scene.provider()
      #expect(await provider.events == [.settings(1)])
      _ = await provider.send("/3/device/abcd", [("authorization", "bearer x"), topic])
      #expect(await provider.events == [.settings(1)])
      _ = await provider.send("/3/device/abcd", [scene.authorization(), topic])
      // The push itself was refused: once the 1000 is acknowledged, 1 is told again.
      #expect(await provider.until { $0.count > 1 }.prefix(2) == [.settings(1), .settings(1000)])
      await provider.close()
    }
  }

  @Test("a certificate needs no token and gets a thousand streams at once; its topics and no others")
  func certificate() async throws {
    try await LiveScene.run { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let provider = try await scene.provider(identity: scene.simulator.credentials.certificate)
      #expect(await provider.until { $0.count > 1 } == [.settings(1), .settings(1000)])
      #expect(await provider.send("/3/device/\(token)", [topic, alert])?.status == 200)
      let absent = await provider.send("/3/device/\(token)", [alert])
      #expect(absent?.body == #"{"reason":"MissingTopic"}"#)
      let other = await provider.send("/3/device/\(token)", [("apns-topic", "com.example.other"), alert])
      #expect(other?.body == #"{"reason":"TopicDisallowed"}"#)
      await provider.close()
    }
  }

  @Test("a certificate of the other environment, or of a stranger's authority, gets GOAWAY with the reason")
  func badCertificates() async throws {
    try await LiveScene.run { scene in
      let now = SystemClock().now
      let sandboxOnly = try scene.simulator.credentials.authority.issuePushCertificate(
        bundleID: "com.example.app", environments: [.sandbox], now: now)
      let production = try await scene.provider(to: scene.simulator.productionEndpoint, identity: sandboxOnly)
      let seen = await production.until { $0.contains(.closed) }
      #expect(seen.contains(.goAway(#"{"reason":"BadCertificateEnvironment"}"#)))
      let stranger = try CertificateAuthority.stranger(at: now)
      let forged = try await scene.provider(
        identity: stranger.issuePushCertificate(bundleID: "com.example.app", now: now))
      let refused = await forged.until { $0.contains(.closed) }
      #expect(refused.contains(.goAway(#"{"reason":"BadCertificate"}"#)))
    }
  }

  @Test("production by its own port or by the host's name; sandbox tokens do not live there")
  func environments() async throws {
    try await LiveScene.run { scene in
      let simulator = scene.simulator
      let sandbox = simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let production = simulator.issueToken(device: "phone", bundle: "com.example.app", environment: .production).hex
      let provider = try await scene.provider()
      let authorization = scene.authorization()
      for (token, authority, status) in [
        (sandbox, nil, 200), (production, nil, 400), (production, "api.push.apple.com:443", 200),
        (sandbox, "api.push.apple.com", 400), (sandbox, "api.sandbox.push.apple.com", 200),
      ] as [(String, String?, Int)] {
        let answer = await provider.send("/3/device/\(token)", [authorization, topic, alert], authority: authority)
        #expect(answer?.status == status)
        #expect((answer?.fields["apns-unique-id"] != nil) == (status == 200 && token == sandbox))
      }
      let other = try await scene.provider(to: simulator.productionEndpoint)
      for authority in [nil, "api.sandbox.push.apple.com"] {
        let fields = [authorization, topic, alert]
        let taken = await other.send("/3/device/\(production)", fields, authority: authority)
        #expect(taken?.status == 200 && taken?.fields["apns-unique-id"] == nil)
        let foreign = await other.send("/3/device/\(sandbox)", fields, authority: authority)
        #expect(foreign?.body == #"{"reason":"BadDeviceToken"}"#)
      }
      await provider.close()
      await other.close()
    }
  }

  @Test("C10 5,120 bytes for VoIP, 4,096 for the rest; 60,000 are refused in order, too")
  func sizes() async throws {
    try await LiveScene.run { scene in
      let simulator = scene.simulator
      let app = simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let voip = simulator.issueToken(device: "phone", bundle: "com.example.app", kind: .voip).hex
      let provider = try await scene.provider()
      let authorization = scene.authorization()
      for (token, type, suffix, size, status) in [
        (app, "alert", "", 4096, 200), (app, "alert", "", 4097, 413), (voip, "voip", ".voip", 5120, 200),
        (voip, "voip", ".voip", 5121, 413), (app, "alert", "", 60_000, 413), (app, "alert", "", 200_000, 413),
      ] {
        let body = #"{"x":"\#(String(repeating: "x", count: size - 8))"}"#
        let answer = await provider.send(
          "/3/device/\(token)",
          [authorization, ("apns-topic", "com.example.app" + suffix), ("apns-push-type", type)], body: body)
        #expect(answer?.status == status, "\(type) \(size)")
      }
      await provider.close()
    }
  }

  @Test("C45 a courier gets the payload byte for byte, with priority and collapse id")
  func delivery() async throws {
    try await LiveScene.run { scene in
      let body =
        #"{"aps":{"alert":"aa+bb/cc=="},"n":9007199254740993,"f":1.10,"e":"👨‍👩‍👧‍👦 ’ \u2028","z":null,"o":{"b":1,"a":2}}"#
      let got = Locked<[DeliveredPush]>([])
      let simulator = scene.simulator
      let stay = simulator.courier.connect(device: "phone") { push in got.withLock { $0.append(push) } }
      let token = simulator.issueToken(device: "phone", bundle: "com.example.app")
      let provider = try await scene.provider()
      let authorization = scene.authorization()
      let fields = [
        authorization, topic, ("apns-push-type", "background"), ("apns-priority", "5"),
        ("apns-collapse-id", "score"), ("apns-expiration", "0"),
      ]
      #expect(await provider.send("/3/device/\(token.hex)", fields, body: body)?.status == 200)
      let push = try #require(got.withLock { $0 }.first)
      #expect(push.payload == Array(body.utf8))
      #expect(push.priority == .considerate && push.collapseID == "score" && push.pushType == .background)
      #expect(push.bundleID == "com.example.app" && push.token == token && push.expiration == 0)
      stay.disconnect()
      #expect(await provider.send("/3/device/\(token.hex)", [authorization, topic, alert])?.status == 200)
      #expect(got.withLock { $0.count } == 1)
      simulator.courier.connect(device: "phone") { push in got.withLock { $0.append(push) } }
      #expect(got.withLock { $0.count } == 2)
      await provider.close()
    }
  }

  @Test("C27 with a virtual clock: expired after an hour, and too many tokens, on the wire")
  func tokensGrowOld() async throws {
    let clock = VirtualClock(now: SystemClock().now)
    let setUp: (inout APNSSimulator.Configuration) -> Void = { $0.clock = clock }
    try await LiveScene.run(setUp) { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let provider = try await scene.provider()
      let first = scene.authorization(at: clock.now)
      #expect(await provider.send("/3/device/\(token)", [first, topic, alert])?.status == 200)
      let second = await provider.send(
        "/3/device/\(token)", [scene.authorization(at: clock.now + .seconds(1)), topic, alert])
      #expect(second?.status == 429 && second?.body == #"{"reason":"TooManyProviderTokenUpdates"}"#)
      clock.advance(by: .minutes(61))
      let late = await provider.send("/3/device/\(token)", [first, topic, alert])
      #expect(late?.status == 403 && late?.body == #"{"reason":"ExpiredProviderToken"}"#)
      #expect(
        await provider.send("/3/device/\(token)", [scene.authorization(at: clock.now), topic, alert])?.status == 200)
      await provider.close()
    }
  }

  @Test("C16 410 with its timestamp, on the wire")
  func gone() async throws {
    let clock = VirtualClock(now: SystemClock().now)
    let setUp: (inout APNSSimulator.Configuration) -> Void = {
      $0.clock = clock
      $0.goneDelay = .seconds(60) ... .seconds(60)
    }
    try await LiveScene.run(setUp) { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app")
      let provider = try await scene.provider()
      let fields = [scene.authorization(at: clock.now), topic, alert]
      let removed = clock.now
      scene.simulator.courier.uninstall(device: "phone", bundle: "com.example.app")
      clock.advance(by: .seconds(60))
      #expect(await provider.send("/3/device/\(token.hex)", fields)?.status == 200)
      clock.advance(by: .seconds(60))
      let answer = await provider.send("/3/device/\(token.hex)", fields)
      #expect(answer?.status == 410)
      #expect(answer?.body == #"{"reason":"Unregistered","timestamp":\#(removed.milliseconds)}"#)
      await provider.close()
    }
  }
}
