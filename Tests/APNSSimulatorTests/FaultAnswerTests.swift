import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

@Suite("Faults in the answer to a push, over TLS and HTTP/2", .timeLimit(.minutes(2)))
struct FaultAnswerTests {
  @Test("§8.2 every reason with its status, in one DATA frame's worth of JSON; 410 with the time")
  func everyReason() async throws {
    try await FaultScene.run { scene in
      for reason in RefusalReason.allCases {
        scene.simulator.setFaults([FaultRule("r", .refuse(reason))])
        let time = reason.status == 410 ? #","timestamp":\#(scene.clock.now.milliseconds)"# : ""
        let answer = await scene.send()
        #expect(answer?.status == reason.status && answer?.body == #"{"reason":"\#(reason.rawValue)"\#(time)}"#)
        #expect(answer?.fields["retry-after"] == nil)
      }
      let refusals = scene.simulator.refusals
      #expect(refusals.map(\.refusal.reason) == RefusalReason.allCases)
      #expect(refusals.allSatisfy { $0.refusal.explanation.hasPrefix("fault \"r\": answered") })
      #expect(scene.simulator.notifications.isEmpty)
      await scene.close()
    }
  }

  @Test(
    "what Apple never sends: 410 with another time or none, an unknown reason, HTML, Retry-After, frames of one byte",
    arguments: [
      (
        #"{"refuse":"Unregistered","timestamp":1790000000123}"#, 410,
        #"{"reason":"Unregistered","timestamp":1790000000123}"#
      ),
      (#"{"refuse":"ExpiredToken","timestamp":false}"#, 410, #"{"reason":"ExpiredToken"}"#),
      (#"{"refuse":"BrandNew","status":418}"#, 418, #"{"reason":"BrandNew"}"#),
      (#"{"answer":{"status":502,"body":"<html>","contentType":"text/html"}}"#, 502, "<html>"),
      (#"{"answer":{"status":500}}"#, 500, ""),
      (#"{"refuse":"ServiceUnavailable","retryAfter":"30"}"#, 503, #"{"reason":"ServiceUnavailable"}"#),
      (#"{"refuse":"BadTopic","split":true}"#, 400, #"{"reason":"BadTopic"}"#),
    ])
  func odd(action: String, status: Int, body: String) async throws {
    let rules = try FaultReadingTests.read("{\"action\":\(action)}")
    try await FaultScene.run(rules) { scene in
      let answer = await scene.send()
      #expect(answer?.status == status && answer?.body == body)
      #expect(answer?.fields["retry-after"] == (action.contains("retryAfter") ? "30" : nil))
      #expect(answer?.fields["content-type"] == (action.contains("html") ? "text/html" : nil))
      await scene.close()
    }
  }

  @Test("a delay holds answers back by the simulator's clock, and they overtake each other")
  func delays() async throws {
    let other = String(repeating: "cd", count: 32)
    func held(_ id: String, _ token: String, _ seconds: Int64) -> FaultRule {
      var answer = FaultAction.Answer()
      answer.delay = .seconds(seconds)
      return FaultRule(id, .answer(answer), when: .with { $0.tokens = [bytes(fromHex: token.utf8) ?? []] })
    }
    try await FaultScene.run { scene in
      await scene.warmUp()
      scene.simulator.setFaults([held("slow", scene.token, 20), held("quick", other, 10)])
      let order = Locked<[String]>([])
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          #expect(await scene.send()?.status == 200)
          order.withLock { $0.append("slow") }
        }
        #expect(await eventually { scene.simulator.appliedFaults.count == 1 })
        group.addTask {
          #expect(await scene.send(other)?.body == #"{"reason":"BadDeviceToken"}"#)
          order.withLock { $0.append("quick") }
        }
        #expect(await eventually { scene.simulator.appliedFaults.count == 2 && scene.clock.sleeperCount == 1 })
        #expect(order.withLock { $0 } == [], "time stands still")
        scene.clock.advance(by: .seconds(10))
        #expect(await eventually { order.withLock { $0 } == ["quick"] && scene.clock.sleeperCount == 1 })
        scene.clock.advance(by: .seconds(10))
      }
      #expect(order.withLock { $0 } == ["quick", "slow"])
      await scene.close()
    }
  }

  @Test("jitter answers out of order, the same way for the same seed")
  func jitter() async throws {
    var answer = FaultAction.Answer()
    answer.jitter = .seconds(60)
    func order() async throws -> [Int32] {
      let order = Locked<[Int32]>([])
      try await FaultScene.run { scene in
        await scene.warmUp()
        scene.simulator.setFaults([FaultRule("jitter", .answer(answer))])
        await withTaskGroup(of: Void.self) { group in
          for number in 1...12 {
            group.addTask { _ = await scene.send() }
            #expect(await eventually { scene.simulator.appliedFaults.count == number })
          }
          #expect(await eventually { scene.clock.sleeperCount == 1 })
          scene.clock.advance(by: .seconds(60))
        }
        let answered = await scene.provider.answered
        order.withLock { $0 = Array(answered.dropFirst()) }
        await scene.close()
      }
      return order.withLock { $0 }
    }
    let first = try await order()
    #expect(first != first.sorted() && Set(first).count == 12)
    let second = try await order()
    #expect(first == second)
  }

  @Test("accepted but never delivered; refused, unanswered or reset though delivered: the log says which rule did it")
  func delivery() async throws {
    try await FaultScene.run { scene in
      let got = Locked(0)
      scene.simulator.courier.connect(device: "phone") { _ in got.withLock { $0 += 1 } }
      func set(_ action: String) throws {
        scene.simulator.setFaults(try FaultReadingTests.read("{\"id\":\"mine\",\"action\":\(action)}"))
      }
      try set(#"{"deliver":false}"#)
      #expect(await scene.send()?.status == 200)
      let lost = try #require(scene.simulator.notifications.last)
      #expect(got.withLock { $0 } == 0 && lost.remarks == ["fault \"mine\": never delivered"])
      #expect(lost.fate == .dropped(scene.clock.now, "fault \"mine\": never delivered"))
      try set(#"{"refuse":"InternalServerError","deliver":true}"#)
      #expect(await scene.send()?.body == #"{"reason":"InternalServerError"}"#)
      #expect(got.withLock { $0 } == 1)
      try set(#"{"resetStream":"INTERNAL_ERROR","deliver":true}"#)
      #expect(await scene.send() == nil)
      #expect(got.withLock { $0 } == 2)
      #expect(await scene.provider.resets.values.map(\.rawValue) == [2])
      try set(#"{"resetStream":"REFUSED_STREAM"}"#)
      #expect(await scene.send() == nil)
      #expect(await scene.provider.resets.values.map(\.rawValue).sorted() == [2, 7])
      #expect(got.withLock { $0 } == 2 && scene.simulator.notifications.count == 3)
      #expect(scene.simulator.appliedFaults.map(\.rule) == ["mine", "mine", "mine", "mine"])
      await scene.close()
    }
  }

  @Test("no answer for one stream; the others go on, and its push may have arrived")
  func noAnswer() async throws {
    try await FaultScene.run { scene in
      await scene.warmUp()
      var answer = FaultAction.Answer(.none)
      answer.delivers = true
      scene.simulator.setFaults([FaultRule("silence", .answer(answer), limit: 1)])
      async let unanswered = scene.send()
      #expect(await eventually { scene.simulator.appliedFaults.count == 1 })
      for _ in 0..<5 { #expect(await scene.send()?.status == 200) }
      #expect(scene.simulator.notifications.count == 7)
      await scene.close()
      #expect(await unanswered == nil)
    }
  }

  @Test("the same seed and the same order of requests give the same faults; another seed others")
  func repeatable() async throws {
    let rules = [FaultRule("some", .refuse(.serviceUnavailable), when: .with { $0.rate = 0.3 })]
    func answers(_ seed: UInt64) async throws -> [Int] {
      let statuses = Locked<[Int]>([])
      try await FaultScene.run(rules, seed: seed) { scene in
        for _ in 0..<40 {
          let status = await scene.send()?.status ?? 0
          statuses.withLock { $0.append(status) }
        }
        await scene.close()
      }
      return statuses.withLock { $0 }
    }
    let first = try await answers(7)
    #expect(Set(first) == [200, 503])
    #expect(try await answers(7) == first)
    #expect(try await answers(8) != first)
  }

  @Test("a refusal by fault leaves the provider's proof as it is: many streams follow the first valid token")
  func trust() async throws {
    try await FaultScene.run([FaultRule("busy", .refuse(.serviceUnavailable))]) { scene in
      #expect(await scene.send()?.status == 503)
      #expect(await scene.provider.until { $0.contains(.settings(1000)) }.contains(.settings(1000)))
      await scene.close()
    }
  }
}
