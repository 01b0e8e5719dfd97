import PushService
import Testing

@Suite("Secrets at rest")
struct SealingKeyTests {
  private let key = SealingKey.random()
  private let secret = Array("p8 of com.example.app".utf8)

  @Test("open again under the same key for the same purpose, also in another process")
  func again() throws {
    let sealed = key.seal(secret, for: .credential)
    #expect(try #require(SealingKey(hex: key.hex)).open(sealed, for: .credential) == secret)
    #expect(key.open(key.seal([], for: .webhookSecret), for: .webhookSecret) == [])
    #expect(key.seal(secret, for: .credential) != sealed, "the same secret twice cannot be seen")
    #expect(!sealed.indices.contains { sealed[$0...].starts(with: secret.prefix(4)) })
  }

  @Test("renewed, another key seals, and what was sealed before opens; the former key opens nothing new")
  func renewed() throws {
    let renewed = try #require(SealingKey(hex: key.renewed().hex))
    let (old, new) = (key.seal(secret, for: .credential), renewed.seal(secret, for: .credential))
    #expect(renewed.open(old, for: .credential) == secret && renewed.open(new, for: .credential) == secret)
    #expect(key.open(new, for: .credential) == nil)
    #expect(renewed.hex.split(separator: "\n").count == 2 && renewed.hex.hasSuffix(key.hex))
    #expect(renewed.renewed().open(old, for: .credential) == secret)
  }

  @Test("open under no other key, for no other purpose, and not changed, cut or grown by a bit")
  func otherwise() {
    let sealed = key.seal(secret, for: .credential)
    #expect(SealingKey.random().open(sealed, for: .credential) == nil)
    #expect(key.open(sealed, for: .webhookSecret) == nil)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(key.open(changed, for: .credential) == nil, "byte \(index)")
      #expect(key.open(Array(sealed[..<index]), for: .credential) == nil, "cut at \(index)")
    }
    #expect(key.open(sealed + [0], for: .credential) == nil)
  }

  @Test(
    "a key is 64 hex digits",
    arguments: ["", "0a", String(repeating: "g", count: 64), String(repeating: "0", count: 66)])
  func noKey(text: String) {
    #expect(SealingKey(hex: text) == nil)
  }

  @Test("neither print nor dump shows a key")
  func isHidden() {
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped] {
      #expect(!text.contains(key.hex.prefix(8)) && !text.contains(","), "\(text)")
    }
  }
}
