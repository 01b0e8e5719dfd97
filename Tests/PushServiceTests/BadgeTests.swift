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
}
