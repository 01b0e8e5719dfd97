import Basics
import Delivery
import PushPayload
import Testing

@Suite("Trying again")
struct RetryPolicyTests {
  static let now = Instant(seconds: 1_796_000_000)

  enum Expected: Sendable {
    case refused, atOnce
    case between(Int64, Int64)
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var reason: RefusalReason
    var status: Int
    var expected: Expected
    var ends: Bool
    var testDescription: String { "\(status) \(reason.rawValue)" }
    init(_ status: Int, _ reason: RefusalReason, _ expected: Expected, endsConnection: Bool = false) {
      self.status = status
      self.reason = reason
      self.expected = expected
      ends = endsConnection
    }
  }

  /// Every reason of Apple's tables ("Handling notification responses from APNs", and that of broadcasts, which ends
  /// the list) and what a first refusal leads to.
  static let rows: [Row] = [
    Row(400, .badCollapseID, .refused),
    Row(400, .badDeviceToken, .refused),
    Row(400, .badExpirationDate, .refused),
    Row(400, .badMessageID, .refused),
    Row(400, .badPriority, .refused),
    Row(400, .badTopic, .refused),
    Row(400, .deviceTokenNotForTopic, .refused),
    Row(400, .duplicateHeaders, .refused),
    Row(400, .idleTimeout, .atOnce, endsConnection: true),
    Row(400, .invalidPushType, .refused),
    Row(400, .missingDeviceToken, .refused),
    Row(400, .missingTopic, .refused),
    Row(400, .payloadEmpty, .refused),
    Row(400, .topicDisallowed, .refused),
    Row(403, .badCertificate, .atOnce, endsConnection: true),
    Row(403, .badCertificateEnvironment, .atOnce, endsConnection: true),
    Row(403, .expiredProviderToken, .atOnce, endsConnection: true),
    Row(403, .forbidden, .refused),
    Row(403, .invalidProviderToken, .atOnce, endsConnection: true),
    Row(403, .missingProviderToken, .atOnce, endsConnection: true),
    Row(403, .unrelatedKeyIDInToken, .atOnce, endsConnection: true),
    Row(403, .badEnvironmentKeyIDInToken, .atOnce, endsConnection: true),
    Row(403, .badEnvironmentKeyInToken, .atOnce, endsConnection: true),
    Row(404, .badPath, .refused),
    Row(405, .methodNotAllowed, .refused),
    Row(410, .expiredToken, .refused),
    Row(410, .unregistered, .refused),
    Row(413, .payloadTooLarge, .refused),
    Row(429, .tooManyProviderTokenUpdates, .between(500, 1000), endsConnection: true),
    Row(429, .tooManyRequests, .between(2500, 5000)),
    Row(500, .internalServerError, .between(500, 1000)),
    Row(503, .serviceUnavailable, .between(500, 1000)),
    Row(503, .shutdown, .atOnce, endsConnection: true),
    Row(400, .featureNotEnabled, .refused),
    Row(400, .missingChannelID, .refused),
    Row(400, .badChannelID, .refused),
    Row(400, .channelNotRegistered, .refused),
    Row(400, .badRequestParams, .refused),
    Row(400, .badRequestPayload, .refused),
    Row(400, .missingPushType, .refused),
    Row(400, .cannotCreateChannelConfig, .refused),
    Row(400, .missingChannelQueueSize, .refused),
    Row(403, .topicMismatch, .refused),
  ]

  @Test("every reason has its row")
  func complete() {
    #expect(Set(Self.rows.map(\.reason)) == Set(RefusalReason.allCases))
    #expect(Self.rows.allSatisfy { $0.status == $0.reason.status })
    for reason in RefusalReason.allCases {
      #expect(reason.meaning.hasSuffix(".") && reason.remedy.hasSuffix("."), "\(reason) is told in sentences")
      #expect(reason.isOfDevicePushes || reason.isOfChannels)
    }
  }

