import Audience
import Basics
import Store

enum StoreFileCases {
  private static func file(
    _ id: String, _ app: Int64?, _ kind: StoredFile.Kind = .alias, at: Instant = StoreSamples.noon
  ) -> StoredFile {
    StoredFile(id: id, app: app, kind: kind, name: "\(id).txt", createdAt: at, expiresAt: at + .hours(2))
  }

  private static func lines(_ names: [String]) -> [UInt8] { Array(names.map { "\($0)\n" }.joined().utf8) }

  private static func reached(_ store: any Store, _ app: Int64, _ id: String) async throws -> [DeviceOrdinal] {
    try await store.reach(app: app, .file(id), .production).targets.flatMap { Array($0.devices) }
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("a file is an audience of those whom its lines name at the time of asking") { store in
      let app = try await store.sampleApp(devices: 4)
      let other = try await store.sampleApp("other", devices: 4)
      func name(_ number: Int, _ alias: String) async throws {
        var edit = DeviceEdit()
        edit.alias = .set(alias)
        _ = try await store.changeDevice(app: app, registrationID: "r\(app)x\(number)", edit, limits: DeviceLimits())
      }
      try await name(0, "lin")
      try await name(1, "lin")
      try await name(2, "wei")
      let parts = [lines(["wei", "ghost"]), lines(["lin", "wei"])]
      try expect(try await store.keepFile(file("a", app), parts: parts, limit: 20), is: true)
      try expect(try await reached(store, app, "a"), is: [0, 1, 2])
      try await name(3, "wei")
      try expect(try await reached(store, app, "a"), is: [0, 1, 2, 3])
      try expect(try await reached(store, other, "a"), is: [], "another app's file")
      let ids = lines(["r\(app)x1", "r\(other)x2"])
      try expect(
        try await store.keepFile(file("b", nil, .registrationID), parts: [ids], limit: 20), is: true)
      try expect(try await reached(store, app, "b"), is: [1])
      try expect(try await reached(store, other, "b"), is: [2], "a developer's file is every app's")
      let both = AudienceExpression.all([.file("a"), .not(.file("b"))])
      try expect(
        try await store.reach(app: app, both, .production).targets.flatMap { Array($0.devices) }, is: [0, 2, 3])
      let unmatched = try await store.reach(app: app, .file("ghost"), .production).unmatched
      try expect(unmatched, is: [.file("ghost")])
    },
    ConformanceCase("a file is there until it expires or is deleted, and takes a place as long") { store in
      let app = try await store.sampleApp(devices: 1)
      let noon = StoreSamples.noon
      let first = file("a", app)
      let second = file("b", app, at: noon + .hours(1))
      try expect(try await store.keepFile(first, parts: [lines(["x"])], limit: 2), is: true)
      try expect(try await store.keepFile(second, parts: [lines(["x"])], limit: 2), is: true)
      try expect(try await store.keepFile(file("c", app), parts: [lines(["x"])], limit: 2), is: false)
      try expect(try await store.keepFile(file("d", nil), parts: [lines(["x"])], limit: 2), is: true)
      try expect(try await store.files(app: app, at: noon + .hours(1)), is: [first, second])
      try expect(try await store.files(app: app, at: noon + .hours(2)), is: [second])
      try expect(try await store.file(id: "a", at: noon + .hours(2)), is: nil)
      try expect(try await store.file(id: "b", at: noon + .hours(2)), is: second)
      let third = file("e", app, at: noon + .hours(2))
      try expect(try await store.keepFile(third, parts: [lines(["x"])], limit: 2), is: true)
      try await store.deleteFile(app: app + 1, id: "e")
      try expect(try await store.files(app: app, at: noon + .hours(2)), is: [second, third])
      try await store.deleteFile(app: app, id: "e")
      try await store.deleteFile(app: app, id: "e")
      try expect(try await store.files(app: app, at: noon + .hours(2)), is: [second])
    },
  ]
}
