import Messages
import PushService
import Transport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What `belfry serve` runs with. A value comes from a flag, else a variable, else the file, else its default; `belfry
/// config` prints each with where it came from.
struct ServeConfiguration: Equatable {
  /// Where the REST API listens, `HOST:PORT`; port 0 takes a free one. Default 127.0.0.1:8080.
  var listen = Setting("127.0.0.1:8080", .standard)
  /// Where phones reach `/device/v1` and nothing else, `HOST:PORT`; nil: only where the rest of the API listens.
  var deviceListen = Setting<String?>(nil, .standard)
  /// PEM file with certificate, chain and key of that listener; nil: it speaks plain HTTP, for a proxy in front.
  var deviceIdentity = Setting<String?>(nil, .standard)
  /// Where apps connect for in-app messages, `HOST:PORT`; nil: nowhere.
  var gateway = Setting<String?>(nil, .standard)
  /// PEM file with certificate, chain and key of the gateway; nil: it speaks plain WebSocket, for a proxy in front.
  var gatewayIdentity = Setting<String?>(nil, .standard)
  /// The folder of the database and of the simulator's keys; made when missing. Default: belfry under the user's data.
  var data: Setting<String>
  /// Where pushes go: `simulator` (in this process), `sandbox`, `production`, or the https address of a simulator
  /// elsewhere. Default `simulator`.
  var apns = Setting("simulator", .standard)
  /// Where a simulator elsewhere manages broadcast channels, its https address; nil: not known. Apple's own addresses, and
  /// those of a simulator in this process, are known.
  var apnsManage = Setting<String?>(nil, .standard)
  /// PEM file with the certificate authority of a simulator elsewhere; nil trusts the system's.
  var trust = Setting<String?>(nil, .standard)
  /// The proxy that brings pushes to APNs, and where it came from; `none` in the file or a flag turns it off. A simulator in
  /// this process is reached without one.
  var proxy = Setting<ProxyChoice?>(nil, .standard)
  /// What to authenticate with, by bundle id; not needed with `simulator`.
  var credentials = Setting<[Credential]>([], .standard)
  /// The least wait in minutes after a 5xx of APNs; 0 tries again within seconds (`RetryPolicy.ServerFaults`). Default 0.
  var serverFaultMinutes = Setting<Int?>(nil, .standard)

  /// What schedules go by.
  var schedules = Setting(Scheduling.Settings(), .standard)

  /// How long what is over is kept.
  var retention = Setting(Retention(), .standard)

  /// Where webhooks may lead, and when many failures are told.
  var webhooks = Setting(WebhookSettings(), .standard)
  /// How often may be called, and how much a device may have.
  var limits = Setting(Limits(), .standard)

  /// What goes for in-app messages.
  var messages = Setting(MessageService.Settings(), .standard)

  /// As the file has it, until the flag was looked at.
  private var fileProxy: String?

  enum Origin: Equatable, Sendable {
    case flag(String)
    case variable(String)
    case file(String)
    case standard

    var words: String {
      switch self {
      case .flag(let name): "flag --\(name)"
      case .variable(let name): "variable \(name)"
      case .file(let path): "file \(path)"
      case .standard: "default"
      }
    }
  }

  struct Setting<Value: Equatable & Sendable>: Equatable, Sendable {
    var value: Value
    var origin: Origin
    init(_ value: Value, _ origin: Origin) {
      self.value = value
      self.origin = origin
    }
  }

  /// One app's way to prove itself to Apple: a token key, or a certificate. Paths are relative to the file's folder.
  struct Credential: Equatable, Sendable, Decodable {
    /// The app's bundle id, or `*` for every app of the team.
    var bundle: String
    /// A .p8 file with `keyID` and `teamID`.
    var key: String?
    var keyID: String?
    var teamID: String?
    /// A .p12 or .pem file instead; its password is read from the file `passwordFile`.
    var certificate: String?
    var passwordFile: String?

