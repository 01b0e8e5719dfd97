import Audience
import Basics
import Gateway
import HTTPAPI
import Messages
import PushService
import Store
import StoreSQLite
import Transport

extension ServiceHost {
  /// nil when none is wanted.
  static func startGateway(
    _ configuration: ServeConfiguration, _ service: PushService, _ store: StoreSQLite, loops: LoopGroup,
    clock: any WallClock
  ) async throws -> Gateway? {
    guard let address = configuration.gateway.value else { return nil }
    let endpoint = try endpoint(address, of: "gateway")
    let tls = try identity(configuration.gatewayIdentity.value, of: "gatewayIdentity").map {
      try TLSServerContext(identity: $0, protocols: ["http/1.1"])
    }
    let messages = MessageService(store: store, clock: clock, settings: configuration.messages.value) {
      key, id, secret in
      try await service.enter(appKey: key, registrationID: id, secret: secret).map {
        SessionDevice(app: $0.app, ordinal: $0.ordinal)
      }
    }
    return try await Gateway.start(messages, on: endpoint, tls: tls, loops: loops, clock: clock)
  }
}

extension Gateway {
  var metrics: [Metric] {
    let counts = service.metrics
    return [
      Metric(
        name: "belfry_gateway_connections", help: "Connections of apps, those in their handshake among them.",
        kind: .gauge, value: Double(connectionCount)),
      Metric(
        name: "belfry_gateway_devices", help: "Devices whose app is connected and in the foreground.", kind: .gauge,
        value: Double(presentCount)),
      Metric(
        name: "belfry_gateway_acknowledgements_total", help: "Acknowledgements of apps that were kept.",
        kind: .counter, value: Double(counts.acknowledged)),
      Metric(
        name: "belfry_gateway_store_faults_total", help: "What the store did not do for the gateway.", kind: .counter,
        value: Double(counts.storeFaults)),
    ]
  }
}
