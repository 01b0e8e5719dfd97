import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

/// A phone at `/courier`, as one in another process.
private final class WirePhone {
  let socket: WebSocket
  private var messages: AsyncStream<WebSocket.Message>.Iterator

  init(_ scene: LiveScene, _ device: String = "phone", hello: String = "") async throws {
    let endpoint = try #require(scene.simulator.controlEndpoint)
    socket = try await WebSocket.connect("ws://\(endpoint)/courier", on: scene.loops.next())
    messages = socket.messages.makeAsyncIterator()
    try await socket.send(#"{"type":"hello","device":"\#(device)"\#(hello)}"#)
    _ = await next("welcome")
  }

  func say(_ text: String) async throws { try await socket.send(text) }

  /// The next message, which must be of that type; nil at the end.
  func next(_ type: String) async -> JSONObject? {
    guard case .text(let text) = await messages.next() else { return nil }
    let object = try? JSONReader.read(Array(text.utf8)).value.object
    #expect(object?["type"]?.string == type, "\(text)")
    return object
  }
}

@Suite("The courier over WebSocket: channels, Live Activities, renewed tokens", .timeLimit(.minutes(1)))
struct CourierChannelTests {
  private static let app = "com.example.app"

  private static func makeChannel(_ scene: LiveScene) async throws -> String {
    let manager = try await scene.provider(to: scene.simulator.manageEndpoint)
    let made = await manager.send(
      "/1/apps/\(app)/channels", [scene.authorization()],
      body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
    )
    await manager.close()
    return try #require(made?.fields["apns-channel-id"])
  }

