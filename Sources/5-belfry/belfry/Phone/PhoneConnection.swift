import APNSSimulator
import Basics
import Phone
import PhoneLab
import PushPayload
import Transport

/// How a phone hangs at its push service: the simulated APNs in this process, or one that runs elsewhere.
enum PhoneConnection: Sendable {
  case inProcess(APNSSimulator)
  case remote(RemoteAPNS)

  struct Ports: Sendable {
    var listen = Endpoint(host: "127.0.0.1", port: 0)
    var production = Endpoint(host: "127.0.0.1", port: 0)
    var control = Endpoint(host: "127.0.0.1", port: 0)
  }

  /// Starts the simulated APNs with its keys kept in `data`, so that they and the tokens are the same the next time.
  static func start(_ options: PhoneOptions, clock: any WallClock) async throws -> PhoneConnection {
    if let url = options.apns { return .remote(try await RemoteAPNS(url, clock: clock)) }
    var configuration = APNSSimulator.Configuration()
    configuration.listen = options.ports.listen
    configuration.productionListen = options.ports.production
    configuration.control = options.ports.control
    configuration.dataFolder = options.data
    configuration.bundleID = options.bundleIDs[0]
    do { return .inProcess(try await APNSSimulator.start(configuration)) } catch { throw CommandFault("\(error)") }
  }

  func lab(clock: any WallClock) -> PhoneLab {
    switch self {
    case .inProcess(let simulator):
      PhoneLab(courier: simulator.courier, clock: clock, service: ScenarioPhoneService(nil))
    case .remote(let remote): remote.lab
    }
  }

  func stop() async {
    switch self {
    case .inProcess(let simulator): await simulator.stop()
    case .remote(let remote): await remote.close()
    }
  }

  /// Tells whoever is not in this process what the phone has become.
  func settle() async {
    switch self {
    case .inProcess: break
    case .remote(let remote): await remote.settle()
    }
  }

  /// What a provider needs.
  var places: JSONObject {
    switch self {
    case .remote(let remote): return ["control": .string(remote.url)]
    case .inProcess(let simulator):
      let credentials = simulator.credentials
      var object: JSONObject = ["apns": .string("https://\(simulator.endpoint.reachable)")]
      if let production = simulator.productionEndpoint {
        object["production"] = .string("https://\(production.reachable)")
      }
      if let control = simulator.controlEndpoint { object["control"] = .string("http://\(control.reachable)") }
      object["keyId"] = .string(credentials.keyID)
      object["teamId"] = .string(credentials.teamID)
      object.members += simulator.filePlaces.members
      return object
    }
  }
}
