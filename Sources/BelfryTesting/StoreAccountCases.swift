import Basics
import Store

enum StoreAccountCases {
  private static func account(_ kind: StoredAccount.Kind, _ key: String) -> StoredAccount {
    StoredAccount(
      id: 0, kind: kind, key: key, name: "name of \(key)", secretHash: "hash of \(key)", createdAt: StoreSamples.noon)
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("accounts are found by kind and key, and a key is given once") { store in
      let group = try await store.createAccount(account(.group, "g"))
      let developer = try await store.createAccount(account(.developer, "d"))
      try expect(group.name, is: "name of g")
      try expect(try await store.account(.group, key: "g"), is: group)
      try expect(try await store.account(.developer, key: "g"), is: nil)
      try expect(try await store.accounts(.developer), is: [developer])
      let fault = try await fault { () throws(StoreFault) in try await store.createAccount(account(.developer, "g")) }
      guard case .taken = fault else { throw ConformanceFailure(description: "\(fault)") }
    },
    ConformanceCase("a group has its apps once each, and its pushes their parts") { store in
      let group = try await store.createAccount(account(.group, "g"))
      let other = try await store.createAccount(account(.group, "h"))
      let first = try await store.sampleApp("first", devices: 1)
      let second = try await store.sampleApp("second", devices: 1)
      for app in [second, first, second] { try await store.add(app: app, toGroup: group.id) }
      try expect(try await store.apps(ofGroup: group.id), is: [first, second])
      try expect(try await store.apps(ofGroup: other.id), is: [])
      for (id, app) in [(5, second), (6, first)] as [(Int64, Int64)] {
        var push = StoreSamples.push(id, of: app)
        push.groupPush = 77
        try await store.acceptSample(push)
        try expect(try require(try await store.progress(app: app, push: id)).push, is: push)
      }
      try await store.acceptSample(StoreSamples.push(7, of: first))
      try expect(
        try await store.parts(ofGroupPush: 77), is: [GroupPart(app: first, push: 6), GroupPart(app: second, push: 5)])
      try expect(try await store.parts(ofGroupPush: 78), is: [])
    },
  ]
}
