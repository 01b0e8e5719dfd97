internal import APNSSimulator
public import Basics
internal import Phone
public import PushPayload

extension Scenario {
  /// Plays it: brings phones and apps to their start, does each step, looks at each expectation.
  public func run(in world: some ScenarioWorld) async -> ScenarioResult {
    var run = ScenarioRun(self, world)
    await run.prepare()
    for (index, step) in steps.enumerated() { await run.play(step, number: index + 1) }
    await run.finish()
    return run.result
  }

  /// When a virtual world should begin, so that phones and apps are ready at `start`.
  public var preparation: Instant { start - .minutes(10) }
}

/// One playing of a scenario.
private struct ScenarioRun<World: ScenarioWorld> {
  let scenario: Scenario
  let world: World
  var result: ScenarioResult
  /// What the scenario's names of pushes stand for, on each phone.
  private var names: [String: [String: String]] = [:]
  /// Of each channel that it made.
  private var channels: [String: String] = [:]
  /// The service's numbers of named pushes, which messages and notifications carry.
  private var messageIDs: [String: Int64] = [:]
  private var pushes = 0
  /// Every device token that each app ever had, the newest last.
  private var tokens: [LabApp: [[UInt8]]] = [:]
  private var all: [String: [TimelineEntry]] = [:]

  init(_ scenario: Scenario, _ world: World) {
    self.scenario = scenario
    self.world = world
    result = ScenarioResult(name: scenario.name)
  }

  // MARK: start

  mutating func prepare() async {
    let begin = world.now
    for (name, settings) in scenario.phones {
      var first = settings
      (first.online, first.locked) = (true, false)
      await world.lab.add(first, named: name)
      for (_, app) in scenario.apps { await open(app, on: name) }
    }
    if world.patience == .milliseconds(0) {
      await world.pass(until: begin + (scenario.start - scenario.preparation))
    }
    for (name, settings) in scenario.phones {
      // what is to stay in front comes last
      for (_, app) in scenario.apps where !app.start.isFront { await bring(app, on: name) }
      for (_, app) in scenario.apps where app.start.isFront { await bring(app, on: name) }
      if !settings.online { await world.lab.perform(.networkChanged(online: false), on: name) }
      if settings.locked { await world.lab.perform(.lock, on: name) }
    }
    await world.settle()
    await noteTokens()
    for (name, _) in scenario.phones { _ = await world.lab.take(from: name) }
  }

  /// Its first launch, some time before the scenario starts.
  private func open(_ app: ScenarioApp, on phone: String) async {
    guard app.start != .absent else { return }
    await world.lab.perform(.installApp(app.description), on: phone)
    guard app.start != .installed else { return }
    await world.lab.perform(.launch(bundleID: app.description.bundleID), on: phone)
    await answerPrompt(of: app, on: phone)
    await world.settle()
    await world.lab.perform(.home, on: phone)
  }

  /// To where it stands when the scenario starts.
  private func bring(_ app: ScenarioApp, on phone: String) async {
    await world.lab.perform(app.bringing, on: phone)
  }

  private func answerPrompt(of app: ScenarioApp, on phone: String) async {
    let bundleID = app.description.bundleID
    let isAsked = await world.lab.phone(phone)?.promptedApp == bundleID
    var settings = Phone.UserSettings()
    switch app.permission {
    case .notAsked, .provisional: return
    case .allowed: if isAsked { return await world.lab.perform(.answerPrompt(allow: true), on: phone) }
    case .denied:
      if isAsked { return await world.lab.perform(.answerPrompt(allow: false), on: phone) }
      settings.allowed = false
    }
    await world.lab.perform(.changePermission(bundleID: bundleID, settings), on: phone)
  }

  // MARK: steps

