import Basics
import Store

/// A group of apps that are pushed to at once.
public struct GroupRecord: Sendable, Hashable {
  public var id: Int64
  /// 24 lower-case hex digits; callers put `group-` in front (jpush.md §2).
  public var key: String
  public var name: String?
}

/// A new group with its secret, which can be told this once only.
public struct NewGroup: Sendable, Hashable {
  public var group: GroupRecord
  public var masterSecret: String
}

/// What became of a push to a group.
public struct GroupReceipt: Sendable {
  public var id: Int64
  /// Each app's own answer, by the age of the apps.
  public var parts: [(app: AppRecord, result: Result<PushReceipt, RequestFault>)]
}

extension PushService {
  public func createGroup(name: String?) async throws(RequestFault) -> NewGroup {
    try Self.checkName(name)
    let (account, secret) = try await credentials.createAccount(.group, name: name, at: clock.now)
    return NewGroup(group: GroupRecord(account), masterSecret: secret)
  }

  /// All groups with their apps, oldest first.
  public func groups() async throws(RequestFault) -> [(group: GroupRecord, apps: [AppRecord])] {
    var groups: [(group: GroupRecord, apps: [AppRecord])] = []
    for account in try await faulting(as: .push, await store.accounts(.group)) {
      let group = GroupRecord(account)
      groups.append((group, try await apps(of: group)))
    }
    return groups
  }

  /// Once more it changes nothing.
  public func addApp(key appKey: String, toGroup groupKey: String) async throws(RequestFault) {
    guard let app = try await credentials.app(key: appKey) else {
      throw RequestFault(
        .invalidParameter, at: "app", found: "no app \(quoted(appKey))", remedy: "Use a key of `belfry app create`.")
    }
    guard let group = try await faulting(as: .push, await store.account(.group, key: groupKey)) else {
      throw RequestFault(
        .invalidParameter, at: "group", found: "no group \(quoted(groupKey))",
        remedy: "Use a key of `belfry group create`, without `group-` in front.")
    }
    let note = note(.groupJoined, AppRecord(app), group.key, group.name)
    try await faulting(as: .push, await store.add(app: app.id, toGroup: group.id, audit: note))
  }

  /// 1004 for an unknown key and a wrong secret alike.
  public func authenticateGroup(key: String, masterSecret: String) async throws(RequestFault) -> GroupRecord {
    guard let account = try await credentials.account(.group, key: key, secret: masterSecret) else {
      throw RequestFault(
        .authenticationFailed, found: "the group key is unknown or the group's secret is wrong",
        remedy: "Send `group-` and the group's key as user, its secret as password; `belfry group create` shows both.")
    }
    return GroupRecord(account)
  }

  /// Pushes to each app of the group by itself; returns once all parts that were taken are durable. A `cid` used within a
  /// day answers as it did then.
  public func push(_ group: GroupRecord, _ order: PushOrder) async throws(RequestFault) -> GroupReceipt {
    let apps = try await apps(of: group)
    guard !apps.isEmpty else {
      throw RequestFault(
        .audienceEmpty, found: "the group has no app yet", remedy: "Add one: `belfry group add`.")
    }
    var order = order
    if order.replaces != nil {
      order.replaces = nil
      order.warnings.append("override_msg_id is ignored: a push to a group replaces none")
    }
    let id = messageIDs.next(at: clock.now)
    order.groupPush = id
    let results = await each(apps) { [order] app throws(RequestFault) in try await self.push(app, order) }
    let first = results.lazy.compactMap { try? $0.get().groupPush }.first
    return GroupReceipt(id: first ?? id, parts: Array(zip(apps, results)).map { (app: $0, result: $1) })
  }

  /// The reports of a group push's parts that were taken; empty for an id that is none of the group's.
  public func reports(_ group: GroupRecord, groupPush id: Int64) async throws(RequestFault) -> [PushReport] {
    var reports: [PushReport] = []
    do throws(StoreFault) {
      let apps = Set(try await store.apps(ofGroup: group.id))
      for part in try await store.parts(ofGroupPush: id) where apps.contains(part.app) {
        if let progress = try await store.progress(app: part.app, push: part.push) {
          reports.append(PushReport(progress))
        }
      }
    } catch {
      throw RequestFault(error, .push)
    }
    return reports
  }

  /// The apps of a group, oldest first.
  public func apps(of group: GroupRecord) async throws(RequestFault) -> [AppRecord] {
    var apps: [AppRecord] = []
    for id in try await faulting(as: .push, await store.apps(ofGroup: group.id)) {
      if let app = try await faulting(as: .push, await credentials.app(id: id)) { apps.append(app) }
    }
    return apps
  }

  static func checkName(_ name: String?) throws(RequestFault) {
    guard (name?.utf8.count ?? 0) > 255 else { return }
    throw RequestFault(.invalidParameter, at: "name", found: "more than 255 bytes", remedy: "Give a shorter name.")
  }

  /// Does it for each at once; answers in the order given.
  func each<Element: Sendable, Value: Sendable>(
    _ elements: [Element], _ body: @escaping @Sendable (Element) async throws(RequestFault) -> Value
  ) async -> [Result<Value, RequestFault>] {
    await withTaskGroup(of: (Int, Result<Value, RequestFault>).self) { group in
      for (index, element) in elements.enumerated() {
        group.addTask {
          do throws(RequestFault) { return (index, .success(try await body(element))) } catch {
            return (index, .failure(error))
          }
        }
      }
      var results = [Result<Value, RequestFault>?](repeating: nil, count: elements.count)
      for await (index, result) in group { results[index] = result }
      return results.compactMap(\.self)
    }
  }
}

extension GroupRecord {
  init(_ account: StoredAccount) { self.init(id: account.id, key: account.key, name: account.name) }
}
