import APNSClient
import APNSSimulator
import Basics
import Delivery
import Phone
import PhoneLab
import PushPayload
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A broadcast to phones in a lab: one push to each token, by our client over TLS to the simulated APNs, to the phone and
/// onto its timeline, every one of which is compared with what a phone alone would tell. The peer has no network: a loop
/// that hands the same payload to as many phones. In a process of its own, so that what is resident is the lab's.
func broadcastBenchmark(_ setting: Setting) throws -> [Figure] {
  let count = setting.isQuick ? 10_000 : 100_000
  let report = try Child([ownPath, "broadcast", "--phones", String(count)]).finish()
  guard let said = try? JSONReader.read(Array(report.output.utf8)).value.object,
    let ours = said["perSecond"]?.number?.double, let peer = said["alone"]?.number?.double,
    let size = said["kibibytes"]?.number?.double
  else { throw BenchFault("the lab said something else: \(report.output)") }
  return [
    Figure(
      id: "phone", what: "a broadcast to \(count) phones in a lab, each timeline right", unit: "phones/s", ours: [ours],
      peerName: "phones alone, the same payload", peer: [peer]),
    Figure(
      id: "phone", what: "each of them with connection and token, the push shown", unit: "KiB", ours: [size],
      peerName: "", peer: []),
  ]
}

/// The measured process: the simulator, the lab and the provider. Says what it measured as one line of JSON.
func broadcastProcess(_ words: Words) async throws {
  let count = try words.number("phones")
  let hall = try await Hall(count)
  let before = residentMiB()
  try await hall.fill()
  let seconds = try await hall.broadcast()
  let size = (residentMiB() - before) * 1024 / Double(count)
  let wrong = await hall.wrongTimelines()
  guard wrong.isEmpty else { throw BenchFault("\(wrong.count) timelines are wrong, among them \(wrong[0])") }
  await hall.close()
  let report: JSONObject = [
    "perSecond": number(Double(count) / seconds), "alone": number(Hall.alone(count)), "kibibytes": number(size),
  ]
  print(JSONValue.object(report).text)
}

private func number(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? .null }

/// Simulated APNs, a lab of phones, and a provider in one process.
private struct Hall {
  private static let bundle = "com.example.news"
  private static let payload = Array(
    #"{"aps":{"alert":{"title":"New","body":"Hello"},"badge":3,"sound":"default"}}"#.utf8)

  private let count: Int
  private let simulator: APNSSimulator
  private let loop = EventLoop(name: "provider")
  private let client: APNSClient
  private let lab: PhoneLab

  init(_ count: Int) async throws {
    self.count = count
    var configuration = APNSSimulator.Configuration()
    configuration.control = nil
    simulator = try await APNSSimulator.start(configuration)
    let credentials = simulator.credentials
    var settings = APNSClient.Configuration(
      server: APNSServer(simulator.productionEndpoint ?? simulator.endpoint),
      credential: .token(
        try ProviderKey(
          p8: credentials.signingKey.pem, keyID: credentials.keyID, teamID: credentials.teamID, name: "AuthKey.p8")))
    settings.trust = .pem(credentials.authority.pem)
    client = try APNSClient(settings, clock: SystemClock(), loop: loop)
    lab = PhoneLab(courier: simulator.courier, clock: SystemClock()) { phone, _, _, _ in "registration-of-\(phone)" }
  }

  /// Phones that were used, locked and put away: the app is suspended and may show everything.
  private static let story: [Phone.Event] = {
    var app = AppDescription(bundleID: bundle, name: "News")
    app.delegate = .beforeLaunchEnds
    app.backgroundModes = [.remoteNotification]
    app.script[.didFinishLaunching] = [.askAndRegister(.usual)]
    return [
      .installApp(app), .launch(bundleID: bundle), .answerPrompt(allow: true), .lock, .suspend(bundleID: bundle),
    ]
  }()

  func fill() async throws {
    for number in 0..<count {
      await lab.add(PhoneSettings(), named: name(number))
      await lab.perform(Self.story, on: name(number))
      _ = await lab.take(from: name(number))
    }
  }

  private func name(_ number: Int) -> String { "phone-\(number)" }

  /// Answers the seconds from the first push to the last phone that has shown its own.
  func broadcast() async throws -> Double {
    var pushes: [OutgoingPush] = []
    for number in 0..<count {
      guard let token = await lab.phone(name(number))?.token(of: Self.bundle) else {
        throw BenchFault("\(name(number)) has no token")
      }
      pushes.append(
        OutgoingPush(
          id: Self.id(number), token: token, topic: Self.bundle, pushType: .alert, priority: .immediate,
          expiration: nil, collapseID: nil, payload: Self.payload))
    }
    let start = monotonicSeconds()
    let outcomes = await client.send(pushes)
    guard outcomes.allSatisfy({ if case .accepted = $0 { true } else { false } }) else {
      throw BenchFault("not all pushes were accepted")
    }
    for number in 0..<count {
      let isThere = await lab.wait(for: name(number), within: .seconds(60)) { entries in
        entries.contains { $0.what.name == "shown" }
      }
      guard isThere else { throw BenchFault("\(name(number)) shows nothing") }
    }
    return monotonicSeconds() - start
  }

  /// The `apns-id` of a phone's push.
  private static func id(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  /// A phone that has lived through the story, by itself.
  private static func lonePhone() -> Phone {
    var phone = Phone()
    for event in story {
      for effect in phone.handle(event, at: start) {
        guard case .registerForRemoteNotifications = effect else { continue }
        _ = phone.handle(.tokenIssued(bundleID: bundle, token: [1]), at: start)
      }
    }
    _ = phone.takeTimeline()
    return phone
  }

  private static let start = Instant(seconds: 1_796_029_200)

  /// Those that tell anything else than a lone phone does, by words: kind of entry, rule, and what is shown. The way of a
  /// push names when APNs took it, so of an arrival only its push counts.
  func wrongTimelines() async -> [String] {
    var wrong: [String] = []
    for number in 0..<count {
      var lone = Self.lonePhone()
      _ = lone.handle(Self.push(Self.id(number)), at: Self.start)
      let told = await lab.take(from: name(number)).map(Self.words)
      let expected = lone.takeTimeline().map(Self.words)
      if told != expected { wrong.append("\(name(number)): \(told) instead of \(expected)") }
    }
    return wrong
  }

  private static func words(_ entry: TimelineEntry) -> String {
    if case .arrived(let id, let kind, _) = entry.what { return "arrived \(id) \(kind) \(entry.rule)" }
    if case .shown(let shown) = entry.what { return "\(shown.pushID) \(shown) \(entry.rule)" }
    return "\(entry.what.words) \(entry.rule)"
  }

  private static func push(_ id: String) -> Phone.Event {
    .push(DeliveredPayload(id: id, bundleID: bundle, bytes: payload))
  }

  /// Phones a second of one core that take the payload, with nothing between it and them.
  static func alone(_ count: Int) -> Double {
    let push = push(id(0))
    var phones = (0..<count).map { _ in lonePhone() }
    return Double(count)
      * ratePerCore(of: 1, for: 0) {
        for index in phones.indices { _ = phones[index].handle(push, at: start) }
      }
  }

  func close() async {
    await lab.close()
    await client.close()
    await simulator.stop()
    await loop.stop()
  }
}
