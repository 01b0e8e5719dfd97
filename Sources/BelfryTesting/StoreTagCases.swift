import Audience
import Basics
import Store

enum StoreTagCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("a tag is given to many and taken from many at once, and counted") { store in
      let app = try await store.sampleApp(devices: 4)
      let other = try await store.sampleApp("other", devices: 1)
      var edit = TagEdit()
      edit.add = [0, 1, 2, 2].map { "r\(app)x\($0)" }
      edit.remove = [2, 3].map { "r\(app)x\($0)" }
      for changed in [3, 0] {
        try expect(
          try await store.changeTag(app: app, name: "t", edit, limits: DeviceLimits()), is: .done(changed: changed))
        try expect(try await store.tag(app: app, name: "t"), is: StoredTag(name: "t", devices: 3))
        try expect(
          try await store.reach(app: app, .tag("t"), .production).targets.flatMap { Array($0.devices) }, is: [0, 1, 2])
      }
      try expect(try await store.tags(app: other, after: nil, limit: 9), is: [])
      var removal = TagEdit()
      removal.remove = edit.add
      try expect(
        try await store.changeTag(app: app, name: "t", removal, limits: DeviceLimits()), is: .done(changed: 3))
      try expect(try await store.tag(app: app, name: "t"), is: nil, "nobody has it")
      try expect(try await store.tags(app: app, after: nil, limit: 9), is: [])
    },
    ConformanceCase("an edit of a tag with a stranger or beyond a limit changes nothing") { store in
      let app = try await store.sampleApp(devices: 2)
      let other = try await store.sampleApp("other", devices: 1)
      var limits = DeviceLimits()
      limits.tagsPerDevice = 2
      var tags = DeviceEdit()
      tags.addTags = ["a", "b"]
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x1", tags, limits: limits)
      var edit = TagEdit()
      edit.add = ["r\(app)x0", "r\(other)x0", "nobody"]
      try expect(
        try await store.changeTag(app: app, name: "c", edit, limits: limits),
        is: .noSuchDevices(["r\(other)x0", "nobody"]))
      edit.add = ["r\(app)x0", "r\(app)x1"]
      try expect(
        try await store.changeTag(app: app, name: "c", edit, limits: limits),
        is: .tooManyTags(3, registrationID: "r\(app)x1"))
      try expect(try await store.tag(app: app, name: "c"), is: nil)
      try expect(
        try await store.changeTag(app: app, name: "a", edit, limits: limits), is: .done(changed: 1), "one has it")
    },
    ConformanceCase("a deleted tag is nobody's, and a new one of its name begins empty") { store in
      let app = try await store.sampleApp(devices: 3)
      for round in 0..<3 {
        for number in 0..<3 where round == 0 || number == round {
          var edit = DeviceEdit()
          edit.addTags = ["t", "u"]
          _ = try await store.changeDevice(app: app, registrationID: "r\(app)x\(number)", edit, limits: DeviceLimits())
        }
        try expect(try await store.tag(app: app, name: "t")?.devices, is: round == 0 ? 3 : 1)
        try await store.deleteTag(app: app, name: "t")
        try await store.deleteTag(app: app, name: "t")
        try expect(try await store.tags(app: app, after: nil, limit: 9), is: [StoredTag(name: "u", devices: 3)])
        try expect(try await store.reach(app: app, .tag("t"), .production).unmatched, is: [.tag("t")])
        for number in 0..<3 {
          let device = try require(try await store.device(app: app, registrationID: "r\(app)x\(number)"))
          try expect(device.tags, is: ["u"])
        }
      }
    },
    ConformanceCase("tags are listed page by page in the order of their bytes") { store in
      let app = try await store.sampleApp(devices: 1)
      var edit = DeviceEdit()
      edit.addTags = ["b", "中", "a", "Z"]
      _ = try await store.changeDevice(app: app, registrationID: "r\(app)x0", edit, limits: DeviceLimits())
      try expect(try await store.tags(app: app, after: nil, limit: 2).map(\.name), is: ["Z", "a"])
      try expect(try await store.tags(app: app, after: "a", limit: 2).map(\.name), is: ["b", "中"])
      try expect(try await store.tags(app: app, after: "中", limit: 2).map(\.name), is: [])
    },
    ConformanceCase("an alias tells who has it, is taken from some, and from all") { store in
      let app = try await store.sampleApp(devices: 4)
      for number in 0..<4 {
        var edit = DeviceEdit()
        edit.alias = .set(number < 3 ? "lin" : "wei")
        _ = try await store.changeDevice(app: app, registrationID: "r\(app)x\(number)", edit, limits: DeviceLimits())
      }
      func having(_ alias: String) async throws -> [DeviceOrdinal] {
        try await store.devices(app: app, alias: alias).map(\.ordinal)
      }
      try expect(try await having("lin"), is: [0, 1, 2])
      try expect(
        try await store.removeAlias(app: app, alias: "lin", from: ["r\(app)x0", "nobody"]),
        is: .noSuchDevices(["nobody"]))
      try expect(
        try await store.removeAlias(app: app, alias: "lin", from: ["r\(app)x0", "r\(app)x3"]),
        is: .done(changed: 1))
      try expect(try await having("lin"), is: [1, 2])
      try expect(try await having("wei"), is: [3])
      try await store.deleteAlias(app: app, alias: "lin")
      try expect(try await having("lin"), is: [])
      try expect(try await having("wei"), is: [3])
    },
    ConformanceCase("when a device was heard of is kept to within a minute, and never goes back") { store in
      let app = try await store.sampleApp(devices: 1)
      let id = "r\(app)x0"
      let steps: [(Instant.Span, Instant.Span)] = [
        (.seconds(59), .seconds(0)), (.minutes(5), .minutes(5)), (.minutes(2), .minutes(5)),
      ]
      for (heard, kept) in steps {
        try await store.noteSeen(app: app, registrationID: id, at: StoreSamples.noon + heard)
        let seen = try require(try await store.device(app: app, registrationID: id)).seenAt
        try expect(abs((seen - (StoreSamples.noon + kept)).milliseconds) < 60_000, is: true, "\(seen)")
      }
      _ = try await store.register(StoreSamples.device(0, of: app, at: StoreSamples.noon + .hours(1)))
      let device = try require(try await store.device(app: app, registrationID: id))
      try expect(device.createdAt, is: StoreSamples.noon)
      try expect(device.seenAt, is: StoreSamples.noon + .hours(1))
    },
    ConformanceCase("many devices are read at once, in the order asked for") { store in
      let app = try await store.sampleApp(devices: 3)
      let found = try await store.devices(
        app: app, registrationIDs: ["r\(app)x2", "nobody", "r\(app)x0", "r\(app)x2"])
      try expect(found.map(\.ordinal), is: [2, 0])
    },
  ]
}
