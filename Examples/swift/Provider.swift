import APNSClient
import Basics
import Transport

/// What an app server has: a client with its key. It trusts the simulator's authority instead of the system's.
func provider(
  pushingTo server: Endpoint, trusting authority: [UInt8], key: [UInt8], keyID: String, teamID: String,
  on loop: EventLoop
) throws -> APNSClient {
  var configuration = APNSClient.Configuration(
    server: APNSServer(server),
    credential: .token(try ProviderKey(p8: key, keyID: keyID, teamID: teamID, name: "AuthKey.p8")))
  configuration.trust = .pem(authority)
  return try APNSClient(configuration, clock: SystemClock(), loop: loop)
}