  @Test("follows the reason", arguments: rows)
  func followsReason(row: Row) {
    let refusal = PushOutcome.Refusal(status: row.status, reason: row.reason.rawValue, since: nil)
    var tries = RetryPolicy.Tries()
    var dice = Dice(seed: 7)
    let verdict = RetryPolicy().judge(.refused(refusal), &tries, at: Self.now, dice: &dice)
    switch row.expected {
    case .refused: #expect(verdict == .end(.refused(refusal)))
    case .atOnce: #expect(verdict == .again(after: .seconds(0)))
    case .between(let least, let most):
      guard case .again(let delay) = verdict else {
        Issue.record("\(verdict)")
        return
      }
      #expect((least...most).contains(delay.milliseconds))
    }
    #expect(
      [.elsewhere, .laterElsewhere, .newToken, .credential].contains(row.reason.handling) == row.ends,
      "whether the connection is used again")
  }

  @Test(
    "an unknown reason is kept and handled by its status",
    arguments: [
      (400, RefusalReason.Handling.fix), (403, .fix), (410, .dead), (418, .fix), (408, .later), (429, .later),
      (500, .later), (502, .later), (599, .later), (301, .fix),
    ])
  func unknown(status: Int, handling: RefusalReason.Handling) {
    let refusal = PushOutcome.Refusal(status: status, reason: "NotYetInvented", since: nil)
    #expect(refusal.known == nil)
    #expect(refusal.handling == handling)
  }

  @Test("delays double by chance up to half less, then the attempts run out")
  func runsOut() {
    let unavailable = PushOutcome.Refusal(status: 503, reason: "ServiceUnavailable", since: nil)
    var tries = RetryPolicy.Tries()
    var dice = Dice(seed: 3)
    for attempt in 1..<8 {
      guard case .again(let delay) = RetryPolicy().judge(.refused(unavailable), &tries, at: Self.now, dice: &dice)
      else {
        Issue.record("ended at attempt \(attempt)")
        return
      }
      let full = min(60_000, Int64(1000) << Int64(attempt - 1))
      #expect((full / 2...full).contains(delay.milliseconds))
    }
    #expect(
      RetryPolicy().judge(.refused(unavailable), &tries, at: Self.now, dice: &dice)
        == .end(.unanswered(.retriesExhausted("503 ServiceUnavailable, after 8 attempts"))))
  }

  @Test(
    "of a 5xx waits at least 15 minutes, doubling, where the setting follows Apple's page of 2026",
    arguments: [(500, "InternalServerError"), (503, "ServiceUnavailable"), (502, "")])
  func serverFaultsAsDocumented(status: Int, reason: String) {
    var settings = RetryPolicy.Settings()
    settings.serverFaults = .asDocumented
    let policy = RetryPolicy(settings)
    let refusal = PushOutcome.Refusal(status: status, reason: reason, since: nil)
    for seed in 0..<20 as Range<UInt64> {
      var tries = RetryPolicy.Tries()
      var dice = Dice(seed: seed)
      var minutes: [Int64] = []
      while case .again(let delay) = policy.judge(.refused(refusal), &tries, at: Self.now, dice: &dice) {
        minutes.append(delay.milliseconds / 60_000)
      }
      #expect(minutes.count == 7)
      for (minute, least) in zip(minutes, [15, 30, 60, 120, 120, 120, 120] as [Int64]) {
        #expect((least...least * 2).contains(minute))
      }
    }
  }

  @Test("the setting for 5xx moves no other reason, and what has an expiration before then ends at once")
  func serverFaultsOnly() {
    var settings = RetryPolicy.Settings()
    settings.serverFaults = .after(.minutes(15))
    func verdict(_ reason: RefusalReason, expiration: Int64? = nil) -> RetryPolicy.Verdict {
      var (tries, dice) = (RetryPolicy.Tries(expiration: expiration), Dice(seed: 7))
      let refusal = PushOutcome.Refusal(status: reason.status, reason: reason.rawValue, since: nil)
      return RetryPolicy(settings).judge(.refused(refusal), &tries, at: Self.now, dice: &dice)
    }
    #expect(verdict(.shutdown) == .again(after: .seconds(0)))
    #expect(verdict(.serviceUnavailable, expiration: Self.now.seconds + 600) == .end(.unanswered(.expired)))
    for reason in [RefusalReason.tooManyRequests, .tooManyProviderTokenUpdates] {
      guard case .again(let delay) = verdict(reason) else {
        Issue.record("\(reason) ended")
        continue
      }
      #expect(delay <= .seconds(5))
    }
  }

  @Test("is never done past the expiration")
  func neverPastExpiration() {
    let unavailable = PushOutcome.Refusal(status: 503, reason: "ServiceUnavailable", since: nil)
    for seed in 0..<100 as Range<UInt64> {
      var dice = Dice(seed: seed)
      let life = Int64.random(in: 1...90, using: &dice)
      var tries = RetryPolicy.Tries(expiration: Self.now.seconds + life)
      var now = Self.now
      while true {
        let verdict = RetryPolicy().judge(.refused(unavailable), &tries, at: now, dice: &dice)
        guard case .again(let delay) = verdict else {
          #expect(verdict == .end(.unanswered(.expired)) || tries.attempts == 8)
          break
        }
        now = now + delay
        #expect(now < Instant(seconds: Self.now.seconds + life))
      }
    }
  }

  @Test("with expiration 0 is done only for what was not looked at, and at once")
  func once() {
    var dice = Dice(seed: 3)
    var tries = RetryPolicy.Tries(expiration: 0)
    #expect(!tries.isExpired(at: Self.now), "the one attempt is made")
    for _ in 0..<4 {
      #expect(
        RetryPolicy().judge(.unprocessed("GOAWAY"), &tries, at: Self.now, dice: &dice) == .again(after: .seconds(0)))
    }
    #expect(
      RetryPolicy().judge(.unprocessed("GOAWAY"), &tries, at: Self.now, dice: &dice) == .end(.unanswered(.expired)))
    tries = RetryPolicy.Tries(expiration: 0)
    #expect(RetryPolicy().judge(.unanswered("lost"), &tries, at: Self.now, dice: &dice) == .end(.unanswered(.expired)))
  }

  @Test("goes at once after a lost connection, then waits")
  func lostConnection() {
    var dice = Dice(seed: 3)
    var tries = RetryPolicy.Tries()
    #expect(RetryPolicy().judge(.unanswered("lost"), &tries, at: Self.now, dice: &dice) == .again(after: .seconds(0)))
    guard case .again(let delay) = RetryPolicy().judge(.unanswered("lost"), &tries, at: Self.now, dice: &dice) else {
      Issue.record("ended")
      return
    }
    #expect((500...1000).contains(delay.milliseconds))
  }

  @Test("of what APNs never looks at ends too")
  func bouncesEnd() {
    var dice = Dice(seed: 3)
    var tries = RetryPolicy.Tries()
    var verdicts: [RetryPolicy.Verdict] = []
    repeat {
      verdicts.append(RetryPolicy().judge(.unprocessed("stream refused"), &tries, at: Self.now, dice: &dice))
    } while verdicts.count < 100 && verdicts.last != .end(.unanswered(.retriesExhausted("stream refused, 25 times")))
    #expect(verdicts.count == 25)
  }
}

