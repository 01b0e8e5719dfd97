import Basics
public import Delivery
import PushPayload
import Transport

/// A provider key (`.p8`) and the one provider token that lives on it, shared by every client that is given this object:
/// one token for each key across topics and connections (case C27). Make one per key and process. Thread-safe.
///
/// Its description and its faults name the file, the key id and the team id, never the key.
public final class ProviderKey: Sendable, CustomStringConvertible {
  public let keyID: String
  public let teamID: String
  /// The file it came from, for messages.
  public let name: String

  private struct State: Sendable {
    var life: ProviderTokenLife
    /// `bearer <JWT>` of the life's current generation.
    var authorization: [UInt8] = []
  }

  private let key: P256PrivateKey
  private let state: Locked<State>

  /// - Parameters:
  ///   - p8: the file's bytes: PKCS#8 PEM with an EC P-256 key. A byte order mark, CRLF and a literal `\n` are understood.
  ///   - keyID: 10 letters and digits, from the file's name at Apple (`AuthKey_<key id>.p8`).
  ///   - teamID: 10 letters and digits, from the membership page.
  ///   - name: what to call it in messages: the path.
  public init(
    p8: [UInt8], keyID: String, teamID: String, name: String, settings: ProviderTokenLife.Settings = .init()
  ) throws(CredentialFault) {
    for (identifier, what) in [(keyID, "key id"), (teamID, "team id")] where !Self.isIdentifier(identifier) {
      throw CredentialFault(
        name: name, found: "the \(what) '\(identifier.prefix(40))' is not 10 capital letters and digits",
        remedy: "Copy it from Apple's developer site: key ids from Keys, the team id from Membership.")
    }
    do {
      key = try P256PrivateKey(pem: p8)
    } catch {
      throw CredentialFault(name: name, found: error.found, remedy: error.remedy)
    }
    self.keyID = keyID
    self.teamID = teamID
    self.name = name
    state = Locked(State(life: ProviderTokenLife(settings)))
  }

  private init(_ key: P256PrivateKey, keyID: String, teamID: String, name: String) {
    (self.key, self.keyID, self.teamID, self.name) = (key, keyID, teamID, name)
    state = Locked(State(life: ProviderTokenLife()))
  }

  /// The same key with its key id given as the team's and the reverse: to find out whether somebody mixed them up. Has a
  /// provider token of its own.
  public var withIDsExchanged: ProviderKey { ProviderKey(key, keyID: teamID, teamID: keyID, name: name) }

  /// PKCS#8 PEM. Secret.
  var pem: [UInt8] { key.pem }

  /// SHA-256 over the public half: `AB:CD:…`.
  public var fingerprint: String { key.publicKey.fingerprint }

  public var description: String { "key \(keyID) of team \(teamID) (\(name))" }

  private static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count == 10
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
  }

  /// What a push that leaves at `moment` is sent with; signs when it is time to, about 50 µs.
  func warrant(at moment: Moment) -> Warrant {
    state.withLock { state in follow(state.life.handle(.wanted, at: moment), &state).warrant }
  }

  /// APNs accepted a push under that generation.
  func accepted(_ generation: ProviderTokenLife.Generation, at moment: Moment) {
    state.withLock { state in _ = state.life.handle(.accepted(generation), at: moment) }
  }

  /// APNs refused the token; what goes for the next push, and what to tell the operator, if anything.
  func refused(
    _ generation: ProviderTokenLife.Generation, _ reason: RefusalReason, theirDate: Instant?, at moment: Moment
  ) -> (warrant: Warrant, alarm: String?) {
    state.withLock { state in
      follow(state.life.handle(.refused(generation, reason, theirDate: theirDate), at: moment), &state)
    }
  }

  /// Tries again at the next push what was held back.
  public func resume() {
    state.withLock { state in
      _ = state.life.handle(.resumed, at: Moment(wall: Instant(seconds: 0), uptime: .seconds(0)))
    }
  }

  /// How old the provider token in use is; nil before the first push.
  func tokenAge(at moment: Moment) -> Instant.Span? { state.withLock { $0.life.tokenAge(at: moment) } }

  /// Whether APNs refused the key, or the clock is so wrong that it refuses every token.
  var isHeld: Bool { state.withLock { $0.life.isHeld } }

  private func follow(
    _ effects: [ProviderTokenLife.Effect], _ state: inout State
  ) -> (warrant: Warrant, alarm: String?) {
    var warrant = Warrant.hold("APNs has not said yet whether it accepts \(self)")
    var alarm: String?
    for effect in effects {
      switch effect {
      case .sign(let issuedAt, _):
        state.authorization = authorization(issuedAt: issuedAt)
      case .use(let generation):
        warrant = .send(authorization: state.authorization, generation)
      case .hold(let trouble):
        warrant = .hold(trouble.words(credential: description))
      case .alarm(let trouble):
        alarm = trouble.words(credential: description)
      }
    }
    return (warrant, alarm)
  }

  /// The value of the header `authorization`.
  func authorization(issuedAt: Instant) -> [UInt8] { Array("bearer ".utf8) + token(issuedAt: issuedAt) }

  /// A JSON Web Token: ES256, `kid`, `iss`, and `iat` as a whole number of seconds (RFC 7519; Apple, "Establishing a
  /// token-based connection to APNs").
  func token(issuedAt: Instant) -> [UInt8] {
    let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8.base64URL
    let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt.seconds)}"#.utf8.base64URL
    let signed = Array("\(header).\(claims)".utf8)
    guard let signature = key.signature(of: signed) else { return [] }
    return signed + ".\(signature.base64URL)".utf8
  }
}

/// Whether a push may leave, and with which `authorization`.
enum Warrant: Equatable, Sendable {
  /// `authorization` is nil with a certificate.
  case send(authorization: [UInt8]?, ProviderTokenLife.Generation)
  /// The words are for the operator.
  case hold(String)
}
