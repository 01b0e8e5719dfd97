import Audience
import Basics
import BelfryTesting
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing

@Suite("In-app messages of pushes")
struct InAppMessageTests {
  private static func order(
    _ audience: AudienceExpression, alert: JSONValue? = nil, timeToLive: Int64? = nil, content: String = "hello"
  ) -> PushOrder {
    var order = PushOrder(audience: audience, alert: alert, timeToLive: timeToLive)
    order.message = MessageContent(content: content, title: "T", extras: ["n": 1])
    order.isMessageAlone = alert == nil
    return order
  }

  private static func inbox(
    _ bench: ServiceBench, _ app: AppRecord, _ id: String
  ) async throws -> [InboxEntry] {
    let device = try #require(try await bench.store.device(app: app.id, registrationID: id))
    return try await bench.store.inbox(
      app: app.id, ordinal: device.ordinal, InboxRange(limit: 99), at: bench.clock.now
    ).entries
  }

  @Test("D-300 a message alone reaches every device that is meant, whatever its token, and nothing goes to APNs")
  func alone() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app, .sandbox)[0]
    try await bench.service.start()
    let receipt = try await bench.service.push(app, Self.order(.everyone))
    #expect(receipt.targeted == 1)
    let entry = try #require(try await Self.inbox(bench, app, id).first)
    #expect(entry.id == receipt.messageID)
    #expect(entry.kind == .message(body: Array(#"{"content":"hello","title":"T","extras":{"n":1}}"#.utf8)))
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.state == .finished && report.targeted == 0)
    #expect(report.message == MessageCounts(targeted: 1, delivered: 0, read: 0))
    func arrivals() async throws -> [PushArrival] {
      try await bench.service.arrivals(app, messageID: receipt.messageID, registrationIDs: [id, "none"])
    }
    #expect(try await arrivals() == [.notArrived, .noSuchDevice], "jpush.md §8 status/message")
    try await bench.store.acknowledge(
      [InboxAcknowledgement(app: app.id, ordinal: 0, position: entry.position, delivered: nil)], at: bench.clock.now)
    #expect(try await bench.service.report(app, messageID: receipt.messageID)?.message?.delivered == 1)
    #expect(try await arrivals() == [.arrived, .noSuchDevice])
    let explanation = try #require(
      try await bench.service.explain(app, messageID: receipt.messageID, registrationID: id))
    #expect(explanation.outcome == .accepted)
    #expect(explanation.decisions.last?.words == "the app says that it has the in-app message, and all before it")
    await bench.service.stop()
  }

  @Test("both for one event: the notification goes to those who can have it, the message to all")
  func both() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(2, of: app)
    let token = StoreSamples.token(0)
    _ = try await bench.service.register(
      appKey: app.key, DeviceRegistration(token: token.hex, environment: .sandbox))
    try await bench.service.start()
    let receipt = try await bench.service.push(app, Self.order(.everyone, alert: "a"))
    await bench.finish(receipt)
    #expect(receipt.targeted == 1)
    for id in ids { #expect(try await Self.inbox(bench, app, id).map(\.id) == [receipt.messageID]) }
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.accepted == 1 && report.message?.targeted == 2)
    let other = try await bench.service.push(app, Self.order(.registrationID(ids[0]), alert: "a"))
    #expect(other.warnings.contains { $0.hasPrefix("the notification goes to nobody") })
    #expect(try await Self.inbox(bench, app, ids[0]).last?.id == other.messageID)
    await bench.service.stop()
  }

  @Test("a time to live ends it; 0 is for nobody where nobody is connected; without one it lasts")
  func timeToLive() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.start()
    _ = try await bench.service.push(app, Self.order(.everyone, timeToLive: 0))
    let short = try await bench.service.push(app, Self.order(.everyone, timeToLive: 60))
    let long = try await bench.service.push(app, Self.order(.everyone))
    #expect(try await Self.inbox(bench, app, id).map(\.id) == [short.messageID, long.messageID])
    bench.clock.advance(by: .seconds(60))
    #expect(try await Self.inbox(bench, app, id).map(\.id) == [long.messageID])
    await bench.service.stop()
  }

  @Test("withdrawn it vanishes, also when all that went to APNs has ended")
  func withdrawn() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.start()
    let receipt = try await bench.service.push(app, Self.order(.everyone))
    #expect(try await bench.service.control(app, messageID: receipt.messageID, .withdrawn) == .done)
    #expect(try await Self.inbox(bench, app, id).map(\.kind) == [.withdrawal])
    #expect(
      try await bench.service.explain(app, messageID: receipt.messageID, registrationID: id)?.outcome == .withdrawn)
    await bench.service.stop()
  }

  @Test("what cannot be taken is refused: nobody meant (1011), too large (1005)")
  func refusals() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    try await bench.service.start()
    await #expect { try await bench.service.push(app, Self.order(.alias("x"))) } throws: {
      ($0 as? RequestFault)?.code == .audienceEmpty
    }
    _ = try await bench.devices(1, of: app)
    await #expect {
      try await bench.service.push(app, Self.order(.everyone, content: String(repeating: "字", count: 1400)))
    } throws: { ($0 as? RequestFault)?.code == .tooLarge }
    await bench.service.stop()
  }
}
