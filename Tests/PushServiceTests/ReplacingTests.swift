import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing

@Suite("Replacing what phones show, and clearing it", .timeLimit(.minutes(1)))
struct ReplacingTests {
  private func begin(_ count: Int = 2) async throws -> (ServiceBench, AppRecord, [String]) {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(count, of: app)
    try await bench.service.start()
    return (bench, app, ids)
  }

  @Test(
    "jpush.md §4.8 override_msg_id: the later push comes under the collapse id of the earlier; explain tells it",
    arguments: [nil, "match-7"])
  func overrides(collapseID: String?) async throws {
    let (bench, app, ids) = try await begin()
    let first = try await bench.service.push(
      app, PushOrder(audience: .everyone, alert: "wrong", collapseID: collapseID))
    await bench.finish(first)
    var order = PushOrder(audience: .everyone, alert: "right")
    order.replaces = first.messageID
    let second = try await bench.service.push(app, order)
    await bench.finish(second)
    let sent = bench.sender.pushes.values
    #expect(Set(sent.map(\.collapseID)).count == 1 && sent.count == 4)
    #expect(sent.first?.collapseID == collapseID ?? "belfry-\(first.messageID)")
    let explained = try await bench.service.explain(app, messageID: first.messageID, registrationID: ids[0])
    #expect(explained?.decisions.last?.words.hasPrefix("push \(second.messageID) has the same collapse id") == true)
    await bench.service.stop()
  }

  @Test("what of the earlier push has not left never will: it would come after the later one")
  func withdrawsTheRest() async throws {
    let (bench, app, _) = try await begin()
    let first = try await bench.service.push(
      app, PushOrder(audience: .everyone, alert: "wrong", rate: .perSecond(1)))
    _ = await bench.sender.received(1)
    var order = PushOrder(audience: .everyone, alert: "right")
    order.replaces = first.messageID
    await bench.finish(try await bench.service.push(app, order))
    try await bench.finish(first, advancing: .milliseconds(200))
    let report = try #require(try await bench.service.report(app, messageID: first.messageID))
    #expect(report.accepted == 1 && report.withdrawn == 1)
    await bench.service.stop()
  }

  @Test(
    "a process that ends right after it took the later push has withdrawn the earlier one: none goes without the other")
  func survives() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(2, of: app)
    let first = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "wrong"))
    var order = PushOrder(audience: .everyone, alert: "right")
    order.replaces = first.messageID
    let second = try await bench.service.push(app, order)
    let after = try await bench.afterCrash()
    try await after.service.start()
    await after.finish(first)
    await after.finish(second)
    #expect(after.sender.pushes.values.count == 2)
    #expect(try await after.service.report(app, messageID: first.messageID)?.withdrawn == 2)
    await after.service.stop()
  }

  @Test("a message that there is not is 1003 and sends nothing; a collapse id of its own wins, and that is told")
  func refuses() async throws {
    let (bench, app, _) = try await begin()
    var order = PushOrder(audience: .everyone, alert: "a")
    order.replaces = 7
    let fault = try await fault { () throws(RequestFault) in try await bench.service.push(app, order) }
    #expect(fault.code == .invalidParameter && fault.place == "options.override_msg_id")
    let first = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    order.replaces = first.messageID
    order.collapseID = "own"
    let second = try await bench.service.push(app, order)
    #expect(second.warnings.contains { $0.hasPrefix("override_msg_id is ignored") })
    #expect(await bench.sender.received(4).last?.collapseID == "own")
    await bench.service.stop()
  }

  private static func cleared(_ push: OutgoingPush) -> Int64? {
    try? JSONReader.read(push.payload).value.object?["_j_withdraw"]?.number?.int64
  }

  @Test("jpush.md §5.6 withdrawn and cleared: each phone that it reached gets one silent push that names it")
  func clears() async throws {
    let (bench, app, ids) = try await begin(3)
    let dead = StoreSamples.token(2)
    bench.sender.answer { push in
      push.token == dead ? .refused(.init(status: 410, reason: "Unregistered", since: nil)) : .accepted(uniqueID: nil)
    }
    let receipt = try await bench.service.push(
      app, PushOrder(audience: .any(ids.prefix(3).map { .registrationID($0) }), alert: "wrong"))
    await bench.finish(receipt)
    for _ in 0..<2 {
      #expect(try await bench.service.withdrawAndClear(app, messageID: receipt.messageID) == .done)
    }
    let sent = await bench.sender.received(5)
    let clearing = sent.filter { Self.cleared($0) == receipt.messageID }
    #expect(Set(clearing.map(\.token)) == [StoreSamples.token(0), StoreSamples.token(1)] && clearing.count == 2)
    #expect(clearing.allSatisfy { $0.pushType == .background && $0.priority == .considerate })
    #expect(try await bench.service.withdrawAndClear(app, messageID: 7) == .noSuchPush)
    #expect(await eventually { (try? await bench.store.pushesToClear()) == [] })
    await bench.service.stop()
  }

  @Test("what was on its way when the push was withdrawn is cleared too, also by the next process")
  func clearsAfterACrash() async throws {
    let (bench, app, _) = try await begin()
    bench.sender.hold()
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "wrong"))
    _ = await bench.sender.received(2)
    #expect(try await bench.service.withdrawAndClear(app, messageID: receipt.messageID) == .done)
    #expect(!bench.sender.pushes.values.contains { Self.cleared($0) != nil }, "not before it is known who has it")
    bench.sender.release()
    await bench.finish(receipt)
    let sent = await bench.sender.received(4)
    #expect(sent.count { Self.cleared($0) == receipt.messageID } == 2)

    bench.sender.hold()
    let second = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "wrong"))
    _ = await bench.sender.received(6)
    _ = try await bench.service.withdrawAndClear(app, messageID: second.messageID)
    let after = try await bench.afterCrash()
    #expect(try await after.store.pushesToClear().map(\.push) == [second.messageID])
    await after.store.close()
    bench.sender.release()
    await bench.service.stop()
  }
}
