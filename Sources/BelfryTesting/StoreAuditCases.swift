import Audience
import Basics
import Schedule
import Store

enum StoreAuditCases {
  private static let noon = StoreSamples.noon

  private static func note(
    _ kind: AuditKind, _ app: Int64?, _ subject: String? = nil, at: Instant = noon
  ) -> AuditNote {
    AuditNote(
      kind, at: at, app: app, doer: AuditDoer(.developer, key: "d"), address: "192.0.2.7", subject: subject,
      words: "words")
  }

  private static func kinds(_ store: any Store, _ filter: AuditFilter = .init()) async throws -> [AuditKind] {
    try await store.audit(filter, before: nil, limit: 99).map(\.note.kind)
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("the audit log is read newest first, by app, kind and time, a page after the other") { store in
      let rows: [(AuditKind, Int64?, Int64)] = [
        (.appMade, 1, 0), (.pushPaused, 1, 1), (.developerMade, nil, 2), (.pushPaused, 2, 3), (.pushPaused, 1, 4),
        (.pushWithdrawn, 1, 5),
      ]
      for (kind, app, hours) in rows { try await store.note(note(kind, app, "s\(hours)", at: noon + .hours(hours))) }
      let all = try await store.audit(.init(), before: nil, limit: 99)
      try expect(all.map(\.note.subject), is: ["s5", "s4", "s3", "s2", "s1", "s0"])
      try expect(all.last?.note, is: note(.appMade, 1, "s0"))
      try expect(all.map(\.id), is: all.map(\.id).sorted(by: >))
      let filters: [(AuditFilter, [String])] = [
        (.init(app: 1), ["s5", "s4", "s1", "s0"]), (.init(app: 1, kind: .pushPaused), ["s4", "s1"]),
        (.init(kind: .pushPaused), ["s4", "s3", "s1"]), (.init(app: 3), []),
        (.init(app: 1, from: noon + .hours(1), before: noon + .hours(5)), ["s4", "s1"]),
        (.init(app: 1, kind: .pushPaused, from: noon + .hours(2)), ["s4"]), (.init(before: noon + .hours(1)), ["s0"]),
      ]
      for (filter, subjects) in filters {
        let found = try await store.audit(filter, before: nil, limit: 99)
        try expect(found.compactMap(\.note.subject), is: subjects, "\(filter)")
        var paged: [String] = []
        var before: Int64?
        while let entry = try await store.audit(filter, before: before, limit: 1).first {
          paged.append(entry.note.subject ?? "")
          before = entry.id
        }
        try expect(paged, is: subjects, "\(filter) page by page")
      }
    },
    ConformanceCase("what changed is noted with it, once, and what did not change is not") { store in
      let app = try await store.createApp(StoreSamples.app("one"), audit: note(.appMade, nil, "one"))
      let made = try require(try await store.audit(.init(), before: nil, limit: 1).first)
      try expect(made.note, is: note(.appMade, app.id, "one"), "the app's id is filled in")
      let id = app.id
      for _ in 1...2 {
        _ = try? await store.createApp(StoreSamples.app("one"), audit: note(.appMade, nil, "one"))
        _ = try await store.deleteSegment(app: id, id: "none", audit: note(.segmentDeleted, id))
        _ = try await store.deleteTest(app: id, id: "none", audit: note(.testDeleted, id))
        _ = try await store.deleteDevice(app: id, registrationID: "none", audit: note(.deviceDeleted, id))
        _ = try await store.deleteSchedule(app: id, id: "none", audit: note(.scheduleDeleted, id))
        _ = try await store.deleteCredential(app: id, id: 7, audit: note(.credentialRemoved, id))
        _ = try await store.renewSecret(app: 99, hash: "", audit: note(.secretRenewed, 99))
        try await store.deleteApp(99, at: noon, audit: note(.appDeleted, 99))
        _ = try await store.control(app: id, push: 9, .paused, at: noon, audit: note(.pushPaused, id))
      }
      try expect(try await kinds(store), is: [.appMade])
      _ = try await store.renewSecret(app: id, hash: "h", audit: note(.secretRenewed, id))
      _ = try await store.register(StoreSamples.device(1, of: id))
      try await store.acceptSample(StoreSamples.push(5, of: id))
      for _ in 1...2 {
        _ = try await store.control(app: id, push: 5, .paused, at: noon, audit: note(.pushPaused, id, "5"))
      }
      for push in [5, 5, 6] as [Int64] {
        _ = try await store.askToClear(app: id, push: push, audit: note(.pushCleared, id, "5"))
      }
      _ = try await store.deleteDevice(app: id, registrationID: "r\(id)x1", audit: note(.deviceDeleted, id))
      let segment = StoredSegment(id: "s", document: [], audience: .everyone, updatedAt: noon)
      _ = try await store.keepSegment(app: id, segment, ifVersion: nil, audit: note(.segmentKept, id, "s"))
      _ = try await store.keepSegment(app: id, segment, ifVersion: 7, audit: note(.segmentKept, id, "s"))
      _ = try await store.deleteSegment(app: id, id: "s", audit: note(.segmentDeleted, id, "s"))
      let group = try await store.createAccount(
        StoredAccount(id: 0, kind: .group, key: "g", name: nil, secretHash: "", createdAt: noon),
        audit: note(.groupMade, nil, "g"))
      for _ in 1...2 { try await store.add(app: id, toGroup: group.id, audit: note(.groupJoined, id, "g")) }
      let credential = StoredCredential(
        app: id, environments: [.sandbox], name: "k", fingerprint: "f", secret: [1], createdAt: noon, uploadedAt: noon)
      for _ in 1...2 { _ = try await store.addCredential(credential, audit: note(.credentialAdded, id)) }
      let added = try require(try await store.audit(.init(), before: nil, limit: 1).first).note
      try expect(added.subject, is: String(try require(try await store.credentials().first).id))
      for _ in 1...2 { try await store.deleteApp(id, at: noon, audit: note(.appDeleted, id)) }
      try expect(
        try await kinds(store).reversed(),
        is: [
          .appMade, .secretRenewed, .pushPaused, .pushCleared, .deviceDeleted, .segmentKept, .segmentDeleted,
          .groupMade,
          .groupJoined, .credentialAdded, .appDeleted,
        ])
    },
    ConformanceCase("what a server did to devices, tags, aliases and files is noted when it changed something") {
      store in
      let app = try await store.sampleApp(devices: 2)
      let id = "r\(app)x0"
      let limits = DeviceLimits()
      let push = StoreSamples.push(5, of: app, clientID: "c")
      let reach = try await store.reach(app: app, .everyone, .production)
      let file = StoredFile(
        id: "f", app: app, kind: .alias, name: "f.txt", createdAt: noon, expiresAt: noon + .hours(1))
      var edit = DeviceEdit()
      edit.alias = .set("lin")
      var members = TagEdit()
      members.add = [id]
      for _ in 1...2 {
        for audit in [note(.deviceChanged, app, id), nil] {
          _ = try await store.changeDevice(app: app, registrationID: id, edit, limits: limits, audit: audit)
        }
        _ = try await store.changeTag(app: app, name: "t", members, limits: limits, audit: note(.tagChanged, app, "t"))
      }
      for _ in 1...2 { try await store.deleteTag(app: app, name: "t", audit: note(.tagDeleted, app, "t")) }
      for _ in 1...2 {
        _ = try await store.removeAlias(app: app, alias: "lin", from: [id], audit: note(.aliasChanged, app, "lin"))
      }
      _ = try await store.changeDevice(app: app, registrationID: id, edit, limits: limits, audit: nil)
      for _ in 1...2 { try await store.deleteAlias(app: app, alias: "lin", audit: note(.aliasDeleted, app, "lin")) }
      for limit in [1, 1] {
        _ = try await store.keepFile(
          file, parts: [Array("lin\n".utf8)], limit: limit, audit: note(.fileAdded, app, "f"))
      }
      for _ in 1...2 { try await store.deleteFile(app: app, id: "f", audit: note(.fileDeleted, app, "f")) }
      for _ in 1...2 {
        _ = try await store.accept(
          push, audience: reach.targets, companion: nil, message: nil, clientIDsSince: noon - .days(1),
          audit: note(.pushSent, app, "5"))
      }
      try expect(
        try await kinds(store, .init(app: app)).reversed(),
        is: [
          .appMade, .deviceChanged, .tagChanged, .tagDeleted, .aliasChanged, .aliasDeleted, .fileAdded, .fileDeleted,
          .pushSent,
        ])
    },
    ConformanceCase("old lines of the audit log go") { store in
      for days in [400, 300, 1] as [Int64] { try await store.note(note(.backupMade, nil, at: noon - .days(days))) }
      while try await store.forget(Forgetting(auditBefore: noon - .days(365))) {}
      try expect(
        try await store.audit(.init(), before: nil, limit: 9).map(\.note.at), is: [noon - .days(1), noon - .days(300)])
    },
  ]
}
