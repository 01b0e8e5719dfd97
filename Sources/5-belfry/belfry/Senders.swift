import APNSClient
import Audience
import Basics
import Delivery
import PushPayload
import PushService
import Transport

/// Finds, makes and keeps the client that sends an app's pushes in an environment: one for each credential and
/// environment, whatever the number of apps that share it. Credentials may be replaced while they send.
actor Senders {
  /// Where pushes go and what vouches for the server there.
  struct Destination: Sendable {
    var sandbox: APNSServer
    var production: APNSServer
    var trust: TLSClientContext.Trust
    var proxy: ProxyChoice?
    /// Where channels are managed; nil where that is not known.
    var manage: (sandbox: APNSServer, production: APNSServer)?

    func server(_ environment: APNSEnvironment) -> APNSServer {
      switch environment {
      case .sandbox: sandbox
      case .production: production
      }
    }

    func broadcasts(_ environment: APNSEnvironment) -> BroadcastServer? {
      guard let manage else { return nil }
      switch environment {
      case .sandbox: return BroadcastServer(manage: manage.sandbox, send: sandbox)
      case .production: return BroadcastServer(manage: manage.production, send: production)
      }
    }
  }

  /// A credential and whom it is for.
  struct Entry: Sendable {
    enum Scope: Hashable, Sendable {
      /// The apps of that bundle id, of the configuration; `*` is every app.
      case bundle(String)
      /// The app of that key, which has it in the store.
      case app(String)
    }

    /// What logs and metrics call it: the bundle id, or `*`; with the app's key where the app has it of its own.
    var name: String
    var scope: Scope
    var environments = Set(APNSEnvironment.allCases)
    var credential: Credential
    /// Differs when the files or ids differ that it was made from, within a process.
    var mark = 0

    init(bundle: String, credential: Credential, mark: Int = 0) {
      (name, scope) = (bundle, .bundle(bundle))
      (self.credential, self.mark) = (credential, mark)
    }

    init(_ app: AppRecord, environments: Set<APNSEnvironment>, credential: Credential, mark: Int) {
      (name, scope) = ("\(app.bundleID)/\(app.key)", .app(app.key))
      (self.environments, self.credential, self.mark) = (environments, credential, mark)
    }

    /// A team's key for all its apps.
    static func everyApp(p8: [UInt8], keyID: String, teamID: String, name: String) throws(CredentialFault) -> Entry {
      Entry(bundle: "*", credential: .token(try ProviderKey(p8: p8, keyID: keyID, teamID: teamID, name: name)))
    }
  }

  /// A client: a credential in an environment.
  struct Key: Hashable, Sendable {
    var name: String
    var environment: APNSEnvironment
  }

  private struct ChannelKey: Hashable {
    var client: Key
    var bundle: String
  }

  private let destination: Destination
  private let retry: RetryPolicy.Settings
  private var entries: [Entry]
  private let clock: any WallClock
  private let loops: LoopGroup
  private let tell: @Sendable (APNSClientEvent, Key?) -> Void
  private var clients: [Key: APNSClient] = [:]
  private var channels: [ChannelKey: APNSChannels] = [:]
  private var isClosed = false

  init(
    _ destination: Destination, _ entries: [Entry], retry: RetryPolicy.Settings = .init(), clock: any WallClock,
    loops: LoopGroup, tell: @escaping @Sendable (APNSClientEvent, Key?) -> Void
  ) {
    self.destination = destination
    self.retry = retry
    self.entries = entries
    self.clock = clock
    self.loops = loops
    // the end of a certificate is told by each client that uses it, and here: once is enough
    let told = Locked(Set<String>())
    self.tell = { event, key in
      switch event {
      case .certificateEnding(let words), .certificateUnusable(let words):
        guard told.withLock({ $0.insert(words).inserted }) else { return }
      case .connected, .disconnected, .connectFailed, .goAway, .refused, .alarm, .credentialRotated: break
      }
      tell(event, key)
    }
  }

  /// What the app has in the store comes first, then what the configuration has for its bundle id, then for every app. nil:
  /// no credential is for that app; its pushes wait.
  func sender(for app: AppRecord, _ environment: APNSEnvironment) -> (any PushSender)? {
    guard !isClosed, let entry = entry(for: app, environment) else { return nil }
    let key = Key(name: entry.name, environment: environment)
    if let client = clients[key] { return client }
    let server = destination.server(environment)
    var configuration = APNSClient.Configuration(server: server, credential: entry.credential)
    configuration.trust = destination.trust
    configuration.pool.retry = retry
    configuration.proxy = destination.proxy?.proxy(to: server.endpoint)
    configuration.onEvent = { [tell] in tell($0, key) }
    // Trust and certificate were tried at start, so this fails only when memory does.
    let client = try? APNSClient(configuration, clock: clock, loop: loops.next())
    clients[key] = client
    return client
  }

  private func entry(for app: AppRecord, _ environment: APNSEnvironment) -> Entry? {
    let scopes = [Entry.Scope.app(app.key), .bundle(app.bundleID), .bundle("*")]
    return scopes.lazy.compactMap { [entries] scope in
      entries.first { $0.scope == scope && $0.environments.contains(environment) }
    }.first
  }

  /// The app's broadcast channels, by the same credential; nil without one, or where channels are managed nowhere.
  func channels(for app: AppRecord, _ environment: APNSEnvironment) -> (any BroadcastChannels)? {
    guard !isClosed, let entry = entry(for: app, environment), let server = destination.broadcasts(environment) else {
      return nil
    }
    let key = ChannelKey(client: Key(name: entry.name, environment: environment), bundle: app.bundleID)
    if let known = channels[key] { return APNSBroadcastChannels(known) }
    var configuration = APNSChannels.Configuration(bundleID: app.bundleID, server: server, credential: entry.credential)
    configuration.trust = destination.trust
    configuration.proxy = { [proxy = destination.proxy] in proxy?.proxy(to: $0) }
    configuration.onEvent = { [tell] in tell($0, key.client) }
    guard let made = try? APNSChannels(configuration, clock: clock, loop: loops.next()) else { return nil }
    channels[key] = made
    return APNSBroadcastChannels(made)
  }

  /// Those whose credential is another now, or gone; the next request makes them anew.
  private func dropChannels(unlike before: [Entry]) {
    for (key, known) in channels {
      if let new = entries.entry(of: key.client), before.entry(of: key.client)?.mark == new.mark { continue }
      channels[key] = nil
      Task { await known.close() }
    }
  }

  /// Takes the credentials as they are now: what is new or changed is used by the next connections, without a gap; what is
  /// no longer there sends what it has and ends. Answers the bundles whose credential changed.
  func replace(_ next: [Entry]) async -> [String] {
    let before = entries
    entries = next
    for (key, client) in clients {
      guard let new = entries.entry(of: key) else {
        clients[key] = nil
        Task { await client.close() }
        continue
      }
      guard before.entry(of: key)?.mark != new.mark else { continue }
      do { try await client.rotate(to: new.credential) } catch {
        tell(.alarm("\(new.name): the new certificate cannot be used, the old one goes on: \(error)"), key)
      }
    }
    dropChannels(unlike: before)
    lookAtTerms()
    return next.filter { new in before.contains { $0.name == new.name } && !before.contains { $0.isSame(as: new) } }
      .map(\.name)
  }

  /// Has each client that holds pushes back try again, with one push: an operator has mended something. Answers which.
  func resume() async -> [String] {
    var resumed: [String] = []
    for (key, client) in sorted {
      let metrics = await client.metrics
      guard await client.health.held != nil || metrics.suspectedTopics > 0 || metrics.credential.standing == .held
      else { continue }
      await client.resume()
      resumed.append("\(key.name) \(key.environment)")
    }
    for known in channels.values { await known.resume() }
    return resumed
  }

  /// Tells what certificates end within 30, 7 or 1 days, each once; also those that send nothing.
  func lookAtTerms() {
    for entry in entries {
      if let notice = entry.credential.notice(at: clock.now) { tell(notice, nil) }
    }
  }

  /// Everyone's client now, by bundle and environment.
  private var sorted: [(key: Key, client: APNSClient)] {
    clients.map { (key: $0.key, client: $0.value) }
      .sorted { ($0.key.name, $0.key.environment.rawValue) < ($1.key.name, $1.key.environment.rawValue) }
  }

  /// One object for each client that was asked for: its server, what waits, why, and the last address that failed (C40).
  func health() async -> [JSONValue] {
    var list: [JSONValue] = []
    for (key, client) in sorted {
      let health = await client.health
      let status = await client.metrics.credential
      var object: JSONObject = [
        "app": .string(key.name), "environment": .string("\(key.environment)"),
        "server": .string(client.server.description), "connections": .number(JSONNumber(health.connections)),
        "unfinished": .number(JSONNumber(health.unfinished)), "waiting": .number(JSONNumber(health.waiting)),
        "credential": .string(status.standing.rawValue),
      ]
      if status.isRotating { object["rotating"] = .bool(true) }
      object["certificateEnds"] = status.certificateEnd.map { .string("\($0)") }
      if let held = health.held {
        object["held"] = .string(held)
        object["remedy"] = "Mend it, then send SIGHUP: one push tries again. By itself that happens every 20 minutes."
      }
      let dark = client.darkAddresses
      if !dark.isEmpty {
        object["silentAddresses"] = .array(dark.map { .string("\($0.address) since \($0.since): \($0.why)") })
      }
      object["lastFault"] = health.lastFault.map { .string($0.description) }
      list.append(.object(object))
    }
    return list
  }

  /// The numbers of every client that was asked for, and the ends of all certificates.
  func metrics() async -> [Metric] {
    var list: [Metric] = []
    for (key, client) in sorted {
      list += SenderMetrics.list(await client.metrics, app: key.name, environment: "\(key.environment)", clock.now)
    }
    for entry in entries {
      guard case .certificate(let identity, _) = entry.credential else { continue }
      list.append(SenderMetrics.expiry(identity.certificate.notAfter, app: entry.name, at: clock.now))
    }
    return list
  }

  /// Answers every push that left and closes all connections.
  func close() async {
    isClosed = true
    for client in clients.values { await client.close() }
    for known in channels.values { await known.close() }
    channels = [:]
    clients = [:]
  }
}

