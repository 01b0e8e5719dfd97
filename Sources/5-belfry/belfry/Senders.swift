import APNSClient
import Audience
import Basics
import Delivery
import PushPayload
import PushService
import Transport

/// Finds, makes and keeps the client that sends an app's pushes in an environment: one for each credential and
/// environment, whatever the number of apps that share it.
actor Senders {
  /// Where pushes go and what vouches for the server there.
  struct Destination: Sendable {
    var sandbox: APNSServer
    var production: APNSServer
    var trust: TLSClientContext.Trust
  }

  /// A credential and the apps that it is for; `*` is every app.
  struct Entry: Sendable {
    var bundle: String
    var credential: Credential

    /// A team's key for all its apps.
    static func everyApp(p8: [UInt8], keyID: String, teamID: String, name: String) throws(CredentialFault) -> Entry {
      Entry(bundle: "*", credential: .token(try ProviderKey(p8: p8, keyID: keyID, teamID: teamID, name: name)))
    }
  }

  private struct Key: Hashable {
    var entry: Int
    var environment: APNSEnvironment
  }

  private let destination: Destination
  private let entries: [Entry]
  private let clock: any WallClock
  private let loops: LoopGroup
  private let tell: @Sendable (APNSClientEvent) -> Void
  private var clients: [Key: APNSClient] = [:]

  init(
    _ destination: Destination, _ entries: [Entry], clock: any WallClock, loops: LoopGroup,
    tell: @escaping @Sendable (APNSClientEvent) -> Void
  ) {
    self.destination = destination
    self.entries = entries
    self.clock = clock
    self.loops = loops
    self.tell = tell
  }

  /// nil: no credential is for that app; its pushes wait.
  func sender(for app: AppRecord, _ environment: APNSEnvironment) -> (any PushSender)? {
    let exact = entries.firstIndex { $0.bundle == app.bundleID }
    guard let entry = exact ?? entries.firstIndex(where: { $0.bundle == "*" }) else { return nil }
    let key = Key(entry: entry, environment: environment)
    if let client = clients[key] { return client }
    let server: APNSServer =
      switch environment {
      case .sandbox: destination.sandbox
      case .production: destination.production
      }
    var configuration = APNSClient.Configuration(server: server, credential: entries[entry].credential)
    configuration.trust = destination.trust
    configuration.onEvent = tell
    // Trust and certificate were tried at start, so this fails only when memory does.
    let client = try? APNSClient(configuration, clock: clock, loop: loops.next())
    clients[key] = client
    return client
  }

  /// One object for each client that was asked for: its server, what waits, why, and the last address that failed (C40).
  func health() async -> [JSONValue] {
    var list: [JSONValue] = []
    for client in clients.values.sorted(by: { $0.server.description < $1.server.description }) {
      let health = await client.health
      var object: JSONObject = [
        "server": .string(client.server.description), "connections": .number(JSONNumber(health.connections)),
        "unfinished": .number(JSONNumber(health.unfinished)), "waiting": .number(JSONNumber(health.waiting)),
      ]
      object["held"] = health.held.map { .string($0) }
      object["lastFault"] = health.lastFault.map { .string($0.description) }
      list.append(.object(object))
    }
    return list
  }

  /// Answers every push that left and closes all connections.
  func close() async {
    for client in clients.values { await client.close() }
    clients = [:]
  }
}

extension Senders {
  /// Reads the credentials that `belfry serve` was given; throws with the file's name and what is wrong.
  static func entries(_ credentials: [ServeConfiguration.Credential]) throws -> [Entry] {
    // One object a key file, so that its apps share one provider token.
    var keys: [String: ProviderKey] = [:]
    return try credentials.map { credential in
      if let path = credential.key, let keyID = credential.keyID, let teamID = credential.teamID {
        let name = "\(path) \(keyID) \(teamID)"
        let key =
          try keys[name]
          ?? ProviderKey(p8: try Files.read(path), keyID: keyID, teamID: teamID, name: path)
        keys[name] = key
        return Entry(bundle: credential.bundle, credential: .token(key))
      }
      let path = credential.certificate ?? ""
      let password = try credential.passwordFile.map { try Files.readLine($0) } ?? ""
      return Entry(
        bundle: credential.bundle,
        credential: .certificate(try certificate(path, password: password), name: path))
    }
  }

  static func certificate(_ path: String, password: String) throws -> TLSIdentity {
    let bytes = try Files.read(path)
    do throws(TLSFault) {
      return path.hasSuffix(".pem")
        ? try TLSIdentity(pem: bytes, password: password) : try TLSIdentity(pkcs12: bytes, password: password)
    } catch {
      throw CommandFault("\(path): \(error)")
    }
  }
}
