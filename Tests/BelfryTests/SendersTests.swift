import APNSClient
import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing
import Transport

@testable import belfry

@Suite("The senders of serve", .timeLimit(.minutes(1)))
struct SendersTests {
  @Test("C40 their health names an address that does not answer, and no secret")
  func namesDeadAddress() async throws {
    let loops = LoopGroup(count: 1)
    let dead = APNSServer(Endpoint(host: "127.0.0.1", port: 1))
    let key = try P256PrivateKey.generate()
    let senders = Senders(
      .init(sandbox: dead, production: dead, trust: .system),
      [try .everyApp(p8: key.pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", name: "AuthKey_test.p8")],
      clock: SystemClock(), loops: loops, tell: { _, _ in })
    #expect(await senders.health() == [])
    let app = AppRecord(id: 1, key: "a", bundleID: "com.example.app", name: nil)
    let sender = try #require(await senders.sender(for: app, .production))
    var push = PushCommandTests.push
    (push.payload, push.token, push.expiration) = (Array("{}".utf8), [UInt8](repeating: 1, count: 32), nil)
    let sending = Task { [push] in await sender.send([push]) }
    var text = ""
    _ = await eventually {
      text = JSONValue.array(await senders.health()).text
      return text.contains("lastFault")
    }
    #expect(text.contains("127.0.0.1:1") && text.contains(#""connections":0"#), "\(text)")
    sending.cancel()
    _ = await sending.value
    await senders.close()
    await loops.stop()
  }

  @Test("an app's own credential comes before that of the configuration, in its environments; removed, it goes back")
  func order() async throws {
    let loops = LoopGroup(count: 1)
    let server = APNSServer(Endpoint(host: "127.0.0.1", port: 1))
    let pem = try P256PrivateKey.generate().pem
    let keys = ProviderKeys()
    func key(_ name: String, keyID: String = "ABC123DEFG") throws -> ProviderKey {
      try keys.key(p8: pem, keyID: keyID, teamID: "DEF123GHIJ", name: name)
    }
    #expect(try key("one.p8") === key("two.p8"), "C27 one object a key, whichever file or app it came from")
    #expect(try key("one.p8") !== key("one.p8", keyID: "XYZ123DEFG"))
    let app = AppRecord(id: 1, key: "a", bundleID: "com.example.app", name: nil)
    let twin = AppRecord(id: 2, key: "b", bundleID: "com.example.app", name: nil)
    let other = AppRecord(id: 3, key: "c", bundleID: "com.example.other", name: nil)
    let every = Senders.Entry(bundle: "*", credential: .token(try key("every.p8")), mark: 1)
    let bundle = Senders.Entry(bundle: "com.example.app", credential: .token(try key("bundle.p8")), mark: 2)
    let own = Senders.Entry(app, environments: [.production], credential: .token(try key("own.p8")), mark: 3)
    let senders = Senders(
      .init(sandbox: server, production: server, trust: .system), [every, bundle, own], clock: SystemClock(),
      loops: loops, tell: { _, _ in })
    func names() async throws -> Set<String> {
      Set(await senders.health().compactMap { $0.object?["app"]?.string })
    }
    let (sandbox, production) = (await senders.sender(for: app, .sandbox), await senders.sender(for: app, .production))
    #expect(try await names() == ["com.example.app", "com.example.app/a"])
    #expect(sandbox !== production)
    #expect(await senders.sender(for: twin, .sandbox) === sandbox)
    #expect(await senders.sender(for: twin, .production) !== production)
    _ = await senders.sender(for: other, .production)
    #expect(try await names() == ["*", "com.example.app", "com.example.app/a"])
    #expect(await senders.replace([every, bundle]) == [])
    #expect(try await names() == ["*", "com.example.app"])
    #expect(await senders.sender(for: app, .production) === senders.sender(for: twin, .production))
    await senders.close()
    await loops.stop()
  }
}

private func === (one: (any PushSender)?, other: (any PushSender)?) -> Bool {
  one as AnyObject === other as AnyObject
}

private func !== (one: (any PushSender)?, other: (any PushSender)?) -> Bool { !(one === other) }