extension Senders.Entry {
  fileprivate func isSame(as other: Senders.Entry) -> Bool {
    name == other.name && environments == other.environments && mark == other.mark
  }
}

extension [Senders.Entry] {
  fileprivate func entry(of key: Senders.Key) -> Senders.Entry? {
    first { $0.name == key.name && $0.environments.contains(key.environment) }
  }
}

/// One object a key in the process, so that all that use it share one provider token (case C27).
final class ProviderKeys: Sendable {
  private let keys = Locked<[String: ProviderKey]>([:])

  func key(p8: [UInt8], keyID: String, teamID: String, name: String) throws(CredentialFault) -> ProviderKey {
    let new = try ProviderKey(p8: p8, keyID: keyID, teamID: teamID, name: name)
    return keys.withLock { keys in
      let identity = "\(new.fingerprint) \(keyID) \(teamID)"
      let kept = keys[identity] ?? new
      keys[identity] = kept
      return kept
    }
  }
}

extension Senders {
  /// Reads the credentials that `belfry serve` was given; throws with the file's name and what is wrong.
  static func entries(
    _ credentials: [ServeConfiguration.Credential], _ keys: ProviderKeys = ProviderKeys()
  ) throws -> [Entry] {
    try credentials.map { credential in
      var mark = Hasher()
      if let path = credential.key, let keyID = credential.keyID, let teamID = credential.teamID {
        let bytes = try Files.read(path)
        let key = try keys.key(p8: bytes, keyID: keyID, teamID: teamID, name: path)
        mark.combine(bytes)
        mark.combine(keyID)
        mark.combine(teamID)
        return Entry(bundle: credential.bundle, credential: .token(key), mark: mark.finalize())
      }
      let path = credential.certificate ?? ""
      let password = try credential.passwordFile.map { Files.firstLine(of: try Files.read($0)) } ?? ""
      let bytes = try Files.read(path)
      mark.combine(bytes)
      return Entry(
        bundle: credential.bundle,
        credential: .certificate(try certificate(bytes, path, password: password), name: path), mark: mark.finalize())
    }
  }