  mutating func play(_ step: Scenario.Step, number: Int) async {
    // Real time is not passed only to tell steps apart.
    let pace = world.patience > .milliseconds(0) ? min(scenario.pace, .milliseconds(10)) : scenario.pace
    await world.pass(until: world.now + pace)
    var answers: [(phone: String?, answer: ScenarioAnswer)] = []
    for deed in step.deeds {
      switch deed {
      case .wait(let span): await world.pass(until: world.now + span)
      case .until(let time): await world.pass(until: time)
      case .event(let make):
        for name in step.phones {
          guard let phone = await world.lab.phone(name) else { continue }
          await world.lab.perform(make(phone, ScenarioNames(pushes: names[name] ?? [:])), on: name)
        }
      case .install(let bundleID):
        guard let app = scenario.apps.first(where: { $0.app.description.bundleID == bundleID })?.app else { continue }
        for name in step.phones {
          await world.lab.perform(.installApp(app.description), on: name)
          for (channel, id) in channels { await tell(channel, id, to: bundleID, on: name) }
        }
      case .push(let push): answers += await send(push, to: step.phones)
      case .service(let body, let name):
        let answer = await call(body, for: step.phones, step)
        if let name { messageIDs[name] = answer.id.flatMap { Int64($0) } }
        answers.append((nil, answer))
      case .message(let sent):
        var message = sent.message
        message.messageID = sent.push.flatMap { messageIDs[$0] }
        for name in step.phones { world.phoneService.send(message, to: sent.bundleID, on: name) }
      case .cutMessages(let bundleID):
        for name in step.phones { world.phoneService.cut(bundleID, on: name) }
      case .createChannel(let name, let bundleID, let keepsNewest):
        let answer = await world.createChannel(of: bundleID, in: environment(of: bundleID), keepsNewest: keepsNewest)
        channels[name] = answer.id
        if let id = answer.id {
          for (phone, _) in scenario.phones { await tell(name, id, to: bundleID, on: phone) }
        }
        answers.append((nil, answer))
      case .renewTokens(let bundleID):
        for name in step.phones { await world.lab.renewTokens(of: bundleID, on: name) }
      }
      await world.settle()
      await noteTokens()
    }
    let place = "step \(number), \(step.title)"
    let looked = await look(at: step.expectations, of: step.phones, answers, place)
    let wantsAnswers = step.expectations.contains { $0.answer != nil }
    if !wantsAnswers {
      for (phone, answer) in answers where !answer.isTaken {
        result.failures.append(
          .init(
            path: step.path, place: place, phone: phone, summary: "it was refused with \(answer.words)",
            text: "If that is meant, say so with expect: {answer: \(answer.status)}.", update: nil))
      }
    }
    for (phone, _) in scenario.phones {
      let entries = looked[phone] ?? []
      all[phone, default: []] += entries
      result.timeline += entries.map { LabEntry(phone: phone, entry: $0) }
    }
  }

  mutating func finish() async {
    let phones = scenario.phones.map(\.name)
    for expectation in scenario.expectations {
      for phone in expectation.phones ?? phones {
        await check(expectation, on: phone, all[phone] ?? [], [], "at the end")
      }
    }
  }

  /// So that the app's code knows the channel by the scenario's name of it.
  private func tell(_ channel: String, _ id: String, to bundleID: String, on phone: String) async {
    guard await world.lab.phone(phone)?.bundleIDs.contains(bundleID) == true else { return }
    await world.lab.perform(.learnChannel(bundleID: bundleID, name: channel, channel: id), on: phone)
  }

  // MARK: pushing

  private mutating func send(
    _ push: ScenarioPush, to phones: [String]
  ) async -> [(phone: String?, answer: ScenarioAnswer)] {
    var push = push
    push.channel = push.channel.map { channels[$0] ?? $0 }
    let payload = (try? JSONReader.read(push.payload))?.value ?? .null
    if let name = push.name { messageIDs[name] = payload.object?["_j_msgid"]?.number?.int64 }
    let environment = environment(of: push.bundleID)
    let usualType = PushType.inferred(from: payload)
    if usualType == .liveactivity { push.payload = completed(payload) ?? push.payload }
    var answers: [(String?, ScenarioAnswer)] = []
    for phone in push.channel == nil ? phones.map(Optional.some) : [nil] {
      pushes += 1
      var sent = ProviderPush(
        payload: push.payload, token: [], headers: complete(push, usualType), bundleID: push.bundleID,
        environment: environment, channel: push.channel)
      if let phone {
        let token =
          push.usesFormerToken
          ? await formerToken(of: push.bundleID, on: phone)
          : await world.lab.token(for: sent.pushType, of: push.bundleID, on: phone, carrying: push.payload)
        guard let token else {
          let found = "\(push.bundleID) \(push.usesFormerToken ? "had no other" : "has none") on \(phone)"
          answers.append((phone, ScenarioAnswer(status: 0, reason: "no token", explanation: found)))
          continue
        }
        sent.token = token
      }
      let answer = await world.push(sent)
      answers.append((phone, answer))
      if let name = push.name {
        names[phone ?? "", default: [:]][name] =
          sent.headers.first { $0.name == "apns-collapse-id" }?.value ?? answer.id ?? name
      }
    }
    return answers
  }

  /// The newest that is not the app's any more.
  private func formerToken(of bundleID: String, on phone: String) async -> [UInt8]? {
    let present = await world.lab.phone(phone)?.token(of: bundleID)
    return tokens[LabApp(phone, bundleID)]?.last { $0 != present }
  }

  private mutating func noteTokens() async {
    for (name, _) in scenario.phones {
      guard let phone = await world.lab.phone(name) else { continue }
      for bundleID in phone.bundleIDs {
        guard let token = phone.token(of: bundleID), tokens[LabApp(name, bundleID)]?.last != token else { continue }
        tokens[LabApp(name, bundleID), default: []].append(token)
      }
    }
  }

