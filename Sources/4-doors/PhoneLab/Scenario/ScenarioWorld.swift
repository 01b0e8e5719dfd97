public import APNSSimulator
public import Basics
public import Phone
public import PushPayload

/// Where a scenario is played: phones, an APNs, whoever pushes, and time.
public protocol ScenarioWorld: Sendable {
  var lab: PhoneLab { get }
  var now: Instant { get }
  /// How long to go on looking for what is expected; zero where nothing comes late.
  var patience: Instant.Span { get }

  /// Lets time pass, and everything happen that is due until then.
  func pass(until time: Instant) async
  /// Returns once what is on its way to a phone has arrived, as far as can be known.
  func settle() async
  /// Sends a push of an app to a token.
  func push(_ push: ProviderPush) async -> ScenarioAnswer
  /// Makes a broadcast channel of an app; the answer's id is the channel's.
  func createChannel(of bundleID: String, in environment: SimulatedEnvironment, keepsNewest: Bool) async
    -> ScenarioAnswer
  /// What the phones' apps take for their push service: it sends them in-app messages.
  var phoneService: ScenarioPhoneService { get }
  /// Calls the push service as an app server.
  func call(_ body: JSONObject, of bundleID: String) async -> ScenarioAnswer
  /// Ends all that was started.
  func close() async
}

/// A push with its headers complete.
public struct ProviderPush: Sendable {
  public var payload: [UInt8]
  /// Empty for a broadcast.
  public var token: [UInt8]
  public var headers: [(name: String, value: String)]
  public var bundleID: String
  public var environment: SimulatedEnvironment
  /// It is broadcast on this channel of the app.
  public var channel: String?
}

/// What APNs or the push service answered.
public struct ScenarioAnswer: Sendable {
  public var status: Int
  /// Apple's reason, or the service's message; nil when it was taken.
  public var reason: String?
  /// What exactly is wrong, where somebody knows.
  public var explanation: String?
  /// `apns-id`, or the service's `msg_id`.
  public var id: String?

  public init(status: Int, reason: String? = nil, explanation: String? = nil, id: String? = nil) {
    self.status = status
    self.reason = reason
    self.explanation = explanation
    self.id = id
  }

  /// Any 2xx.
  var isTaken: Bool { 200..<300 ~= status }

  var json: JSONObject {
    var object: JSONObject = ["status": .number(JSONNumber(status))]
    object["reason"] = reason.map(JSONValue.string)
    object["id"] = id.map(JSONValue.string)
    return object
  }

  var words: String {
    "\(status)\(reason.map { " \($0)" } ?? "")\(explanation.map { ": \($0)" } ?? "")"
  }
}

/// A push service for scenarios.
public protocol ScenarioService: Sendable {
  /// Takes an app's token and answers its registration id; nil when it did not take it.
  func register(
    phone: String, bundleID: String, token: [UInt8], environment: SimulatedEnvironment
  ) async -> String?
  /// Takes a token beside the app's own, of PushKit or of Live Activities.
  func take(_ token: [UInt8], kind: Phone.TokenKind, for app: LabApp) async
  /// Keeps "only the scheduled push" for the user of a device that registered here; false: refused.
  func setOnlyScheduled(_ onlyScheduled: Bool, for app: LabApp) async -> Bool
  /// `POST /v3/push` as the app's server; returns once what it accepted is sent, as far as it can be sent now.
  func call(_ body: JSONObject, of bundleID: String) async -> ScenarioAnswer
  func close() async
}

/// Everything in this process, by a clock that nothing moves but the scenario: the simulated APNs without its sockets, its
/// courier, the lab, and a push service where one is given. The same scenario gives the same timelines.
public struct VirtualWorld: ScenarioWorld {
  public let lab: PhoneLab
  public let phoneService: ScenarioPhoneService
  public let patience = Instant.Span.milliseconds(0)
  private let clock: VirtualClock
  private let apns: LocalAPNS
  private let service: (any ScenarioService)?

  /// Makes the service that pushes through that APNs, by that clock.
  public typealias ServiceMaker = @Sendable (VirtualClock, LocalAPNS) async throws -> any ScenarioService

  public init(start: Instant, service make: ServiceMaker? = nil) async throws {
    let clock = VirtualClock(now: start)
    let apns = LocalAPNS(clock: clock)
    let service = try await make?(clock, apns)
    self.clock = clock
    self.apns = apns
    self.service = service
    phoneService = ScenarioPhoneService(service)
    lab = PhoneLab(courier: apns.courier, clock: clock, service: phoneService)
  }

  public var now: Instant { clock.now }

  /// More at one moment than any phone can have to do: a due time that comes back for ever ends there.
  private static let most = 10_000

  public func pass(until time: Instant) async {
    var left = Self.most
    while left > 0, let due = await due, due <= time {
      left = due > clock.now ? Self.most : left - 1
      clock.advance(by: max(due - clock.now, .milliseconds(0)))
      await happen()
    }
    clock.advance(by: max(time - clock.now, .milliseconds(0)))
  }

  private var due: Instant? {
    get async { [await lab.due, apns.due].compactMap { $0 }.min() }
  }

  private func happen() async {
    apns.timePassed()
    await lab.settle()
    await lab.timePassed()
    await lab.settle()
  }

  public func settle() async { await lab.settle() }

  public func push(_ push: ProviderPush) async -> ScenarioAnswer {
    let answer =
      push.channel == nil
      ? apns.push(push.payload, to: push.token.hex, headers: push.headers, environment: push.environment)
      : apns.broadcast(push.payload, to: push.bundleID, headers: push.headers, environment: push.environment)
    await lab.settle()
    return ScenarioAnswer(
      status: answer.status, reason: answer.reason, explanation: answer.explanation, id: answer.id)
  }

  public func createChannel(
    of bundleID: String, in environment: SimulatedEnvironment, keepsNewest: Bool
  ) async -> ScenarioAnswer {
    guard let id = apns.createChannel(of: bundleID, environment: environment, keepsNewest: keepsNewest) else {
      return ScenarioAnswer(status: 400, reason: "the app has as many channels as it may")
    }
    return ScenarioAnswer(status: 201, id: id)
  }

  public func call(_ body: JSONObject, of bundleID: String) async -> ScenarioAnswer {
    guard let service else {
      return ScenarioAnswer(status: 0, reason: "there is no push service in this world")
    }
    let answer = await service.call(body, of: bundleID)
    await lab.settle()
    return answer
  }

  public func close() async {
    await lab.close()
    await service?.close()
  }
}
