import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Store
import Testing

@Suite("Pushes to broadcast channels", .timeLimit(.minutes(1)))
struct BroadcastTests {
  private static let down = BroadcastFault(.unavailable, meaning: "No answer.", remedy: "Later.")

  private static func order(
    on channel: String, goals: Int = 1, timeToLive: Int64? = nil, key: String? = nil
  ) -> PushOrder {
    var order = PushOrder(audience: .everyone, timeToLive: timeToLive, clientID: key)
    let update = LiveActivityPush.update(contentState: ["goals": .number(JSONNumber(goals))], at: Instant(seconds: 0))
    order.special = .broadcast(LiveActivityContent(update), channel: channel)
    return order
  }

  private static func report(_ bench: ServiceBench, _ app: AppRecord, _ receipt: PushReceipt) async throws -> PushReport
  {
    try #require(try await bench.service.report(app, messageID: receipt.messageID))
  }

  @Test("accepted while APNs is down, it goes when APNs is there again: once, also after the process died")
  func retried() async throws {
    let before = try await ServiceBench()
    let app = try await before.app()
    let channel = try await before.channels.createChannel(.newest)
    before.channels.refuse(Self.down)
    try await before.service.start()
    let order = Self.order(on: channel, key: "key:1")
    let receipt = try await before.service.push(app, order)
    #expect(receipt.targeted == 1)
    #expect(try await before.service.push(app, order).isRepeated)
    for _ in 0..<20 {
      before.clock.advance(by: .seconds(30))
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(try await Self.report(before, app, receipt).pending == 1)

    let after = try await before.afterCrash()
    _ = try await after.channels.createChannel(.newest)  // APNs has the same
    try await after.service.start()
    await after.finish(receipt)
    let sent = after.channels.sent.values
    #expect(sent.map(\.channel) == [channel] && sent.map(\.expiration) == [after.clock.now.seconds + 8 * 3600])
    let report = try await Self.report(after, app, receipt)
    #expect(report.accepted == 1 && report.state == .finished && report.isOfLiveActivity)
    #expect(report.broadcast?.channel == channel && report.broadcast?.requestID == sent[0].id)
    #expect(after.sender.pushes.values.isEmpty)
    await after.service.stop()
    await before.service.stop()
  }

  @Test("what APNs refuses ends with its word; what a credential is refused for waits, with its reason, and goes on")
  func refused() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    try await bench.service.start()
    let unknown = try await bench.service.push(app, Self.order(on: "QQ=="))
    await bench.finish(unknown)
    #expect(try await Self.report(bench, app, unknown).refused.map(\.reason) == ["ChannelNotRegistered"])

    let channel = try await bench.channels.createChannel(.nothing)
    let kept = try await bench.service.push(app, Self.order(on: channel, timeToLive: 60))
    await bench.finish(kept)
    #expect(try await Self.report(bench, app, kept).refused.map(\.reason) == ["BadExpirationDate"])

    bench.channels.refuse(BroadcastFault(.held, meaning: "The key was refused.", remedy: "Mend it."))
    let held = try await bench.service.push(app, Self.order(on: channel))
    #expect(
      await eventually {
        (try? await Self.report(bench, app, held).state) == .waiting(reason: "The key was refused.")
      })
    bench.channels.refuse(nil)
    try await bench.finish(held, resuming: true)
    #expect(bench.channels.sent.values.map(\.expiration) == [0], "a channel that keeps nothing")
    await bench.service.stop()
  }

  @Test("it expires, is withdrawn and is overtaken as a push to devices is")
  func ends() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let channel = try await bench.channels.createChannel(.newest)
    bench.channels.refuse(Self.down)
    try await bench.service.start()
    let expiring = try await bench.service.push(app, Self.order(on: channel, timeToLive: 3600))
    try await bench.finish(expiring, advancing: .minutes(5))
    #expect(try await Self.report(bench, app, expiring).expired == 1)

    let withdrawn = try await bench.service.push(app, Self.order(on: channel))
    #expect(try await bench.service.withdrawAndClear(app, messageID: withdrawn.messageID) == .done)
    try await bench.finish(withdrawn, advancing: .seconds(30))
    #expect(try await Self.report(bench, app, withdrawn).withdrawn == 1)

    let paused = try await bench.service.push(app, Self.order(on: channel, goals: 1))
    #expect(try await bench.service.control(app, messageID: paused.messageID, .paused) == .done)
    bench.channels.refuse(nil)
    let later = try await bench.service.push(app, Self.order(on: channel, goals: 2))
    await bench.finish(later)
    #expect(try await bench.service.control(app, messageID: paused.messageID, .running) == .done)
    try await bench.finish(paused, advancing: .seconds(30))
    #expect(try await Self.report(bench, app, paused).skipped == 1, "the channel has the newer one")
    #expect(bench.channels.sent.values.count == 1)

    let device = try await bench.devices(1, of: app)[0]
    let why = try #require(
      try await bench.service.explain(app, messageID: later.messageID, registrationID: device))
    #expect(why.outcome == .notTargeted && why.decisions[1].words.contains("only APNs knows"), "\(why.decisions)")
    await bench.service.stop()
  }

  @Test("what no phone would take is refused at once")
  func invalid() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    var order = Self.order(on: "QQ==")
    let large = LiveActivityPush.update(
      contentState: ["text": .string(String(repeating: "x", count: 5200))], at: Instant(seconds: 0))
    order.special = .broadcast(LiveActivityContent(large), channel: "QQ==")
    #expect(
      try await fault { () throws(RequestFault) in try await bench.service.push(app, order) }.found.contains("5120"))
  }
}
