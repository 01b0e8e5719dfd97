import APNSClient
import Audience
import Basics
import Delivery
import PushPayload
import PushService
import Transport

let doctorCommand: Command = Command(
  name: "doctor",
  summary: "Say what keeps pushes from getting through, and how to mend it",
  discussion: """
    Reads the settings of 'belfry serve', looks at each key and certificate, tries the way to APNs, and sends one push to \
    a device token that nobody has: APNs checks the credential first, so its answer tells whether that is good.
    No secret is printed. It ends with 1 when something fails, with 0 when all is well or wants a look only.
    """,
  options: ServeConfiguration.options.filter { $0.name != "listen" && $0.name != "apns" } + [
    .init(name: "app", value: "KEY", help: "Look at this app only: its app key, or its bundle id"),
    .init(
      name: "apns", value: "WHERE",
      help: "Try this APNs instead: sandbox, production or an https address; default as configured",
      completion: .words(["sandbox", "production"])),
    .init(name: "ca", value: "FILE", help: "PEM file of the authority to trust instead", completion: .file),
    .init(
      name: "token", value: "HEX", help: "Say which environment this device token is of, by a push that shows nothing"),
    .flag("offline", "Look at the files only"),
    .flag("json", "Print JSON"),
  ],
  run: { parsed in
    let environment = processEnvironment()
    var words = parsed
    words.values["apns"] = nil  // here it names what to try, and may be what serve cannot use
    let configuration = try ServeConfiguration(
      words, environment: environment, standardData: standardDataFolder(environment))
    var doctor = Doctor(configuration)
    doctor.app = parsed.value("app")
    doctor.token = parsed.value("token")
    doctor.environment = environment
    doctor.isOffline = parsed.flag("offline")
    if let path = parsed.value("ca") { doctor.trust = .pem(try Files.read(path)) }
    doctor.server = try parsed.server("apns")
    let report = DoctorReport(checks: await doctor.run())
    Terminal.print(parsed.flag("json") ? report.json.text : report.text)
    return report.worst == .fail ? .failure : .success
  })

/// Everything that `belfry doctor` looks at, in order: settings, apps, files, the way to APNs, the credential, a token.
struct Doctor {
  let configuration: ServeConfiguration
  var clock: any WallClock = SystemClock()
  /// An app key or a bundle id; nil for all.
  var app: String?
  var server: APNSServer?
  var trust: TLSClientContext.Trust?
  var token: String?
  var isOffline = false
  var environment: [String: String] = [:]
  var timeout = Instant.Span.seconds(15)

  init(_ configuration: ServeConfiguration) { self.configuration = configuration }

  func run() async -> [DoctorCheck] {
    let kept = await KeptCredentials.read(configuration.data.value, environment: environment)
    let (credentials, checks) = chosen(kept)
    var list = checks
    let trust: TLSClientContext.Trust
    do { trust = try self.trust ?? configuration.trust.value.map { .pem(try Files.read($0)) } ?? .system } catch {
      return list + [
        .init(.fail, .file, configuration.trust.value ?? "trust", "cannot be read", "Check its name and permissions.")
      ]
    }
    let targets = self.targets
    let files = DoctorFiles(
      now: clock.now, environments: targets.isEmpty ? nil : Set(targets.compactMap(\.environment)))
    let loop = EventLoop(name: "doctor")
    let choice = configuration.proxy.value
    let probe = DoctorProbe(
      trust: trust, clock: clock, loop: loop, proxy: { choice?.proxy(to: $0) }, timeout: timeout)
    var isTokenChecked = false
    for (given, bundle) in credentials {
      let (found, credential) = files.check(given)
      list += found
      guard !isOffline, let credential else { continue }
      if let notice = credential.notice(at: clock.now), case .certificateUnusable = notice { continue }
      var answers: [DoctorCheck] = []
      for target in targets { answers += await probe.check(credential, bundle: bundle, at: target) }
      list += Self.judged(answers)
      guard let token, !isTokenChecked else { continue }
      isTokenChecked = true
      list += await probe.check(token: token, credential, bundle: bundle, at: targets)
    }
    for entry in kept.entries where app.map({ entry.app.key == $0 || entry.app.bundleID == $0 }) ?? true {
      list += files.check(entry)
      guard !isOffline else { continue }
      if let notice = entry.credential.notice(at: clock.now), case .certificateUnusable = notice { continue }
      var answers: [DoctorCheck] = []
      for target in targets where target.environment.map(entry.environments.contains) ?? true {
        answers += await probe.check(entry.credential, bundle: entry.app.bundleID, at: target)
      }
      list += Self.judged(answers)
    }
    await loop.stop()
    return list
  }