  private static func broadcast(
    _ authorization: (String, String), _ channel: String, by sender: LiveProvider, at time: Instant, n: Int
  ) async {
    let answer = await sender.send(
      "/4/broadcasts/apps/\(app)",
      [
        authorization, ("apns-channel-id", channel), ("apns-push-type", "liveactivity"), ("apns-priority", "10"),
        ("apns-expiration", "\(time.seconds + 600)"),
      ], body: #"{"aps":{"timestamp":\#(time.seconds),"event":"update","content-state":{"n":\#(n)}}}"#)
    #expect(answer?.status == 200)
  }

  @Test("subscribe gets what is kept and what comes, a channel that is not there is told, unsubscribe ends it")
  func subscribe() async throws {
    try await LiveScene.run { scene in
      let channel = try await Self.makeChannel(scene)
      let sender = try await scene.provider()
      let authorization = scene.authorization()
      let now = SystemClock().now
      await Self.broadcast(authorization, channel, by: sender, at: now, n: 1)
      let phone = try await WirePhone(scene)
      try await phone.say(#"{"type":"subscribe","bundle":"com.example.app","channel":"dGVzdA==","request":1}"#)
      let none = await phone.next("subscribed")
      #expect(none?["error"]?.string?.contains("no channel has this id") == true && none?["request"] == 1)
      try await phone.say(#"{"type":"subscribe","bundle":"com.example.app","channel":"\#(channel)","request":2}"#)
      let subscribed = await phone.next("subscribed")
      #expect(subscribed?["error"] == nil && subscribed?["channel"]?.string == channel)
      let kept = await phone.next("push")
      #expect(kept?["channel"]?.string == channel && kept?["payload"]?.string?.contains(#""n":1"#) == true)
      #expect(kept?["token"] == nil || kept?["token"] == "")
      await Self.broadcast(authorization, channel, by: sender, at: now + .seconds(1), n: 2)
      #expect(scene.simulator.notifications.count == 2, "waits for the ack")
      try await phone.say(#"{"type":"ack","number":\#(kept?["number"]?.text ?? "")}"#)
      let live = await phone.next("push")
      #expect(live?["payload"]?.string?.contains(#""n":2"#) == true)
      try await phone.say(#"{"type":"ack","number":\#(live?["number"]?.text ?? "")}"#)
      try await phone.say(#"{"type":"unsubscribe","bundle":"com.example.app","channel":"\#(channel)","request":3}"#)
      #expect(await phone.next("unsubscribed")?["request"] == 3)
      // One that answers behind the unsubscribing, which is done by then.
      try await phone.say(#"{"type":"token","bundle":"com.example.app"}"#)
      #expect(await phone.next("token") != nil)
      await Self.broadcast(authorization, channel, by: sender, at: now + .seconds(2), n: 3)
      #expect(scene.simulator.notifications.count == 2)
      await phone.socket.abort()
      await sender.close()
    }
  }

  @Test("a broadcast that was not acknowledged when the socket ended comes again while its channel keeps it")
  func repeated() async throws {
    try await LiveScene.run { scene in
      let channel = try await Self.makeChannel(scene)
      let sender = try await scene.provider()
      let authorization = scene.authorization()
      let first = try await WirePhone(scene)
      try await first.say(#"{"type":"subscribe","bundle":"com.example.app","channel":"\#(channel)"}"#)
      _ = await first.next("subscribed")
      #expect(
        await eventually {
          (try? await scene.control("GET", "/channels"))?["channels", "0", "devices"] == ["phone"]
        })
      await Self.broadcast(authorization, channel, by: sender, at: SystemClock().now, n: 1)
      #expect(await first.next("push") != nil)
      await first.socket.abort()
      let second = try await WirePhone(scene)
      #expect(await second.next("push")?["payload"]?.string?.contains(#""n":1"#) == true)
      await second.socket.abort()
      await sender.close()
    }
  }

  @Test("an app starts an activity; its token, each change, another token and its dismissal are told")
  func activity() async throws {
    try await LiveScene.run { scene in
      let phone = try await WirePhone(scene)
      try await phone.say(
        #"{"type":"activity","bundle":"com.example.app","attributesType":"Match","attributes":{"id":1},"contentState":{"n":0}}"#
      )
      let started = await phone.next("activity")?["activity"]?.object
      #expect(started?["state"] == "active" && started?["contentState"] == ["n": 0])
      let id = try #require(started?["id"]?.string)
      let token = try #require(started?["token"]?.string)
      let sender = try await scene.provider()
      let authorization = scene.authorization()
      let body = #"{"aps":{"timestamp":\#(SystemClock().now.seconds + 1),"event":"update","content-state":{"n":1}}}"#
      let sent = await sender.send(
        "/3/device/\(token)",
        [
          authorization, ("apns-topic", "com.example.app.push-type.liveactivity"),
          ("apns-push-type", "liveactivity"),
        ], body: body)
      #expect(sent?.status == 200)
      let push = await phone.next("push")
      try await phone.say(#"{"type":"ack","number":\#(push?["number"]?.text ?? "")}"#)
      #expect(await phone.next("activity")?["activity"]?.object?["contentState"] == ["n": 1])
      try await phone.say(#"{"type":"activity-token","activity":"\#(id)"}"#)
      let changed = await phone.next("activity")?["activity"]?.object?["token"]?.string
      #expect(changed != nil && changed != token)
      try await phone.say(#"{"type":"activity-dismissed","activity":"\#(id)"}"#)
      let gone = await phone.next("activity")?["activity"]?.object
      #expect(gone?["state"] == "dismissed" && gone?["token"] == nil)
      try await phone.say(#"{"type":"activity-token","activity":"other"}"#)
      #expect(await phone.next("error")?["found"]?.string?.contains("no running activity") == true)
      await sender.close()
    }
  }

  @Test("a phone that asks for it hears what became of pushes that did not come, and can say that alerts are off")
  func fates() async throws {
    try await LiveScene.run { scene in
      let phone = try await WirePhone(scene, hello: #","hearsFates":true"#)
      try await phone.say(#"{"type":"token","bundle":"com.example.app","environment":"sandbox"}"#)
      let token = try #require(await phone.next("token")?["token"]?.string)
      try await phone.say(#"{"type":"alerts","bundle":"com.example.app"}"#)
      #expect(await phone.next("error")?["place"] == "allowed")
      await phone.socket.abort()
      let other = try await WirePhone(scene, hello: #","hearsFates":true"#)
      try await other.say(#"{"type":"alerts","bundle":"com.example.app","allowed":false}"#)
      #expect(await other.next("alerts")?["allowed"] == false)
      let sender = try await scene.provider()
      let answer = await sender.send(
        "/3/device/\(token)",
        [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-push-type", "alert")],
        body: #"{"aps":{"alert":"Hello"}}"#)
      #expect(answer?.status == 200)
      let fate = await other.next("fate")
      #expect(fate?["metric"] == "discarded, disabled by user" && fate?["bundle"] == "com.example.app")
      #expect(fate?["id"]?.string == answer?.fields["apns-id"])
      await other.socket.abort()
      await sender.close()
    }
  }

  @Test("tokens that were renewed from outside are told at once, and after a time without network")
  func renewal() async throws {
    try await LiveScene.run { scene in
      let phone = try await WirePhone(scene)
      try await phone.say(#"{"type":"token","bundle":"com.example.app"}"#)
      let first = await phone.next("token")?["token"]?.string
      #expect(try await scene.control("POST", "/devices/phone/renew", #"{"reason":"restore"}"#).status == 200)
      let second = await phone.next("token")
      #expect(second?["former"]?.string == first && second?["reason"] == "restore")
      #expect(try await scene.control("PUT", "/devices/phone/online", "false").status < 300)
      #expect(try await scene.control("POST", "/devices/phone/renew", #"{"reason":"os-update"}"#).status == 200)
      #expect(try await scene.control("PUT", "/devices/phone/online", "true").status < 300)
      let third = await phone.next("token")
      #expect(third?["former"] == second?["token"] && third?["reason"] == "os-update")
      await phone.socket.abort()
    }
  }
}
