public import Transport

/// A key that may sign provider tokens, as Apple's developer site would know it.
public struct ProviderKey: Sendable {
  /// What the key may be used for (Apple, "Establishing a token-based connection to APNs", since 2025).
  public enum Scope: Hashable, Sendable {
    /// All topics of the team; both environments when `only` is nil, as keys made before 2025.
    case team(only: SimulatedEnvironment?)
    /// Only these topics, in one environment. Two keys of one `family` may follow each other on a connection.
    case topics(Set<String>, SimulatedEnvironment, family: String)
  }

  /// Ten characters, `kid` of the token.
  public let keyID: String
  /// Ten characters, `iss` of the token.
  public let teamID: String
  public let publicKey: P256PublicKey
  public let scope: Scope

  public init(keyID: String, teamID: String, publicKey: P256PublicKey, scope: Scope = .team(only: nil)) {
    self.keyID = keyID
    self.teamID = teamID
    self.publicKey = publicKey
    self.scope = scope
  }

  /// Whether a connection that began with this key may go on with `other`, which is of the same team.
  func isRelated(to other: ProviderKey) -> Bool {
    switch (scope, other.scope) {
    case (.team, .team): true
    case (.topics(_, _, let family), .topics(_, _, let otherFamily)): family == otherFamily
    case (.team, .topics), (.topics, .team): false
    }
  }

  /// The one environment it is limited to, if any.
  var environment: SimulatedEnvironment? {
    switch scope {
    case .team(let only): only
    case .topics(_, let environment, family: _): environment
    }
  }
}
