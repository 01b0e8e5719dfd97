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

@Suite("A push on its way", .timeLimit(.minutes(1)))
struct SendingTests {
  @Test("D-310 a broadcast reaches every device of its audience once, in batches, and is reported")
  func reachesAll() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(3000, of: app)
    try await bench.service.start()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "你好", badge: .add(1)))
    #expect(receipt.targeted == 3000)
    await bench.finish(receipt)
    let pushes = bench.sender.pushes.values
    #expect(pushes.count == 3000)
    #expect(Set(pushes.map(\.token)).count == 3000)
    #expect(Set(pushes.map(\.id)).count == 3000)
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.state == .finished)
    #expect(report.accepted == 3000 && report.pending == 0)
    await bench.service.stop()
  }

  @Test("D-315 carries what APNs and the app need, and nothing of alias, tag or registration id")
  func carries() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.changeDevice(
      app, registrationID: id, DeviceChange(addTags: ["red"], alias: .set("lin")))
    try await bench.service.start()
    let order = PushOrder(
      audience: .everyone, alert: ["title": "Bell", "body": "“rings”"], sound: "default", badge: .add(1),
      mutableContent: true, category: "c", threadID: "t", interruptionLevel: "passive",
      extras: ["k": ["n": .number(JSONNumber(9_007_199_254_740_993)), "z": .null]], timeToLive: 60)
    let receipt = try await bench.service.push(app, order)
    await bench.finish(receipt)
    let push = try #require(bench.sender.pushes.values.first)
    let expected = """
      {"aps":{"alert":{"title":"Bell","body":"“rings”"},"sound":"default","mutable-content":1,"category":"c",\
      "thread-id":"t","interruption-level":"passive","badge":1},"k":{"n":9007199254740993,"z":null},\
      "_j_msgid":\(receipt.messageID)}
      """
    #expect(String(decoding: push.payload, as: UTF8.self) == expected)
    #expect(push.topic == "com.example.bell" && push.pushType == .alert && push.priority == .immediate)
    #expect(push.expiration == bench.clock.now.seconds + 60)
    #expect(push.collapseID == "belfry-\(receipt.messageID)")
    #expect(push.token == StoreSamples.token(0))
    await bench.service.stop()
  }
}
