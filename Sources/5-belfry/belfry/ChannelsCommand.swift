import APNSClient
import Basics
import Delivery
import PushPayload
import Transport

/// `belfry channels …`, one command for each act.
let channelsCommands: [Command] = ChannelsAct.allCases.map(command)

/// What can be done with broadcast channels.
enum ChannelsAct: String, CaseIterable, Sendable {
  case create, list, read, delete, send

  fileprivate var summary: String {
    switch self {
    case .create: "Make a broadcast channel, and print its id"
    case .list: "List an app's broadcast channels"
    case .read: "Say what a broadcast channel keeps for phones that are away"
    case .delete: "Delete a broadcast channel for good"
    case .send: "Broadcast an update or an end of a Live Activity to a channel"
    }
  }

  fileprivate var takesChannel: Bool {
    switch self {
    case .create, .list: false
    case .read, .delete, .send: true
    }
  }

  fileprivate var options: [Command.Option] {
    switch self {
    case .create:
      [
        .init(
          name: "storage", value: "WHAT",
          help: "none, or newest: the newest message waits for phones that are away, 8 hours at most; default newest",
          completion: .words(["none", "newest"]))
      ]
    case .list, .read, .delete: []
    case .send:
      [
        .init(name: "event", value: "EVENT", help: "update or end", completion: .words(["update", "end"])),
        .init(name: "state", value: "JSON", help: "The content-state, an object"),
        .init(name: "priority", value: "N", help: "10, 5 or 1", completion: .words(["10", "5", "1"])),
        .init(
          name: "expires", value: "SPAN",
          help: "How long it is kept for phones that are away: 90s, 15m, 8h; 0 where the channel keeps nothing"),
      ]
    }
  }

  fileprivate func perform(_ channels: APNSChannels, _ options: ChannelsOptions) async throws -> ChannelsReport {
    switch self {
    case .create:
      let policy = try options.policy
      let id = try await channels.createChannel(policy)
      return ChannelsReport(text: id, json: ["channel": .string(id), "storage": .string(policy.word)])
    case .list:
      let ids = try await channels.channels()
      return ChannelsReport(
        text: ids.joined(separator: "\n"), json: ["channels": .array(ids.map { .string($0) })])
    case .read:
      let policy = try await channels.channel(options.channel)
      return ChannelsReport(
        text: policy.word, json: ["channel": .string(options.channel), "storage": .string(policy.word)])
    case .delete:
      try await channels.deleteChannel(options.channel)
      return ChannelsReport(text: "deleted", json: ["channel": .string(options.channel), "deleted": true])
    case .send:
      let (push, priority, expiration) = try options.broadcast(now: SystemClock().now)
      let receipt = try await channels.broadcast(
        push, on: options.channel, priority: priority, expiration: expiration)
      var json: JSONObject = ["channel": .string(options.channel), "requestID": .string(receipt.requestID)]
      json["uniqueID"] = receipt.uniqueID.map { .string($0) }
      return ChannelsReport(text: "accepted  apns-request-id \(receipt.requestID)", json: .object(json))
    }
  }
}

/// What a command of the group prints.
struct ChannelsReport {
  var text: String
  var json: JSONValue
}

extension ChannelStoragePolicy {
  fileprivate var word: String {
    switch self {
    case .nothing: "none"
    case .newest: "newest"
    }
  }
}

/// All take the same credential, hosts and form of output.
private func command(_ act: ChannelsAct) -> Command {
  let shared = ["key", "key-id", "team-id", "cert", "cert-password", "ca", "proxy"]
  return Command(
    name: "channels \(act.rawValue)",
    summary: act.summary,
    discussion: """
      Broadcast channels belong to an app in one environment, and carry updates of Live Activities to every phone that \
      listens (iOS 18). Give a provider key (--key with --key-id and --team-id) or a certificate (--cert).
      Exit status: 0 done, 1 refused or unanswered, 2 for wrong usage.
      """,
    arguments: act.takesChannel ? [.init(name: "CHANNEL", help: "The channel's id", completion: .none)] : [],
    options: [.init(name: "bundle", value: "ID", help: "The app's bundle id, without any suffix")] + act.options
      + pushCommand.options.filter { shared.contains($0.name) } + [
        .init(
          name: "apns", value: "WHERE", help: "Broadcasts: sandbox, production or https://HOST:PORT; default sandbox",
          completion: .words(["sandbox", "production"])),
        .init(
          name: "manage", value: "WHERE",
          help: "Channel management: https://HOST:PORT; default Apple's for the environment of --apns"),
        .flag("json", "Print JSON"),
      ],
    run: { parsed in
      let report = try await ChannelsOptions(parsed).run(act)
      Terminal.print(parsed.flag("json") ? report.json.text : report.text)
      return .success
    })
}

