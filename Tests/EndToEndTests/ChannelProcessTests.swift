import Foundation
import HTTPClient
import Testing

@Suite("Broadcast channels by a service beside its simulated APNs", .serialized)
struct ChannelProcessTests {
  @Test(
    "told where APNs manages channels, the service makes, lists, reads and deletes one; not told, it says what to do")
  func managed() async throws {
    let scene = try await ServiceScene()
    var (service, api) = try await scene.serve()
    let (refused, fault) = try await scene.post(api + "/v1/channels", ["environment": "sandbox"], signed: true)
    #expect(refused == 503 && "\(fault)".contains("apnsManage"), "\(fault)")
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)

    (service, api) = try await scene.serve(["--apns-manage", try #require(scene.places["manage"])])
    let (made, channel) = try await scene.post(api + "/v1/channels", ["environment": "sandbox"], signed: true)
    #expect(made == 201, "\(channel)")
    let id = try #require(channel["id"] as? String)
    let path = try #require(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let secret = scene.masterSecret
    let listed = try await scene.call("GET", api + "/v1/channels?environment=sandbox", secret: secret).1
    #expect((listed["channels"] as? [[String: Any]])?.compactMap { $0["id"] as? String } == [id], "\(listed)")
    let one = api + "/v1/channels/\(path)"
    #expect(
      try await scene.call("GET", one + "?environment=sandbox", secret: secret).1["storage"] as? String == "newest")
    let (sent, answer) = try await scene.post(
      one + "/update", ["environment": "sandbox", "contentState": ["goals": 1]], signed: true)
    #expect(sent == 201, "\(answer)")
    _ = try await scene.finished(try #require(answer["id"] as? String), at: api)
    #expect(try await scene.call("DELETE", one + "?environment=sandbox", secret: secret).0 == 204)
    #expect(try await scene.call("GET", one + "?environment=sandbox", secret: secret).0 == 404)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("an update that was answered is not lost by kill -9: it goes when APNs can be asked again, once")
  func killed() async throws {
    let scene = try await ServiceScene()
    let manage = ["--apns-manage", try #require(scene.places["manage"])]
    var (service, api) = try await scene.serve(manage)
    let (_, channel) = try await scene.post(api + "/v1/channels", ["environment": "sandbox"], signed: true)
    let id = try #require(channel["id"] as? String)
    let path = try #require(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    try await scene.setFaults(#"{"when":{"port":"push"},"action":{"refuse":"ServiceUnavailable"}}"#)
    let (status, push) = try await scene.post(
      api + "/v1/channels/\(path)/update", ["environment": "sandbox", "contentState": ["goals": 1]], signed: true)
    #expect(status == 201, "\(push)")
    service.signal(SIGKILL)
    _ = try await service.end()
    (service, api) = try await scene.serve(manage)
    let message = try #require(push["id"] as? String)
    #expect(try await scene.report(message, at: api)["pending"] as? Int == 1)
    try await scene.setFaults("")
    let report = try await scene.finished(message, at: api)
    #expect(report["accepted"] as? Int == 1 && (report["broadcast"] as? [String: Any])?["channel"] as? String == id)
    let channels = try await scene.call("GET", scene.control + "/channels", secret: nil).1["channels"]
    let found = try #require((channels as? [[String: Any]])?.first)
    let broadcast = report["broadcast"] as? [String: Any]
    #expect(found["published"] as? Int == 1, "\(found)")
    #expect((found["stored"] as? [String: Any])?["requestId"] as? String == broadcast?["requestId"] as? String)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }
}
