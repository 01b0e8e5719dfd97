internal import Basics
internal import PushPayload

/// A provider token (JWT, RFC 7519) taken apart but not yet believed: whoever made it may have lied.
struct ProviderToken: Sendable {
  let keyID: String
  let teamID: String
  let issuedAt: Instant
  /// What the signature covers: header and claims as they came, with the dot between.
  let signed: [UInt8]
  let signature: [UInt8]

  /// Why it is no provider token, in words for the person who looks for the cause.
  struct Defect: Error {
    let explanation: String
  }

  /// Takes the three parts of a compact serialisation. `iat` may be an integer, a fraction or a string of digits, as real
  /// libraries send all three; unknown claims are ignored (spec: Apple, "Establishing a token-based connection to APNs").
  init(compact: ArraySlice<UInt8>) throws(Defect) {
    let parts = compact.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw Defect(explanation: "a provider token has three parts with dots between, this has \(parts.count)")
    }
    let header = try Self.object(parts[0], "header")
    let claims = try Self.object(parts[1], "claims")
    guard let signature = bytes(fromBase64: parts[2]) else {
      throw Defect(explanation: "the token's signature is not base64url")
    }
    guard let algorithm = header["alg"]?.string else {
      throw Defect(explanation: "the token's header has no \"alg\"; it must be \"ES256\"")
    }
    guard algorithm == "ES256" else {
      throw Defect(explanation: "the token's \"alg\" is \"\(algorithm.shortened)\"; only \"ES256\" is taken")
    }
    guard let keyID = header["kid"]?.string, !keyID.isEmpty else {
      throw Defect(explanation: "the token's header has no \"kid\"; put the key id there")
    }
    guard let teamID = claims["iss"]?.string, !teamID.isEmpty else {
      throw Defect(explanation: "the token's claims have no \"iss\"; put the team id there")
    }
    guard let issued = claims["iat"], let issuedAt = Self.instant(issued) else {
      throw Defect(explanation: "the token's claims have no readable \"iat\"; put seconds since 1970 there")
    }
    self.keyID = keyID
    self.teamID = teamID
    self.issuedAt = issuedAt
    self.signature = signature
    signed = Array(compact[parts[0].startIndex..<parts[1].endIndex])
  }

  private static func object(_ part: ArraySlice<UInt8>, _ name: String) throws(Defect) -> JSONObject {
    guard let bytes = bytes(fromBase64: part) else {
      throw Defect(explanation: "the token's \(name) is not base64url")
    }
    let document: JSONDocument
    do { document = try JSONReader.read(bytes) } catch {
      throw Defect(explanation: "the token's \(name) is not JSON")
    }
    guard let object = document.value.object else {
      throw Defect(explanation: "the token's \(name) is not a JSON object")
    }
    return object
  }

  private static func instant(_ value: JSONValue) -> Instant? {
    let literal: String
    switch value {
    case .number(let number): literal = number.literal
    case .string(let text):
      guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
      literal = text
    case .null, .bool, .array, .object: return nil
    }
    if let seconds = Int64(literal) { return Instant(seconds: seconds) }
    guard let seconds = Double(literal), seconds.isFinite else { return nil }
    return Instant(milliseconds: Int64(max(-9e15, min(9e15, (seconds * 1000).rounded(.down)))))
  }
}

extension String {
  /// At most 80 characters, so that an explanation stays a sentence whatever came.
  var shortened: String { count > 80 ? prefix(79) + "…" : self }
}
