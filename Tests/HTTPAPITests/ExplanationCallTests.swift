import Basics
import PushPayload
import Testing

@Suite("Why a push arrived, over HTTP")
struct ExplanationCallTests {
  @Test("every decision about a device in order; what is not there is 404 and says what", arguments: Depth.allCases)
  func explanation(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let meant = try await bench.device(1, tags: ["vip"])
      let other = try await bench.device(2)
      let push = try await bench.call(
        "POST", "/v3/push", #"{"platform":"all","audience":{"tag":["vip"]},"notification":{"alert":"a"}}"#)
      let id = try #require(push.json.object?["msg_id"]?.string, "\(push.text)")
      while try await bench.call("GET", "/v1/pushes/\(id)").json.object?["state"] != "finished" { await Task.yield() }
      let told = try await bench.call("GET", "/v1/pushes/\(id)/devices/\(meant)")
      #expect(told.status == 200 && told.json.object?["outcome"] == "accepted")
      #expect(told.json.object?["msg_id"]?.string == id && told.json.object?["registrationId"]?.string == meant)
      let decisions = (told.json.object?["decisions"]?.array ?? []).compactMap(\.object)
      #expect(decisions.map { $0["by"]?.string } == ["service", "service", "apns"])
      #expect(decisions.last?["words"] == "APNs accepted it" && decisions.last?["at"]?.string != nil)

      let reported = try await bench.call("GET", "/v1/pushes/\(id)/devices/\(other)")
      #expect(reported.json.object?["outcome"] == "notTargeted")
      #expect(reported.text.contains("it has no tag “vip”"))
      let unknown = try await bench.call("GET", "/v1/pushes/\(id)/devices/nobody")
      #expect(unknown.status == 404 && unknown.errorCode == 9404)
      #expect(unknown.errorMessage.contains("no device \"nobody\""))
      for missing in ["7", "x"] {
        let answer = try await bench.call("GET", "/v1/pushes/\(missing)/devices/\(meant)")
        #expect(answer.status == 404 && answer.errorMessage.contains("no push \"\(missing)\""))
      }
      #expect(try await bench.call("GET", "/v1/pushes/\(id)/devices/\(meant)", as: .nobody).status == 401)
      #expect(try await bench.call("POST", "/v1/pushes/\(id)/devices/\(meant)").status == 405)
    }
  }
}
