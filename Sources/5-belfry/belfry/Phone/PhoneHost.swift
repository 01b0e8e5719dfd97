import APNSSimulator
import Basics
import Phone
import PhoneLab
import PushPayload
import Transport

/// What a follower of a phone gets, in order.
enum PhoneNews: Sendable {
  case entry(TimelineEntry)
  case text(String)
}

/// A running phone: the lab that it stands in, its timeline so far, and everybody who listens to it. Acts are done one
/// after another in the order they are asked for; any task may ask.
actor PhoneHost {
  nonisolated let name: String
  nonisolated let udid: String
  nonisolated let clock: PhoneClock
  nonisolated let connection: PhoneConnection
  private let lab: PhoneLab
  private let usualEnvironment: AppDescription.APSEnvironment

  /// The newest of what was told; `told` counts all.
  private var log: [TimelineEntry] = []
  private var told = 0
  private var awaitedUpTo = 0
  private(set) var statusBar = StatusBarOverride()
  private var followers: [Int: AsyncStream<PhoneNews>.Continuation] = [:]
  private var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
  private var nextFollower = 0
  private var lastDrain: Task<Void, Never>?
  private var bell: Task<Void, Never>?

  private static let longestLog = 5000

  init(
    name: String, settings: PhoneSettings, connection: PhoneConnection, clock: PhoneClock,
    environment: AppDescription.APSEnvironment
  ) async {
    self.name = name
    udid = PhoneIdentity.udid(of: name)
    self.clock = clock
    self.connection = connection
    usualEnvironment = environment
    lab = connection.lab(clock: clock)
    await lab.add(settings, named: name)
    bell = Task { [weak self, lab] in
      for await _ in lab.entries { await self?.drain() }
    }
  }

  func stop() async {
    bell?.cancel()
    await lab.close()
    for follower in followers.values { follower.finish() }
    followers = [:]
    for watcher in watchers.values { watcher.finish() }
    watchers = [:]
    await connection.stop()
  }

  // MARK: acts

  /// What came of an act: what happened on the phone, and what is said beside it.
  struct Answer: Sendable {
    var entries: [TimelineEntry] = []
    var text: [String] = []
    var ends = false
  }

  /// Throws what could not be done; what was told nevertheless is in the log.
  func perform(_ act: PhoneAct, size: TerminalSize? = nil) async throws(CommandFault) -> Answer {
    let before = told
    var answer = Answer()
    switch act {
    case .events(let events): await lab.perform(events, on: name)
    case .install(let source):
      let app = try source.read(usualEnvironment, await phone().settings.iosVersion)
      await lab.perform([.installApp(app.description)] + app.beginning, on: name)
    case .reinstall(let bundleID):
      guard let app = await phone().description(of: bundleID) else { break }
      await lab.perform([.uninstallApp(bundleID: bundleID), .installApp(app)], on: name)
    case .push(let push): await lab.perform(.push(try await payload(push)), on: name)
    case .forward(let span): await forward(span)
    case .until(let time): await forward(time - clock.now)
    case .awaitEntry(let kind, let limit): try await wait(for: kind, within: limit)
    case .tell(let question): answer.text = try await tell(question, size: size)
    case .statusBar(let override): statusBar = override
    case .quit: answer.ends = true
    }
    await drain()
    answer.entries = entries(since: before)
    return answer
  }

  /// The phone as it stands, for a drawing.
  func phone() async -> Phone { await lab.phone(name) ?? Phone() }

  private func forward(_ span: Instant.Span) async {
    clock.forward(span)
    await lab.perform(.timePassed, on: name)
  }

  private func payload(_ push: PhonePush) async throws(CommandFault) -> DeliveredPayload {
    let file: SimulatorFile
    switch push.source {
    case .bytes(let bytes, let name): file = try SimulatorFile(bytes, named: name)
    case .file(let path): file = try SimulatorFile(try Files.read(path), named: path)
    }
    let bundles = await lab.phone(name)?.bundleIDs ?? []
    guard let bundleID = push.bundleID ?? file.bundleID ?? bundles.first else {
      throw CommandFault("there is no app on this phone; 'install com.example.app' puts one there")
    }
    guard bundles.contains(bundleID) else {
      throw CommandFault("there is no app \(bundleID) on this phone; installed: \(bundles.joined(separator: ", "))")
    }
    let type = push.pushType ?? file.pushType
    let id = UUIDText.version4(.random(in: 0 ... .max), .random(in: 0 ... .max))
    return DeliveredPayload(
      id: String(decoding: id, as: UTF8.self), bundleID: bundleID, pushType: type,
      priority: push.priority ?? type.priorities.first ?? .immediate, collapseID: push.collapseID,
      acceptedAt: clock.now, bytes: file.payload)
  }

  private func wait(for kind: String, within limit: Instant.Span) async throws(CommandFault) {
    await drain()
    let (id, news) = follow(since: awaitedUpTo)
    let timer = Task { [clock] in
      guard (try? await clock.sleep(for: limit)) != nil else { return }
      self.unfollow(id)
    }
    defer { timer.cancel() }
    var place = max(awaitedUpTo, told - log.count)
    for await news in news {
      guard case .entry(let entry) = news else { continue }
      place += 1
      guard entry.what.name == kind else { continue }
      awaitedUpTo = place
      return unfollow(id)
    }
    throw CommandFault("no '\(kind)' came within \(limit.milliseconds / 1000) s")
  }

  // MARK: the timeline

  /// What was told from the `since`-th entry on, as far as it is kept.
  private func entries(since: Int) -> [TimelineEntry] { log.suffix(min(log.count, max(0, told - since))) }

  func newest(_ count: Int) -> [TimelineEntry] { log.suffix(count) }

  /// Every entry from now on, or from an earlier one on; ends with `unfollow` and with the phone.
  func follow(since: Int? = nil) -> (id: Int, news: AsyncStream<PhoneNews>) {
    let (stream, sink) = AsyncStream<PhoneNews>.makeStream()
    for entry in entries(since: since ?? told) { sink.yield(.entry(entry)) }
    nextFollower += 1
    followers[nextFollower] = sink
    return (nextFollower, stream)
  }

  /// Puts words between the entries of one follower, behind all that was told before.
  func say(_ words: [String], to id: Int) {
    for text in words { followers[id]?.yield(.text(text)) }
  }

  /// Tells that something happened, once for all that happened since it was looked at last.
  func watch() -> (id: Int, news: AsyncStream<Void>) {
    let (stream, sink) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    nextFollower += 1
    watchers[nextFollower] = sink
    return (nextFollower, stream)
  }

  func unwatch(_ id: Int) { watchers.removeValue(forKey: id)?.finish() }

  func unfollow(_ id: Int) { followers.removeValue(forKey: id)?.finish() }

  /// Takes over what the lab has collected, one drain after another, so that the order stays.
  private func drain() async {
    let task = Task { [lastDrain] in
      await lastDrain?.value
      await self.takeOver()
    }
    lastDrain = task
    await task.value
  }

  private func takeOver() async {
    let new = await lab.take(from: name)
    guard !new.isEmpty else { return }
    await connection.settle()
    log += new
    told += new.count
    if log.count > Self.longestLog * 2 { log.removeFirst(log.count - Self.longestLog) }
    for follower in followers.values {
      for entry in new { follower.yield(.entry(entry)) }
    }
    for watcher in watchers.values { watcher.yield() }
  }

  // MARK: questions

  private func tell(_ question: PhoneQuestion, size: TerminalSize?) async throws(CommandFault) -> [String] {
    let phone = await phone()
    switch question {
    case .screen(let asked):
      let size = asked ?? size ?? ScreenDrawing.usualSize
      return ScreenDrawing(phone.screen, now: clock.now, statusBar: statusBar).lines(size).map { line in
        String(line.plain.reversed().drop { $0 == " " }.reversed())
      }
    case .apps: return AppTable.lines(phone)
    case .token(let bundleID):
      guard let token = phone.token(of: bundleID) else {
        throw CommandFault("\(bundleID) has no device token yet: it gets one when it runs and registers")
      }
      return [token.hex]
    case .places: return [JSONValue.object(await places()).text]
    case .settings(let bundleID):
      let settings =
        bundleID.flatMap { phone.userSettings(of: $0) }.map(StepWords.settings(of:))
        ?? StepWords.settings(of: phone.settings)
      return settings.map { TextWidth.fit($0.name, to: 32) + TextWidth.harmless($0.value) }
    case .log(let count): return log.suffix(count).map { TextWidth.harmless($0.description) }
    case .why(let count):
      return log.suffix(count).flatMap { entry in
        [TextWidth.harmless(entry.description)] + entry.explanation.map { "  " + TextWidth.harmless($0) }
      }
    case .help(let word): return try PhoneHelp.lines(word)
    }
  }

  /// Where everything is, for scripts.
  func places() async -> JSONObject {
    let phone = await phone()
    var object: JSONObject = [
      "name": .string(name), "udid": .string(udid), "ios": .string("\(phone.settings.iosVersion)"),
    ]
    object.members += connection.places.members
    let tokens = phone.bundleIDs.compactMap { bundle in phone.token(of: bundle).map { (bundle, $0.hex) } }
    if let first = tokens.first { object["token"] = .string(first.1) }
    object["tokens"] = .object(JSONObject(tokens.map { .init($0.0, .string($0.1)) }))
    return object
  }
}
