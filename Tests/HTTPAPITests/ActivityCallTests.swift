import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing
import Transport

@testable import HTTPAPI

@Suite("Live Activities and calls: tokens of devices, /v3 and /v1", .timeLimit(.minutes(2)))
struct ActivityCallTests {
  /// A device with its own path and credentials.
  private func register(_ bench: Bench, _ number: Int) async throws -> (path: String, who: Bench.Who) {
    let reply = try await bench.call(
      "POST", "/device/v1/registrations", as: .nobody,
      "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(Bench.token(number).hex)\"}")
    let object = try #require(reply.json.object, "\(reply.text)")
    let secret = try #require(object["deviceSecret"]?.string)
    let id = try #require(object["registrationId"]?.string)
    return ("/device/v1/registrations/\(id)", .other(bench.app.appKey, secret))
  }

  /// Device 1 has tokens of all kinds (101 VoIP, 102 push-to-start of Match, 103 of the running order-7), 2 has none.
  private func scene(_ bench: Bench) async throws -> (path: String, who: Bench.Who) {
    let first = try await register(bench, 1)
    _ = try await register(bench, 2)
    let reply = try await bench.call(
      "POST", first.path, as: first.who,
      """
      {"voipToken":"\(Bench.token(101).hex)","activityStartTokens":{"Match":"\(Bench.token(102).hex)"},
       "activities":{"order-7":"\(Bench.token(103).hex)"}}
      """)
    #expect(reply.status == 200, "\(reply.text)")
    return first
  }

  private static func push(_ audience: String, _ activity: String) -> String {
    "{\"platform\":\"ios\",\"audience\":\(audience),\"live_activity\":{\"ios\":\(activity)}}"
  }

  private static let toOrder = "{\"live_activity_id\":\"order-7\"}"

  @Test("a device tells its tokens, sees what it told, and takes each back", arguments: Depth.allCases)
  func tokens(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (path, who) = try await scene(bench)
      var seen = try #require(try await bench.call("GET", path, as: who).json.object)
      #expect(seen["voip"] == true && seen["activityStartTypes"] == ["Match"] && seen["activities"] == ["order-7"])
      let registration = try await bench.call("POST", path, as: who, "{\"badge\":1}")
      #expect(registration.status == 200)
      try await bench.call("POST", path, as: who, #"{"activities":{"order-7":""},"voipToken":""}"#)
      seen = try #require(try await bench.call("GET", path, as: who).json.object)
      #expect(seen["voip"] == false && seen["activityStartTypes"] == ["Match"] && seen["activities"] == [])
      let text = try await bench.call("GET", path, as: who).text
      #expect(!text.contains(Bench.token(102).hex), "no token is ever told")
    }
  }

