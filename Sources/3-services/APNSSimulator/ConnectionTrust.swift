internal import Basics
internal import PushPayload
internal import Transport

/// What one connection has proved about its provider so far.
///
///     by token:        nobody ──first valid token──▶ bound to a team and a family of keys ──(expired)──▶ wedged, if so set
///     by certificate:  known from the handshake on, good or bad
///
/// A value, owned by the connection's loop. A token that came before is not verified again, only its age is looked at.
struct ConnectionTrust: Sendable {
  struct Rules: Sendable {
    /// A token older than this is expired (Apple: 60 minutes).
    var tokenLifetime = Instant.Span.hours(1)
    /// How far `iat` may lie ahead. Ours: Apple publishes none.
    var tokenAhead = Instant.Span.minutes(5)
    /// At least so long between two different tokens on one connection (Apple: 20 minutes).
    var tokenChange = Instant.Span.minutes(20)
    /// An expired token spoils the connection: no later one is taken (Pushy's author found so, node-apn otherwise).
    var isWedgedByExpiry = false
  }

  /// Who may push what.
  enum Grant: Sendable {
    case key(ProviderKey)
    case certificate(ProviderCertificate)
  }

  private struct Session {
    var header: [UInt8]
    var token: ProviderToken
    var key: ProviderKey
    var changed: Instant
  }

  /// The client's certificate, which makes tokens meaningless.
  enum Identity: Sendable {
    case none
    case certificate(ProviderCertificate)
    /// One that is no good for anything, and why.
    case bad(Refusal)
  }

  private let identity: Identity
  private var session: Session?
  /// The key of the first valid token; the connection is bound to its team and family.
  private var first: ProviderKey?
  private var wedge: Refusal?

  init(_ identity: Identity = .none) { self.identity = identity }

  /// Whether the many-streams limit is due: at once for certificates, after the first valid token otherwise.
  var isProven: Bool {
    switch identity {
    case .none: first != nil
    case .certificate: true
    case .bad: false
    }
  }

  /// Judges the `authorization` header of one request; a certificate makes it meaningless.
  mutating func authenticate(
    _ authorization: Bytes?, environment: SimulatedEnvironment, now: Instant, rules: Rules,
    directory: ProviderDirectory
  ) throws(Refusal) -> Grant {
    switch identity {
    case .bad(let refusal): throw refusal
    case .certificate(let certificate):
      if let refusal = certificate.refusal(in: environment, now: now) { throw refusal }
      try Self.checkMembership(certificate.teamID, directory)
      return .certificate(certificate)
    case .none: break
    }
    if let wedge { throw wedge }
    do {
      return .key(try byToken(authorization, environment: environment, now: now, rules: rules, directory: directory))
    } catch {
      if rules.isWedgedByExpiry, error.reason == .expiredProviderToken {
        wedge = Refusal(
          .expiredProviderToken, "a token expired on this connection, which takes no other; open a new one")
      }
      throw error
    }
  }

  private mutating func byToken(
    _ authorization: Bytes?, environment: SimulatedEnvironment, now: Instant, rules: Rules,
    directory: ProviderDirectory
  ) throws(Refusal) -> ProviderKey {
    if let session, let authorization, authorization.equals(session.header) {
      try Self.checkAge(session.token, now: now, rules: rules)
      try Self.check(session.key, in: environment)
      try Self.checkMembership(session.key.teamID, directory)
      return session.key
    }
    guard let authorization, let compact = Self.bearer(authorization) else {
      throw Refusal(
        .missingProviderToken,
        authorization == nil
          ? "neither a client certificate nor an authorization header came"
          : "the authorization header is not \"bearer <token>\"")
    }
    let (token, key) = try Self.verify(compact, directory)
    try Self.checkMembership(key.teamID, directory)
    try Self.checkAge(token, now: now, rules: rules)
    try Self.check(key, in: environment)
    if let first {
      guard first.teamID == key.teamID else {
        throw Refusal(
          .invalidProviderToken,
          "this connection belongs to team \(first.teamID), the token is of team \(key.teamID); open one per team")
      }
      guard first.isRelated(to: key) else {
        throw Refusal(
          .unrelatedKeyIDInToken,
          "key \(key.keyID) is not related to \(first.keyID), with which this connection began; open another")
      }
    }
    if let session, now - session.changed < rules.tokenChange, now >= session.changed {
      throw Refusal(
        .tooManyProviderTokenUpdates,
        "this connection got another token \((now - session.changed).milliseconds / 1000) s ago; keep one for 20 to 60 min"
      )
    }
    if first == nil { first = key }
    session = Session(header: Array(authorization), token: token, key: key, changed: now)
    return key
  }

  private static func bearer(_ authorization: Bytes) -> Bytes? {
    let scheme = Array("bearer ".utf8)
    guard authorization.count > scheme.count,
      zip(authorization, scheme).allSatisfy({ $0 == $1 || ($0 | 0x20) == $1 })
    else { return nil }
    let token = authorization.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
    return token.isEmpty ? nil : token
  }

  private static func verify(
    _ compact: Bytes, _ directory: ProviderDirectory
  ) throws(Refusal) -> (ProviderToken, ProviderKey) {
    let token: ProviderToken
    do { token = try ProviderToken(compact: compact) } catch {
      throw Refusal(.invalidProviderToken, error.explanation)
    }
    guard let key = directory.key(token.keyID) else {
      throw Refusal(.invalidProviderToken, "no key has the id \"\(token.keyID.shortened)\" (\"kid\" of the token)")
    }
    guard key.teamID == token.teamID else {
      throw Refusal(
        .invalidProviderToken,
        "key \(key.keyID) is of team \(key.teamID), but \"iss\" says \"\(token.teamID.shortened)\"; check key id ↔ team id"
      )
    }
    guard key.publicKey.verifies(token.signature, of: token.signed) else {
      throw Refusal(.invalidProviderToken, "the signature is not by key \(key.keyID); is this its .p8 file?")
    }
    return (token, key)
  }

  private static func checkAge(_ token: ProviderToken, now: Instant, rules: Rules) throws(Refusal) {
    let age = now - token.issuedAt
    guard age <= rules.tokenLifetime else {
      throw Refusal(
        .expiredProviderToken,
        "the token was issued at \(token.issuedAt), over an hour before \(now); renew it, and check the clock")
    }
    guard Instant.Span(milliseconds: 0 - age.milliseconds) <= rules.tokenAhead else {
      throw Refusal(
        .invalidProviderToken,
        "the token was issued at \(token.issuedAt), which lies ahead of \(now); check the clock, and that \"iat\" is in seconds"
      )
    }
  }

  private static func checkMembership(_ team: String?, _ directory: ProviderDirectory) throws(Refusal) {
    guard let team, directory.isSuspended(team: team) else { return }
    throw Refusal(.forbidden, "the membership of team \(team) is suspended (PUT /teams/\(team))")
  }

  private static func check(_ key: ProviderKey, in environment: SimulatedEnvironment) throws(Refusal) {
    guard let only = key.environment, only != environment else { return }
    throw Refusal(
      .badEnvironmentKeyInToken, "key \(key.keyID) is for \(only.rawValue), this is \(environment.rawValue)")
  }
}
