import Audience
import Basics
import Schedule
import Store

enum StoreImportCases {
  private static func device(_ number: Int) -> ImportedDevice {
    ImportedDevice(
      registrationID: "i\(number)", isIDGiven: true, token: StoreSamples.token(number),
      environment: number.isMultiple(of: 2) ? .production : .sandbox, tags: ["all", "n\(number % 3)"],
      alias: "user\(number)", badge: Int32(number), onlyScheduled: number == 1,
      facts: DeviceFacts(osVersion: "18.\(number % 2)", language: "zh"), createdAt: StoreSamples.noon - .days(9),
      registeredAt: StoreSamples.noon - .days(5), seenAt: StoreSamples.noon - .days(1))
  }

  private static func mark(_ lines: Int64) -> ImportMark {
    ImportMark(source: "file", position: lines * 9, lines: lines)
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("imported devices are what they would be if they had registered") { store in
      let app = try await store.sampleApp(devices: 1)
      let devices = (1...6).map(device)
      let answers = try await store.importDevices(app: app, devices, limits: DeviceLimits(), mark: mark(6))
      try expect(answers, is: Array(repeating: .kept, count: 6))
      let third = try require(try await store.device(app: app, registrationID: "i3"))
      try expect(third.ordinal, is: 3)
      try expect(third.tags, is: ["all", "n0"])
      try expect(third.badge, is: 3)
      try expect(third.registeredAt, is: StoreSamples.noon - .days(5))
      try expect(try await store.tag(app: app, name: "all")?.devices, is: 6)
      let audiences: [(AudienceExpression, APNSEnvironment, Int)] = [
        (.tag("all"), .sandbox, 3), (.tag("n0"), .production, 1), (.alias("user5"), .sandbox, 1),
        (.osVersion(.equal, "18.1"), .sandbox, 3), (.everyone, .production, 4),
        (.created(.before(StoreSamples.noon - .days(8))), .sandbox, 3),
        (.lastSeen(.from(StoreSamples.noon - .hours(1))), .production, 1),
      ]
      for (audience, environment, count) in audiences {
        let reach = try await store.reach(app: app, audience, environment)
        try expect(reach.count, is: count, "\(audience)")
      }
      try expect(try await store.register(StoreSamples.device(7, of: app)).ordinal, is: 7)
    },
    ConformanceCase("with a device come its user's hours and channels, and the tokens that no other device has") {
      store in
      let app = try await store.sampleApp(devices: 1)
      try await store.tell(.voip, 100, app, 0)
      var (first, second) = (device(1), device(2))
      first.quietHours = QuietHours("22:00-07:00")
      first.channels = ["news", "orders"]
      let at = StoreSamples.noon - .days(3)
      first.tokens = [
        PurposeToken(.voip, StoreSamples.token(101), registeredAt: at),
        PurposeToken(.activity(id: "a1"), StoreSamples.token(102), registeredAt: at),
      ]
      second.tokens = [PurposeToken(.voip, StoreSamples.token(100), registeredAt: at)]
      _ = try await store.importDevices(app: app, [first, second], limits: DeviceLimits(), mark: mark(2))
      let found = try require(try await store.device(app: app, registrationID: "i1"))
      try expect(found.quietHours, is: first.quietHours)
      try expect(found.channels, is: first.channels)
      try expect(found.purposes, is: [.voip, .activity(id: "a1")])
      let tokens = try await store.purposeTokens(app: app, of: 0...2)
      try expect(Set(tokens[1] ?? []), is: Set(first.tokens))
      try expect(tokens.keys.sorted(), is: [0, 1], "the first device keeps its token")
      try expect(try await store.reach(app: app, .holds(.voip), .sandbox).targets.map(\.devices), is: [[1]])
    },
    ConformanceCase("what is there stays as it is, and what contradicts it is told") { store in
      let app = try await store.sampleApp(devices: 0)
      var limits = DeviceLimits()
      limits.devicesPerAlias = 1
      _ = try await store.importDevices(app: app, [device(1), device(2)], limits: limits, mark: mark(2))
      var anonymous = device(1)
      (anonymous.registrationID, anonymous.isIDGiven, anonymous.badge) = ("made", false, 77)
      var stranger = device(1)
      stranger.registrationID = "other"
      var namesake = device(8)
      (namesake.registrationID, namesake.alias) = ("i2", nil)
      var crowded = device(9)
      crowded.alias = "user1"
      let answers = try await store.importDevices(
        app: app, [device(2), anonymous, stranger, namesake, crowded, device(3)], limits: limits, mark: mark(8))
      try expect(
        answers,
        is: [
          .known, .known, .tokenTaken(registrationID: "i1"), .registrationIDTaken, .aliasFull(devices: 1), .kept,
        ])
      try expect(try await store.device(app: app, registrationID: "i1")?.badge, is: 1)
      try expect(try await store.device(app: app, registrationID: "i3")?.ordinal, is: 2, "no ordinal was used up")
      try expect(try await store.tag(app: app, name: "all")?.devices, is: 3)
    },
    ConformanceCase("how far an import came is kept with what it kept, until it is finished") { store in
      let app = try await store.sampleApp(devices: 0)
      try expect(try await store.importMark(app: app, source: "file"), is: nil)
      for lines in [1, 2] as [Int64] {
        _ = try await store.importDevices(app: app, [device(Int(lines))], limits: DeviceLimits(), mark: mark(lines))
        try expect(try await store.importMark(app: app, source: "file"), is: mark(lines))
      }
      try expect(try await store.importMark(app: app + 1, source: "file"), is: nil)
      try await store.finishImport(app: app, source: "file")
      try expect(try await store.importMark(app: app, source: "file"), is: nil)
    },
  ]
}
