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

@Suite("Badges are counted at the server", .timeLimit(.minutes(1)))
struct BadgeTests {
  @Test("C07 +1 five times, reset by the app between the third and the fourth: 1 2 3 1 2")
  func counting() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.start()
    for number in 1...5 {
      let order = PushOrder(audience: .registrationID(id), alert: "a", badge: .add(1))
      await bench.finish(try await bench.service.push(app, order))
      if number == 3 {
        try await bench.service.changeDevice(app, registrationID: id, DeviceChange(badge: 0))
      }
    }
    let badges = try bench.sender.pushes.values.map { push in
      try JSONReader.read(push.payload).value.object?["aps"]?.object?["badge"]?.number?.int64
    }
    #expect(badges == [1, 2, 3, 1, 2])
    await bench.service.stop()
  }

  @Test("absent leaves it alone, 0 clears it, and it never goes below")
  func forms() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.start()
    let rows: [(BadgeChange?, Int64?, Int)] = [
      (.set(7), 7, 7), (nil, nil, 7), (.add(-3), 4, 4), (.add(-9), 0, 0), (.add(2), 2, 2), (.set(0), 0, 0),
    ]
    for (change, shown, kept) in rows {
      let order = PushOrder(audience: .everyone, alert: "a", badge: change)
      await bench.finish(try await bench.service.push(app, order))
      let push = try #require(bench.sender.pushes.values.last)
      let aps = try JSONReader.read(push.payload).value.object?["aps"]?.object
      #expect(aps?["badge"]?.number?.int64 == shown)
      #expect(try await bench.service.device(app, registrationID: id).badge == kept)
    }
    await bench.service.stop()
  }

  private func badges(_ bench: ServiceBench, _ app: AppRecord, _ ids: [String]) async throws -> [Int] {
    var badges: [Int] = []
    for id in ids { badges.append(try await bench.service.device(app, registrationID: id).badge) }
    return badges
  }

  @Test("withdrawn while a batch was with APNs and the next was claimed: who was never sent to is not counted")
  func withdrawn() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(400, of: app)
    bench.sender.hold()
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", badge: .add(1)))
    _ = await bench.sender.received(64)
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .withdrawn) == .done)
    bench.sender.release()
    try await bench.finish(receipt, advancing: .seconds(1))
    let sent = Set(bench.sender.pushes.values.map(\.token))
    #expect(sent.count == 64)
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 64 && report.withdrawn == 336)
    for (number, badge) in try await badges(bench, app, ids).enumerated() {
      #expect(badge == (sent.contains(StoreSamples.token(number)) ? 1 : 0), "device \(number)")
    }
    await bench.service.stop()
  }

  @Test("paused in the middle, resumed, and told by the app meanwhile: each is counted once, and what it told counts")
  func paused() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(400, of: app)
    bench.sender.hold()
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", badge: .add(1)))
    _ = await bench.sender.received(64)
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .paused) == .done)
    bench.sender.release()
    #expect(await eventually { (try? await badges(bench, app, ids))?.reduce(0, +) == 64 }, "nobody of the next batch")
    try await bench.service.changeDevice(app, registrationID: ids[399], DeviceChange(badge: 7))
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .running) == .done)
    try await bench.finish(receipt, advancing: .milliseconds(1))
    #expect(try await badges(bench, app, ids) == Array(repeating: 1, count: 399) + [8])
    let shown = try bench.sender.pushes.values.map { push in
      try JSONReader.read(push.payload).value.object?["aps"]?.object?["badge"]?.number?.int64
    }
    #expect(shown.count == 400 && shown.count { $0 == 1 } == 399 && shown.contains(8))
    await bench.service.stop()
  }

  @Test("refused by APNs, or waiting for a credential until it is over: no phone has it, and nothing is counted")
  func refused() async throws {
    let answers: [PushOutcome] = [
      .no(400, "BadTopic"), .no(410, "Unregistered"), .unanswered(.suspended("check key id and team id")),
    ]
    for answer in answers {
      let bench = try await ServiceBench()
      let app = try await bench.app()
      let ids = try await bench.devices(3, of: app)
      bench.sender.answer { _ in answer }
      try await bench.service.start()
      let receipt = try await bench.service.push(
        app, PushOrder(audience: .everyone, alert: "a", badge: .add(1), timeToLive: 600))
      try await bench.finish(receipt, advancing: .minutes(1))
      #expect(try await badges(bench, app, ids) == [0, 0, 0], "\(answer)")
      await bench.service.stop()
    }
  }

  @Test("without an answer the phone may have it, so it stays counted")
  func unanswered() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(3, of: app)
    bench.sender.answer { _ in .unanswered(.retriesExhausted("no answer")) }
    try await bench.service.start()
    await bench.finish(try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a", badge: .add(1))))
    #expect(try await badges(bench, app, ids) == [1, 1, 1])
    await bench.service.stop()
  }
}
