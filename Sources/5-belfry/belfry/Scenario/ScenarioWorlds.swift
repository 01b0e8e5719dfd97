import Basics
import PhoneLab

/// Where the scenarios of one command are played: in virtual time, or at running servers.
struct ScenarioWorlds {
  private var apns: String?
  private var service: (url: String, key: String, secret: String)?
  private var gateway: String?

  init(_ parsed: ParsedCommand) throws(UsageFault) {
    apns = parsed.value("apns")
    gateway = parsed.value("gateway")
    guard gateway == nil || parsed.value("service") != nil else {
      throw UsageFault("'--gateway' needs '--service' beside it: the service whose messages come by it")
    }
    guard let url = parsed.value("service") else { return }
    guard apns != nil else {
      throw UsageFault("'--service' needs '--apns' beside it: the simulated APNs that the service pushes to")
    }
    guard let key = parsed.value("app-key"), let secret = parsed.value("master-secret") else {
      throw UsageFault("'--service' needs '--app-key' and '--master-secret' beside it (belfry app create prints them)")
    }
    service = (url.withoutSlashAtEnd, key, secret)
  }

  /// Plays it where it is to be played, or says why it cannot be played there.
  func play(_ scenario: Scenario) async throws -> ScenarioResult {
    if apns != nil {
      if let why = scenario.onlyVirtual { return ScenarioResult(name: scenario.name, skipped: why) }
      if scenario.callsService, service == nil {
        return ScenarioResult(name: scenario.name, skipped: "it calls the push service; name one with --service")
      }
      if scenario.sendsMessages, gateway != nil {
        let why = "its messages are not of the running service; send them by the message of a service step"
        return ScenarioResult(name: scenario.name, skipped: why)
      }
    }
    let world = try await make(scenario)
    let result = await scenario.run(in: world)
    await world.close()
    return result
  }

  private func make(_ scenario: Scenario) async throws -> any ScenarioWorld {
    if let apns {
      let running = service.map { ServiceDoor.running($0.url, key: $0.key, secret: $0.secret) }
      guard let service, let gateway else { return try await LiveWorld(apns: apns, service: running) }
      guard let library = try KitLibrary(service: service.url, gateway: gateway, appKey: service.key) else {
        throw CommandFault("'\(gateway)' is no address of a gateway; give one as ws://127.0.0.1:8081")
      }
      return try await LiveWorld(apns: apns, service: running, library: library)
    }
    guard scenario.callsService else { return try await VirtualWorld(start: scenario.preparation) }
    return try await VirtualWorld(start: scenario.preparation) { clock, apns in
      try await ServiceDoor.inProcess(clock: clock, apns: apns)
    }
  }
}
