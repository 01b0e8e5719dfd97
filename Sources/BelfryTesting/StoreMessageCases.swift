import Audience
import Basics
import Store

enum StoreMessageCases {
  private static let noon = StoreSamples.noon

  private static func body(_ id: Int64) -> [UInt8] { Array(#"{"content":"\#(id)"}"#.utf8) }

  /// Accepts a push that is a message alone.
  private static func send(
    _ id: Int64, to audience: AudienceExpression, of app: Int64, expires: Instant? = nil, aliases: Set<String> = [],
    in store: any Store
  ) async throws {
    let reach = try await store.reach(app: app, audience, .production)
    let message = MessageDraft(body: body(id), expiresAt: expires, audience: reach.meant, aliases: aliases)
    _ = try await store.accept(
      StoreSamples.push(id, of: app), audience: [], companion: nil, message: message, clientIDsSince: noon - .days(1))
  }

  private static func ids(
    _ store: any Store, _ app: Int64, _ ordinal: DeviceOrdinal, _ range: InboxRange = InboxRange(limit: 1000),
    at now: Instant = noon
  ) async throws -> [Int64] {
    try await store.inbox(app: app, ordinal: ordinal, range, at: now).entries.map { entry in
      switch entry.kind {
      case .message(let body):
        try expect(body, is: Self.body(entry.id))
        return entry.id
      case .withdrawal: return -entry.id
      }
    }
  }

  private static func acknowledge(
    _ position: Int64, _ app: Int64, _ ordinal: DeviceOrdinal, delivered: [Int64: Int64]? = nil, in store: any Store
  ) async throws {
    let list = delivered.map { $0.map { InboxAcknowledgement.Delivered(position: $0.key, id: $0.value) } }
    try await store.acknowledge(
      [InboxAcknowledgement(app: app, ordinal: ordinal, position: position, delivered: list)], at: noon)
  }

  private static func setAlias(_ alias: String?, _ app: Int64, _ number: Int, in store: any Store) async throws {
    var edit = DeviceEdit()
    edit.alias = alias.map { .set($0) } ?? .clear
    try expect(
      try await store.changeDevice(app: app, registrationID: "r\(app)x\(number)", edit, limits: DeviceLimits()),
      is: .done)
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("D-302 what came while a device was away is there, for one, for few and for many alike") { store in
      let app = try await store.sampleApp("one", devices: 200)
      let other = try await store.sampleApp("two", devices: 2)
      try await send(1, to: .registrationID("r\(app)x7"), of: app, in: store)
      try await send(2, to: .everyone, of: app, in: store)
      try await send(3, to: .everyone, of: other, in: store)
      try await send(4, to: .registrationID("r\(app)x8"), of: app, in: store)
      try await send(5, to: .not(.registrationID("r\(app)x7")), of: app, in: store)
      try expect(try await ids(store, app, 7), is: [1, 2])
      try expect(try await ids(store, app, 8), is: [2, 4, 5])
      try expect(try await ids(store, other, 0), is: [3])
      let state = try await store.inboxState(app: app, ordinal: 7)
      try expect(state, is: InboxState(acknowledged: 0, forgotten: 0, last: 4))
      try expect(try await store.inboxState(app: other, ordinal: 0)?.last, is: 1, "each app counts by itself")
      try expect(try await store.inboxState(app: app, ordinal: 999), is: nil)
      try expect(try await store.inboxID(app: app, ordinal: 7, position: 2), is: 2)
      try expect(try await store.inboxID(app: app, ordinal: 7, position: 3), is: nil, "another device's")
      try expect(try await store.inboxID(app: app, ordinal: 7, position: 99), is: nil)
      let late = try await store.register(StoreSamples.device(300, of: app))
      try expect(try await ids(store, app, late.ordinal), is: [], "who came later was not meant")
      try expect(try await store.deleteDevice(app: app, registrationID: "r\(app)x8"), is: true)
      try expect(try await ids(store, app, 9), is: [2, 5])
    },
    ConformanceCase("D-302 the whole history by pages, from either end") { store in
      let app = try await store.sampleApp(devices: 100)
      for id in 1...30 as ClosedRange<Int64> {
        let whom: [AudienceExpression] = [.everyone, .registrationID("r\(app)x5"), .registrationID("r\(app)x6")]
        try await send(id, to: whom[Int(id % 3)], of: app, in: store)
      }
      let all = (1...30 as ClosedRange<Int64>).filter { $0 % 3 != 2 }
      for newestFirst in [false, true] {
        var range = InboxRange(newestFirst: newestFirst, limit: 7)
        var found: [Int64] = []
        while true {
          let page = try await store.inbox(app: app, ordinal: 5, range, at: noon)
          found += page.entries.map(\.id)
          try expect(page.through, is: 30)
          guard page.hasMore, let last = page.entries.last else { break }
          try expect(page.entries.count, is: 7)
          if newestFirst { range.before = last.position } else { range.after = last.position }
        }
        try expect(found, is: newestFirst ? all.reversed() : all)
      }
      try expect(try await ids(store, app, 5, InboxRange(after: 9, before: 13, limit: 9)), is: [10, 12])
    },
    ConformanceCase("more than a hundred broadcasts of which a device is meant by the last") { store in
      let app = try await store.sampleApp(devices: 150)
      for id in 1...130 as ClosedRange<Int64> {
        try await send(id, to: .not(.registrationID("r\(app)x3")), of: app, in: store)
      }
      try await send(131, to: .everyone, of: app, in: store)
      try expect(try await ids(store, app, 3), is: [131])
      try expect(try await ids(store, app, 3, InboxRange(newestFirst: true, limit: 1)), is: [131])
      try expect(try await ids(store, app, 4, InboxRange(limit: 200)).count, is: 131)
    },
    ConformanceCase("an expired message is gone, for those who had it too") { store in
      let app = try await store.sampleApp(devices: 80)
      try await send(1, to: .everyone, of: app, expires: noon + .seconds(10), in: store)
      try await send(2, to: .registrationID("r\(app)x0"), of: app, expires: noon + .seconds(10), in: store)
      try await send(3, to: .everyone, of: app, in: store)
      try expect(try await ids(store, app, 0, at: noon + .seconds(9)), is: [1, 2, 3])
      try expect(try await ids(store, app, 0, at: noon + .seconds(10)), is: [3])
    },
    ConformanceCase("a device moves on and never back; what it had counts once") { store in
      let app = try await store.sampleApp(devices: 80)
      try await send(1, to: .everyone, of: app, in: store)
      try await send(2, to: .registrationID("r\(app)x0"), of: app, in: store)
      try await send(3, to: .everyone, of: app, expires: noon, in: store)
      try await acknowledge(1, app, 0, in: store)
      try await acknowledge(1, app, 0, in: store)
      try await acknowledge(99, app, 0, in: store)
      try await acknowledge(2, app, 0, in: store)
      try expect(try await store.inboxState(app: app, ordinal: 0)?.acknowledged, is: 3, "not beyond the end")
      try await acknowledge(3, app, 1, delivered: [1: 1, 3: 3], in: store)
      try await acknowledge(3, app, 1, delivered: [1: 1], in: store)
      for (id, delivered) in [(1, 2), (2, 1), (3, 1)] as [(Int64, Int)] {
        let message = try require(try await store.message(app: app, id: id))
        try expect(message.delivered, is: delivered, "message \(id)")
      }
      try expect(try await store.message(app: app, id: 1)?.targeted, is: 80)
      try expect(try await store.message(app: app + 1, id: 1), is: nil)
      try expect(try await store.messages(app: app, before: .max, limit: 2).map(\.id), is: [3, 2])
      try expect(try await store.messages(app: app, before: 2, limit: 2).map(\.id), is: [1])
      func state(_ id: Int64, _ number: Int) async throws -> MessageTrace.State? {
        let trace = try await store.messageTrace(app: app, id: id, registrationID: "r\(app)x\(number)")
        return trace?.state
      }
      try expect(try await state(1, 0), is: .delivered(at: noon))
      try expect(try await state(1, 9), is: .waiting)
      try expect(try await state(2, 9), is: .notMeant)
      try expect(try await state(9, 9), is: nil)
      try expect(try await state(1, 99), is: nil)
    },
    ConformanceCase("what was read counts once for a device, and only where it was meant") { store in
      let app = try await store.sampleApp(devices: 80)
      try await send(1, to: .everyone, of: app, in: store)
      try await send(2, to: .registrationID("r\(app)x0"), of: app, in: store)
      try expect(try await store.noteRead(app: app, ordinal: 0, ids: [1, 2, 9], at: noon), is: [9])
      try expect(try await store.noteRead(app: app, ordinal: 0, ids: [1], at: noon), is: [])
      try expect(try await store.noteRead(app: app, ordinal: 1, ids: [1, 2], at: noon), is: [2])
      try expect(try await store.message(app: app, id: 1)?.read, is: 2)
      try expect(try await store.message(app: app, id: 2)?.read, is: 1)
      try expect(
        try await store.messageTrace(app: app, id: 2, registrationID: "r\(app)x0")?.readAt, is: noon)
    },
    ConformanceCase("a withdrawn message is gone, and everybody who was meant is told once") { store in
      let app = try await store.sampleApp(devices: 80)
      try await send(1, to: .everyone, of: app, in: store)
      try await send(2, to: .registrationID("r\(app)x0"), of: app, in: store)
      for id in [1, 2, 1] as [Int64] {
        try expect(try await store.withdrawMessage(app: app, id: id, at: noon), is: true)
      }
      try expect(try await store.withdrawMessage(app: app, id: 9, at: noon), is: false)
      try expect(try await store.withdrawMessage(app: app + 1, id: 1, at: noon), is: false)
      try expect(try await ids(store, app, 0), is: [-1, -2])
      try expect(try await ids(store, app, 1), is: [-1])
      try expect(try await store.message(app: app, id: 1)?.withdrawnAt, is: noon)
      try expect(try await store.messages(app: app, before: .max, limit: 9).map(\.id), is: [2, 1])
    },
    ConformanceCase("C36 what waits for an alias goes with the alias, and never to the phone's next user") { store in
      let app = try await store.sampleApp(devices: 4)
      try await setAlias("a", app, 0, in: store)
      try await send(1, to: .alias("a"), of: app, aliases: ["a"], in: store)
      try await send(2, to: .alias("a"), of: app, aliases: ["a"], in: store)
      try await send(3, to: .everyone, of: app, in: store)
      try await acknowledge(1, app, 0, in: store)
      _ = try await store.register(StoreSamples.device(0, of: app))  // the app is installed again
      try await setAlias("b", app, 0, in: store)
      try expect(
        try await ids(store, app, 0), is: [1, 3], "what the former user had already, and what is for the device")
      try expect(
        try await store.messageTrace(app: app, id: 2, registrationID: "r\(app)x0")?.state, is: .waitingForAlias("a"))
      try await setAlias("b", app, 1, in: store)
      try expect(try await ids(store, app, 1), is: [3])
      try await setAlias("a", app, 2, in: store)
      try expect(try await ids(store, app, 2), is: [3, 2], "at the end, so that no cursor passes it")
      try await setAlias("a", app, 3, in: store)
      try expect(try await ids(store, app, 3), is: [3], "the user has it")
      try await setAlias(nil, app, 2, in: store)
      try expect(try await ids(store, app, 2), is: [3])
      try expect(try await store.deleteDevice(app: app, registrationID: "r\(app)x3"), is: true)
      try await setAlias("a", app, 2, in: store)
      try expect(try await ids(store, app, 2), is: [3, 2])
      try await send(4, to: .alias("a"), of: app, aliases: ["a"], in: store)
      try await store.deleteAlias(app: app, alias: "a")
      try expect(try await ids(store, app, 2), is: [3])
      try expect(try await store.withdrawMessage(app: app, id: 4, at: noon), is: true)
      try await setAlias("a", app, 1, in: store)
      try expect(try await ids(store, app, 1), is: [3, 2])
    },
    ConformanceCase("C36 an app that was installed anew gets what waited for the alias once it takes it, not before") {
      store in
      let app = try await store.sampleApp(devices: 2)
      try await setAlias("a", app, 0, in: store)
      try await send(1, to: .alias("a"), of: app, aliases: ["a"], in: store)
      _ = try await store.register(StoreSamples.device(0, of: app))
      try expect(try await ids(store, app, 0), is: [], "it has the alias, but who says that it is the same person?")
      try expect(
        try await store.messageTrace(app: app, id: 1, registrationID: "r\(app)x0")?.state, is: .waitingForAlias("a"))
      try await setAlias("a", app, 0, in: store)
      try expect(try await ids(store, app, 0), is: [1])
      try await setAlias("a", app, 0, in: store)
      try expect(try await ids(store, app, 0), is: [1], "once")
    },
    ConformanceCase("whoever listens hears of credentials that are good no more") { store in
      let app = try await store.sampleApp("one", devices: 3)
      let other = try await store.sampleApp("two", devices: 1)
      let heard = Locked<[(app: Int64, end: InboxEnd)]>([])
      store.followInboxes { news in
        if case .end(let app, let end) = news { heard.withLock { $0.append((app, end)) } }
      }
      _ = try await store.register(StoreSamples.device(7, of: app))
      _ = try await store.register(StoreSamples.device(1, of: app))
      _ = try await store.deleteDevice(app: app, registrationID: "r\(app)x2")
      _ = try await store.deleteDevice(app: app, registrationID: "r\(app)x2")
      try await store.deleteApp(other, at: noon)
      try await store.deleteApp(other, at: noon)
      try expect(heard.withLock { $0.map(\.app) }, is: [app, app, other])
      try expect(heard.withLock { $0.map(\.end) }, is: [.secretReplaced(1), .deviceDeleted(2), .appDeleted])
      try expect(try await store.inboxState(app: app, ordinal: 2), is: nil)
      try expect(try await store.inboxState(app: other, ordinal: 0), is: nil)
    },
    ConformanceCase("whoever listens hears of each entry once, in the order of positions") { store in
      let app = try await store.sampleApp(devices: 3)
      try await setAlias("a", app, 0, in: store)
      let heard = Locked<[InboxNotice]>([])
      store.followInboxes { news in if case .entry(let notice) = news { heard.withLock { $0.append(notice) } } }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for id in 1...20 as ClosedRange<Int64> {
          group.addTask { try await send(id, to: .everyone, of: app, in: store) }
        }
        try await group.waitForAll()
      }
      try await send(21, to: .alias("a"), of: app, aliases: ["a"], in: store)
      try await setAlias(nil, app, 0, in: store)
      try await setAlias("a", app, 2, in: store)
      _ = try await store.withdrawMessage(app: app, id: 21, at: noon)
      let notices = heard.withLock { $0 }
      try expect(notices.map(\.entry.position), is: Array(1...23))
      try expect(Set(notices.prefix(20).map(\.entry.id)), is: Set(1...20))
      try expect(notices.suffix(3).map { $0.audience.map(\.devices) }, is: [[[0]], [[2]], [[2]]])
      try expect(notices.last?.entry.kind, is: .withdrawal)
    },
    ConformanceCase("a message that is not kept is not heard of, and leaves no gap") { store in
      let app = try await store.sampleApp(devices: 3)
      let heard = Locked<[Int64]>([])
      store.followInboxes { news in
        if case .entry(let notice) = news { heard.withLock { $0.append(notice.entry.position) } }
      }
      try await send(1, to: .everyone, of: app, in: store)
      do {
        try await send(1, to: .everyone, of: app, in: store)
        throw ConformanceFailure(description: "the id was taken")
      } catch is StoreFault {}
      try await send(2, to: .everyone, of: app, in: store)
      try expect(heard.withLock { $0 }, is: [1, 2])
    },
    ConformanceCase("messages are kept for ever, or go with their age; a device can tell that some went") { store in
      let app = try await store.sampleApp(devices: 80)
      try await send(1, to: .everyone, of: app, in: store)
      try await send(2, to: .registrationID("r\(app)x0"), of: app, in: store)
      _ = try await store.noteRead(app: app, ordinal: 0, ids: [1, 2], at: noon)
      while try await store.forget(Forgetting(pushesBefore: noon + .days(1))) {}
      try expect(try await ids(store, app, 0), is: [1, 2])
      while try await store.forget(Forgetting(messagesBefore: noon)) {}
      try expect(try await ids(store, app, 0), is: [1, 2])
      while try await store.forget(Forgetting(messagesBefore: noon + .milliseconds(1))) {}
      try expect(try await ids(store, app, 0), is: [])
      try expect(try await store.message(app: app, id: 1), is: nil)
      try expect(
        try await store.inboxState(app: app, ordinal: 0), is: InboxState(acknowledged: 0, forgotten: 2, last: 2))
      try await send(3, to: .everyone, of: app, in: store)
      try expect(try await store.inboxState(app: app, ordinal: 0)?.last, is: 3, "positions never come again")
    },
  ]
}
