import Basics
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

@Suite("The control port")
struct ControlPortTests {
  @Test("a device gets a token, pushes to it are told, an app is removed")
  func story() async throws {
    let setUp: (inout APNSSimulator.Configuration) -> Void = { $0.goneDelay = .seconds(0) ... .seconds(0) }
    try await LiveScene.run(setUp) { scene in
      #expect(try await scene.control("GET", "/healthz")["status"] == "ok")
      let made = try await scene.control("POST", "/devices", #"{"device":"phone","bundle":"com.example.app"}"#)
      #expect(made.status == 201 && made["topic"] == "com.example.app" && made["environment"] == "sandbox")
      let token = try #require(made["token"]?.string)
      let again = try await scene.control("POST", "/devices", #"{"device":"phone","bundle":"com.example.app"}"#)
      #expect(again["token"]?.string == token)

      let provider = try await scene.provider()
      let fields = [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-push-type", "background")]
      let body = #"{"aps":{"content-available":1},"big":9007199254740993,"f":1.10}"#
      #expect(await provider.send("/3/device/\(token)", fields, body: body)?.status == 200)
      let seen = try await scene.control("GET", "/notifications?token=\(token)&topic=com.example.app")
      #expect(seen["last"] == 1 && seen["notifications"]?.array?.count == 1)
      #expect(seen["notifications", "0", "payload"]?.text == body)
      #expect(seen["notifications", "0", "state"] == "delivered")
      #expect(seen["notifications", "0", "remarks", "0"]?.string?.contains("priority 10") == true)
      for query in ["?since=1", "?topic=x", "?device=x", "?count=0", "?id=00000000-0000-0000-0000-000000000000"] {
        #expect(try await scene.control("GET", "/notifications" + query)["notifications"] == [], "\(query)")
      }

      #expect(try await scene.control("PUT", "/devices/phone/online", "false").status == 200)
      _ = await provider.send("/3/device/\(token)", fields, body: body)
      #expect(try await scene.control("GET", "/notifications?since=1")["notifications", "0", "state"] == "stored")
      #expect(try await scene.control("PUT", "/devices/phone/online", #"{"online":true}"#).status == 200)
      #expect(try await scene.control("GET", "/notifications?since=1")["notifications", "0", "state"] == "delivered")

      #expect(try await scene.control("DELETE", "/devices/\(token)").status == 200)
      #expect(await provider.send("/3/device/\(token)", fields, body: body)?.status == 200)
      #expect(await provider.send("/3/device/\(token)", fields, body: body)?.status == 410)
      let refused = try await scene.control("GET", "/refusals")
      #expect(refused["refusals", "0", "reason"] == "Unregistered" && refused["refusals", "0", "status"] == 410)
      #expect(try await scene.control("DELETE", "/notifications").status == 204)
      #expect(try await scene.control("GET", "/notifications")["notifications"] == [])
      await provider.close()
    }
  }

  @Test("a chosen token, and the end at once with the other reason and a given time")
  func chosenToken() async throws {
    try await LiveScene.run { scene in
      let body =
        #"{"device":"phone","bundle":"com.example.app","token":"ABCD","kind":"voip","environment":"production"}"#
      let made = try await scene.control("POST", "/devices", body)
      #expect(made["token"] == "abcd" && made["topic"] == "com.example.app.voip")
      let ended = try await scene.control("DELETE", "/devices/abcd?immediately=true&reason=ExpiredToken&timestamp=1234")
      #expect(ended["ended"] == "ExpiredToken" && ended["timestamp"] == 1234)
      let provider = try await scene.provider(to: scene.simulator.productionEndpoint)
      let answer = await provider.send(
        "/3/device/abcd",
        [scene.authorization(), ("apns-topic", "com.example.app.voip"), ("apns-push-type", "voip")])
      #expect(answer?.status == 410 && answer?.body == #"{"reason":"ExpiredToken","timestamp":1234}"#)
      await provider.close()
    }
  }

  @Test(
    "a wrong request names the place and the way out",
    arguments: [
      ("POST", "/devices", "{", 400, nil), ("POST", "/devices", "[]", 400, nil),
      ("POST", "/devices", #"{"bundle":"x"}"#, 400, "device"),
      ("POST", "/devices", #"{"device":"a b","bundle":"x"}"#, 400, "device"),
      ("POST", "/devices", #"{"device":1,"bundle":"x"}"#, 400, "device"),
      ("POST", "/devices", #"{"device":"a","bundle":"x","enviroment":"sandbox"}"#, 400, "enviroment"),
      ("POST", "/devices", #"{"device":"a","bundle":"x","environment":"prod"}"#, 400, "environment"),
      ("POST", "/devices", #"{"device":"a","bundle":"x","kind":"watch"}"#, 400, "kind"),
      ("POST", "/devices", #"{"device":"a","bundle":"x","token":"xyz"}"#, 400, "token"),
      ("PATCH", "/devices", "", 405, "method"), ("DELETE", "/devices/abcd", nil, 404, "token"),
      ("DELETE", "/devices/abcd?reason=Gone", nil, 400, "reason"),
      ("PUT", "/devices/nobody/online", "true", 404, "device"),
      ("GET", "/notifications?tokn=1", nil, 400, "tokn"), ("GET", "/notifications?since=x", nil, 400, "since"),
      ("GET", "/notifications?priority=7", nil, 400, "priority"),
      ("GET", "/notifications?token=xyz", nil, 400, "token"),
      ("GET", "/notifications?state=gone", nil, 400, "state"), ("GET", "/notifications?wait=5", nil, 400, "wait"),
      ("GET", "/notifications?wait=6m", nil, 400, "wait"), ("GET", "/notifications?until=today", nil, 400, "until"),
      ("GET", "/notifications?finding=badge", nil, 400, "finding"),
      ("DELETE", "/notifications?token=ab", nil, 400, "token"),
      ("GET", "/notifications?findings=errors", nil, 400, "findings"), ("GET", "/assertions", nil, 405, "method"),
      ("POST", "/assertions", "{}", 400, "that"), ("POST", "/assertions", #"{"that":[1]}"#, 400, "that[0]"),
      ("POST", "/assertions?format=xml", #"{"that":[{}]}"#, 400, "format"),
      ("POST", "/assertions", #"{"that":[{}],"timeout":"5s"}"#, 400, "timeout"),
      ("POST", "/assertions", #"{"that":[{}],"wait":5}"#, 400, "wait"),
      ("POST", "/assertions", #"{"that":[{}],"wait":"1h"}"#, 400, "wait"),
      ("POST", "/assertions", #"{"that":[{},{"tokn":"ab"}]}"#, 400, "that[1].tokn"),
      ("POST", "/assertions", #"{"that":[{"token":"x"}]}"#, 400, "that[0].token"),
      ("POST", "/assertions", #"{"that":[{"token":true}]}"#, 400, "that[0].token"),
      ("POST", "/assertions", #"{"that":[{"match":"exact"}]}"#, 400, "that[0].match"),
      ("POST", "/assertions", #"{"that":[{"payload":{},"match":"exactly"}]}"#, 400, "that[0].match"),
      ("POST", "/assertions", #"{"that":[{"count":-1}]}"#, 400, "that[0].count"),
      ("POST", "/assertions", #"{"that":[{"count":1.5}]}"#, 400, "that[0].count"),
      ("POST", "/assertions", #"{"that":[{"count":1,"never":true}]}"#, 400, "that[0].count"),
      ("POST", "/assertions", #"{"that":[{"atLeast":3,"atMost":2}]}"#, 400, "that[0].atMost"),
      ("POST", "/assertions", #"{"that":[{"never":"yes"}]}"#, 400, "that[0].never"),
      ("POST", "/assertions", #"{"that":[{"headers":[]}]}"#, 400, "that[0].headers"),
      ("POST", "/assertions", #"{"that":[{"headers":{"apns-prioriti":10}}]}"#, 400, "that[0].headers.apns-prioriti"),
      ("POST", "/assertions", #"{"that":[{"headers":{"apns-topic":true}}]}"#, 400, "that[0].headers.apns-topic"),
      ("GET", "/nothing", nil, 404, "/nothing"), ("GET", "/courier", nil, 426, nil),
      ("GET", "/%00%ff", nil, 400, nil),
    ] as [(String, String, String?, Int, String?)])
  func wrongRequests(method: String, path: String, body: String?, status: Int, place: String?) async throws {
    try await LiveScene.run { scene in
      let answer = try await scene.control(method, path, body)
      #expect(answer.status == status)
      if let place {
        #expect(answer["error", "place"]?.string == place)
        #expect(answer["error", "remedy"]?.string?.hasSuffix(".") == true)
      }
    }
  }

  @Test("another key and another certificate by request; a revoked key is unknown")
  func moreCredentials() async throws {
    try await LiveScene.run { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let made = try await scene.control("POST", "/keys", #"{"topics":["com.example.app"],"environment":"sandbox"}"#)
      let keyID = try #require(made["keyId"]?.string)
      let key = try P256PrivateKey(pem: Array(#require(made["p8"]?.string).utf8))
      let teamID = try #require(made["teamId"]?.string)
      let signed =
        #"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8.base64URL + "."
        + #"{"iss":"\#(teamID)","iat":\#(SystemClock().now.seconds)}"#.utf8.base64URL
      let signature = (key.derSignature(of: Array(signed.utf8)) ?? []).base64URL
      let authorization = ("authorization", "bearer \(signed).\(signature)")
      func send(_ topic: String) async throws -> String? {
        let provider = try await scene.provider()
        let answer = await provider.send("/3/device/\(token)", [authorization, ("apns-topic", topic)])
        await provider.close()
        return answer.map { "\($0.status) \($0.body)" }
      }
      #expect(try await send("com.example.app") == "200 ")
      #expect(try await send("com.example.other") == #"400 {"reason":"TopicDisallowed"}"#)
      #expect(try await scene.control("DELETE", "/keys/\(keyID)").status == 204)
      #expect(try await send("com.example.app") == #"403 {"reason":"InvalidProviderToken"}"#)

      let certificate = try await scene.control("POST", "/certificates", #"{"bundle":"com.example.app"}"#)
      let identity = try TLSIdentity(pem: Array(#require(certificate["pem"]?.string).utf8))
      let provider = try await scene.provider(identity: identity)
      #expect(await provider.send("/3/device/\(token)", [("apns-topic", "com.example.app")])?.status == 200)
      await provider.close()
    }
  }

  @Test("the courier over WebSocket: hello, token, push, ack; what was not acknowledged comes again")
  func courier() async throws {
    try await LiveScene.run { scene in
      let url = "ws://\(try #require(scene.simulator.controlEndpoint))/courier"
      func phone() async throws -> WebSocket {
        let socket = try await WebSocket.connect(url, on: scene.loops.next())
        try await socket.send(#"{"type":"hello","device":"phone"}"#)
        return socket
      }
      func next(_ messages: inout AsyncStream<WebSocket.Message>.Iterator) async -> JSONObject? {
        guard case .text(let text) = await messages.next() else { return nil }
        return try? JSONReader.read(Array(text.utf8)).value.object
      }
      let first = try await phone()
      var messages = first.messages.makeAsyncIterator()
      #expect(await next(&messages)?["type"] == "welcome")
      try await first.send(
        #"{"type":"token","bundle":"com.example.app","environment":"sandbox","kind":"app","request":7}"#)
      let answer = try #require(await next(&messages))
      #expect(answer["type"] == "token" && answer["request"] == 7)
      let token = try #require(answer["token"]?.string)
      let provider = try await scene.provider()
      let fields = [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-push-type", "alert")]
      let body = #"{"aps" : {"alert":"\u2028"},  "f":1.10}"#
      #expect(await provider.send("/3/device/\(token)", fields, body: body)?.status == 200)
      let push = try #require(await next(&messages))
      #expect(push["type"] == "push" && push["payload"]?.string == body && push["bundle"] == "com.example.app")
      #expect(scene.simulator.notifications.first.map { if case .sent = $0.fate { true } else { false } } == true)
      await first.abort()

      let second = try await phone()
      var later = second.messages.makeAsyncIterator()
      #expect(await next(&later)?["type"] == "welcome")
      let repeated = try #require(await next(&later))
      #expect(repeated["id"] == push["id"] && repeated["number"] == push["number"])
      try await second.send(#"{"type":"ack","number":\#(repeated["number"]?.text ?? "")}"#)
      try await second.send(#"{"type":"uninstall","bundle":"com.example.app"}"#)
      #expect(await next(&later)?["tokens"] == 1)
      #expect(scene.simulator.notifications.first.map { if case .delivered = $0.fate { true } else { false } } == true)

      let third = try await phone()
      var last = third.messages.makeAsyncIterator()
      #expect(await next(&last)?["type"] == "welcome")
      #expect(await next(&later) == nil)
      #expect(await second.closing?.code == 4001)
      await third.close()
      await provider.close()
    }
  }

  @Test(
    "a courier that talks nonsense is told so and closed",
    arguments: ["x", #"{"type":"ack","number":1}"#, #"{"type":"hello"}"#])
  func nonsense(text: String) async throws {
    try await LiveScene.run { scene in
      let url = "ws://\(try #require(scene.simulator.controlEndpoint))/courier"
      let socket = try await WebSocket.connect(url, on: scene.loops.next())
      try await socket.send(text)
      var kinds: [String] = []
      for await message in socket.messages {
        guard case .text(let text) = message else { continue }
        let value = try JSONReader.read(Array(text.utf8)).value
        kinds.append(value.object?["type"]?.string ?? "")
      }
      #expect(kinds == ["error"])
      #expect(await socket.closing?.code == 1008)
    }
  }
}