  /// A key of one environment is refused in the other, which is a failure only when it is good in none.
  private static func judged(_ checks: [DoctorCheck]) -> [DoctorCheck] {
    let isGood = checks.contains { $0.name == .credential && $0.level == .ok }
    return checks.map { check in
      guard check.name == .environment, !isGood else { return check }
      var check = check
      check.level = .fail
      return check
    }
  }

  private var targets: [DoctorProbe.Target] {
    if let server { return [.init(server: server, environment: Self.environment(of: server))] }
    switch configuration.apns.value {
    case "simulator": return []
    case "sandbox", "production":
      return [
        .init(server: .sandbox, environment: .sandbox, hasOthers: true),
        .init(server: .production, environment: .production, hasOthers: true),
      ]
    default: return (try? APNSServer(configuration.apns.value)).map { [.init(server: $0, environment: nil)] } ?? []
    }
  }

  private static func environment(of server: APNSServer) -> APNSEnvironment? {
    server == .sandbox ? .sandbox : server == .production ? .production : nil
  }

  /// The credentials to look at, each with the bundle id that it is tried for, and what is to be said of the settings.
  private func chosen(_ kept: KeptCredentials) -> ([(ServeConfiguration.Credential, String)], [DoctorCheck]) {
    let all = configuration.credentials.value
    let apps = kept.apps
    var checks = kept.trouble + Self.suffixes(all)
    if all.isEmpty, kept.owners.isEmpty {
      checks.append(
        configuration.apns.value == "simulator"
          ? .init(
            .ok, .configuration, "credentials", "none are needed: pushes go to the simulator in 'belfry serve' itself",
            "For real iPhones name a key in the configuration (docs/serve.md).")
          : .init(
            .fail, .configuration, "credentials", "none are configured, but pushes go to \(configuration.apns.value)",
            "Give one by 'belfry credentials add' (docs/credentials.md), or name it in the configuration."))
    }
    let hasAny = !all.isEmpty || !kept.owners.isEmpty
    for stored in apps
    where hasAny && !kept.owners.contains(stored.key)
      && !all.contains(where: { $0.bundle == stored.bundleID || $0.bundle == "*" })
    {
      checks.append(
        .init(
          .warn, .configuration, stored.bundleID, "an app of the service without a credential: its pushes wait",
          "Give it one by 'belfry credentials add', or in the configuration for this bundle id, or for '*'."))
    }
    let wanted = app.map { app in apps.first { $0.key == app }?.bundleID ?? app }
    guard let wanted else {
      // a team's key is tried for an app that there is
      let real = apps.map(\.bundleID).first { id in !all.contains { $0.bundle == id } }
      return (all.map { ($0, $0.bundle == "*" ? real ?? "*" : $0.bundle) }, checks)
    }
    let mine = all.filter { $0.bundle == wanted }
    let used = mine.isEmpty ? all.filter { $0.bundle == "*" } : mine
    let hasOwn = apps.contains { $0.bundleID == wanted && kept.owners.contains($0.key) }
    if used.isEmpty, !all.isEmpty, !hasOwn {
      checks.append(
        .init(
          .fail, .configuration, wanted,
          "no credential is for it; there are some for "
            + all.map(\.bundle).joined(separator: ", "), "Add one, or check the app key or bundle id."))
    }
    return (used.map { ($0, wanted) }, checks)
  }

  /// A bundle id that has the suffix of a push type: the client adds that itself, so it would be there twice (§17).
  private static func suffixes(_ credentials: [ServeConfiguration.Credential]) -> [DoctorCheck] {
    credentials.compactMap { credential in
      guard let type = PushType.suffixed(topic: credential.bundle) else { return nil }
      return .init(
        .fail, .topic, credential.bundle,
        "it ends with \(type.topicSuffix), which belongs to the topic of \(type.rawValue) pushes and not to a bundle id",
        "Write the app's bundle id; the suffix is added to each push that needs it.")
    }
  }
}
