import Testing
import Transport

@Suite("Keys on P-256")
struct P256Tests {
  @Test("what one half signs, in either form, the other verifies; one changed bit is noticed")
  func signsAndVerifies() throws {
    let key = try P256PrivateKey.generate()
    let message = Array("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJURUFNIn0".utf8)
    for signature in [try #require(key.signature(of: message)), try #require(key.derSignature(of: message))] {
      #expect(key.publicKey.verifies(signature, of: message))
      #expect(!key.publicKey.verifies(signature, of: message + [0]))
      for place in [0, 1, signature.count / 2, signature.count - 1] {
        var broken = signature
        broken[place] ^= 1
        #expect(!key.publicKey.verifies(broken, of: message))
      }
    }
    #expect(try P256PrivateKey.generate().publicKey.verifies(key.signature(of: message) ?? [], of: message) == false)
  }

  @Test("garbage is no signature", arguments: [[], [0x30], [0x30, 0x06], Array(repeating: UInt8(0), count: 64)])
  func refusesGarbage(signature: [UInt8]) throws {
    #expect(try !P256PrivateKey.generate().publicKey.verifies(signature, of: [1, 2, 3]))
  }

  @Test("C26 a .p8 that travelled: byte order mark, CRLF, literal \\n", arguments: 0..<4)
  func readsTravelledKeys(kind: Int) throws {
    let key = try P256PrivateKey.generate()
    let pem = String(decoding: key.pem, as: UTF8.self)
    let travelled =
      switch kind {
      case 0: pem
      case 1: "\u{FEFF}" + pem
      case 2: pem.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
      default: pem.split(separator: "\n").joined(separator: "\\n")
      }
    let read = try P256PrivateKey(pem: Array(travelled.utf8))
    #expect(read.publicKey.pem == key.publicKey.pem)
  }

  @Test("C26 what is no P-256 key is named", arguments: ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n"])
  func namesOtherTexts(text: String) {
    #expect(throws: KeyFault.self) { try P256PrivateKey(pem: Array(text.utf8)) }
  }
}
