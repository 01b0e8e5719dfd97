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
}
