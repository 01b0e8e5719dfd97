import APNSSimulator
import Audience
import Basics
import Bus
import Delivery
import HTTPAPI
import HTTPClient
import Phone
import PhoneLab
import PushPayload
import PushService
import StoreSQLite
import Transport

/// A push service as its callers see it, by function call or by HTTP: apps hand tokens to it, app servers push.
final class ServiceDoor: ScenarioService {
  struct Reply: Sendable {
    var status: Int
    var json: JSONValue
  }

  typealias Caller =
    @Sendable (_ method: String, _ path: String, _ basic: (user: String, password: String)?, _ body: JSONValue?) async
    -> Reply?

  private let perform: Caller
  /// Of the app with that bundle id.
  private let credentials: @Sendable (String) async -> (key: String, secret: String)?
  private let end: @Sendable () async -> Void
  private let clock: any WallClock
  /// The secrets that devices got with their registration ids.
  private let deviceSecrets = Locked([String: String]())
  private let registrations = Locked([Installation: Registration]())

  private struct Installation: Hashable {
    var phone: String
    var bundleID: String
  }

  private struct Registration {
    var id: String?
    /// What the app told before it had an id.
    var waiting: [JSONObject] = []
  }

  init(
    clock: any WallClock, perform: @escaping Caller,
    credentials: @escaping @Sendable (String) async -> (key: String, secret: String)?,
    end: @escaping @Sendable () async -> Void
  ) {
    self.clock = clock
    self.perform = perform
    self.credentials = credentials
    self.end = end
  }

  func register(
    phone: String, bundleID: String, token: [UInt8], environment: SimulatedEnvironment
  ) async -> String? {
    guard let app = await credentials(bundleID) else { return nil }
    let reply = await perform(
      "POST", "/device/v1/registrations", nil,
      [
        "appKey": .string(app.key), "token": .string(token.hex), "bundleId": .string(bundleID),
        "environment": .string(environment.rawValue),
      ])
    guard let id = reply?.json.object?["registrationId"]?.string else { return nil }
    if let secret = reply?.json.object?["deviceSecret"]?.string { deviceSecrets.withLock { $0[id] = secret } }
    let waiting = registrations.withLock { registrations in
      let place = Installation(phone: phone, bundleID: bundleID)
      defer { registrations[place] = Registration(id: id) }
      return registrations[place]?.waiting ?? []
    }
    for change in waiting { _ = await self.change(id, of: bundleID, change) }
    return id
  }

  func take(_ token: [UInt8], kind: Phone.TokenKind, for app: LabApp) async {
    let change: JSONObject
    switch kind {
    case .remote: return
    case .voip: change = ["voipToken": .string(token.hex)]
    case .liveActivityStart(let type): change = ["activityStartTokens": [type: .string(token.hex)]]
    case .liveActivity(let id): change = ["activities": [id: .string(token.hex)]]
    }
    let id = registrations.withLock { registrations in
      let place = Installation(phone: app.phone, bundleID: app.bundleID)
      let id = registrations[place]?.id
      if id == nil { registrations[place, default: Registration()].waiting.append(change) }
      return id
    }
    if let id { _ = await self.change(id, of: app.bundleID, change) }
  }

  /// As the device itself; false: refused.
  private func change(_ id: String, of bundleID: String, _ change: JSONObject) async -> Bool {
    guard let secret = deviceSecrets.withLock({ $0[id] }), let owner = await credentials(bundleID) else { return false }
    let reply = await perform("POST", "/device/v1/registrations/\(id)", (owner.key, secret), .object(change))
    return reply?.status == 200
  }

  func setOnlyScheduled(_ onlyScheduled: Bool, for app: LabApp) async -> Bool {
    guard let id = app.registrationID else { return false }
    return await change(id, of: app.bundleID, ["onlyScheduled": .bool(onlyScheduled)])
  }

