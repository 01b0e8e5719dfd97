import Foundation
import Testing

@testable import BelfryKit

@Suite("The library as apps use it")
struct BelfryTests {
  @Test("it says hello as whom it registered, and acknowledges what it has kept")
  func hello() async throws {
    let scene = AppScene()
    let (app, line) = try await scene.connectedApp()
    #expect(
      line.frames == [#"{"app":"key","cursor":null,"device":"id1","secret":"s1","type":"hello","version":1}"#])
    var messages = app.messages.makeAsyncIterator()
    line.message(5, "hello")
    guard case .message(let message) = await messages.next() else { throw AppScene.Late() }
    #expect(message.content == "hello")
    try await scene.until { line.frames.last == #"{"seq":5,"type":"ack"}"# }
    line.end(1006)
    let next = try await scene.line(2)
    #expect(next.frames[0].contains(#""cursor":{"id":"500","seq":5}"#))
    await app.close()
  }

  @Test("ended between receipt and handling, it is given again by the next process; handled, it is not")
  func givenAgain() async throws {
    let scene = AppScene()
    let (app, line) = try await scene.connectedApp()
    for (seq, content) in [(1, "one"), (2, "two")] { line.message(seq, content) }
    var messages = app.messages.makeAsyncIterator()
    _ = await messages.next()  // and the app's process ends
    await app.close()
    let second = try scene.app()
    var again = second.messages.makeAsyncIterator()
    #expect(await again.next()?.content == "one")
    #expect(await again.next()?.content == "two")
    #expect(try await second.waitingCount() == 1)
    // the loop comes for more: two is handled
    let loop = Task {
      var again = again
      return await again.next()
    }
    try await scene.until { try await second.waitingCount() == 0 }
    await second.close()
    #expect(await loop.value == nil)
    #expect(try await scene.app().waitingCount() == 0)
  }

  @Test("a second loop takes the first one's place, which ends; a cancelled loop ends")
  func loops() async throws {
    let scene = AppScene()
    let app = try scene.app()
    let first = Task {
      var messages = app.messages.makeAsyncIterator()
      return await messages.next()
    }
    try await Task.sleep(nanoseconds: 20_000_000)
    let second = Task {
      var messages = app.messages.makeAsyncIterator()
      return await messages.next()
    }
    #expect(await first.value == nil)
    second.cancel()
    #expect(await second.value == nil)
    await app.close()
  }

  @Test("C09 registering and an alias without a network fail with a code; both are made good by itself")
  func offline() async throws {
    let scene = AppScene()
    let app = try scene.app(HastyClock())
    let news = await app.news()
    scene.service.set(isThere: false)
    await #expect(throws: BelfryFault.self) { try await app.register(token: [0xAB], environment: .sandbox) }
    do { _ = try await app.setAlias("lin") } catch { #expect(error.code == .noAnswer && error.code.rawValue == 6002) }
    #expect(try await app.setAlias("wang", whenOffline: .queue) == .queued)
    scene.service.set(isThere: true)
    for await one in news {
      #expect(one == .registered(registrationID: "id1"))
      break
    }
    try await scene.until { scene.service.calls.contains(#"POST /id1 {"alias":"wang"}"#) }
    #expect(!scene.service.calls.contains { $0.contains("lin") })
    await app.close()
  }

  @Test("a call that waited and is refused is told, and does not hold up those behind it")
  func refused() async throws {
    let scene = AppScene()
    let app = try scene.app(HastyClock())
    try await app.register(token: [1], environment: .sandbox)
    let news = await app.news()
    scene.service.set(isThere: false)
    #expect(try await app.addTags(["vip"], whenOffline: .queue) == .queued)
    let body = #"{"error":{"code":7016,"message":"tags: it has 1000"}}"#
    scene.service.set(refusal: ServiceAnswer(status: 400, body: Data(body.utf8)))
    scene.service.set(isThere: true)
    for await one in news {
      guard case .refused(let words, let fault) = one else { continue }
      #expect(words == "add the tags vip" && fault.code == .tagsFull)
      break
    }
    scene.service.set(refusal: nil)
    #expect(try await app.setAlias("lin") == .done)
    await app.close()
  }

  static let refusals: [(Int, String, BelfryFault.Code, isTemporary: Bool)] = [
    (400, #"{"error":{"code":7002,"message":"no"}}"#, .invalid, false),
    (400, #"{"error":{"code":7015,"message":"no"}}"#, .aliasFull, false),
    (400, #"{"error":{"code":7016,"message":"no"}}"#, .tagsFull, false),
    (429, #"{"error":{"code":2002,"message":"no"}}"#, .tooFrequent, true),
    (503, #"{"error":{"code":7030,"message":"no"}}"#, .serviceBusy, true),
    (502, "<html>a proxy</html>", .serviceBusy, true),
    (302, "a login of the hotel", .unknown, true),
    (200, "a login of the hotel", .unknown, true),
  ]

  @Test("what a service, a proxy or a hotel answers is a fault that says whether later may help", arguments: refusals)
  func faults(status: Int, body: String, code: BelfryFault.Code, isTemporary: Bool) async throws {
    let scene = AppScene()
    let app = try scene.app()
    scene.service.set(refusal: ServiceAnswer(status: status, body: Data(body.utf8)))
    do throws(BelfryFault) {
      try await app.register(token: [1], environment: .sandbox)
      Issue.record("taken")
    } catch {
      #expect(error.code == code && error.isTemporary == isTemporary)
    }
    await app.close()
  }

  @Test("the same token again asks the service nothing; another one, and other facts, keep the id")
  func tokens() async throws {
    let scene = AppScene()
    let app = try scene.app()
    for token: UInt8 in [1, 1, 2] { #expect(try await app.register(token: [token], environment: .sandbox) == "id1") }
    await app.close()
    let next = try scene.app()
    #expect(try await next.register(token: [2], environment: .sandbox) == "id1")
    #expect(
      scene.service.calls == [
        #"POST  {"appKey":"key","appVersion":"1","environment":"sandbox","token":"01"}"#,
        #"POST /id1 {"environment":"sandbox","token":"02"}"#,
      ])
    await next.tell(DeviceFacts(appVersion: "2"))
    try await scene.until { scene.service.calls.last == #"POST /id1 {"appVersion":"2"}"# }
    await next.close()
  }

  static let names: [(String, BelfryFault.Code?)] = [
    ("lin_1@x.y", nil), ("北京", nil), ("", .empty), ("a-b", .aliasCharacters), ("a b", .aliasCharacters),
    (String(repeating: "a", count: 40), nil), (String(repeating: "a", count: 41), .aliasTooLong),
    (String(repeating: "京", count: 14), .aliasTooLong),
  ]

  @Test("an alias that the service would refuse is refused without it, with JPush's code", arguments: names)
  func aliases(alias: String, code: BelfryFault.Code?) async throws {
    do throws(BelfryFault) {
      try NameRule.check(alias: alias)
      #expect(code == nil)
    } catch {
      #expect(error.code == code)
    }
  }

  @Test("tags go in as many calls as the service takes: 100 names, 1,000 bytes")
  func portions() {
    let short = (0..<250).map { "\($0)" }
    #expect(Belfry.portions(short).map(\.count) == [100, 100, 50])
    let long = (0..<60).map { String(repeating: "x", count: 38) + "\($0 + 10)" }
    #expect(Belfry.portions(long).map(\.count) == [25, 25, 10])
    #expect(Belfry.portions([]) == [])
  }

  @Test("what a push says is read whatever the server wrote")
  func pushes() throws {
    let number = PushInfo(userInfo: ["_j_msgid": NSNumber(value: 18_100_287_008_546_132 as Int64)])
    #expect(number.messageID == "18100287008546132")
    #expect(PushInfo(userInfo: ["_j_msgid": "42", "_j_withdraw": NSNumber(value: 41)]).withdrawn == "41")
    for odd: Any in ["", "abc", -1, 1.5, [1], NSNull()] {
      #expect(PushInfo(userInfo: ["_j_msgid": odd]).messageID == nil, "\(odd)")
    }
    let files = PushInfo(userInfo: ["attachments": ["https://a/b.png", "http://a/c.png", "file:///etc/passwd", 7]])
    #expect(files.attachments.map(\.absoluteString) == ["https://a/b.png"])
  }

  @Test("the environment is that of the provisioning profile")
  func environment() {
    func profile(_ word: String) -> Data {
      Data("\u{1}…<key>aps-environment</key>\n\t\t<string>\(word)</string>…".utf8)
    }
    #expect(APNSEnvironment(profile: profile("development")) == .sandbox)
    #expect(APNSEnvironment(profile: profile("production")) == .production)
    #expect(APNSEnvironment(profile: Data()) == .production)
  }

  @Test("the extension says that a push arrived, once with the app, and has its attachments, those that can be had")
  func serviceExtension() async throws {
    let scene = AppScene()
    let app = try scene.app()
    try await app.register(token: [1], environment: .sandbox)
    let push = PushInfo(userInfo: [
      "_j_msgid": NSNumber(value: 7), "attachments": ["https://a/1.png", "https://a/missing.png", "https://a/2.gif"],
    ])
    let helper = PushExtension(scene.configuration, transport: scene.service)
    let files = await helper.received(push)
    #expect(files.map { $0.lastPathComponent } == ["0-1.png", "2-2.gif"])
    #expect(try await !app.note(.received, of: push))
    func said(_ message: Int) -> [String] { scene.service.calls.filter { $0.contains("\"msgId\":\"\(message)\"") } }
    // by either of the two processes, or by both at once: the service counts it once
    #expect(said(7).allSatisfy { $0.contains("received") } && !said(7).isEmpty)
    // without a network: the app says it later
    scene.service.set(isThere: false)
    _ = await helper.received(PushInfo(userInfo: ["_j_msgid": NSNumber(value: 8)]))
    scene.service.set(isThere: true)
    await app.networkChanged(.available)
    try await scene.until { said(8).count == 1 }
    await app.close()
  }
}

extension MessageEvent {
  fileprivate var content: String? { if case .message(let message) = self { message.content } else { nil } }
}
