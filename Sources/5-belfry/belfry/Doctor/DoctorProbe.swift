import APNSClient
import Audience
import Basics
import Delivery
import PushPayload
import Transport

/// What APNs says: a connection, then one push to a token that nobody has. `BadDeviceToken` means that APNs looked past the
/// credential, since it checks that first (spec apns.md §8.3); a 403 says which mistake it is.
struct DoctorProbe {
  /// Where to, and which environment's tokens it takes; nil when that is not known.
  struct Target: Sendable {
    var server: APNSServer
    var environment: APNSEnvironment?
    /// Another environment is tried too, so that what is wrong only here is no failure by itself.
    var hasOthers = false
  }

  let trust: TLSClientContext.Trust
  let clock: any WallClock
  let loop: EventLoop
  /// What stands between, by server; nil when nothing does.
  var proxy: @Sendable (Endpoint) -> Proxy? = { _ in nil }
  var timeout = Instant.Span.seconds(15)

  func check(_ credential: Credential, bundle: String, at target: Target) async -> [DoctorCheck] {
    let name = target.server.description
    let proxy = proxy(target.server.endpoint)
    let way = Self.way(name, proxy)
    var report: APNSProbe.Report
    do throws(TLSFault) { report = try await run(Self.push(bundle), credential, target) } catch {
      return [.init(.fail, .certificate, bundle, error.what, error.remedy)]
    }
    var checks: [DoctorCheck] = []
    if report.isConnected {
      checks.append(.init(.ok, .connection, way, "TLS is up: chain, name and HTTP/2 are right"))
    }
    if let ahead = report.clockAhead { checks.append(Self.clock(ahead)) }
    if report.reason == nil, !report.isAccepted, let fault = report.fault {
      return checks + [Self.connection(fault, name, through: report.isConnected ? nil : proxy)]
    }
    if report.clockAhead == nil, case .token = credential, let check = await shifted(report, credential, bundle, target)
    {
      return checks + [check]
    }
    if let check = await exchanged(report, credential, bundle, target) { return checks + [check] }
    return checks + [verdict(report, credential, bundle, target)]
  }

  private func run(
    _ push: OutgoingPush, _ credential: Credential, _ target: Target, shift: Instant.Span = .seconds(0)
  ) async throws(TLSFault) -> APNSProbe.Report {
    try await APNSProbe.run(
      push, to: target.server, credential: credential, trust: trust, shift: shift,
      proxy: proxy(target.server.endpoint), timeout: timeout, clock: clock, loop: loop)
  }