    init(from decoder: any Decoder) throws {
      let container = try decoder.strict(["bundle", "key", "keyID", "teamID", "certificate", "passwordFile"])
      bundle = try container.decode(String.self, forKey: "bundle")
      key = try container.decodeIfPresent(String.self, forKey: "key")
      keyID = try container.decodeIfPresent(String.self, forKey: "keyID")
      teamID = try container.decodeIfPresent(String.self, forKey: "teamID")
      certificate = try container.decodeIfPresent(String.self, forKey: "certificate")
      passwordFile = try container.decodeIfPresent(String.self, forKey: "passwordFile")
      let place = decoder.codingPath.words
      switch (key, certificate) {
      case (nil, nil): throw CommandFault("\(place): give either 'key' (a .p8 file) or 'certificate' (a .p12 file)")
      case (_?, _?): throw CommandFault("\(place): 'key' and 'certificate' exclude each other; keep one")
      case (_?, nil):
        if keyID == nil || teamID == nil { throw CommandFault("\(place): a 'key' needs its 'keyID' and 'teamID'") }
      case (nil, _?):
        if keyID != nil || teamID != nil { throw CommandFault("\(place): 'keyID' and 'teamID' belong to a 'key'") }
      }
    }
  }

  static let options: [Command.Option] = [
    .init(
      name: "listen", value: "HOST:PORT",
      help: "Where the REST API listens; port 0 takes a free one; default 127.0.0.1:8080", variable: "BELFRY_LISTEN"),
    .init(
      name: "device-listen", value: "HOST:PORT",
      help: "Where phones reach /device/v1 and nothing else; default only where the rest listens",
      variable: "BELFRY_DEVICE_LISTEN"),
    .init(
      name: "gateway", value: "HOST:PORT",
      help: "Where apps connect for in-app messages (docs/gateway-protocol.md); default nowhere",
      variable: "BELFRY_GATEWAY"),
    .init(
      name: "data", value: "DIR", help: "Folder of the database and keys; default belfry in the user's data folder",
      variable: "BELFRY_DATA", completion: .file),
    .init(
      name: "apns", value: "WHERE",
      help: "simulator, sandbox, production, or the https address of a simulator; default simulator",
      variable: "BELFRY_APNS", completion: .words(["simulator", "sandbox", "production"])),
    .init(
      name: "apns-manage", value: "URL",
      help: "Channel management of a simulator elsewhere, its https address; Apple's is known",
      variable: "BELFRY_APNS_MANAGE"),
    proxyOption,
    .init(
      name: "config", value: "FILE", help: "JSON5 file with these settings and the credentials (docs/serve.md)",
      variable: "BELFRY_CONFIG", completion: .file),
  ]

  static let proxyOption = Command.Option(
    name: "proxy", value: "URL",
    help: "Proxy to APNs, http://[USER:PASSWORD@]HOST:PORT or socks5://…, or none; default HTTPS_PROXY, ALL_PROXY",
    variable: "BELFRY_PROXY")

  /// Reads flags, variables and the file; throws with the file's name, the place and what to do.
  init(_ parsed: ParsedCommand, environment: [String: String], standardData: String) throws {
    data = Setting(standardData, .standard)
    func origin(_ name: String) -> Origin {
      let variable = Self.options.first { $0.name == name }?.variable
      if let variable, let value = environment[variable], parsed.all(name) == [value] { return .variable(variable) }
      return .flag(name)
    }
    if let path = parsed.value("config") { try read(path) }
    if let value = parsed.value("listen") { listen = Setting(value, origin("listen")) }
    if let value = parsed.value("device-listen") { deviceListen = Setting(value, origin("device-listen")) }
    if let value = parsed.value("gateway") { gateway = Setting(value, origin("gateway")) }
    if let value = parsed.value("data") { data = Setting(value, origin("data")) }
    if let value = parsed.value("apns") { apns = Setting(value, origin("apns")) }
    if let value = parsed.value("apns-manage") { apnsManage = Setting(value, origin("apns-manage")) }
    try readProxy(parsed.value("proxy"), origin("proxy"), environment)
    let known = ["simulator", "sandbox", "production"].contains(apns.value)
    guard known || apns.value.hasPrefix("https://") else {
      throw UsageFault("apns: '\(apns.value)' is none of simulator, sandbox, production or an https:// address")
    }
    if let manage = apnsManage.value {
      guard !known else {
        throw UsageFault("apnsManage: leave it out: where '\(apns.value)' manages channels is known")
      }
      guard manage.hasPrefix("https://") else { throw UsageFault("apnsManage: '\(manage)' is no https:// address") }
    }
  }

