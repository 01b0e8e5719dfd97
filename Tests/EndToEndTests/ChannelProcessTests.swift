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
    #expect(sent == 200, "\(answer)")
    #expect(try await scene.call("DELETE", one + "?environment=sandbox", secret: secret).0 == 204)
    #expect(try await scene.call("GET", one + "?environment=sandbox", secret: secret).0 == 404)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }
}
