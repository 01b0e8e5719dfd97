import APNSSimulator
import Basics
import Gateway
import HTTPAPI
import PushPayload
import PushService
import StoreSQLite
import Transport

let serveCommand: Command = Command(
  name: "serve",
  summary: "Run the push service",
  discussion: """
    Speaks JPush's /v3, so that JPush's server SDKs work unmodified, and the calls of apps under /device/v1.
    With --demo a simulated APNs and three simulated iPhones run in the same process, and every payload of the articles \
    that Belfry is built from is pushed to them in every app state.
    Keys and certificates may be replaced while it runs: it sees that their files changed, or is told by SIGHUP, \
    which also has what was held back after a refusal try again.
    When ready, one line of JSON on standard output says where everything is.
    """,
  options: ServeConfiguration.options + [
    .flag("demo", "Run with three simulated iPhones; without --data in a folder that is removed at the end"),
    .flag("once", "With --demo: check every step, print 'N passed, N failed', and end"),
    .flag("json", "With --demo: print every step as one line of JSON"),
    .flag("verbose", "Log what is usual too, not only what wants a look"),
  ],
  run: { parsed in
    await openTimerDescriptors()
    let environment = processEnvironment()
    let isDemo = parsed.flag("demo")
    for name in ["once", "json"] where parsed.flag(name) && !isDemo { throw UsageFault("'--\(name)' goes with --demo") }
    var configuration = try ServeConfiguration(
      parsed, environment: environment, standardData: standardDataFolder(environment))
    let log = ServiceLog(clock: SystemClock(), isVerbose: parsed.flag("verbose"))
    if isDemo {
      return try await Demo.run(configuration, log: log, once: parsed.flag("once"), json: parsed.flag("json"))
    }
    let signals = ProcessSignals(rereads: true)
    let host = try await ServiceHost.start(configuration, log: log)
    let watch = Task { await host.watch(configuration).run(hangups: signals.hangups, changes: host.credentialChanges) }
    announce("listening", host.places)
    await signals.end()
    watch.cancel()
    await host.stop()
    return .success
  })

extension ServiceHost {
  /// Where everything is, for the line that scripts read.
  var places: JSONObject {
    var places: JSONObject = ["api": .string(address)]
    if let endpoint = deviceServer?.endpoint {
      places["devices"] = .string("\(deviceScheme)://\(endpoint)")
    }
    if let endpoint = gateway?.endpoint {
      places["gateway"] = .string("\(gatewayScheme)://\(endpoint)\(Gateway.path)")
    }
    if let simulator {
      places["apns"] = .string("https://\(simulator.endpoint)")
      if let production = simulator.productionEndpoint { places["apns_production"] = .string("https://\(production)") }
      if let control = simulator.controlEndpoint { places["control"] = .string("http://\(control)") }
      if let files = simulator.credentials.files { places["ca"] = .string(files.authority) }
    }
    return places
  }
}

/// One line of JSON on standard output that scripts wait for.
func announce(_ event: String, _ places: JSONObject) {
  let object = JSONObject([.init("event", .string(event))] + places.members)
  Terminal.print(JSONValue.object(object).text)
}