  /// The credentials that the file at `path` names now.
  static func credentials(inFile path: String) throws -> [Credential] {
    var configuration = ServeConfiguration()
    try configuration.read(path)
    return configuration.credentials.value
  }

  private init() { data = Setting("", .standard) }

  private mutating func readProxy(_ given: String?, _ origin: Origin, _ environment: [String: String]) throws {
    do throws(ProxyFault) {
      let choice = try ProxyChoice(given ?? fileProxy, environment: environment)
      if let variable = choice.variable {
        proxy = Setting(choice, .variable(variable))
      } else if !choice.isOfEnvironment {
        proxy = Setting(choice, given == nil ? proxy.origin : origin)
      }
    } catch {
      throw UsageFault("proxy: \(error)")
    }
  }

  private mutating func read(_ path: String) throws {
    let text: Data
    do { text = try Data(contentsOf: URL(filePath: path)) } catch {
      throw CommandFault("\(path): cannot be read; name a JSON5 file with --config")
    }
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let file: File
    do { file = try decoder.decode(File.self, from: text) } catch let fault as CommandFault {
      throw CommandFault("\(path): \(fault.words)")
    } catch let fault as DecodingError {
      throw CommandFault("\(path): \(fault.words)")
    }
    let folder = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) + "/" : ""
    func resolved(_ name: String) -> String { name.hasPrefix("/") ? name : folder + name }
    if let value = file.listen { listen = Setting(value, .file(path)) }
    if let value = file.deviceListen { deviceListen = Setting(value, .file(path)) }
    if let value = file.deviceIdentity { deviceIdentity = Setting(resolved(value), .file(path)) }
    if let value = file.gateway { gateway = Setting(value, .file(path)) }
    if let value = file.gatewayIdentity { gatewayIdentity = Setting(resolved(value), .file(path)) }
    if let value = file.data { data = Setting(resolved(value), .file(path)) }
    if let value = file.apns { apns = Setting(value, .file(path)) }
    if let value = file.apnsManage { apnsManage = Setting(value, .file(path)) }
    if let value = file.trust { trust = Setting(resolved(value), .file(path)) }
    if let value = file.serverFaultMinutes {
      guard (0...1440).contains(value) else {
        throw CommandFault(
          "\(path): serverFaultMinutes: give 0 (try again within seconds) to 1440, or 15 as Apple says")
      }
      serverFaultMinutes = Setting(value, .file(path))
    }
    // what a part of the file says; a fault in it names the file
    func part<Value>(_ read: () throws(CommandFault) -> Value?) throws(CommandFault) -> Setting<Value>? {
      do throws(CommandFault) { return try read().map { Setting($0, .file(path)) } } catch {
        throw CommandFault("\(path): \(error.words)")
      }
    }
    schedules = try part { () throws(CommandFault) in try file.schedules?.settings() } ?? schedules
    retention = try part { () throws(CommandFault) in try file.keepDays?.retention() } ?? retention
    webhooks = try part { () throws(CommandFault) in try file.webhooks?.settings() } ?? webhooks
    limits = try part { () throws(CommandFault) in try file.limits?.limits() } ?? limits
    messages = try part { () throws(CommandFault) in try file.messages?.settings() } ?? messages
    if let value = file.proxy {
      fileProxy = value
      proxy.origin = .file(path)
    }
    if let value = file.credentials {
      let credentials = value.map { credential in
        var credential = credential
        credential.key = credential.key.map(resolved)
        credential.certificate = credential.certificate.map(resolved)
        credential.passwordFile = credential.passwordFile.map(resolved)
        return credential
      }
      self.credentials = Setting(credentials, .file(path))
    }
  }

  /// The file as written.
  private struct File: Decodable {
    var listen, deviceListen, deviceIdentity, gateway, gatewayIdentity, data, apns, apnsManage, trust, proxy: String?
    var serverFaultMinutes: Int?
    var credentials: [Credential]?
    var schedules: Schedules?
    var keepDays: KeepDays?
    var webhooks: Webhooks?
    var limits: LimitsFile?
    var messages: Messages?

    init(from decoder: any Decoder) throws {
      let container = try decoder.strict(
        [
          "listen", "deviceListen", "deviceIdentity", "gateway", "gatewayIdentity", "data", "apns", "apnsManage",
          "trust", "proxy", "serverFaultMinutes", "credentials", "schedules", "keepDays", "webhooks", "limits",
          "messages",
        ])
      messages = try container.decodeIfPresent(Messages.self, forKey: "messages")
      webhooks = try container.decodeIfPresent(Webhooks.self, forKey: "webhooks")
      limits = try container.decodeIfPresent(LimitsFile.self, forKey: "limits")
      schedules = try container.decodeIfPresent(Schedules.self, forKey: "schedules")
      keepDays = try container.decodeIfPresent(KeepDays.self, forKey: "keepDays")
      serverFaultMinutes = try container.decodeIfPresent(Int.self, forKey: "serverFaultMinutes")
      listen = try container.decodeIfPresent(String.self, forKey: "listen")
      deviceListen = try container.decodeIfPresent(String.self, forKey: "deviceListen")
      deviceIdentity = try container.decodeIfPresent(String.self, forKey: "deviceIdentity")
      gateway = try container.decodeIfPresent(String.self, forKey: "gateway")
      gatewayIdentity = try container.decodeIfPresent(String.self, forKey: "gatewayIdentity")
      data = try container.decodeIfPresent(String.self, forKey: "data")
      apns = try container.decodeIfPresent(String.self, forKey: "apns")
      apnsManage = try container.decodeIfPresent(String.self, forKey: "apnsManage")
      trust = try container.decodeIfPresent(String.self, forKey: "trust")
      proxy = try container.decodeIfPresent(String.self, forKey: "proxy")
      credentials = try container.decodeIfPresent([Credential].self, forKey: "credentials")
    }
  }
}

