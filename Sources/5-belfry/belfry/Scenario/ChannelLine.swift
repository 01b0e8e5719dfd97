import APNSClient
import APNSSimulator
import Basics
import PhoneLab
import PushPayload
import Transport

/// Broadcast channels at a running `belfry apns`, by its management and provider ports: a client for each app in each
/// environment, made when it is first needed.
actor ChannelLine {
  private struct App: Hashable {
    var bundleID: String
    var environment: SimulatedEnvironment
  }

  private let servers: [SimulatedEnvironment: BroadcastServer]
  private let credential: Credential
  private let trust: TLSClientContext.Trust
  private let clock: any WallClock
  private let loop: EventLoop
  private var clients: [App: APNSChannels] = [:]

  init(
    servers: [SimulatedEnvironment: BroadcastServer], credential: Credential, trust: TLSClientContext.Trust,
    clock: any WallClock, loop: EventLoop
  ) {
    self.servers = servers
    self.credential = credential
    self.trust = trust
    self.clock = clock
    self.loop = loop
  }

  func create(
    of bundleID: String, in environment: SimulatedEnvironment, keepsNewest: Bool
  ) async -> ScenarioAnswer {
    guard let client = client(App(bundleID: bundleID, environment: environment)) else { return Self.noWay }
    do throws(ChannelFault) {
      return ScenarioAnswer(status: 201, id: try await client.createChannel(keepsNewest ? .newest : .nothing))
    } catch { return Self.answer(error) }
  }

  func broadcast(_ push: ProviderPush) async -> ScenarioAnswer {
    func header(_ name: String) -> String? { push.headers.first { $0.name == name }?.value }
    guard let channel = push.channel,
      let client = client(App(bundleID: push.bundleID, environment: push.environment))
    else { return Self.noWay }
    guard let content = LiveActivityPush(broadcast: push.payload, at: clock.now) else {
      return ScenarioAnswer(
        status: 0, reason: "a client that sends to a running server broadcasts updates and ends only")
    }
    let priority = header("apns-priority").flatMap { UInt8($0) }.flatMap(PushPriority.init(rawValue:)) ?? .immediate
    do throws(ChannelFault) {
      let receipt = try await client.broadcast(
        content, on: channel, priority: priority, expiration: header("apns-expiration").flatMap { Int64($0) } ?? 0)
      return ScenarioAnswer(status: 200, id: receipt.requestID)
    } catch { return Self.answer(error) }
  }

  func close() async {
    for client in clients.values { await client.close() }
  }

  private func client(_ app: App) -> APNSChannels? {
    if let client = clients[app] { return client }
    guard let server = servers[app.environment] else { return nil }
    var configuration = APNSChannels.Configuration(bundleID: app.bundleID, server: server, credential: credential)
    configuration.trust = trust
    let client = try? APNSChannels(configuration, clock: clock, loop: loop)
    clients[app] = client
    return client
  }

  private static let noWay = ScenarioAnswer(
    status: 0, reason: "the running simulator has no ports for channels; start it with them")

  private static func answer(_ fault: ChannelFault) -> ScenarioAnswer {
    ScenarioAnswer(status: 0, reason: "\(fault)")
  }
}

extension LiveActivityPush {
  /// The update or end that a payload describes; nil when it is none.
  fileprivate init?(broadcast payload: [UInt8], at now: Instant) {
    guard let aps = (try? JSONReader.read(payload))?.value.object?["aps"]?.object else { return nil }
    func time(_ key: String) -> Instant? { aps[key]?.number?.int64.map { Instant(seconds: $0) } }
    let timestamp = time("timestamp") ?? now
    switch aps["event"]?.string {
    case "update":
      guard let content = aps["content-state"] else { return nil }
      self = .update(
        contentState: content, at: timestamp, staleDate: time("stale-date"),
        relevanceScore: aps["relevance-score"]?.number?.double)
    case "end":
      self = .end(
        contentState: aps["content-state"], at: timestamp,
        dismissal: time("dismissal-date").map { .at($0) } ?? .standard)
    default: return nil
    }
  }
}