  @Test(
    "what is no token or no name is refused with its place, and nothing changes",
    arguments: [
      (#"{"voipToken":"abc"}"#, "voipToken"), (#"{"voipToken":7}"#, "voipToken"),
      (#"{"activities":{"order 7":"00"}}"#, "activities[\"order 7\"]"),
      (#"{"activities":["order-7"]}"#, "activities"),
      (#"{"activityStartTokens":{"Match":"zz"}}"#, "activityStartTokens.Match"),
      (#"{"voipTokens":"00"}"#, "voipTokens"),
    ])
  func refusals(body: String, place: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, who) = try await register(bench, 1)
      let reply = try await bench.call("POST", path, as: who, body)
      #expect(reply.status == 400 && reply.json.object?["place"]?.string == place, "\(reply.text)")
      #expect(try await bench.call("GET", path, as: who).json.object?["activities"] == [])
    }
  }

  @Test("jpush.md §4.6 live_activity: start to whoever has a push-to-start token, update and end by live_activity_id")
  func activity() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await scene(bench)
      let start = try await bench.call(
        "POST", "/v3/push",
        Self.push(
          "\"all\"",
          """
          {"event":"start","attributes-type":"Match","attributes":{"home":"A"},"content-state":{"goals":0},
           "alert":{"title":"Kick-off","body":"A plays","sound":"default"},"stale-date":1900000000,
           "relevance-score":50}
          """))
      #expect(start.status == 200 && start.json.object?.members.count == 2, "\(start.text)")
      let update = try await bench.call(
        "POST", "/v3/push",
        Self.push(Self.toOrder, #"{"event":"update","content-state":{"goals":1},"apns-priority":5}"#))
      #expect(update.status == 200, "\(update.text)")
      let end = try await bench.call(
        "POST", "/v3/push",
        Self.push(Self.toOrder, #"{"event":"end","content-state":{"goals":2},"dismissal-date":1900000000}"#))
      #expect(end.status == 200, "\(end.text)")
      let sent = await bench.apns.received(3).sorted { $0.id < $1.id }
      #expect(sent.map(\.token) == [Bench.token(102), Bench.token(103), Bench.token(103)])
      #expect(sent.map(\.priority) == [.immediate, .considerate, .immediate])
      for push in sent {
        #expect(push.topic == "com.example.chat.push-type.liveactivity" && push.pushType == .liveactivity)
        #expect(push.collapseID == nil)
        let payload = try #require(try JSONReader.read(push.payload).value.object)
        #expect(payload.members.map(\.key) == ["aps"])
        #expect(payload["aps"]?.object?["timestamp"]?.number?.int64 == bench.clock.now.seconds)
      }
      let aps = try sent.map { try #require(try JSONReader.read($0.payload).value.object?["aps"]?.object) }
      #expect(aps.map { $0["event"] } == ["start", "update", "end"])
      #expect(aps[0]["attributes-type"] == "Match" && aps[0]["stale-date"] == 1_900_000_000)
      #expect(aps[0]["alert"] == ["title": "Kick-off", "body": "A plays", "sound": "default"])
      #expect(aps[2]["dismissal-date"] == 1_900_000_000 && aps[2]["content-state"] == ["goals": 2])
    }
  }

  @Test(
    "jpush.md §4.6 what iOS would make nothing of, or JPush refuses, is refused",
    arguments: [
      (#"{"event":"update","content-state":{}}"#, "\"all\"", 1002, "audience.live_activity_id"),
      (#"{"event":"update"}"#, toOrder, 1002, "live_activity.ios.content-state"),
      (#"{"event":"begin","content-state":{}}"#, toOrder, 1003, "live_activity.ios.event"),
      (#"{"content-state":{}}"#, toOrder, 1002, "live_activity.ios.event"),
      (#"{"event":"update","content_state":{}}"#, toOrder, 1009, "live_activity.ios.content_state"),
      (#"{"event":"update","content-state":[]}"#, toOrder, 1003, "live_activity.ios.content-state"),
      (#"{"event":"update","content-state":{},"apns-priority":7}"#, toOrder, 1003, "live_activity.ios.apns-priority"),
      (
        #"{"event":"update","content-state":{}}"#, #"{"live_activity_id":"x","tag":["a"]}"#, 1003,
        "audience.live_activity_id"
      ),
      (
        #"{"event":"start","content-state":{},"attributes":{},"attributes-type":"Match"}"#, "\"all\"", 1002,
        "live_activity.ios.alert"
      ),
      (#"{"event":"update","content-state":{}}"#, #"{"live_activity_id":"order-8"}"#, 1011, "audience"),
    ])
  func refusesActivities(activity: String, audience: String, code: Int, place: String) async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await scene(bench)
      let reply = try await bench.call("POST", "/v3/push", Self.push(audience, activity))
      #expect(reply.errorCode == code && reply.errorMessage.hasPrefix("\(place): "), "\(reply.text)")
    }
  }

  @Test("live_activity excludes notification and message; live_activity_id goes with nothing else")
  func excludes() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await scene(bench)
      for beside in [#""notification":{"alert":"a"}"#, #""message":{"msg_content":"a"}"#] {
        let body = Self.push(Self.toOrder, #"{"event":"end"}"#).dropLast() + ",\(beside)}"
        #expect(try await bench.call("POST", "/v3/push", String(body)).errorCode == 1003)
      }
      let reply = try await bench.call("POST", "/v3/push", PushCallTests.push(Self.toOrder, ""))
      #expect(reply.errorCode == 1003 && reply.errorMessage.contains("live_activity_id"), "\(reply.text)")
    }
  }

  @Test("a collapse id or an id to replace means nothing to what shows no notification, and that is told")
  func ignoresReplacing() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await scene(bench)
      let first = try await bench.call("POST", "/v3/push", PushCallTests.push("\"all\"", ""))
      let id = try #require(first.json.object?["msg_id"]?.string)
      for option in ["\"override_msg_id\":\(id)", "\"apns_collapse_id\":\"a\""] {
        let body = Self.push(Self.toOrder, #"{"event":"end"}"#).dropLast() + ",\"options\":{\(option)}}"
        let reply = try await bench.call("POST", "/v3/push", String(body))
        #expect(reply.status == 200 && reply.warnings.count == 1, "\(reply.text) \(reply.warnings)")
      }
      #expect(try await bench.call("GET", "/v1/pushes/\(id)").json.object?["state"] != "withdrawn")
    }
  }

  @Test("/v1/live-activities: start, list, get, update, end; a key makes each once", arguments: Depth.allCases)
  func resource(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (path, who) = try await scene(bench)
      let start = try await bench.call(
        "POST", "/v1/live-activities",
        """
        {"audience":"everyone","attributesType":"Match","attributes":{},"contentState":{"goals":0},
         "alert":{"title":{"loc-key":"KICK_OFF"},"body":"now"},"staleDate":"2030-01-01T00:00:00Z"}
        """)
      #expect(start.status == 201 && start.json.object?["targeted"] == 1, "\(start.text)")
      #expect(
        try await bench.call("GET", "/v1/live-activities").text
          == #"{"activities":[{"id":"order-7","devices":1}],"next":null}"#)
      let one = try await bench.call("GET", "/v1/live-activities/order-7")
      #expect(one.text == #"{"id":"order-7","devices":1,"production":1,"sandbox":0}"#)
      let update = "/v1/live-activities/order-7/update"
      let key = ["Idempotency-Key": "k1"]
      let first = try await bench.call("POST", update, headers: key, #"{"contentState":{"goals":1}}"#)
      #expect(first.status == 201, "\(first.text)")
      #expect(first.headers["location"] == "/v1/pushes/\(first.json.object?["id"]?.string ?? "")")
      let again = try await bench.call("POST", update, headers: key, #"{"contentState":{"goals":1}}"#)
      #expect(again.status == 200 && again.json == first.json)
      let other = try await bench.call(
        "POST", "/v1/live-activities/order-8/update", headers: key, #"{"contentState":{"goals":1}}"#)
      #expect(other.status == 409, "the same body to another activity is another request: \(other.text)")
      let end = try await bench.call("POST", "/v1/live-activities/order-7/end", "{}")
      #expect(end.status == 201, "\(end.text)")
      let sent = await bench.apns.received(3)
      #expect(sent.count == 3)
      try await bench.call("POST", path, as: who, #"{"activities":{"order-7":""}}"#)
      #expect(try await bench.call("GET", "/v1/live-activities/order-7").status == 404)
      #expect(try await bench.call("POST", "/v1/live-activities/order-7/end", "{}").errorCode == 1011)
    }
  }

  @Test("an update token that APNs says is dead is retired; the push counts it and explain tells it")
  func dead() async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, who) = try await scene(bench)
      bench.apns.answer { _ in .refused(.init(status: 410, reason: "ExpiredToken", since: nil)) }
      bench.clock.advance(by: .minutes(1))
      let reply = try await bench.call(
        "POST", "/v1/live-activities/order-7/update", #"{"contentState":{"goals":1}}"#)
      let id = try #require(reply.json.object?["id"]?.string, "\(reply.text)")
      var report = JSONObject()
      for _ in 0..<100_000 where report["state"] != "finished" {
        report = try #require(try await bench.call("GET", "/v1/pushes/\(id)").json.object)
      }
      #expect(report["refused"] == [["reason": "ExpiredToken", "count": 1]])
      let detail = try await bench.call("GET", "/v3/received/detail?msg_ids=\(id)").json.array?.first?.object
      #expect(detail?["live_acivity_sent"] == 0 && detail?["ios_apns_sent"] == .null)
      let messages = try await bench.call("GET", "/v3/messages/detail?msg_ids=\(id)").json.array?.first?.object
      #expect(messages?["details"]?.object?.members.map(\.key) == ["live_activity"])
      let device = path.split(separator: "/").last ?? ""
      let explained = try await bench.call("GET", "/v1/pushes/\(id)/devices/\(device)")
      #expect(explained.text.contains("running Live Activity “order-7”: ExpiredToken"), "\(explained.text)")
      #expect(try await bench.call("GET", "/v1/live-activities/order-7").status == 404, "it runs no more")
      let view = try #require(try await bench.call("GET", path, as: who).json.object)
      #expect(view["activities"] == [] && view["voip"] == true)
      let device1 = try #require(try await bench.call("GET", "/v1/devices/\(device)").json.object)
      #expect(device1["tokenDead"] == .null, "the device's own token is not what died")
    }
  }

  @Test("jpush.md §4.4 notification.voip beside ios: two pushes, each to its token; alone one")
  func voip() async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, _) = try await scene(bench)
      let notification = #"{"ios":{"alert":"Lin calls"},"voip":{"caller":"Lin","room":[1,2]}}"#
      let reply = try await bench.call(
        "POST", "/v3/push", "{\"platform\":\"ios\",\"audience\":\"all\",\"notification\":\(notification)}")
      #expect(reply.status == 200 && reply.json.object?.members.count == 2 && reply.warnings == [], "\(reply.text)")
      let sent = await bench.apns.received(3)
      let calls = sent.filter { $0.pushType == .voip }
      #expect(calls.count == 1 && sent.count { $0.pushType == .alert } == 2)
      let call = try #require(calls.first)
      #expect(call.token == Bench.token(101) && call.topic == "com.example.chat.voip" && call.priority == .immediate)
      #expect(call.expiration == 0, "a call is of no use later")
      let payload = try #require(try JSONReader.read(call.payload).value.object)
      #expect(payload.members.dropLast() == [.init("caller", "Lin"), .init("room", [1, 2])])
      let id = try #require(reply.json.object?["msg_id"]?.string)
      let report = try #require(try await bench.call("GET", "/v1/pushes/\(id)").json.object)
      let companion = try #require(report["voipPush"]?.string, "\(report)")
      #expect(payload["_j_msgid"]?.number?.literal == companion, "by which the app reports")
      let call1 = try #require(try await bench.call("GET", "/v1/pushes/\(companion)").json.object)
      #expect(call1["targeted"] == 1 && call1["beside"] == .string(id))
      func parts(_ id: String) async throws -> JSONObject? {
        let detail = try await bench.call("GET", "/v3/messages/detail?msg_ids=\(id)").json.array?.first?.object
        return detail?["details"]?.object?["notification"]?.object?["sub_ios"]?.object
      }
      let both = try await parts(id)
      #expect(both?["apns"]?.object?["target"] == 2 && both?["voip"]?.object?["target"] == 1, "\(both ?? [:])")
      #expect(try await parts(companion)?.members.map(\.key) == ["voip"])
      let device = path.split(separator: "/").last ?? ""
      #expect(try await bench.call("GET", "/v1/pushes/\(companion)/devices/\(device)").text.contains("VoIP token"))

      let alone = try await bench.call(
        "POST", "/v3/push", #"{"platform":"ios","audience":"all","notification":{"voip":{"caller":"Lin"}}}"#)
      #expect(alone.status == 200, "\(alone.text)")
      #expect(await bench.apns.received(4).last?.pushType == .voip)
      let own = try await bench.call("POST", "/v1/pushes", #"{"audience":"everyone","kind":"voip","data":{"a":1}}"#)
      #expect(own.status == 201 && own.json.object?["targeted"] == 1, "\(own.text)")
      for body in [
        #"{"audience":"everyone","kind":"voip"}"#, #"{"audience":"everyone","kind":"voip","data":{},"alert":"a"}"#,
      ] {
        #expect(try await bench.call("POST", "/v1/pushes", body).status == 400)
      }
    }
  }

  @Test("a VoIP push that nobody can get is told; withdrawing a push withdraws its call")
  func voipForNobody() async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, who) = try await register(bench, 1)
      let body = #"{"platform":"ios","audience":"all","notification":{"alert":"a","voip":{"x":1}}}"#
      let first = try await bench.call("POST", "/v3/push", body)
      #expect(first.status == 200 && first.warnings.contains { $0.contains("notification.voip goes to nobody") })
      try await bench.call("POST", path, as: who, "{\"voipToken\":\"\(Bench.token(9).hex)\"}")
      let slow = body.dropLast() + #","options":{"belfry_quiet_hours":"pass"}}"#
      bench.apns.hold()
      let second = try await bench.call("POST", "/v3/push", String(slow))
      let id = try #require(second.json.object?["msg_id"]?.string, "\(second.text)")
      #expect(try await bench.call("POST", "/v1/pushes/\(id)/withdraw").status == 200)
      let companion = try #require(
        try await bench.call("GET", "/v1/pushes/\(id)").json.object?["voipPush"]?.string)
      #expect(try await bench.call("GET", "/v1/pushes/\(companion)").json.object?["state"] == "withdrawn")
      bench.apns.release()
    }
  }
}
