import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

@Suite("Delivery with everything running")
struct DeliveryLiveTests {
  private static func virtual(_ clock: VirtualClock) -> (inout APNSSimulator.Configuration) -> Void {
    { configuration in
      configuration.clock = clock
      configuration.delivery.groupWindow = .seconds(5)
    }
  }

  @Test("time alone delivers a burst, on the thread of nobody who asked; the sleeper is gone after the end")
  func burst() async throws {
    let clock = VirtualClock(now: SystemClock().now)
    try await LiveScene.run(Self.virtual(clock)) { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app")
      let got = Recorder<String>()
      scene.simulator.courier.connect(device: "phone") { got.record(String(decoding: $0.payload, as: UTF8.self)) }
      let provider = try await scene.provider()
      let fields = [
        scene.authorization(at: clock.now), ("apns-topic", "com.example.app"), ("apns-priority", "5"),
      ]
      for body in [#"{"n":1}"#, #"{"n":2}"#] {
        #expect(await provider.send("/3/device/\(token.hex)", fields, body: body)?.status == 200)
      }
      let seen = try await scene.control("GET", "/notifications")
      #expect(seen["notifications", "0", "state"] == "grouped")
      #expect(seen["notifications", "0", "why"]?.string?.contains("until") == true)
      #expect(got.values.isEmpty)
      clock.advance(by: .seconds(5))
      #expect(await got.wait { $0.count == 2 } == [#"{"n":1}"#, #"{"n":2}"#])
      let later = try await scene.control("GET", "/notifications")
      #expect(later["notifications", "1", "state"] == "delivered")
      #expect(later["notifications", "1", "earlier", "0", "state"] == "grouped")
      await provider.close()
    }
    while clock.sleeperCount > 0 { await Task.yield() }
  }

  @Test("C21 with the clock moved: gone from the store at its second, and told so without anybody's doing")
  func expiry() async throws {
    let clock = VirtualClock(now: SystemClock().now)
    try await LiveScene.run(Self.virtual(clock)) { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app")
      scene.simulator.courier.setOnline(device: "phone", false)
      let provider = try await scene.provider()
      let fields = [
        scene.authorization(at: clock.now), ("apns-topic", "com.example.app"),
        ("apns-expiration", "\(clock.now.seconds + 45)"),
      ]
      #expect(await provider.send("/3/device/\(token.hex)", fields, body: "{}")?.status == 200)
      clock.advance(by: Instant(seconds: clock.now.seconds + 45) - clock.now)
      let seen = try await scene.control("GET", "/notifications")
      #expect(seen["notifications", "0", "state"] == "expired")
      #expect(seen["notifications", "0", "earlier", "0", "why"] == "the phone has no network")
      await provider.close()
    }
  }

