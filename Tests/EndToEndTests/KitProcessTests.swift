import BelfryKit
import Foundation
import Testing

/// Apps that link BelfryKit, against the service as it is shipped.
@Suite("BelfryKit against belfry serve")
struct KitProcessTests {
  @Test("D-016, D-301 an app registers, sets its alias, and gets a message at once, with all that was sent")
  func first() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    #expect(await app.registrationID != nil)
    #expect(try await app.setAlias("lin") == .done)
    let id = try await scene.send(
      "hello", to: ["alias": ["lin"]],
      ["title": "From Wang", "content_type": "text", "extras": ["room": 7, "big": 9_007_199_254_740_993]])
    var messages = app.messages.makeAsyncIterator()
    let event = await messages.next()
    guard case .message(let message) = event else {
      throw ProcessFault(words: "no message but \(String(describing: event))")
    }
    #expect(message.id == id)
    #expect([message.title, message.content, message.contentType] == ["From Wang", "hello", "text"])
    #expect(message.extras == ["room": .integer(7), "big": .integer(9_007_199_254_740_993)])
    // said after the message was kept, so that the service counts it
    try await scene.waitUntil("delivered") { try await scene.messageCount("delivered", of: id) == 1 }
    await app.close()
  }

  @Test("D-305 what was missed comes in order, each once, also in the app's next process")
  func missed() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let code = AppCode(app)
    try await scene.send("1")
    try await scene.waitUntil("1") { code.log == ["1"] }
    await code.stop()
    await app.close()
    for content in ["2", "3"] { try await scene.send(content) }
    let next = try scene.app("lin")
    let nextCode = AppCode(next)
    await next.enterForeground()
    try await scene.waitUntil("2 and 3") { nextCode.log == ["2", "3"] }
    try await scene.send("4")
    try await scene.waitUntil("4") { nextCode.log == ["2", "3", "4"] }
    await next.close()
  }

  @Test("D-304 in the background the device is offline within a second; in front again it gets what came meanwhile")
  func background() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let code = AppCode(app)
    let id = try #require(await app.registrationID)
    func isOnline() async throws -> Bool {
      let status = try await scene.call("POST", "/v3/devices/status", ["registration_ids": [id]])
      return (status[id] as? [String: Any])?["online"] as? Bool ?? false
    }
    try await scene.waitUntil("online") { try await isOnline() }
    await app.enterBackground()
    try await scene.waitUntil("offline", within: 1) { try await !isOnline() }
    try await scene.send("while away")
    try await Task.sleep(nanoseconds: 200_000_000)
    #expect(code.log == [])
    await app.enterForeground()
    try await scene.waitUntil("comes in front") { code.log == ["while away"] }
    await app.close()
  }

  @Test("D-116 a network that is cut, comes back, and is another: what was sent meanwhile comes at once, each once")
  func network() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let code = AppCode(app)
    await app.networkChanged(.lost)
    try await scene.send("in the tunnel")
    try await Task.sleep(nanoseconds: 200_000_000)
    #expect(code.log == [])
    #expect(await app.status == .disconnected(.noNetwork))
    await app.networkChanged(.available)
    try await scene.waitUntil("out of the tunnel", within: 2) { code.log == ["in the tunnel"] }
    await app.networkChanged(.changed)
    try await scene.send("at home")
    try await scene.waitUntil("at home", within: 2) { code.log == ["in the tunnel", "at home"] }
    await app.close()
  }

  @Test("replaced by another process of the same device: it gives way, says so, and does not come back by itself")
  func replaced() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    try FileManager.default.copyItem(atPath: scene.folder.path + "/lin", toPath: scene.folder.path + "/copy")
    let other = try scene.app("copy")
    await other.enterForeground()
    try await scene.waitUntil("replaced") { await app.status == .disconnected(.replaced) }
    try await Task.sleep(nanoseconds: 1_500_000_000)
    #expect(await other.status == .connected)
    #expect(await app.status == .disconnected(.replaced))
    await app.close()
    await other.close()
  }

  @Test("the service is stopped and started, and killed and started: the app comes back by itself, nothing is lost")
  func restarts() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let code = AppCode(app)
    for (round, signal) in [SIGTERM, SIGKILL].enumerated() {
      try await scene.send("\(round) before")
      try await scene.stop(signal)
      try await scene.waitUntil("noticed") { await app.status != .connected }
      try await scene.start()
      try await scene.connected(app)
      try await scene.send("\(round) after")
      try await scene.waitUntil("both") { code.log.suffix(2) == ["\(round) before", "\(round) after"] }
    }
    #expect(code.log.count == 4)
    await app.close()
  }

  @Test("C09 without a service a call fails with a code, or waits if asked, and is said by itself later")
  func offline() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    try await scene.stop()
    await #expect(throws: BelfryFault.self) { _ = try await app.setAlias("lin") }
    do { _ = try await app.setAlias("lin") } catch { #expect(error.code == .noAnswer && error.isTemporary) }
    #expect(try await app.setAlias("wang", whenOffline: .queue) == .queued)
    #expect(try await app.addTags(["vip", "sh"], whenOffline: .queue) == .queued)
    #expect(try await app.setBadge(3) == .queued)
    await app.close()
    try await scene.start()
    let next = try scene.app("lin")  // the app was ended meanwhile
    try await scene.waitUntil("said") { try await next.state().badge == 3 }
    #expect(try await next.alias() == "wang")
    #expect(try await next.tags() == ["vip", "sh"])
    await next.close()
  }

  @Test("tags: union, removal, replacement, clearing, and a thousand in one call")
  func tags() async throws {
    let scene = try await KitScene()
    let app = try scene.app("lin")
    await #expect(throws: BelfryFault.self) { _ = try await app.addTags(["early"]) }  // no token yet
    try await app.register(token: [UInt8](repeating: 1, count: 32), environment: .sandbox)
    #expect(try await app.addTags(["a", "b"]) == .done)
    #expect(try await app.addTags(["b", "c"]) == .done)
    #expect(try await app.deleteTags(["a"]) == .done)
    #expect(try await app.tags() == ["b", "c"])
    #expect(try await app.setTags(["c", "北京"]) == .done)
    #expect(try await app.tags() == ["c", "北京"])
    let many = Set((0..<1000).map { "tag_of_some_length_\($0)" })
    #expect(try await app.setTags(many) == .done)
    #expect(try await app.tags() == many)
    do { _ = try await app.addTags(["one more"]) } catch { #expect(error.code == .tagCharacters) }
    do { _ = try await app.addTags(["onemore"]) } catch { #expect(error.code == .tagsFull) }
    #expect(try await app.cleanTags() == .done)
    #expect(try await app.tags() == [])
    await app.close()
  }

  /// Not its WebSockets: Linux's Foundation has none.
  @Test("calls by URLSession, which is the network of apps on Apple's systems")
  func urlSession() async throws {
    let scene = try await KitScene()
    let app = try scene.app("lin", transport: URLSessionTransport())
    try await app.register(token: [UInt8](repeating: 1, count: 32), environment: .sandbox)
    #expect(try await app.setAlias("lin") == .done)
    #expect(try await app.alias() == "lin")
    let file = scene.folder.url.appendingPathComponent("file")
    let description = try #require(URL(string: scene.api + "/v1/openapi.json"))
    try await URLSessionTransport().download(description, to: file, limit: 10 << 20)
    #expect(try Data(contentsOf: file).starts(with: Data("{".utf8)))
    for (url, limit) in [(description, 100), (description.appendingPathComponent("not"), 1000)] {
      let none = scene.folder.url.appendingPathComponent("none")
      await #expect(throws: (any Error).self) {
        try await URLSessionTransport().download(url, to: none, limit: limit)
      }
      #expect(!FileManager.default.fileExists(atPath: none.path))
    }
    try await scene.stop()
    do { _ = try await app.alias() } catch { #expect(error.code == .noAnswer) }
    await app.close()
  }

  @Test("a message that was read: its notification is known, also when it comes late")
  func readLate() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let code = AppCode(app)
    let id = try await scene.pair("Wang: Hello", "Hello")
    try await scene.waitUntil("message") { code.log == ["Hello"] }
    #expect(try await app.toRemove(of: [id, "1"]) == [])
    try await app.markRead([id])
    try await scene.waitUntil("the service knows") { try await scene.messageCount("read", of: id) == 1 }
    await app.close()
    let next = try scene.app("lin")
    #expect(try await next.toRemove(of: [id, "1"]) == [id])
    await next.close()
  }

  @Test("what the user prefers, the token and the facts reach the service; the id stays")
  func device() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let id = try #require(await app.registrationID)
    try await app.setOnlyScheduled(true)
    try await app.setQuietHours("22:00-07:00")
    try await app.setChannels(["news"])
    let state = try await app.state()
    #expect(state.onlyScheduled && state.quietHours == "22:00-07:00" && state.channels == ["news"])
    #expect(try await app.register(token: [UInt8](repeating: 9, count: 32), environment: .production) == id)
    await app.tell(DeviceFacts(appVersion: "7.1", language: "zh-Hans-CN", permission: .provisional))
    try await scene.waitUntil("the facts") {
      let device = try await scene.call("GET", "/v1/devices/\(id)")
      return device["appVersion"] as? String == "7.1" && device["environment"] as? String == "production"
        && device["permission"] as? String == "provisional"
    }
    await app.close()
  }

  @Test("a secret that the service does not know any more is renewed, on both ways, and the id stays")
  func renewed() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let code = AppCode(app)
    let id = await app.registrationID
    // another install of the same token takes the secret over
    let other = try scene.app("other")
    #expect(try await other.register(token: [UInt8](repeating: 1, count: 32), environment: .sandbox) == id)
    await other.close()
    await app.enterBackground()
    await app.enterForeground()
    try await scene.connected(app)
    #expect(await app.registrationID == id)
    try await scene.send("still there")
    try await scene.waitUntil("message") { code.log == ["still there"] }
    #expect(try await app.setAlias("lin") == .done)
    await app.close()
  }

  @Test("withdrawn before the app saw it, a message never comes; after, the app is told")
  func withdrawn() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let code = AppCode(app)
    let seen = try await scene.send("seen")
    try await scene.waitUntil("seen") { code.log == ["seen"] }
    await app.enterBackground()
    let unseen = try await scene.send("unseen")
    for id in [seen, unseen] { try await scene.call("DELETE", "/v3/push/\(id)") }
    try await scene.send("last")
    await app.enterForeground()
    try await scene.waitUntil("last") { code.log.last == "last" }
    #expect(code.log == ["seen", "withdrawn \(seen)", "last"])
    await app.close()
  }

  @Test("D-302 the history comes by pages; what was read, clicked and received is counted once")
  func history() async throws {
    let scene = try await KitScene()
    let app = try await scene.connectedApp("lin", token: 1)
    let code = AppCode(app)
    var ids: [String] = []
    for number in 0..<5 { ids.append(try await scene.send("\(number)")) }
    try await scene.waitUntil("all") { code.log.count == 5 }
    var page = try await app.history(HistoryQuery(limit: 2))
    var contents = page.messages.map(\.content)
    while let next = page.next {
      page = try await app.history(next)
      contents += page.messages.map(\.content)
    }
    #expect(contents == ["4", "3", "2", "1", "0"])
    let oldest = try await app.history(HistoryQuery(.oldest, limit: 3))
    #expect(oldest.messages.map(\.content) == ["0", "1", "2"])
    try await app.markRead([ids[0]])
    // only a push with a notification can be clicked
    let pair = try await scene.pair("Wang: Hello", "Hello")
    let push = PushInfo(userInfo: ["_j_msgid": NSNumber(value: try #require(Int64(pair)))])
    #expect(try await app.note(.clicked, of: push))
    #expect(try await !app.note(.clicked, of: push))
    try await scene.waitUntil("read") { try await scene.messageCount("read", of: ids[0]) == 1 }
    try await scene.waitUntil("clicked") {
      try await scene.call("GET", "/v1/pushes/\(pair)")["clicked"] as? Int == 1
    }
    await app.enterBackground()
    do { _ = try await app.history() } catch { #expect(error.code == .notConnected) }
    await app.close()
  }
}