  func call(_ body: JSONObject, of bundleID: String) async -> ScenarioAnswer {
    guard let app = await credentials(bundleID) else {
      return ScenarioAnswer(status: 0, reason: "the service has no app \(bundleID)")
    }
    let basic = (app.key, app.secret)
    guard let reply = await perform("POST", "/v3/push", basic, .object(body)) else {
      return ScenarioAnswer(status: 0, reason: "the service does not answer")
    }
    let id = reply.json.object?["msg_id"]?.string
    guard reply.status == 200, let id else {
      let error = reply.json.object?["error"]?.object
      return ScenarioAnswer(status: reply.status, reason: error?["message"]?.string ?? reply.json.text)
    }
    await waitUntilSent(id, basic)
    return ScenarioAnswer(status: 200, id: id)
  }

  /// Five seconds of a real clock at most: what is held back longer waits for something else.
  private func waitUntilSent(_ id: String, _ basic: (String, String)) async {
    let limit = clock.uptime + .seconds(5)
    while clock.uptime < limit {
      let reply = await perform("GET", "/v1/pushes/\(id)", basic, nil)
      if reply?.json.object?["state"]?.string == "finished" { return }
      try? await clock.sleep(for: .milliseconds(1))
    }
  }

  func close() async { await end() }
}

extension ServiceDoor {
  /// The real service in this process, with a store in a folder of its own that goes with it, pushing through `apns`. Every
  /// bundle id has its app as soon as it is asked for.
  static func inProcess(clock: VirtualClock, apns: LocalAPNS) async throws -> ServiceDoor {
    let folder = try Files.temporaryFolder("belfry-scenario")
    let store: StoreSQLite
    do { store = try await StoreSQLite.open(folder: folder) } catch { throw CommandFault(dataFolder: folder, error) }
    let service = PushService(
      store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 1,
      senders: { _, environment in LocalSender(apns: apns, environment: environment) })
    try await service.start()
    let api = HTTPAPI(service: service, clock: clock)
    let apps = Locked([String: NewApp]())
    return ServiceDoor(
      clock: SystemClock(),
      perform: { method, path, basic, body in
        var request = HTTPRequest(method: method, path: path, query: nil, body: body?.encoded() ?? [])
        if let basic {
          request.headers.add("Authorization", "Basic \(Array("\(basic.user):\(basic.password)".utf8).base64)")
        }
        let answer = await api.answer(request)
        return Reply(status: answer.status, json: (try? JSONReader.read(answer.body).value) ?? .null)
      },
      credentials: { bundleID in
        if let app = apps.withLock({ $0[bundleID] }) { return (app.appKey, app.masterSecret) }
        guard let app = try? await service.createApp(bundleID: bundleID, name: nil) else { return nil }
        apps.withLock { $0[bundleID] = app }
        return (app.appKey, app.masterSecret)
      },
      end: {
        await service.stop()
        await store.close()
        Files.remove(folder)
      })
  }

  /// A running service; `key` and `secret` are of the app that scenarios push to.
  static func running(_ url: String, key: String, secret: String) -> ServiceDoor {
    let client = HTTPClient()
    return ServiceDoor(
      clock: SystemClock(),
      perform: { method, path, basic, body in
        let answer = try? await client.call(
          method, url + path, headers: ["Content-Type": "application/json"], basic: basic, body: body?.encoded())
        return answer.map { Reply(status: $0.status, json: (try? JSONReader.read($0.body).value) ?? .null) }
      },
      credentials: { _ in (key, secret) }, end: {})
  }
}

/// Sends through the APNs of the same process.
private struct LocalSender: PushSender {
  let apns: LocalAPNS
  let environment: APNSEnvironment

  func send(_ batch: [OutgoingPush]) async -> [PushOutcome] {
    batch.map { push in
      var headers: [(name: String, value: String)] = [
        ("apns-id", push.id), ("apns-topic", push.topic), ("apns-push-type", push.pushType.rawValue),
        ("apns-priority", "\(push.priority.rawValue)"),
      ]
      if let expiration = push.expiration { headers.append(("apns-expiration", "\(expiration)")) }
      if let collapseID = push.collapseID { headers.append(("apns-collapse-id", collapseID)) }
      let answer = apns.push(
        push.payload, to: push.token.hex, headers: headers,
        environment: environment == .sandbox ? .sandbox : .production)
      guard let reason = answer.reason else { return .accepted(uniqueID: nil) }
      return .refused(.init(status: answer.status, reason: reason, since: answer.since))
    }
  }
}