  @Test("power, developer and renewed tokens by the control port; a phone on a courier is told its new token")
  func control() async throws {
    try await LiveScene.run { scene in
      let made = try await scene.control("POST", "/devices", #"{"device":"phone","bundle":"com.example.app"}"#)
      let token = try #require(made["token"]?.string)
      for (method, word) in [("PUT", #""asleep""#), ("POST", "low-power"), ("PUT", #"{"power":"awake"}"#)] {
        #expect(try await scene.control(method, "/devices/phone/power", word).status == 200)
      }
      #expect(try await scene.control("PUT", "/devices/phone/power", "off")["error", "place"] == "power")
      #expect(try await scene.control("PUT", "/devices/nobody/power", "awake").status == 404)
      #expect(try await scene.control("PUT", "/devices/phone/developer", "true")["developer"] == true)
      #expect(try await scene.control("PUT", "/devices/phone/developer", "1")["error", "place"] == "developer")
      #expect(try await scene.control("GET", "/devices")["devices", "0", "power"] == "awake")
      #expect(try await scene.control("POST", "/devices/phone/renew", "{}")["error", "place"] == "reason")
      let noApp = try await scene.control("POST", "/devices/phone/renew", #"{"reason":"app-reinstall"}"#)
      #expect(noApp["error", "place"] == "bundle")

      let socket = try await WebSocket.connect(
        "ws://\(try #require(scene.simulator.controlEndpoint))/courier", on: scene.loops.next())
      try await socket.send(#"{"type":"hello","device":"phone"}"#)
      var messages = socket.messages.makeAsyncIterator()
      _ = await messages.next()
      let renewed = try await scene.control("POST", "/devices/phone/renew", #"{"reason":"restore"}"#)
      #expect(renewed["tokens", "0", "former"]?.string == token)
      guard case .text(let text) = await messages.next() else {
        Issue.record("a token was expected")
        return
      }
      let news = try JSONReader.read(Array(text.utf8)).value.object
      #expect(news?["type"] == "token" && news?["reason"] == "restore" && news?["former"]?.string == token)
      #expect(news?["token"] == renewed["tokens", "0", "token"])
      await socket.close()
    }
  }

  @Test("a phone that does not acknowledge is cut off; what it missed waits, one for each app")
  func overflow() async throws {
    let setUp: (inout APNSSimulator.Configuration) -> Void = { $0.delivery.mostQueued = 2 }
    try await LiveScene.run(setUp) { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app")
      let socket = try await WebSocket.connect(
        "ws://\(try #require(scene.simulator.controlEndpoint))/courier", on: scene.loops.next())
      try await socket.send(#"{"type":"hello","device":"phone"}"#)
      var messages = socket.messages.makeAsyncIterator()
      _ = await messages.next()
      let provider = try await scene.provider()
      let fields = [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-push-type", "alert")]
      for _ in 0..<4 { #expect(await provider.send("/3/device/\(token.hex)", fields, body: "{}")?.status == 200) }
      _ = await messages.next()
      #expect(await messages.next() == nil)
      #expect(await socket.closing?.code == 4002)
      let states = try await scene.control("GET", "/notifications")["notifications"]?.array?.map {
        $0.object?["state"]?.string ?? ""
      }
      #expect(states == ["replaced", "replaced", "replaced", "stored"])
      await provider.close()
    }
  }

  @Test("the rules can be changed while it runs, also for what waits")
  func rules() async throws {
    try await ControlScene.run { scene in
      let usual = await scene.call("GET", "/delivery")
      #expect(usual["backgroundPerHour"] == 3 && usual["overwritesWaiting"] == false)
      let token = scene.token()
      for id in 1...4 { scene.push(token, id: "\(id)", type: .background, priority: .considerate) }
      let seen = await scene.call("GET", "/notifications?state=throttled")
      #expect(seen["notifications", "0", "id"] == "4")
      let changed = await scene.call("PUT", "/delivery", #"{"preset":"apple","backgroundPerHour":null}"#)
      #expect(changed["backgroundPerHour"] == .null && changed["overwritesWaiting"] == true)
      #expect(changed["groupWindow"] == 5)
      #expect(await scene.call("GET", "/notifications?state=throttled")["notifications"] == [])
      for (body, place) in [
        (#"{"preset":"ours"}"#, "preset"), (#"{"groupWindow":-1}"#, "groupWindow"),
        (#"{"backgroundPerHour":0}"#, "backgroundPerHour"), (#"{"window":1}"#, "window"),
      ] {
        let answer = await scene.call("PUT", "/delivery", body)
        #expect(answer.status == 400 && answer["error", "place"]?.string == place)
      }
    }
  }

  @Test("a request that is refused holds up nothing that had become due by then")
  func dueBeforeRefusal() async throws {
    try await ControlScene.run { scene in
      let token = scene.token()
      let got = Recorder<String>()
      Courier(core: scene.core).connect(device: "phone") { got.record($0.id) }
      var rules = DeliveryRules()
      rules.groupWindow = .seconds(5)
      scene.core.setDelivery(rules)
      scene.push(token, id: "late", priority: .considerate)
      #expect(got.values == [])
      scene.clock.set(to: scene.clock.now + .seconds(5))  // wakes nobody
      #expect(throws: Refusal.self) {
        try scene.core.attempt { _, _ throws(Refusal) in throw Refusal(.featureNotEnabled, "") }
      }
      #expect(got.values == ["late"])
    }
  }
}
