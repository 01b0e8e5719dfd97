import Audience
import Basics
import Store

enum StoreDeviceCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("ordinals are dense in each app") { store in
      let one = try await store.sampleApp("one", devices: 3)
      let two = try await store.sampleApp("two", devices: 2)
      for (app, count) in [(one, 3), (two, 2)] {
        for number in 0..<count {
          let device = try require(try await store.device(app: app, registrationID: "r\(app)x\(number)"))
          try expect(device.ordinal, is: DeviceOrdinal(number))
          try expect(device.token, is: StoreSamples.token(number))
        }
      }
      try expect(try await store.device(app: one, registrationID: "r\(two)x0"), is: nil, "another app's device")
      try expect(try await store.device(app: one, registrationID: "r"), is: nil)
    },
    ConformanceCase("the same token is the same device, made new") { store in
      let app = try await store.sampleApp(devices: 2)
      var edit = DeviceEdit()
      edit.addTags = ["vip"]
      edit.alias = .set("lin")
      edit.badge = 4
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x1", edit, limits: DeviceLimits())
      var again = StoreSamples.device(1, of: app, .sandbox, at: StoreSamples.noon + .hours(1))
      again.registrationID = "other"
      again.secretHash = [9]
      let device = try await store.register(again)
      try expect(device.registrationID, is: "r\(app)x1")
      try expect(device.ordinal, is: 1)
      try expect(device.environment, is: .sandbox)
      try expect(device.secretHash, is: [9])
      try expect(device.registeredAt, is: StoreSamples.noon + .hours(1))
      try expect(device.tags, is: ["vip"])
      try expect(device.alias, is: "lin")
      try expect(device.badge, is: 4)
      try expect(try await store.device(app: app, registrationID: "r\(app)x1"), is: device)
      try expect(try await store.register(StoreSamples.device(2, of: app)).ordinal, is: 2, "no ordinal was used up")
    },
    ConformanceCase("a registration id that is taken costs nothing") { store in
      let app = try await store.sampleApp(devices: 1)
      var draft = StoreSamples.device(1, of: app)
      draft.registrationID = "r\(app)x0"
      let taken = draft
      let fault = try await fault { () throws(StoreFault) in try await store.register(taken) }
      guard case .taken = fault else { throw ConformanceFailure(description: "\(fault)") }
      try expect(try await store.register(StoreSamples.device(1, of: app)).ordinal, is: 1)
    },
    ConformanceCase("tags are removed, then added; sorted; kept once") { store in
      let app = try await store.sampleApp(devices: 1)
      func tags(_ change: (inout DeviceEdit) -> Void) async throws -> [String] {
        var edit = DeviceEdit()
        change(&edit)
        let answer = try await store.changeDevice(
          app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
        try expect(answer, is: .done)
        let device = try await store.device(app: app, registrationID: "r\(app)x0")
        let found = try require(device)
        return found.tags
      }
      try expect(try await tags { $0.addTags = ["b", "a", "中", "b"] }, is: ["a", "b", "中"])
      let both = try await tags {
        $0.removeTags = ["a", "b", "x"]
        $0.addTags = ["a"]
      }
      try expect(both, is: ["a", "中"])
      let cleared = try await tags {
        $0.clearTags = true
        $0.addTags = ["z"]
      }
      try expect(cleared, is: ["z"])
      try expect(try await store.reach(app: app, .tag("中"), .production).count, is: 0)
      try expect(try await store.reach(app: app, .tag("z"), .production).count, is: 1)
      try expect(try await tags { $0.clearTags = true }, is: [])
    },
    ConformanceCase("alias and mobile are set, overwritten and cleared; what is not named stays") { store in
      let app = try await store.sampleApp(devices: 1)
      func device(_ change: (inout DeviceEdit) -> Void) async throws -> StoredDevice {
        var edit = DeviceEdit()
        change(&edit)
        _ = try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
        let device = try await store.device(app: app, registrationID: "r\(app)x0")
        return try require(device)
      }
      var found = try await device {
        $0.alias = .set("lin")
        $0.mobile = .set("138")
      }
      try expect([found.alias, found.mobile], is: ["lin", "138"])
      found = try await device { $0.alias = .set("wu") }
      try expect([found.alias, found.mobile], is: ["wu", "138"])
      try expect(try await store.reach(app: app, .alias("lin"), .production).count, is: 0)
      found = try await device {
        $0.alias = .clear
        $0.mobile = .clear
      }
      try expect([found.alias, found.mobile], is: [nil, nil])
    },
    ConformanceCase("a change beyond a limit changes nothing") { store in
      let app = try await store.sampleApp(devices: 3)
      var limits = DeviceLimits()
      limits.devicesPerAlias = 2
      limits.tagsPerDevice = 3
      for number in 0..<2 {
        var edit = DeviceEdit()
        edit.alias = .set("family")
        edit.addTags = ["a", "b"]
        let answer = try await store.changeDevice(
          app: app, registrationID: "r\(app)x\(number)", edit, limits: limits)
        try expect(answer, is: .done)
      }
      var third = DeviceEdit()
      third.alias = .set("family")
      third.addTags = ["a"]
      try expect(
        try await store.changeDevice(app: app, registrationID: "r\(app)x2", third, limits: limits),
        is: .aliasFull(devices: 2))
      try expect(try require(try await store.device(app: app, registrationID: "r\(app)x2")).tags, is: [])
      try expect(
        try await store.changeDevice(app: app, registrationID: "r\(app)x1", third, limits: limits), is: .done,
        "who has the alias may set it again")
      var tags = DeviceEdit()
      tags.addTags = ["c", "d"]
      tags.mobile = .set("1")
      try expect(
        try await store.changeDevice(app: app, registrationID: "r\(app)x1", tags, limits: limits),
        is: .tooManyTags(4))
      let device = try require(try await store.device(app: app, registrationID: "r\(app)x1"))
      try expect(device.tags, is: ["a", "b"])
      try expect(device.mobile, is: nil)
    },
    ConformanceCase("a change of no device is answered as that") { store in
      let app = try await store.sampleApp(devices: 1)
      let answer = try await store.changeDevice(
        app: app, registrationID: "nobody", DeviceEdit(), limits: DeviceLimits())
      try expect(answer, is: .noSuchDevice)
    },
    ConformanceCase("C30 overlapping tag changes both end, and the last one wins") { store in
      let app = try await store.sampleApp(devices: 1)
      for round in 0..<20 {
        try await withThrowingTaskGroup(of: DeviceEditAnswer.self) { group in
          for name in ["a", "b"] {
            group.addTask {
              var edit = DeviceEdit()
              edit.clearTags = true
              edit.addTags = [name, "round \(round)"]
              return try await store.changeDevice(
                app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
            }
          }
          for try await answer in group { try expect(answer, is: .done) }
        }
        let tags = try require(try await store.device(app: app, registrationID: "r\(app)x0")).tags
        try expect([["a", "round \(round)"], ["b", "round \(round)"]].contains(tags), is: true, "\(tags)")
        for name in ["a", "b"] {
          let reached = try await store.reach(app: app, .tag(name), .production).count
          try expect(reached, is: tags.contains(name) ? 1 : 0, "the set agrees with the device")
        }
      }
    },
  ]
}