struct SettingName: CodingKey, ExpressibleByStringLiteral {
  var stringValue: String
  var intValue: Int? { nil }
  init(stringLiteral value: String) { stringValue = value }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Decoder {
  /// The object here, after a check that it holds no other key: a misspelt setting must not be silently without effect.
  func strict(_ names: [String]) throws -> KeyedDecodingContainer<SettingName> {
    let container = try container(keyedBy: SettingName.self)
    for key in container.allKeys where !names.contains(key.stringValue) {
      let place = (codingPath + [key]).words
      let hint = suggestion(key.stringValue, among: names)
      throw CommandFault(
        "\(place): there is no such setting\(hint.isEmpty ? ";" : hint) all are \(names.joined(separator: ", "))")
    }
    return container
  }
}

extension [any CodingKey] {
  fileprivate var words: String {
    var text = ""
    for key in self {
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
    return text.isEmpty ? "the file" : text
  }
}

extension DecodingError {
  fileprivate var words: String {
    switch self {
    case .typeMismatch(_, let context): "\(context.codingPath.words): \(context.debugDescription)"
    case .valueNotFound(_, let context): "\(context.codingPath.words): null is no value here"
    case .keyNotFound(let key, let context): "\(context.codingPath.words): '\(key.stringValue)' is missing"
    case .dataCorrupted(let context):
      "\(context.codingPath.words): \(context.underlyingError.map { "\($0)" } ?? context.debugDescription)"
    @unknown default: "not readable as JSON5"
    }
  }
}