  /// What apps have in the store, which was checked when it came.
  static func entries(_ open: [OpenCredential], _ keys: ProviderKeys) throws -> [Entry] {
    try open.map { open in
      let (facts, name) = (open.view.facts, open.view.name)
      let credential: Credential
      if let keyID = facts.keyID, let teamID = facts.teamID {
        credential = .token(try keys.key(p8: open.secret, keyID: keyID, teamID: teamID, name: name))
      } else {
        credential = .certificate(try TLSIdentity(pem: open.secret), name: name)
      }
      var mark = Hasher()
      mark.combine(open.view.id)
      mark.combine(open.view.version)
      return Entry(
        open.app, environments: Set(open.view.environments), credential: credential, mark: mark.finalize())
    }
  }

  /// Throws with the file's name and what is wrong.
  static func certificate(_ bytes: [UInt8], _ path: String, password: String) throws(CommandFault) -> TLSIdentity {
    do throws(TLSFault) { return try TLSIdentity(bytes, ofFile: path, password: password) } catch {
      throw CommandFault("\(path): \(error)")
    }
  }
}

extension TLSIdentity {
  /// What a file holds: PEM when its name ends so, else PKCS #12.
  init(_ bytes: [UInt8], ofFile path: String, password: String) throws(TLSFault) {
    if path.hasSuffix(".pem") {
      try self.init(pem: bytes, password: password)
    } else {
      try self.init(pkcs12: bytes, password: password)
    }
  }
}
