import APNSClient
import APNSSimulator
import Delivery
import PushPayload
import Testing
import Transport

/// Pushes with Belfry's own client to a simulated APNs inside the test: no process, no fixed port, nothing left behind.
@Suite("A greeting")
struct GreetingTests {
  @Test("arrives, and a push to an app that is gone says so")
  func greeting() async throws {
    let simulator = try await APNSSimulator.start()
    let loop = EventLoop(name: "provider")
    let credentials = simulator.credentials
    let client = try provider(
      pushingTo: simulator.endpoint, trusting: credentials.authority.pem, key: credentials.signingKey.pem,
      keyID: credentials.keyID, teamID: credentials.teamID, on: loop)
    let token = simulator.issueToken(device: "phone", bundle: "com.example.app")
    let push = OutgoingPush(
      id: "7f1c5f6e-0b1f-4a53-9d0e-5e2a3f6f1c01", token: token, topic: "com.example.app", pushType: .alert,
      priority: .immediate, expiration: nil, collapseID: nil, payload: Array(#"{"aps":{"alert":"Hello"}}"#.utf8))

    let taken = await client.send(push)
    guard case .accepted = taken else { throw Unexpected(outcome: taken) }
    #expect(simulator.notifications.map(\.push.payload) == [push.payload])

    simulator.end(token: token, isToldAtOnce: true)
    let refused = await client.send(push)
    guard case .refused(let refusal) = refused else { throw Unexpected(outcome: refused) }
    #expect(refusal.status == 410 && refusal.reason == "Unregistered")

    await client.close()
    await simulator.stop()
    await loop.stop()
  }
}

struct Unexpected: Error { var outcome: PushOutcome }