@Suite("An answer of APNs")
struct AnswerTests {
  static func refused(_ status: Int, _ reason: String, since: Int64? = nil) -> Answer {
    .refused(.init(status: status, reason: reason, since: since.map(Instant.init(milliseconds:))))
  }

  static let rows: [(Int, String, Answer)] = [
    (200, "", .accepted(uniqueID: nil)),
    (400, #"{"reason":"BadDeviceToken"}"#, refused(400, "BadDeviceToken")),
    (
      410, #"{"reason":"Unregistered","timestamp":1796000000123}"#,
      refused(410, "Unregistered", since: 1_796_000_000_123)
    ),
    (
      410, #"{"timestamp":1796000000123.0,"reason":"ExpiredToken"}"#,
      refused(410, "ExpiredToken", since: 1_796_000_000_123)
    ),
    (410, #"{"reason":"Unregistered"}"#, refused(410, "Unregistered")),
    (410, #"{"reason":"Unregistered","timestamp":"soon"}"#, refused(410, "Unregistered")),
    (410, #"{"reason":"Unregistered","timestamp":1e300}"#, refused(410, "Unregistered")),
    (400, #"{"reason":"BadDeviceToken","timestamp":1796000000123}"#, refused(400, "BadDeviceToken")),
    (499, #"{"reason":"NotYetInvented","more":[1]}"#, refused(499, "NotYetInvented")),
    (503, "<html>Bad gateway</html>", refused(503, "")),
    (500, "", refused(500, "")),
    (400, #"["reason"]"#, refused(400, "")),
    (400, #"{"reason":7}"#, refused(400, "")),
  ]

  @Test("is read whatever its body looks like", arguments: rows)
  func reads(status: Int, body: String, answer: Answer) {
    #expect(Answer(status: status, body: Array(body.utf8)) == answer)
  }

  @Test("retires a token by evidence only")
  func retires() {
    let registered = Instant(seconds: 1000)
    func retires(_ status: Int, _ reason: String, _ since: Int64?) -> Bool {
      PushOutcome.Refusal(status: status, reason: reason, since: since.map { Instant(seconds: $0) })
        .retires(tokenRegisteredAt: registered)
    }
    #expect(retires(410, "Unregistered", 1001))
    #expect(retires(410, "ExpiredToken", 1000))
    #expect(!retires(410, "Unregistered", 999), "registered again since")
    #expect(retires(410, "Unregistered", nil))
    #expect(retires(400, "BadDeviceToken", nil))
    #expect(!retires(400, "DeviceTokenNotForTopic", nil), "C37")
    #expect(!retires(400, "TopicDisallowed", nil), "C37")
    #expect(!retires(403, "InvalidProviderToken", nil), "C26")
    #expect(!retires(503, "ServiceUnavailable", nil))
  }

  @Test("GOAWAY may carry a reason, text or nothing")
  func goAway() {
    #expect(Answer.reason(inGoAway: Array(#"{"reason":"Shutdown"}"#.utf8)) == "Shutdown")
    #expect(Answer.reason(inGoAway: Array("Connection stream limit exceeded".utf8)) == nil)
    #expect(Answer.reason(inGoAway: []) == nil)
  }
}
