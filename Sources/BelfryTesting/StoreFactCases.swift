import Audience
import Basics
import Store

enum StoreFactCases {
  /// Ordinals of those meant, whatever became of their tokens.
  private static func meant(
    _ store: any Store, _ app: Int64, _ audience: AudienceExpression, at now: Instant = StoreSamples.noon
  ) async throws -> [DeviceOrdinal] {
    try await store.devices(app: app, in: audience, after: nil, limit: 1000, at: now).map(\.ordinal)
  }

  private static func draft(_ number: Int, of app: Int64, _ facts: DeviceFacts, at: Instant) -> DeviceDraft {
    var draft = StoreSamples.device(number, of: app, at: at)
    draft.facts = facts
    return draft
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("an audience is worked out over facts and times, as they are now") { store in
      let noon = StoreSamples.noon
      let app = try await store.sampleApp("one")
      let other = try await store.sampleApp("two")
      for app in [app, other] {
        let facts = [
          DeviceFacts(osVersion: "17.0", appVersion: "2.9", language: "zh-Hans-CN", timeZone: "Asia/Shanghai"),
          DeviceFacts(osVersion: "18.1", appVersion: "2.10", language: "en-US", model: "iPhone17,1"),
          DeviceFacts(permission: .denied),
        ]
        for (number, facts) in facts.enumerated() {
          _ = try await store.register(draft(number, of: app, facts, at: noon - .days(Int64(number) * 10)))
        }
      }
      let rows: [(AudienceExpression, [DeviceOrdinal])] = [
        (.appVersion(.atLeast, "2.9"), [0, 1]), (.appVersion(.above, "2.9.0"), [1]), (.appVersion(.equal, "3"), []),
        (.osVersion(.below, "18"), [0]), (.language("zh"), [0]), (.language("en-us"), [1]),
        (.timeZone("Asia/Shanghai"), [0]), (.model("iPhone17,1"), [1]), (.permission(.denied), [2]),
        (.not(.permission(.denied)), [0, 1]), (.created(.within(.days(10))), [0, 1]),
        (.created(.before(noon - .days(10))), [2]), (.created(.from(noon - .days(10) + .milliseconds(1))), [0]),
        (.lastSeen(.longerAgo(.days(5))), [1, 2]),
        (.all([.language("zh"), .created(.within(.hours(1)))]), [0]),
      ]
      for (audience, wanted) in rows { try expect(try await meant(store, app, audience), is: wanted, "\(audience)") }

      var edit = DeviceEdit()
      edit.facts = DeviceFacts(appVersion: "3", permission: .authorized)
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
      _ = try await store.register(draft(1, of: app, DeviceFacts(appVersion: "3"), at: noon))
      try expect(try await meant(store, app, .appVersion(.equal, "3.0")), is: [0, 1])
      try expect(try await meant(store, app, .appVersion(.below, "3")), is: [], "values that nobody has are gone")
      try expect(try await meant(store, app, .language("zh")), is: [0], "an edit leaves what it does not name")
      try expect(try await meant(store, app, .language("en")), is: [], "a registration says all there is")
      try expect(try await meant(store, app, .permission(.authorized)), is: [0])
      try expect(try await meant(store, other, .appVersion(.below, "3")), is: [0, 1], "another app's")
      let device = try require(try await store.device(app: app, registrationID: "r\(app)x0"))
      try expect(device.facts.appVersion, is: "3")
      try expect(device.facts.language, is: "zh-Hans-CN")
      try expect(device.facts.permission, is: .authorized)
    },
    ConformanceCase("being heard of moves a device in time") { store in
      let app = try await store.sampleApp(devices: 2)
      let later = StoreSamples.noon + .days(3)
      try await store.noteSeen(app: app, registrationID: "r\(app)x1", at: later)
      try expect(try await meant(store, app, .lastSeen(.within(.days(1))), at: later), is: [1])
      try expect(try await meant(store, app, .lastSeen(.longerAgo(.days(1))), at: later), is: [0])
      try expect(try await meant(store, app, .created(.longerAgo(.days(1))), at: later), is: [0, 1])
    },
    ConformanceCase("a new token keeps the device; another device that had the token is dead") { store in
      let app = try await store.sampleApp(devices: 3)
      let now = StoreSamples.noon + .hours(1)
      func give(_ token: Int, _ environment: APNSEnvironment) async throws -> StoredDevice {
        var edit = DeviceEdit()
        edit.token = DeviceEdit.NewToken(StoreSamples.token(token), environment, at: now)
        edit.alias = .set("lin")
        try expect(
          try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits()), is: .done)
        let device = try await store.device(app: app, registrationID: "r\(app)x0")
        return try require(device)
      }
      let device = try await give(9, .sandbox)
      try expect(device.token, is: StoreSamples.token(9))
      try expect(device.environment, is: .sandbox)
      try expect(device.registeredAt, is: now)
      try expect(device.seenAt, is: now)
      try expect(try await give(1, .production).token, is: StoreSamples.token(1))
      let former = try require(try await store.device(app: app, registrationID: "r\(app)x1"))
      try expect(former.death?.reason.contains("r\(app)x0"), is: true)
      let reach = try await store.reach(app: app, .everyone, .production)
      try expect(reach.targets.flatMap { Array($0.devices) }, is: [0, 2])
      try expect(reach.dead, is: 1)
      _ = try await store.register(StoreSamples.device(9, of: app))
      try expect(try await store.reach(app: app, .everyone, .production).count, is: 3, "the former token is free")
    },
    ConformanceCase("a deleted device is nobody's, and its ordinal is never given again") { store in
      let app = try await store.sampleApp(devices: 3)
      var edit = DeviceEdit()
      edit.addTags = ["t"]
      edit.alias = .set("lin")
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x2", edit, limits: DeviceLimits())
      try expect(try await store.deleteDevice(app: app, registrationID: "r\(app)x2"), is: true)
      try expect(try await store.deleteDevice(app: app, registrationID: "r\(app)x2"), is: false)
      try expect(try await store.device(app: app, registrationID: "r\(app)x2"), is: nil)
      for audience in [
        AudienceExpression.everyone, .not(.tag("t")), .not(.alias("lin")),
        .created(.before(StoreSamples.noon + .days(1))),
        .osVersion(.equal, "17"),
      ] {
        try expect(try await meant(store, app, audience), is: [0, 1], "\(audience)")
        try expect(try await store.reach(app: app, audience, .production).count, is: 2)
      }
      try expect(try await store.tags(app: app, after: nil, limit: 9), is: [])
      let again = try await store.register(StoreSamples.device(2, of: app))
      try expect(again.ordinal, is: 3)
      try expect(again.tags, is: [])
      try expect(try await meant(store, app, .everyone), is: [0, 1, 3])
    },
    ConformanceCase("an edit that expects another state changes nothing") { store in
      let app = try await store.sampleApp(devices: 1)
      let id = "r\(app)x0"
      let before = try require(try await store.device(app: app, registrationID: id))
      var edit = DeviceEdit()
      edit.alias = .set("lin")
      edit.ifUnchanged = before.fingerprint
      try expect(
        try await store.changeDevice(app: app, registrationID: id, edit, limits: DeviceLimits()), is: .done)
      edit.alias = .set("wu")
      try expect(
        try await store.changeDevice(app: app, registrationID: id, edit, limits: DeviceLimits()),
        is: .changedMeanwhile)
      try expect(try await store.device(app: app, registrationID: id)?.alias, is: "lin")
    },
    ConformanceCase("devices are listed page by page") { store in
      let app = try await store.sampleApp(devices: 5)
      try expect(
        try await store.devices(app: app, in: .everyone, after: nil, limit: 2, at: StoreSamples.noon).map(\.ordinal),
        is: [0, 1])
      try expect(
        try await store.devices(app: app, in: .everyone, after: 1, limit: 9, at: StoreSamples.noon).map(\.ordinal),
        is: [2, 3, 4])
      try expect(
        try await store.devices(app: app, in: .everyone, after: 4, limit: 9, at: StoreSamples.noon), is: [])
    },
    ConformanceCase("C30 a tag set while a push is planned counts when it was set before, not when after") { store in
      let app = try await store.sampleApp(devices: 2)
      var edit = DeviceEdit()
      edit.addTags = ["t"]
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
      let reach = try await store.reach(app: app, .tag("t"), .production)
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x1", edit, limits: DeviceLimits())
      edit.addTags = []
      edit.clearTags = true
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
      _ = try await store.accept(
        StoreSamples.push(7, of: app), audience: reach.targets, clientIDsSince: StoreSamples.noon)
      let start = try await store.begin(push: 7, shard: 0, holder: 1, claiming: 9, at: StoreSamples.noon)
      guard case .begun(let begun) = start else { throw ConformanceFailure(description: "\(start)") }
      try expect(begun.pending, is: [0])
    },
  ]
}
