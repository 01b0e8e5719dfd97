import APNSClient
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("A provider key")
struct ProviderKeyTests {
  static func fault(_ p8: [UInt8], keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ") -> CredentialFault? {
    do {
      _ = try ProviderKey(p8: p8, keyID: keyID, teamID: teamID, name: "AuthKey.p8")
      return nil
    } catch {
      return error
    }
  }

  @Test("C26 is read with a byte order mark, CRLF and literal \\n")
  func disguises() throws {
    let pem = String(decoding: try P256PrivateKey.generate().pem, as: UTF8.self)
    let forms = [
      pem, "\u{FEFF}" + pem, pem.split(separator: "\n").joined(separator: "\r\n"),
      pem.split(separator: "\n").joined(separator: "\\n"), pem + "\n\n",
    ]
    for form in forms { #expect(Self.fault(Array(form.utf8)) == nil) }
  }

  static let wrong: [(String, [UInt8], String)] = [
    ("a text file", Array("remember the milk\n".utf8), "no PEM text"),
    ("an empty file", [], "empty"),
    ("an RSA key", pem(pkcs8: rsaKey), "RSA"),
    ("an EC key on another curve", pem(pkcs8: p384Key), "the curve secp384r1"),
    ("an Ed25519 key", pem(pkcs8: ed25519Key), "ED25519"),
    ("a broken PEM block", Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8), "no key"),
  ]

  /// A PKCS#8 RSA key in form; its numbers are no key's.
  static let rsaKey: [UInt8] = {
    let numbers = [0, 3233, 17, 2753, 61, 53, 53, 49, 38].flatMap { number -> [UInt8] in
      der(0x02, number < 128 ? [UInt8(number)] : [UInt8(number >> 8), UInt8(number & 255)])
    }
    let algorithm = der(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]) + der(0x05, [])
    return der(0x30, der(0x02, [0]) + der(0x30, algorithm) + der(0x04, der(0x30, numbers)))
  }()

  /// PKCS#8 of the number 1 on P-384 (RFC 5915).
  static let p384Key: [UInt8] = {
    let algorithm = der(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]) + der(0x06, [0x2B, 0x81, 0x04, 0, 0x22])
    let number = [UInt8](repeating: 0, count: 47) + [1]
    return der(0x30, der(0x02, [0]) + der(0x30, algorithm) + der(0x04, der(0x30, der(0x02, [1]) + der(0x04, number))))
  }()

  /// PKCS#8 of Ed25519 (RFC 8410).
  static let ed25519Key: [UInt8] = der(
    0x30, der(0x02, [0]) + der(0x30, der(0x06, [0x2B, 0x65, 0x70])) + der(0x04, der(0x04, Array(0..<32))))

  static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }

  static func pem(pkcs8: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: pkcs8.count, by: 3) {
      let group = (0..<3).reduce(0) { $0 << 8 | (start + $1 < pkcs8.count ? Int(pkcs8[start + $1]) : 0) }
      for digit in 0..<4 {
        let used = start + digit <= pkcs8.count
        text.append(used ? alphabet[group >> (18 - 6 * digit) & 63] : UInt8(ascii: "="))
      }
    }
    return Array("-----BEGIN PRIVATE KEY-----\n".utf8) + text + Array("\n-----END PRIVATE KEY-----\n".utf8)
  }

  @Test("C26 of another kind is refused with file and reason", arguments: wrong)
  func wrongKinds(what: String, bytes: [UInt8], word: String) {
    let fault = Self.fault(bytes)
    #expect(fault?.name == "AuthKey.p8")
    #expect(fault?.found.contains(word) == true, "\(fault?.description ?? "read")")
    #expect(fault?.remedy.hasSuffix(".") == true)
  }

  @Test("C26 ids must look like Apple's", arguments: ["", "ABC", "abc123defg", "ABC-123DEF", "ABC123DEFGH"])
  func identifiers(identifier: String) throws {
    let pem = try P256PrivateKey.generate().pem
    #expect(Self.fault(pem, keyID: identifier)?.found.contains("key id") == true)
    #expect(Self.fault(pem, teamID: identifier)?.found.contains("team id") == true)
  }

  @Test("signs a token that its public half verifies, with kid, iss and a whole iat; nothing else in it")
  func token() async throws {
    let key = try P256PrivateKey.generate()
    let clock = VirtualClock(now: Instant(milliseconds: 1_796_000_000_999))
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer, credential: .token(ClientFixture.key(key)), clock: clock)
    #expect(await fixture.client.send(pushes(0..<3)).accepted == 3)
    let headers = peer.log.withLock { Set($0.requests.compactMap(\.authorization)) }
    let jwt = try #require(headers.first).dropFirst("bearer ".count)
    #expect(headers.count == 1)
    let token = try #require(JSONWebToken(String(jwt)))
    #expect(token.header == ["alg": "ES256", "kid": .string(ClientFixture.keyID)])
    #expect(token.claims == ["iss": .string(ClientFixture.teamID), "iat": 1_796_000_000])
    #expect(token.signature.count == 64)
    #expect(key.publicKey.verifies(token.signature, of: token.signed))
    await fixture.stop()
    await peer.stop()
  }

  @Test("no secret is in any description")
  func noSecret() throws {
    let key = try P256PrivateKey.generate()
    let middle = String(decoding: key.pem, as: UTF8.self).split(separator: "\n")[1]
    let provider = try ClientFixture.key(key)
    var dumped = ""
    dump(provider, to: &dumped)
    for text in ["\(provider)", String(reflecting: provider), dumped, "\(Credential.token(provider))"] {
      #expect(!text.contains(middle))
    }
  }
}
