import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import PushPayload
import PushService
import Store
import Testing

@Suite("Pushes that are paused, withdrawn, or sent slowly", .timeLimit(.minutes(1)))
struct ControlTests {
  /// A push to many whose first batches are with APNs, unanswered.
  private func begin(_ count: Int = 3000) async throws -> (ServiceBench, AppRecord, PushReceipt) {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(count, of: app)
    bench.sender.hold()
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", timeToLive: 3600))
    _ = await bench.sender.received(64)
    return (bench, app, receipt)
  }

  private func report(_ bench: ServiceBench, _ app: AppRecord, _ receipt: PushReceipt) async throws -> PushReport {
    try #require(try await bench.service.report(app, messageID: receipt.messageID))
  }

  @Test("withdrawn: what was in flight ends by its answer, nothing is sent after, and the rest is told as withdrawn")
  func withdrawn() async throws {
    let (bench, app, receipt) = try await begin()
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .withdrawn) == .done)
    bench.sender.release()
    try await bench.finish(receipt, advancing: .seconds(1))
    let sent = bench.sender.pushes.values.count
    #expect(sent == 64)
    let report = try await report(bench, app, receipt)
    #expect(report.state == .withdrawn && report.accepted == sent && report.withdrawn == 3000 - sent)
    #expect(report.pending == 0 && report.finishedAt != nil)
    #expect(bench.outcomes == ["accepted": sent, "withdrawn": 3000 - sent])
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .withdrawn) == .done, "twice is once")
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .running) == .withdrawn)
    await bench.service.stop()
  }

  @Test("paused: nothing leaves, also after a crash; resumed it goes on, each device once")
  func paused() async throws {
    let (bench, app, receipt) = try await begin()
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .paused) == .done)
    bench.sender.release()
    for _ in 0..<2000 where try await report(bench, app, receipt).accepted < 64 {
      try await Task.sleep(for: .milliseconds(1))
    }
    let after = try await bench.afterCrash()
    await bench.service.stop()
    #expect(bench.sender.pushes.values.count == 64)
    try await after.service.start()
    for _ in 0..<20 {
      after.clock.advance(by: .seconds(30))
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(after.sender.pushes.values.isEmpty)
    #expect(try await report(after, app, receipt).state == .paused)
    #expect(try await after.service.control(app, messageID: receipt.messageID, .running) == .done)
    try await after.finish(receipt, advancing: .milliseconds(1))
    #expect(after.sender.pushes.values.count == 3000 - 64)
    #expect(try await report(after, app, receipt).state == .finished)
    await after.service.stop()
  }

  @Test("its time to live runs while it is paused, and ends it")
  func expires() async throws {
    let (bench, app, receipt) = try await begin()
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .paused) == .done)
    bench.sender.release()
    try await bench.finish(receipt, advancing: .minutes(5))
    let report = try await report(bench, app, receipt)
    #expect(report.accepted == 64 && report.expired == 3000 - 64 && report.state == .finished)
    #expect(report.finishedAt.map { $0 >= receipt.acceptedAt(bench) + .seconds(3600) } == true)
    await bench.service.stop()
  }

  @Test("a push that was withdrawn before anything left sends nothing, and explains itself")
  func before() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(3, of: app)
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", badge: .add(1)))
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .withdrawn) == .done)
    try await bench.service.start()
    await bench.finish(receipt)
    #expect(bench.sender.pushes.values.isEmpty)
    #expect(try await bench.service.device(app, registrationID: ids[0]).badge == 0)
    let explained = try #require(
      try await bench.service.explain(app, messageID: receipt.messageID, registrationID: ids[0]))
    #expect(explained.outcome == .withdrawn)
    #expect(explained.decisions.last?.words == "not sent: the push was withdrawn before")
    await bench.service.stop()
  }

  @Test("over two minutes: evenly, and over a restart", arguments: [false, true])
  func slowly(restarts: Bool) async throws {
    var bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(240, of: app)
    try await bench.service.start()
    let start = bench.clock.now
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", rate: .over(minutes: 2)))
    var before: [OutgoingPush] = []
    func sent() -> Int { Set((before + bench.sender.pushes.values).map(\.token)).count }
    for second in 0..<120 {
      if restarts, second == 60 {
        let after = try await bench.afterCrash()
        await bench.service.stop()
        before = bench.sender.pushes.values
        bench = after
        try await bench.service.start()
      }
      let due = min(240, second * 2 + 1)
      while try await report(bench, app, receipt).accepted < due { try await Task.sleep(for: .milliseconds(1)) }
      #expect(sent() == due, "after \(second) s")
      bench.clock.advance(by: .seconds(1))
    }
    await bench.finish(receipt)
    #expect(sent() == 240 && bench.clock.now - start == .minutes(2))
    #expect(bench.sender.pushes.values.allSatisfy { $0.expiration == start.seconds + 86_400 + 120 })
    await bench.service.stop()
  }

  @Test("so many a second")
  func perSecond() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(500, of: app)
    try await bench.service.start()
    let start = bench.clock.now
    let receipt = try await bench.service.push(
      app, PushOrder(audience: .everyone, alert: "a", rate: .perSecond(100)))
    try await bench.finish(receipt, advancing: .milliseconds(100))
    let took = bench.clock.now - start
    #expect(took >= .milliseconds(4900), "\(took.text)")
    #expect(Set(bench.sender.pushes.values.map(\.token)).count == 500)
    await bench.service.stop()
  }

  @Test("twenty slow pushes at once; another is 1012 and not kept, and one withdrawn makes room")
  func limit() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(2, of: app)
    try await bench.service.start()
    let order = PushOrder(audience: .everyone, alert: "a", rate: .over(minutes: 1400))
    var first: PushReceipt?
    for _ in 0..<20 {
      let receipt = try await bench.service.push(app, order)
      first = first ?? receipt
    }
    let fault = try await fault { () throws(RequestFault) in try await bench.service.push(app, order) }
    #expect(fault.code == .overLimit && fault.place == "options.big_push_duration")
    let receipt = try #require(first)
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .withdrawn) == .done)
    try await bench.finish(receipt, advancing: .milliseconds(1))
    _ = try await bench.service.push(app, order)
    await bench.service.stop()
  }
}

extension PushReceipt {
  /// The id's first digits are the time.
  fileprivate func acceptedAt(_ bench: ServiceBench) -> Instant { Instant(milliseconds: messageID / 100_000) }
}
