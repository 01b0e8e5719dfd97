import Audience
import Basics
import BelfryTesting
import PushPayload
import PushService
import Store
import Testing

@Suite("Removing what is old while the service runs", .timeLimit(.minutes(1)))
struct RetentionTests {
  /// Lets hours pass, each with what the role has to do in it.
  private func pass(_ hours: Int, _ bench: ServiceBench) async throws {
    for _ in 0..<hours {
      bench.clock.advance(by: .hours(1))
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  @Test(
    "a push goes 90 days after its end and no sooner, by a clock that runs on or that is set", arguments: [false, true])
  func pushes(isSet: Bool) async throws {
    let bench = try await ServiceBench(retention: Retention())
    let app = try await bench.app()
    let ids = try await bench.devices(3, of: app)
    try await bench.service.start()
    let old = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "old"))
    await bench.finish(old)
    func isThere(_ receipt: PushReceipt) async throws -> Bool {
      try await bench.service.report(app, messageID: receipt.messageID) != nil
    }
    if isSet { bench.clock.set(to: bench.clock.now + .days(89)) } else { bench.clock.advance(by: .days(89)) }
    let late = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "late"))
    await bench.finish(late)
    try await pass(3, bench)
    #expect(try await isThere(old))
    if isSet { bench.clock.set(to: bench.clock.now + .days(1)) } else { bench.clock.advance(by: .days(1)) }
    #expect(
      await eventually {
        try? await pass(1, bench)
        return (try? await isThere(old)) == false
      })
    #expect(try await isThere(late), "it is a day old")
    let explained = try await bench.service.explain(app, messageID: old.messageID, registrationID: ids[0])
    #expect(explained == nil)
    // the service went on meanwhile
    await bench.finish(try await bench.service.push(app, PushOrder(audience: .everyone, alert: "new")))
    await bench.service.stop()
  }

  @Test("the clock set back removes nothing; 0 days keep for ever")
  func kept() async throws {
    var forever = Retention()
    forever.pushes = nil
    for retention in [Retention(), forever] {
      let bench = try await ServiceBench(retention: retention)
      let app = try await bench.app()
      _ = try await bench.devices(1, of: app)
      try await bench.service.start()
      let first = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
      await bench.finish(first)
      let second = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "b"))
      await bench.finish(second)
      let shift = Instant.Span.days(400)
      bench.clock.set(to: retention.pushes == nil ? bench.clock.now + shift : bench.clock.now - shift)
      try await pass(5, bench)
      #expect(try await bench.service.report(app, messageID: first.messageID) != nil)
      await bench.service.stop()
    }
  }
}
