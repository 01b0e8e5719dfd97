import Audience
import Store

enum StoreAudienceCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("an audience is worked out over tags, aliases and ids of its own app") { store in
      let other = try await store.sampleApp("other", devices: 3)
      let app = try await store.sampleApp(devices: 6)
      for number in 0..<6 {
        var edit = DeviceEdit()
        edit.addTags = (number % 2 == 0 ? ["even"] : ["odd"]) + (number % 3 == 0 ? ["three"] : [])
        edit.alias = .set(number < 4 ? "low" : "high")
        for app in [app, other] {
          _ = try await store.changeDevice(app: app, registrationID: "r\(app)x\(number)", edit, limits: DeviceLimits())
        }
      }
      let rows: [(AudienceExpression, DeviceSet, [AudienceTerm])] = [
        (.everyone, [0, 1, 2, 3, 4, 5], []),
        (.tag("even"), [0, 2, 4], []),
        (.all([.tag("odd"), .tag("three")]), [3], []),
        (.any([.tag("three"), .alias("high")]), [0, 3, 4, 5], []),
        (.all([.any([.alias("low")]), .not(.tag("even"))]), [1, 3], []),
        (.registrationID("r\(app)x5"), [5], []),
        (.registrationID("r\(other)x1"), [], [.registrationID("r\(other)x1")]),
        (.any([.alias("nobody"), .tag("even"), .tag("none")]), [0, 2, 4], [.alias("nobody"), .tag("none")]),
        (.not(.tag("even")), [1, 3, 5], []),
      ]
      for (audience, wanted, unmatched) in rows {
        let reach = try await store.reach(app: app, audience, .production)
        try expect(reach.targets.flatMap { Array($0.devices) }, is: Array(wanted), "\(audience)")
        try expect(reach.unmatched, is: unmatched, "\(audience)")
      }
    },
    ConformanceCase("a name that everybody left matches nobody") { store in
      let app = try await store.sampleApp(devices: 1)
      for clear in [false, true] {
        var edit = DeviceEdit()
        if clear { edit.removeTags = ["t"] } else { edit.addTags = ["t"] }
        _ = try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
        try expect(try await store.reach(app: app, .tag("t"), .production).unmatched, is: clear ? [.tag("t")] : [])
      }
    },
    ConformanceCase("each device is in the environment that it registered for last") { store in
      let app = try await store.createApp(StoreSamples.app("a")).id
      for number in 0..<4 {
        _ = try await store.register(StoreSamples.device(number, of: app, number < 3 ? .sandbox : .production))
      }
      _ = try await store.register(StoreSamples.device(0, of: app, .production))
      let production = try await store.reach(app: app, .everyone, .production)
      try expect(production.targets.flatMap { Array($0.devices) }, is: [0, 3])
      try expect(production.wrongEnvironment, is: 2)
      let sandbox = try await store.reach(app: app, .everyone, .sandbox)
      try expect(sandbox.targets.flatMap { Array($0.devices) }, is: [1, 2])
    },
    ConformanceCase("an app without devices and an app that is not reach nobody") { store in
      let app = try await store.sampleApp()
      try expect(try await store.reach(app: app, .everyone, .production).count, is: 0)
      try expect(try await store.reach(app: app + 9, .not(.tag("x")), .production).count, is: 0)
    },
  ]
}
