import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing

@testable import HTTPAPI

@Suite("Broadcast channels of /v1", .timeLimit(.minutes(1)))
struct ChannelCallTests {
  private func path(_ id: String) -> String {
    "/v1/channels/" + id.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
  }

  @Test("made, listed, read, deleted; ids of base64 in paths", arguments: Depth.allCases)
  func resource(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      var ids: [String] = []
      for storage in ["newest", "nothing"] {
        let made = try await bench.call("POST", "/v1/channels", "{\"storage\":\"\(storage)\"}")
        #expect(made.status == 201 && made.json.object?["storage"]?.string == storage, "\(made.text)")
        let id = try #require(made.json.object?["id"]?.string)
        #expect(made.headers["location"] == path(id))
        ids.append(id)
        let shown = try await bench.call("GET", path(id))
        #expect(shown.status == 200 && shown.json == made.json, "\(shown.text)")
      }
      let first = try await bench.call("GET", "/v1/channels?limit=1").json.object
      #expect(first?["channels"] == [["id": .string(ids.sorted()[0])]])
      let next = try #require(first?["next"]?.string)
      let encoded = next.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
      let second = try await bench.call("GET", "/v1/channels?limit=1&cursor=\(encoded)").json.object
      #expect(second?["channels"] == [["id": .string(ids.sorted()[1])]] && second?["next"] == .null)
      #expect(try await bench.call("DELETE", path(ids[0])).status == 204)
      for method in ["GET", "DELETE"] {
        let gone = try await bench.call(method, path(ids[0]))
        #expect(gone.status == 404 && gone.errorCode == 9404, "\(gone.text)")
      }
    }
  }

  @Test("the same Idempotency-Key sends once to a channel; to another it is refused")
  func keyed() async throws {
    try await Bench.with(.inProcess) { bench in
      var ids: [String] = []
      for _ in 0..<2 {
        let made = try await bench.call("POST", "/v1/channels", "{}")
        ids.append(try #require(made.json.object?["id"]?.string))
      }
      let body = #"{"contentState":{"goals":1}}"#
      for (id, status) in [(ids[0], 201), (ids[0], 200), (ids[1], 409)] {
        let answer = try await bench.call("POST", path(id) + "/update", headers: ["Idempotency-Key": "k1"], body)
        #expect(answer.status == status, "\(answer.text)")
      }
    }
  }

  @Test("a push to a channel is one send, with headers by themselves: kept as long as the channel keeps a message")
  func sends() async throws {
    try await Bench.with(.inProcess) { bench in
      for number in 1...3 { _ = try await bench.device(number) }
      let now = bench.clock.now
      for (storage, expiration) in [("newest", now.seconds + 8 * 3600), ("nothing", 0)] {
        let made = try await bench.call("POST", "/v1/channels", "{\"storage\":\"\(storage)\"}")
        let id = try #require(made.json.object?["id"]?.string)
        var pushes: [String] = []
        for (call, body) in [
          ("/update", #"{"contentState":{"goals":1},"priority":5}"#), ("/end", #"{"timeToLive":0}"#),
        ] {
          let made = try await bench.call("POST", path(id) + call, body)
          #expect(made.status == 201 && made.json.object?["targeted"] == 1, "\(made.text)")
          pushes.append(try #require(made.json.object?["id"]?.string))
          let count = pushes.count
          #expect(await eventually { bench.channels.sent.values.count { $0.channel == id } == count })
        }
        let sent = bench.channels.sent.values.filter { $0.channel == id }
        #expect(sent.map(\.expiration) == [expiration, 0] && sent.map(\.priority) == [.considerate, .immediate])
        let first = try JSONReader.read(try #require(sent.first).payload).value.object?["aps"]?.object
        #expect(first?["timestamp"] == .number(JSONNumber(now.seconds)) && first?["content-state"] == ["goals": 1])
        let report = try await bench.call("GET", "/v1/pushes/\(pushes[0])").json.object
        #expect(report?["targeted"] == 1)
        #expect(report?["broadcast"] == ["channel": .string(id), "requestId": .string(sent[0].id)])
      }
      #expect(bench.apns.pushes.values.isEmpty, "no device is sent to by itself")
    }
  }

  @Test("what APNs refuses is 409 with its word, what it cannot do now 503, what no phone would take 400")
  func refuses() async throws {
    try await Bench.with(.inProcess) { bench in
      bench.channels.refuse(BroadcastFault(.refused("FeatureNotEnabled"), meaning: "It is off.", remedy: "Turn it on."))
      let refused = try await bench.call("POST", "/v1/channels", "{}")
      #expect(refused.status == 409 && refused.errorMessage.contains("FeatureNotEnabled: It is off. Turn it on."))
      bench.channels.refuse(BroadcastFault(.unavailable, meaning: "No answer.", remedy: "Later."))
      #expect(try await bench.call("GET", "/v1/channels").status == 503)
      bench.channels.refuse(nil)
      for (path, body) in [
        ("/v1/channels", #"{"storage":"all"}"#), ("/v1/channels", #"{"keeps":"newest"}"#),
        ("/v1/channels/no%20base64/update", #"{"contentState":{}}"#), ("/v1/channels/dGVzdA==/update", "{}"),
      ] {
        #expect(try await bench.call("POST", path, body).status == 400, "\(path) \(body)")
      }
    }
  }
}