  /// Shows nothing, wakes nobody: a background push to a token that nobody has.
  static func push(_ bundle: String, token: [UInt8] = [UInt8](repeating: 0, count: 32)) -> OutgoingPush {
    OutgoingPush(
      id: "00000000-0000-4000-8000-" + UInt64.random(in: 0..<(1 << 48)).hex12, token: token,
      topic: bundle == "*" ? "com.example.belfry-doctor" : bundle, pushType: .background, priority: .considerate,
      expiration: 0, collapseID: nil, payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
  }

  // MARK: The way there

  private static func way(_ name: String, _ proxy: Proxy?) -> String {
    proxy.map { "\(name) through the proxy \($0.endpoint)" } ?? name
  }

  /// - Parameter proxy: what stands between, when nothing came from beyond it.
  static func connection(_ fault: TransportFault, _ name: String, through proxy: Proxy? = nil) -> DoctorCheck {
    let way = way(name, proxy)
    switch fault.kind {
    case .connectionRefused, .unreachable, .nameNotFound, .timedOut(.connecting):
      guard proxy != nil else { return .init(.fail, .connection, way, fault.what, fault.remedy) }
      return .init(
        .fail, .connection, way, "the proxy itself is not reached: \(fault.what)",
        "Check that it runs, and its address: 'proxy' in the configuration, BELFRY_PROXY, or HTTPS_PROXY.")
    case .timedOut(.request) where proxy != nil:
      return .init(
        .fail, .connection, way, fault.what,
        "Check the proxy, and that it lets port 443 or 2197 pass without opening TLS.")
    case .certificateUntrusted where name == "sandbox" || name == "production":
      return .init(
        .fail, .connection, way,
        "\(fault.what): this machine does not trust Apple's server, whose root is USERTrust RSA since early 2025",
        "Install or update the package ca-certificates; with a proxy that opens TLS, exempt Apple's names.")
    case .certificateUntrusted:
      return .init(
        .fail, .connection, way, fault.what,
        "Name the authority of this server as 'trust' in the configuration; of belfry apns it is ca.pem.")
    default: return .init(.fail, .connection, way, fault.what, fault.remedy)
    }
  }

  // MARK: The clock

  static func clock(_ ahead: Instant.Span) -> DoctorCheck {
    let distance = ahead.milliseconds.magnitude
    let minutes = distance / 60_000 + (distance % 60_000 >= 30_000 ? 1 : 0)
    let side = ahead.milliseconds > 0 ? "ahead of" : "behind"
    guard distance > 120_000 else {
      return .init(.ok, .clock, "this machine", "within two minutes of the server's")
    }
    return .init(
      distance > 5 * 60_000 ? .fail : .warn, .clock, "this machine",
      "its clock is \(minutes) minutes \(side) the server's", "Set the clock, and keep it by NTP.")
  }

  /// APNs sends no date: a refused token is tried once more as if the clock were an hour off. Taken then, it is.
  private func shifted(
    _ report: APNSProbe.Report, _ credential: Credential, _ bundle: String, _ target: Target
  ) async -> DoctorCheck? {
    let side: (shift: Instant.Span, words: String)
    switch report.reason {
    case RefusalReason.expiredProviderToken.rawValue: side = (.hours(1), "behind")
    case RefusalReason.invalidProviderToken.rawValue: side = (.hours(-1), "ahead of")
    default: return nil
    }
    let again = try? await run(Self.push(bundle), credential, target, shift: side.shift)
    let isTaken = again?.provesCredential ?? false
    let remedy = "Set the clock, and keep it by NTP."
    if isTaken {
      return .init(
        .fail, .clock, "this machine",
        "its clock is about an hour \(side.words) APNs', so every provider token is refused",
        remedy)
    }
    guard report.reason == RefusalReason.expiredProviderToken.rawValue else { return nil }
    return .init(
      .fail, .clock, "this machine", "its clock is over an hour behind APNs', which calls a new provider token too old",
      remedy)
  }

  // MARK: The credential

  /// A refused key is tried once more with key id and team id exchanged. Taken then, they were mixed up.
  private func exchanged(
    _ report: APNSProbe.Report, _ credential: Credential, _ bundle: String, _ target: Target
  ) async -> DoctorCheck? {
    guard report.reason == RefusalReason.invalidProviderToken.rawValue, case .token(let key) = credential else {
      return nil
    }
    let again = try? await run(Self.push(bundle), .token(key.withIDsExchanged), target)
    guard let again, again.provesCredential else { return nil }
    return .init(
      .fail, .ids, key.name,
      "key id and team id are swapped: \(target.server) takes the key as \(key.teamID) of team \(key.keyID)",
      "Exchange keyID and teamID.")
  }

  private func verdict(
    _ report: APNSProbe.Report, _ credential: Credential, _ bundle: String, _ target: Target
  ) -> DoctorCheck {
    let name = target.server.description
    if report.isAccepted { return .init(.ok, .credential, bundle, "\(name) takes pushes by it") }
    guard let said = report.reason, !said.isEmpty else {
      let status = report.refusal.map { "status \($0.status) without a reason" } ?? "nothing"
      return .init(.warn, .credential, bundle, "\(name) answered \(status)", "Check what stands between here and APNs.")
    }
    guard let reason = RefusalReason(rawValue: said) else {
      return .init(
        report.refusal?.status == 403 ? .fail : .warn, .credential, bundle,
        "\(name) answered \(report.refusal?.status ?? 0) \(said), which this version does not know",
        "Look it up in Apple's list of reasons.")
    }
    let words =
      "\(name) answered \(said): \(reason.meaning.prefix(1).lowercased())\(reason.meaning.dropFirst().dropLast())"
    switch reason {
    case .badDeviceToken, .unregistered, .expiredToken:
      return .init(.ok, .credential, bundle, "\(name) takes it, and says \(said) to a token that nobody has")
    case .invalidProviderToken:
      return .init(.fail, .credential, bundle, words, Self.idsRemedy(credential))
    case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .badCertificateEnvironment:
      return .init(target.hasOthers ? .warn : .fail, .environment, bundle, words, reason.remedy)
    case .topicDisallowed, .badTopic, .missingTopic, .deviceTokenNotForTopic:
      guard bundle != "*" else {
        return .init(
          .warn, .topic, bundle, "\(words); the topic was made up, since the credential is for every app",
          "Run again with --app to try a real one.")
      }
      return .init(
        .fail, .topic, bundle, words,
        "Check the bundle id, that the app is of this team, and that the key is not limited to other topics.")
    case .badCertificate, .expiredProviderToken, .forbidden, .missingProviderToken, .unrelatedKeyIDInToken,
      .topicMismatch:
      return .init(.fail, .credential, bundle, words, reason.remedy)
    case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .idleTimeout,
      .invalidPushType, .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed, .payloadTooLarge,
      .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown,
      .featureNotEnabled, .missingChannelID, .badChannelID, .channelNotRegistered, .badRequestParams,
      .badRequestPayload, .missingPushType, .cannotCreateChannelConfig, .missingChannelQueueSize:
      return .init(.warn, .credential, bundle, words, reason.remedy)
    }
  }

  private static func idsRemedy(_ credential: Credential) -> String {
    guard case .token(let key) = credential else { return RefusalReason.invalidProviderToken.remedy }
    return
      "Check key id ↔ team id: \(key.keyID) is given as the key's, \(key.teamID) as the team's, \(key.name) as the "
      + "file. Apple calls the file AuthKey_<key id>.p8; the team id is on the membership page. A key that was revoked "
      + "is refused so, too."
  }

  // MARK: A device token

  /// Says which of Apple's two services knows the token, by a background push that shows nothing.
  func check(token text: String, _ credential: Credential, bundle: String, at targets: [Target]) async -> [DoctorCheck]
  {
    let token: [UInt8]
    do throws(DeviceTokenFault) { token = try DeviceTokenText.read(text) } catch {
      return [.init(.fail, .token, "--token", error.found, error.remedy)]
    }
    let subject = "\(token.prefix(4).hex)…"
    var (taken, said): ([String], [String]) = ([], [])
    for target in targets {
      let name = target.environment.map { "\($0)" } ?? target.server.description
      guard let report = try? await run(Self.push(bundle, token: token), credential, target) else { continue }
      if report.isAccepted { taken.append(name) } else { said.append("\(name): \(report.reason ?? "no answer")") }
    }
    guard let first = taken.first else {
      return [
        .init(
          .fail, .token, subject, "no environment takes it (\(said.joined(separator: ", ")))",
          targets.count == 1
            ? "A token of the other environment is refused in just this way: try the other by --apns. Else check that it is "
              + "this app's, whole, and that the app registered with this bundle id."
            : "Check that it is this app's, whole, and that the app registered with this bundle id.")
      ]
    }
    let others = said.isEmpty ? "" : "; elsewhere it is refused (\(said.joined(separator: ", ")))"
    return [.init(.ok, .token, subject, "a token of \(first): send it there and nowhere else\(others)")]
  }
}

extension UInt64 {
  /// Twelve hexadecimal digits.
  fileprivate var hex12: String {
    stride(from: 40, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> UInt64($0)) }.hex
  }
}