/// What a command of the group was asked for, checked for its form.
struct ChannelsOptions {
  var parsed: ParsedCommand
  var bundleID: String
  var identity: PushOptions.Identity
  var server: BroadcastServer
  var proxy: ProxyChoice

  var channel: String { parsed.arguments.first ?? "" }

  init(_ parsed: ParsedCommand, environment: [String: String] = processEnvironment()) throws(UsageFault) {
    self.parsed = parsed
    guard let bundle = parsed.value("bundle") else { throw UsageFault("'--bundle' is missing: the app's bundle id") }
    bundleID = bundle
    identity = try PushOptions.identity(parsed)
    proxy = try parsed.proxy(environment)
    let send = try parsed.server("apns") ?? .sandbox
    let manage = try parsed.server("manage")
    switch (send, manage) {
    case (.sandbox, nil): server = .sandbox
    case (.production, nil): server = .production
    case (_, let manage?): server = BroadcastServer(manage: manage, send: send)
    case (_, nil): throw UsageFault("'--manage' is missing: where '\(send)' manages channels, https://HOST:PORT")
    }
  }

  fileprivate var policy: ChannelStoragePolicy {
    get throws {
      switch parsed.value("storage") ?? "newest" {
      case "none": return .nothing
      case "newest": return .newest
      case let other: throw UsageFault("--storage takes none or newest, not '\(other)'")
      }
    }
  }

  /// Throws `CommandFault` with what APNs said and what to do.
  func run(_ act: ChannelsAct) async throws -> ChannelsReport {
    let credential = try credential(identity)
    var configuration = APNSChannels.Configuration(bundleID: bundleID, server: server, credential: credential)
    if let path = parsed.value("ca") { configuration.trust = .pem(try Files.read(path)) }
    configuration.proxy = { [proxy] in proxy.proxy(to: $0) }
    let loop = EventLoop(name: "channels")
    let channels: APNSChannels
    do throws(TLSFault) {
      channels = try APNSChannels(configuration, clock: SystemClock(), loop: loop)
    } catch {
      throw CommandFault("\(parsed.value("ca") ?? "the certificate"): \(error)")
    }
    let result: Result<ChannelsReport, any Error>
    do { result = .success(try await act.perform(channels, self)) } catch { result = .failure(error) }
    await channels.close()
    await loop.stop()
    do { return try result.get() } catch let fault as ChannelFault {
      throw CommandFault("\(fault.heading)\(fault)")
    }
  }

  fileprivate func broadcast(now: Instant) throws -> (LiveActivityPush, PushPriority, expiration: Int64) {
    guard let priority = parsed.value("priority").flatMap(UInt8.init).flatMap(PushPriority.init(rawValue:)) else {
      throw UsageFault("'--priority' takes 10, 5 or 1; a broadcast must state it")
    }
    guard let span = parsed.value("expires").flatMap({ PushOptions.span($0) }) else {
      throw UsageFault("'--expires' takes a span such as 90s, 15m or 8h, or 0; a broadcast must state it")
    }
    var state: JSONValue?
    if let text = parsed.value("state") {
      do throws(JSONFault) { state = try JSONReader.read(Array(text.utf8)).value } catch {
        throw UsageFault("--state: \(error)")
      }
    }
    let push: LiveActivityPush
    switch parsed.value("event") {
    case "update":
      guard let state else { throw UsageFault("'--state' is missing: what the phones are to show, an object") }
      push = .update(contentState: state, at: now)
    case "end": push = .end(contentState: state, at: now)
    case let other: throw UsageFault("'--event' takes update or end, not '\(other ?? "")'")
    }
    return (push, priority, span.milliseconds == 0 ? 0 : (now + span).seconds)
  }
}

extension ChannelFault {
  /// Status and Apple's word, when APNs answered.
  fileprivate var heading: String {
    if case .refused(let refusal) = cause { "\(refusal.status) \(refusal.reason): " } else { "" }
  }
}
