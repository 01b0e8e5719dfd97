import Basics
import Store

enum StoreAppCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("an app is found by its key") { store in
      let one = try await store.createApp(StoreSamples.app("one"))
      let two = try await store.createApp(StoreSamples.app("two"))
      try expect(one.id < two.id, is: true, "ids grow")
      try expect(try await store.app(key: "two"), is: two)
      try expect(try await store.app(key: "three"), is: nil)
      try expect(try await store.apps(), is: [one, two])
    },
    ConformanceCase("a key that is taken is a fault and changes nothing") { store in
      let one = try await store.createApp(StoreSamples.app("one"))
      let fault = try await fault { () throws(StoreFault) in try await store.createApp(StoreSamples.app("one")) }
      guard case .taken = fault else { throw ConformanceFailure(description: "\(fault)") }
      try expect(try await store.apps(), is: [one])
    },
    ConformanceCase("another secret takes the place of an app's, of no other, and of none that was deleted") { store in
      let one = try await store.createApp(StoreSamples.app("one"))
      let two = try await store.createApp(StoreSamples.app("two"))
      try expect(try await store.renewSecret(app: one.id, hash: "another"), is: true)
      try expect(try await store.app(key: "one")?.secretHash, is: "another")
      try expect(try await store.app(key: "two"), is: two)
      try await store.deleteApp(two.id, at: StoreSamples.noon)
      try expect(try await store.renewSecret(app: two.id, hash: "another"), is: false)
      try expect(try await store.app(key: "two")?.secretHash, is: two.secretHash)
      try expect(try await store.renewSecret(app: 99, hash: "another"), is: false)
    },
    ConformanceCase("one that cannot is alone with its fault, whoever shares its commit") { store in
      _ = try await store.createApp(StoreSamples.app("app 0"))
      let faults = await withTaskGroup(of: Int.self) { group in
        for number in 0..<60 {
          group.addTask {
            do throws(StoreFault) {
              _ = try await store.createApp(StoreSamples.app(number % 3 == 0 ? "app 0" : "app \(number)"))
              return 0
            } catch {
              return 1
            }
          }
        }
        return await group.reduce(0, +)
      }
      try expect(faults, is: 20)
      try expect(try await store.apps().count, is: 41)
    },
    ConformanceCase("says that it takes writes, and keeps nothing of having said so") { store in
      try await store.check()
      try await store.check()
      try expect(try await store.apps(), is: [])
    },
    ConformanceCase("a store that is closed says so") { store in
      await store.close()
      try expect(try await fault { () throws(StoreFault) in try await store.apps() }, is: .closed)
      try expect(try await fault { () throws(StoreFault) in try await store.check() }, is: .closed)
    },
    ConformanceCase("an app that is deleted keeps its key, and nothing of its pushes leaves any more") { store in
      let app = try await store.sampleApp(devices: 2)
      let other = try await store.sampleApp("other", devices: 1)
      let group = try await store.createAccount(
        StoredAccount(
          id: 0, kind: .group, key: "g", name: nil, secretHash: "", createdAt: StoreSamples.noon))
      for app in [app, other] { try await store.add(app: app, toGroup: group.id) }
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try await store.acceptSample(StoreSamples.push(2, of: other))
      for later in [1, 2] as [Int64] { try await store.deleteApp(app, at: StoreSamples.noon + .hours(later)) }
      try expect(try require(try await store.app(key: "sample")).deletedAt, is: StoreSamples.noon + .hours(1))
      try expect(try await store.apps().map { $0.deletedAt == nil }, is: [false, true])
      try expect(try await store.apps(ofGroup: group.id), is: [other])
      try expect(try require(try await store.progress(app: app, push: 1)).control, is: .withdrawn)
      try expect(try require(try await store.progress(app: other, push: 2)).control, is: .running)
      let fault = try await fault { () throws(StoreFault) in try await store.createApp(StoreSamples.app("sample")) }
      guard case .taken = fault else { throw ConformanceFailure(description: "\(fault)") }
    },
  ]
}
