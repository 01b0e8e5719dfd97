import Basics
import BelfryTesting
import PushPayload

/// A token taken apart as a server would, without checking it.
struct JSONWebToken {
  var header: JSONObject
  var claims: JSONObject
  var signature: [UInt8]
  var signed: [UInt8]
  var issuedAt: Int64? { claims["iat"]?.number?.int64 }

  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Self.bytes(parts[2])
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    signed = Array("\(parts[0]).\(parts[1])".utf8)
  }

  private static func object(_ part: Substring) -> JSONObject? {
    bytes(part).flatMap { try? JSONReader.read($0).value.object }
  }

  /// Strict: the URL alphabet, no padding, no bits left over.
  private static func bytes(_ part: Substring) -> [UInt8]? {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var (bytes, buffer, bits) = ([UInt8](), 0, 0)
    for character in part.utf8 {
      guard let digit = alphabet.firstIndex(of: character) else { return nil }
      buffer = (buffer << 6 | digit) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(buffer >> bits & 0xFF))
      }
    }
    return buffer & ((1 << bits) - 1) == 0 ? bytes : nil
  }
}

/// What APNs checks of provider tokens, by a clock of its own (spec apns.md §6).
final class TokenJudge: Sendable {
  struct State {
    /// For each connection: the token seen last, and when it was first seen.
    var last: [Int: (token: String, since: Instant)] = [:]
    var tokens: Set<String> = []
    var refusals: [String] = []
  }

  let clock: VirtualClock
  let state = Locked(State())
  let knows: (@Sendable (JSONWebToken) -> Bool)

  init(_ clock: VirtualClock, knows: @escaping @Sendable (JSONWebToken) -> Bool = { _ in true }) {
    self.clock = clock
    self.knows = knows
  }

  func answer(_ request: ScriptedPeer.Request) -> [ScriptedPeer.Action] {
    let now = clock.now
    let reason: (Int, String)? = state.withLock { state in
      let text = String((request.authorization ?? "").dropFirst("bearer ".count))
      guard let token = JSONWebToken(text), let issuedAt = token.issuedAt, knows(token) else {
        return (403, "InvalidProviderToken")
      }
      if now.seconds - issuedAt > 3600 { return (403, "ExpiredProviderToken") }
      if issuedAt - now.seconds > 300 { return (403, "InvalidProviderToken") }
      state.tokens.insert(text)
      if let last = state.last[request.connection], last.token != text {
        if now - last.since < .minutes(20) { return (429, "TooManyProviderTokenUpdates") }
        state.last[request.connection] = (text, now)
      } else if state.last[request.connection] == nil {
        state.last[request.connection] = (text, now)
      }
      return nil
    }
    guard let reason else { return request.ordinal == 1 ? [.announce(1000), .accept] : [.accept] }
    state.withLock { $0.refusals.append(reason.1) }
    return [.refuse(reason.0, reason.1, date: httpDate(now))]
  }
}

/// IMF-fixdate (RFC 9110 §5.6.7).
func httpDate(_ instant: Instant) -> String {
  let text = instant.description
  let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  let month = months[Int(text.dropFirst(5).prefix(2))! - 1]
  let day = days[Int(instant.seconds / 86_400 % 7)]
  return "\(day), \(text.dropFirst(8).prefix(2)) \(month) \(text.prefix(4)) \(text.dropFirst(11).prefix(8)) GMT"
}