  /// A Live Activity's payload with the time of now, and the id of a channel that the scenario names; nil: nothing to add.
  private func completed(_ payload: JSONValue) -> [UInt8]? {
    guard var object = payload.object, var aps = object["aps"]?.object else { return nil }
    let channel = aps["input-push-channel"]?.string.flatMap { channels[$0] }
    guard channel != nil || aps["timestamp"] == nil else { return nil }
    if let channel { aps["input-push-channel"] = .string(channel) }
    if aps["timestamp"] == nil { aps["timestamp"] = .number(JSONNumber(world.now.seconds)) }
    object["aps"] = .object(aps)
    return JSONValue.object(object).encoded()
  }

  private func environment(of bundleID: String) -> SimulatedEnvironment {
    let app = scenario.apps.first { $0.app.description.bundleID == bundleID }?.app.description
    return app?.apsEnvironment == .development ? .sandbox : .production
  }

  /// As a careful provider would: id, topic, type and priority where the scenario gives none.
  private func complete(_ push: ScenarioPush, _ usualType: PushType) -> [(name: String, value: String)] {
    var headers = push.headers.map { (name: $0.name.lowercased(), value: $0.value) }
    func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    func add(_ name: String, _ text: @autoclosure () -> String) {
      if value(name) == nil { headers.append((name, text())) }
    }
    if let expires = push.expires {
      add("apns-expiration", expires <= .milliseconds(0) ? "0" : "\((world.now + expires).seconds)")
    }
    add("apns-push-type", usualType.rawValue)
    let type = value("apns-push-type").flatMap(PushType.init(rawValue:)) ?? .alert
    if let channel = push.channel {
      add("apns-channel-id", channel)
      add("apns-expiration", "0")
    } else {
      add("apns-topic", type.completed(topic: push.bundleID))
      add(
        "apns-id",
        "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - "\(pushes)".count)) + "\(pushes)")
    }
    add("apns-priority", "\((type.priorities.first ?? .immediate).rawValue)")
    return headers
  }

  private func call(_ body: JSONObject, for phones: [String], _ step: Scenario.Step) async -> ScenarioAnswer {
    let bundleID = step.bundleID ?? scenario.apps[0].app.description.bundleID
    var body = body
    if body["platform"] == nil { body["platform"] = ["ios"] }
    if body["audience"] == nil {
      var ids: [JSONValue] = []
      for phone in phones {
        if let id = await world.lab.phone(phone)?.registrationID(of: bundleID) { ids.append(.string(id)) }
      }
      body["audience"] = ["registration_id": .array(ids)]
    }
    if body["options"] == nil {
      body["options"] = [:]
    }
    if var options = body["options"]?.object, options["apns_production"] == nil {
      options["apns_production"] = .bool(environment(of: bundleID) == .production)
      body["options"] = .object(options)
    }
    return await world.call(body, of: bundleID)
  }

  // MARK: looking

  /// Looks at a step's expectations, as long as the world has patience; answers what happened on each phone.
  private mutating func look(
    at expectations: [ScenarioExpectation], of phones: [String],
    _ answers: [(phone: String?, answer: ScenarioAnswer)], _ place: String
  ) async -> [String: [TimelineEntry]] {
    var entries: [String: [TimelineEntry]] = [:]
    let byPhone = Dictionary(grouping: answers) { $0.phone }
    let former = result
    let limit = world.now + world.patience
    while true {
      for (phone, _) in scenario.phones { entries[phone, default: []] += await world.lab.take(from: phone) }
      result = former
      for expectation in expectations {
        for phone in expectation.phones ?? phones {
          let meant = byPhone[nil, default: []] + byPhone[phone, default: []]
          await check(expectation, on: phone, entries[phone] ?? [], meant.map(\.answer), place)
        }
      }
      guard result.failures.count > former.failures.count, world.now < limit else { return entries }
      await world.pass(until: world.now + .milliseconds(20))
    }
  }

  private mutating func check(
    _ expectation: ScenarioExpectation, on name: String, _ entries: [TimelineEntry], _ answers: [ScenarioAnswer],
    _ place: String
  ) async {
    guard let phone = await world.lab.phone(name) else { return }
    let check = ScenarioCheck(
      expectation, phone: phone, named: scenario.phones.count > 1 ? name : nil, entries, answers, place,
      ScenarioNames(pushes: names[name] ?? [:]))
    result.checks += check.checks
    result.failures += check.failures
  }
}

extension ProviderPush {
  /// By the header, as APNs would read it.
  public var pushType: PushType {
    headers.first { $0.name == "apns-push-type" }.flatMap { PushType(rawValue: $0.value) } ?? .alert
  }
}
