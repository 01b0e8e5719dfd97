import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing

@Suite("What survives", .timeLimit(.minutes(1)))
struct CrashTests {
  @Test("C05 a push accepted before the process died is finished after it, each device once")
  func crashBeforeSending() async throws {
    let before = try await ServiceBench()
    let app = try await before.app()
    _ = try await before.devices(500, of: app)
    // Accepted; nothing was started, so nothing was sent.
    let receipt = try await before.service.push(app, PushOrder(audience: .everyone, alert: "a", badge: .add(1)))
    let after = try await before.afterCrash()
    try await after.service.start()
    await after.finish(receipt)
    #expect(after.sender.pushes.values.count == 500)
    #expect(Set(after.sender.pushes.values.map(\.token)).count == 500)
    await after.service.stop()
  }

  @Test("C05 what was under way is sent again under the same id and replaces itself; what was answered is not")
  func crashWhileSending() async throws {
    let before = try await ServiceBench()
    let app = try await before.app()
    _ = try await before.devices(5000, of: app)
    try await before.service.start()
    // The fourth batch is taken and never answered; the two first are answered and committed for certain.
    before.sender.answer { [sender = before.sender] _ in
      if sender.pushes.values.count > 64 + 256 { sender.hold() }
      return .accepted(uniqueID: nil)
    }
    let receipt = try await before.service.push(app, PushOrder(audience: .everyone, alert: "a", badge: .add(1)))
    let sentBefore = await before.sender.pushes.wait { $0.count >= 64 + 256 + 1024 + 1024 }

    let after = try await before.afterCrash()
    try await after.service.start()
    await after.finish(receipt)
    let sentAfter = after.sender.pushes.values
    let all = sentBefore + sentAfter
    #expect(Set(all.map(\.token)).count == 5000)
    #expect(sentAfter.count < 5000, "what was answered is not sent again")
    #expect(Set(sentAfter.map(\.token)).count == sentAfter.count)
    let again = Dictionary(grouping: all, by: \.token).values.filter { $0.count > 1 }
    #expect(!again.isEmpty)
    for pushes in again {
      #expect(pushes.count == 2)
      #expect(pushes[0] == pushes[1], "same id, collapse id, badge and bytes")
    }
    let report = try #require(try await after.service.report(app, messageID: receipt.messageID))
    #expect(report.state == .finished && report.accepted == 5000)
    before.sender.answer { _ in .accepted(uniqueID: nil) }
    before.sender.release()
    await after.service.stop()
    await before.service.stop()
  }

  @Test("what a device said before a crash is there after it, and counts once when it says so again")
  func keepsSayings() async throws {
    let before = try await ServiceBench()
    let app = try await before.app()
    let ids = try await before.devices(2, of: app)
    let receipt = try await before.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    let clicked = PushSaying(messageID: receipt.messageID, kind: .clicked)
    let first = try await before.service.note(app, registrationID: ids[0], [clicked])
    #expect(first == SayingsReceipt(counted: 1))
    let after = try await before.afterCrash()
    let again = try await after.service.note(app, registrationID: ids[0], [clicked])
    #expect(again == SayingsReceipt(repeated: 1))
    _ = try await after.service.note(app, registrationID: ids[1], [clicked])
    let report = try #require(try await after.service.report(app, messageID: receipt.messageID))
    #expect(report.clicked == 2)
  }

  @Test("stopping waits for answers and keeps them; the rest goes on after the next start")
  func stopping() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(2000, of: app)
    bench.sender.hold()
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    let sent = await bench.sender.pushes.wait { !$0.isEmpty }.count
    async let stopped: Void = bench.service.stop()
    bench.sender.release()
    await stopped
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted >= sent && report.pending == 2000 - report.accepted)
    #expect(report.accepted == bench.sender.pushes.values.count, "every answer was kept")

    let next = try await ServiceBench(bench.folder, store: bench.store, clock: bench.clock, seed: 2)
    try await next.service.start()
    await next.finish(receipt)
    #expect(next.sender.pushes.values.count == 2000 - report.accepted)
    await next.service.stop()
  }

  @Test("C04 two senders on one queue: each device once", arguments: [true, false])
  func twoSenders(sharesBus: Bool) async throws {
    let clock = VirtualClock()
    let sender = RecordingPushSender()
    let bus = InProcessBus(clock: clock)
    let one = try await ServiceBench(bus: bus, clock: clock, sender: sender)
    let two = try await ServiceBench(
      one.folder, store: one.store, bus: sharesBus ? bus : InProcessBus(clock: clock), clock: clock, sender: sender,
      seed: 2)
    let app = try await one.app()
    _ = try await one.devices(2500, of: app)
    let receipt = try await one.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    async let first: Void = one.service.start()
    async let second: Void = two.service.start()
    _ = try await (first, second)
    while true {
      let report = try #require(try await one.service.report(app, messageID: receipt.messageID))
      if report.state == .finished { break }
      await Task.yield()
    }
    #expect(sender.pushes.values.count == 2500)
    #expect(Set(sender.pushes.values.map(\.token)).count == 2500)
    await one.service.stop()
    await two.service.stop()
  }

  @Test("a bus that is full loses nothing")
  func fullBus() async throws {
    let clock = VirtualClock()
    let bench = try await ServiceBench(bus: InProcessBus(clock: clock, capacity: 3), clock: clock)
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    var receipts: [PushReceipt] = []
    for _ in 0..<20 {
      receipts.append(try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a")))
    }
    try await bench.service.start()
    for receipt in receipts { try await bench.finish(receipt, advancing: .seconds(1)) }
    #expect(bench.sender.pushes.values.count == 20)
    await bench.service.stop()
  }

  @Test("a full disk answers 1030 and leaves nothing half done; once there is room it goes on")
  func fullDisk() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(3, of: app)
    try await bench.service.start()
    try await bench.store.limitSize(bytes: 1)
    let order = PushOrder(
      audience: .everyone, alert: "a", clientID: "c", original: Array(repeating: 0x20, count: 200_000))
    let fault = try await fault { () throws(RequestFault) in try await bench.service.push(app, order) }
    #expect(fault.code == .temporarilyUnavailable && fault.code.rawValue == 1030 && fault.code.httpStatus == 503)
    #expect(try await bench.store.unfinished(after: nil, limit: 10).isEmpty)
    #expect(try await bench.store.lastPushID() == 0)
    #expect(bench.sender.pushes.values.isEmpty)
    try await bench.store.limitSize(bytes: nil)
    let receipt = try await bench.service.push(app, order)
    await bench.finish(receipt)
    #expect(bench.sender.pushes.values.count == 3)
    #expect(await bench.service.ready())
    await bench.service.stop()
  }

  @Test("message ids and expirations stay sane when the clock is set back, also over a restart")
  func clockSetBack() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    try await bench.service.start()
    var ids: [Int64] = []
    for shift in [0, -7200, 3600, -90_000] as [Int64] {
      bench.clock.set(to: bench.clock.now + .seconds(shift))
      let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", timeToLive: 300))
      await bench.finish(receipt)
      ids.append(receipt.messageID)
      #expect(bench.sender.pushes.values.last?.expiration == bench.clock.now.seconds + 300)
    }
    await bench.service.stop()
    let next = try await bench.afterCrash()
    next.clock.set(to: Instant(seconds: 1))
    try await next.service.start()
    let receipt = try await next.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    ids.append(receipt.messageID)
    #expect(ids == ids.sorted() && Set(ids).count == ids.count)
    #expect(ids.allSatisfy { String($0).count == 18 })
    await next.service.stop()
  }
}
