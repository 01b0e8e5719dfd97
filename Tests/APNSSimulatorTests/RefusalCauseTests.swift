import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

/// spec/apns.md §8.2, row by row: what makes Apple say each reason, done by a provider over TLS and HTTP/2.
@Suite("§8.2 Every reason for its natural cause", .timeLimit(.minutes(2)))
struct RefusalCauseTests {
  static let causes = headerCauses + tokenCauses + providerTokenCauses + certificateCauses + serviceCauses

  static let headerCauses: [RefusalCause] = [
    .push(.methodNotAllowed, "GET", method: "GET"),
    .push(.methodNotAllowed, "a method nobody knows", method: "PUSH"),
    .push(.badPath, "another path", path: "/3/devices/TOKEN"),
    .push(.badPath, "more behind the token", path: "/3/device/TOKEN/x"),
    .push(.badPath, "the root", path: "/"),
    .push(.badPath, "an old version", path: "/2/device/TOKEN"),
    .push(.missingDeviceToken, "no token", path: "/3/device/"),
    .push(.missingDeviceToken, "no token, no slash", path: "/3/device"),
    .push(.duplicateHeaders, "a header of Apple's twice", adding: [("apns-topic", CauseScene.bundle)]),
    .push(.duplicateHeaders, "any header twice", adding: [("x-mine", "1"), ("x-mine", "2")]),
    .push(.badMessageID, "apns-id is no UUID", ["apns-id": "42"]),
    .push(.missingTopic, "no topic", ["apns-topic": nil]),
    .push(.badTopic, "a topic that is no bundle id", ["apns-topic": "com example"]),
    .push(.badTopic, "a push type whose suffix the topic lacks", ["apns-push-type": "voip"]),
    .push(.invalidPushType, "an unknown push type", ["apns-push-type": "shout"]),
    .push(.badPriority, "a priority that is none", ["apns-priority": "7"]),
    .push(.badExpirationDate, "a date in words", ["apns-expiration": "tomorrow"]),
    .push(.badCollapseID, "65 bytes", ["apns-collapse-id": String(repeating: "c", count: 65)]),
    .push(.payloadEmpty, "no body", body: ""),
    .push(.payloadEmpty, "a body that is no JSON", body: "{\"aps\":"),
    .push(.payloadTooLarge, "4,097 bytes", body: #"{"x":"\#(String(repeating: "x", count: 4089))"}"#),
    .push(.payloadTooLarge, "two million bytes", body: String(repeating: "x", count: 2_000_000)),
  ]

  static let tokenCauses: [RefusalCause] = [
    .push(.badDeviceToken, "no hex", path: "/3/device/xyz"),
    .push(.badDeviceToken, "hex, but nobody's", path: "/3/device/abcdef"),
    RefusalCause(.badDeviceToken, "the other environment's") { scene in
      let token = scene.simulator.issueToken(
        device: "phone", bundle: CauseScene.bundle, environment: .production)
      return .answer(try await scene.push(path: "/3/device/\(token.hex)"))
    },
    .push(.deviceTokenNotForTopic, "another app's topic", ["apns-topic": "com.example.other"]),
    .push(
      .deviceTokenNotForTopic, "another kind of push of the same app",
      ["apns-topic": CauseScene.bundle + ".voip", "apns-push-type": "voip"]),
    RefusalCause(.unregistered, "the app was removed, and a push met that") { scene in
      let dead = try await scene.deadToken(.unregistered)
      return .answer(try await scene.push(path: "/3/device/\(dead)"))
    },
    RefusalCause(.expiredToken, "the token's life is over") { scene in
      let dead = try await scene.deadToken(.expiredToken)
      return .answer(try await scene.push(path: "/3/device/\(dead)"))
    },
    RefusalCause(.tooManyRequests, "one more to a token than a minute may have") { scene in
      .answer(try await scene.push(times: 1001))
    },
    RefusalCause(.tooManyRequests, "another limit") { scene in
      .answer(try await scene.push(times: 3))
    }.settingUp { $0.limits.requestsPerToken = 2 },
  ]

  static let providerTokenCauses: [RefusalCause] = [
    .push(.missingProviderToken, "no authorization, no certificate", ["authorization": nil]),
    .push(.missingProviderToken, "another scheme", ["authorization": "basic dXNlcjpwYXNz"]),
    .push(.invalidProviderToken, "no token at all", ["authorization": "bearer nonsense"]),
    RefusalCause(.invalidProviderToken, "a key that Apple does not know") { scene in
      let stranger = try TestProvider(keyID: "STRANGER00")
      return .answer(
        try await scene.push(["authorization": "bearer \(stranger.token(issuedAt: scene.clock.now))"]))
    },
    RefusalCause(.invalidProviderToken, "another key's signature") { scene in
      let credentials = scene.simulator.credentials
      let forger = try TestProvider(keyID: credentials.keyID, teamID: credentials.teamID)
      return .answer(try await scene.push(["authorization": "bearer \(forger.token(issuedAt: scene.clock.now))"]))
    },
    RefusalCause(.invalidProviderToken, "a key of one team, \"iss\" of another") { scene in
      let (provider, _) = try scene.key("KEY0000001")
      let token = provider.token(
        header: #"{"alg":"ES256","kid":"KEY0000001"}"#,
        claims: #"{"iss":"OTHERTEAM0","iat":\#(scene.clock.now.seconds)}"#)
      return .answer(try await scene.push(["authorization": "bearer \(token)"]))
    },
    RefusalCause(.invalidProviderToken, "issued in the future") { scene in
      let header = scene.live.authorization(at: scene.clock.now + .hours(2)).1
      return .answer(try await scene.push(["authorization": header]))
    },
    RefusalCause(.invalidProviderToken, "a revoked key") { scene in
      let (_, bearer) = try scene.key("KEY0000001")
      scene.simulator.revokeKey("KEY0000001")
      return .answer(try await scene.push(["authorization": bearer()]))
    },
    RefusalCause(.invalidProviderToken, "a second team on one connection") { scene in
      let (_, bearer) = try scene.key("KEY0000001", team: "OTHERTEAM0")
      return .answer(try await scene.second(["authorization": bearer()]))
    },
    RefusalCause(.expiredProviderToken, "61 minutes old") { scene in
      let header = scene.live.authorization(at: scene.clock.now - .minutes(61)).1
      return .answer(try await scene.push(["authorization": header]))
    },
    RefusalCause(.expiredProviderToken, "grown old on its connection") { scene in
      let header = scene.live.authorization(at: scene.clock.now).1
      return .answer(try await scene.second(["authorization": header], after: .minutes(61)))
    },
    RefusalCause(
      .expiredProviderToken, "a fresh one after an expired one, where that spoils the connection"
    ) { scene in
      let provider = try await scene.live.provider()
      let old = scene.live.authorization(at: scene.clock.now - .minutes(61)).1
      _ = try await scene.push(["authorization": old], by: provider)
      return .answer(try await scene.push(by: provider))
    }.settingUp { $0.isWedgedByExpiredToken = true },
    RefusalCause(.tooManyProviderTokenUpdates, "a new token after 19 minutes") { scene in
      .answer(try await scene.second([:], after: .minutes(19)))
    },
    RefusalCause(.unrelatedKeyIDInToken, "a topic-specific key on a connection of a team key") { scene in
      let (_, bearer) = try scene.key(
        "KEY0000001", scope: .topics([CauseScene.bundle], .sandbox, family: "a"))
      return .answer(try await scene.second(["authorization": bearer()], after: .minutes(21), reissued: bearer))
    },
    RefusalCause(.unrelatedKeyIDInToken, "two topic-specific keys that are not related") { scene in
      let (_, first) = try scene.key("KEY0000001", scope: .topics([CauseScene.bundle], .sandbox, family: "a"))
      let (_, second) = try scene.key("KEY0000002", scope: .topics([CauseScene.bundle], .sandbox, family: "b"))
      return .answer(try await scene.second([:], first: first(), after: .minutes(21), reissued: second))
    },
    RefusalCause(.badEnvironmentKeyInToken, "a key of production in the sandbox") { scene in
      let (_, bearer) = try scene.key("KEY0000001", scope: .team(only: .production))
      return .answer(try await scene.push(["authorization": bearer()]))
    },
    RefusalCause(
      .badEnvironmentKeyIDInToken, "the same, spelt as Apple's page does"
    ) { scene in
      let (_, bearer) = try scene.key(
        "KEY0000001", scope: .topics([CauseScene.bundle], .production, family: "a"))
      return .answer(try await scene.push(["authorization": bearer()]))
    }.settingUp { $0.keyEnvironmentSpelling = .documented },
    RefusalCause(.topicDisallowed, "a topic that the key is not associated with") { scene in
      let (_, bearer) = try scene.key("KEY0000001", scope: .topics(["com.example.other"], .sandbox, family: "a"))
      return .answer(try await scene.push(["authorization": bearer()]))
    },
    RefusalCause(.forbidden, "a team whose membership is suspended") { scene in
      let team = scene.simulator.credentials.teamID
      let answer = try await scene.live.control("PUT", "/teams/\(team)", #"{"membership":"suspended"}"#)
      #expect(answer.status == 200)
      return .answer(try await scene.push())
    },
  ]

  static let certificateCauses: [RefusalCause] = [
    RefusalCause(.badCertificate, "self-signed", way: .goAway) { try await $0.connect(with: $0.selfSigned()) },
    RefusalCause(.badCertificate, "of a stranger's authority", way: .goAway) { scene in
      let stranger = try CertificateAuthority.stranger(at: scene.clock.now)
      return try await scene.connect(
        with: stranger.issuePushCertificate(bundleID: CauseScene.bundle, now: scene.clock.now))
    },
    RefusalCause(.badCertificate, "expired", way: .goAway) { scene in
      try await scene.connect(with: scene.certificate(from: scene.clock.now - .days(400)))
    },
    RefusalCause(.badCertificate, "revoked", way: .goAway) { scene in
      let identity = try scene.certificate()
      let fingerprint = identity.certificate.fingerprint
      let answer = try await scene.live.control("DELETE", "/certificates/\(fingerprint)")
      #expect(answer.status == 204)
      return try await scene.connect(with: identity)
    },
    RefusalCause(
      .badCertificate, "self-signed, with a request there before anybody is told"
    ) { try await $0.push(with: $0.selfSigned()) }.settingUp { $0.limits.firstAnswerDelay = .hours(1) },
    RefusalCause(.badCertificate, "expired on an open connection") { scene in
      let provider = try await scene.live.provider(identity: scene.certificate())
      scene.clock.advance(by: .days(366))
      return .answer(try await scene.push(["authorization": nil], by: provider))
    },
    RefusalCause(.badCertificateEnvironment, "of production in the sandbox", way: .goAway) { scene in
      try await scene.connect(with: scene.certificate(environments: [.production]))
    },
    RefusalCause(.badCertificateEnvironment, "of the sandbox in production", way: .goAway) { scene in
      try await scene.connect(
        with: scene.certificate(environments: [.sandbox]), to: scene.simulator.productionEndpoint)
    },
    RefusalCause(.badCertificateEnvironment, "of the sandbox, for one request to production") { scene in
      let provider = try await scene.live.provider(identity: scene.certificate(environments: [.sandbox]))
      return .answer(
        try await scene.push(["authorization": nil], authority: "api.push.apple.com", by: provider))
    },
    RefusalCause(
      .badCertificateEnvironment, "with a request there before anybody is told"
    ) { try await $0.push(with: $0.certificate(environments: [.production])) }.settingUp {
      $0.limits.firstAnswerDelay = .hours(1)
    },
    RefusalCause(.topicDisallowed, "a topic that the certificate does not list") { scene in
      let provider = try await scene.live.provider(identity: scene.certificate())
      return .answer(
        try await scene.push(["authorization": nil, "apns-topic": "com.example.other"], by: provider))
    },
    RefusalCause(.missingTopic, "no topic, and several in the certificate") { scene in
      let provider = try await scene.live.provider(identity: scene.certificate())
      return .answer(try await scene.push(["authorization": nil, "apns-topic": nil], by: provider))
    },
    RefusalCause(.forbidden, "the certificate's team is suspended") { scene in
      let provider = try await scene.live.provider(identity: scene.certificate())
      let team = scene.simulator.credentials.teamID
      _ = try await scene.live.control("PUT", "/teams/\(team)", #"{"membership":"suspended"}"#)
      return .answer(try await scene.push(["authorization": nil], by: provider))
    },
  ]

  static let serviceCauses: [RefusalCause] = [
    RefusalCause(.internalServerError, "a push has to wait, and the folder to keep it in is gone") { scene in
      let files = try #require(scene.simulator.credentials.files)
      _ = scene.simulator.issueToken(device: "phone", bundle: CauseScene.bundle)
      scene.simulator.courier.setOnline(device: "phone", false)
      removeFolder(String(files.authority.dropLast("/ca.pem".count)))
      return .answer(try await scene.push())
    }.settingUp { $0.dataFolder = "/tmp/belfry-cause-\(UInt64.random(in: 0...UInt64.max))" },
    RefusalCause(
      .idleTimeout, "nothing asked for too long", way: .goAway
    ) { .events(await (try await $0.live.provider()).until { $0.contains(.closed) }) }.settingUp {
      $0.limits.idleTimeout = .milliseconds(30)
    },
    RefusalCause(.shutdown, "the service stops", way: .goAway) { scene in
      let provider = try await scene.live.provider()
      await scene.live.stopSimulator()
      return .events(await provider.until { $0.contains(.closed) })
    },
    RefusalCause(.shutdown, "a request while the service stops") { .answer(try await $0.pushWhileStopping()) },
    RefusalCause(
      .serviceUnavailable, "more requests in a second than the service can do"
    ) { .answer(try await $0.push(times: 3)) }.settingUp { $0.limits.requestsPerSecond = 2 },
  ]

  @Test("each cause has its effect on the wire", arguments: causes)
  func happens(cause: RefusalCause) async throws {
    let clock = VirtualClock(now: SystemClock().now)
    let setUp: (inout APNSSimulator.Configuration) -> Void = {
      $0.clock = clock
      cause.setUp(&$0)
    }
    try await LiveScene.run(setUp) { live in
      let told = try await cause.act(CauseScene(live: live, clock: clock))
      let json = "{\"reason\":\"\(cause.reason.rawValue)\""
      switch (cause.way, told) {
      case (.answer, .answer(let answer)):
        #expect(answer?.status == cause.reason.status)
        #expect(answer?.body.hasPrefix(json) == true, "\(answer?.body ?? "nothing")")
        #expect((answer?.body.contains("\"timestamp\":") == true) == (cause.reason.status == 410))
        #expect(answer?.fields["apns-id"]?.utf8.count == 36)
        #expect(answer?.fields["apns-unique-id"] == nil && answer?.fields["retry-after"] == nil)
      case (.goAway, .events(let events)):
        #expect(events.contains(.goAway(json + "}")), "\(events)")
        #expect(events.last == .closed)
      case (.answer, .events), (.goAway, .answer): Issue.record("told in another way: \(told)")
      }
      // The provider is told one word; whoever looks for the cause is told a sentence.
      let logged = live.simulator.refusals.last
      guard ![.idleTimeout, .shutdown].contains(cause.reason) || cause.way == .answer else { return }
      #expect(logged?.refusal.reason == cause.loggedReason)
      #expect(logged?.refusal.explanation.isEmpty == false)
    }
  }

  @Test("no reason of a device push is without a cause")
  func complete() {
    #expect(Set(Self.causes.map(\.reason)) == Set(RefusalReason.allCases.filter(\.isOfDevicePushes)))
  }
}

extension RefusalCause {
  /// One reason has two spellings on the wire and one in our own log.
  fileprivate var loggedReason: RefusalReason {
    reason == .badEnvironmentKeyIDInToken ? .badEnvironmentKeyInToken : reason
  }
}

extension CauseScene {
  /// A token that is dead and told so at the next push.
  fileprivate func deadToken(_ reason: RefusalReason) async throws -> String {
    let token = simulator.issueToken(device: "lost phone", bundle: Self.bundle)
    #expect(simulator.end(token: token, reason: reason, isToldAtOnce: true))
    return token.hex
  }

  /// Two pushes on one connection, some time apart; what the second is answered. `reissued` makes its token then.
  fileprivate func second(
    _ changes: [String: String?], first: String? = nil, after time: Instant.Span = .minutes(21),
    reissued: (@Sendable () -> String)? = nil
  ) async throws -> LiveProvider.Answer? {
    let provider = try await live.provider()
    #expect(try await push(first.map { ["authorization": $0] } ?? [:], by: provider)?.status == 200)
    clock.advance(by: time)
    var changes = changes
    if let reissued { changes["authorization"] = reissued() }
    let answer = try await push(changes, by: provider)
    await provider.close()
    return answer
  }

  /// Sends one push after the notice that the service stops, before the connection ends.
  fileprivate func pushWhileStopping() async throws -> LiveProvider.Answer? {
    let provider = try await live.rawProvider()
    _ = await provider.synchronize()
    async let stopped: Void = live.stopSimulator()
    let notice = await provider.until { $0.kind == .ping }
    await provider.send(.request(1, path: "/3/device/abcd"))
    let answer = await provider.until { $0.endsStream && $0.stream == 1 }
    await provider.send(RawFrame(kind: .ping, flags: RawFrame.acknowledge, payload: notice.last?.payload ?? []))
    let rest = await provider.until { _ in false }
    await stopped
    #expect(rest.filter { $0.kind == .goAway }.map { $0.number(at: 0) } == [1])
    #expect(answer.filter { $0.stream == 1 }.map(\.kind) == [.headers, .data])
    let body = answer.last.map { String(decoding: $0.payload, as: UTF8.self) } ?? ""
    return LiveProvider.Answer(status: 503, fields: ["apns-id": String(repeating: "-", count: 36)], body: body)
  }
}
