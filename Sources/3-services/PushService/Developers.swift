import Basics
import Store

/// Who makes apps by JPush's admin calls, and uploads files for groups.
public struct DeveloperRecord: Sendable, Hashable {
  public var id: Int64
  /// 24 lower-case hex digits.
  public var key: String
  public var name: String?
}

/// A new developer with its secret, which can be told this once only.
public struct NewDeveloper: Sendable, Hashable {
  public var developer: DeveloperRecord
  public var secret: String
}

extension PushService {
  public func createDeveloper(name: String?) async throws(RequestFault) -> NewDeveloper {
    try Self.checkName(name)
    let (account, secret) = try await credentials.createAccount(.developer, name: name, at: clock.now)
    return NewDeveloper(developer: DeveloperRecord(account), secret: secret)
  }

  /// 1004 for an unknown key and a wrong secret alike.
  public func authenticateDeveloper(key: String, secret: String) async throws(RequestFault) -> DeveloperRecord {
    guard let account = try await credentials.account(.developer, key: key, secret: secret) else {
      throw RequestFault(
        .authenticationFailed, found: "the developer's key is unknown or its secret is wrong",
        remedy: "Send the key as user and the secret as password; `belfry dev create` shows both.")
    }
    return DeveloperRecord(account)
  }

  /// Whether there is a developer with that key: tells whose credentials these are, not that they are right.
  public func isDeveloper(key: String) async throws(RequestFault) -> Bool {
    try await faulting(as: .push, await store.account(.developer, key: key) != nil)
  }
}

extension DeveloperRecord {
  init(_ account: StoredAccount) { self.init(id: account.id, key: account.key, name: account.name) }
}
