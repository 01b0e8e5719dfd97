import APNSSimulator
import Basics
import BelfryTesting
import Phone
import PhoneLab
import PushPayload
import Testing
import Transport

@Suite("Apps of the lab and their push service")
struct LabServiceTests {
  /// Numbers its messages.
  private final class Service: PhoneService {
    struct State: Sendable {
      var messages: [InAppMessage] = []
      var open: [MessageLine] = []
      var asked: [Int64] = []
      var tokens: [Phone.TokenKind] = []
      var isRefusing = false
    }

    let state = Locked(State())

    func register(_ app: LabApp, token: [UInt8], environment: SimulatedEnvironment) async -> String? {
      state.withLock { $0.tokens.append(.remote) }
      return "id-of-\(app.phone)"
    }

    func take(_ token: [UInt8], kind: Phone.TokenKind, environment: SimulatedEnvironment, of app: LabApp) async {
      state.withLock { $0.tokens.append(kind) }
    }

    func connect(_ line: MessageLine, after: Int64) async -> Bool {
      state.withLock { state in
        state.asked.append(after)
        for message in state.messages where message.sequence > after { line.send(message) }
        state.open.append(line)
      }
      return true
    }

    func closed(_ line: MessageLine) { state.withLock { $0.open.removeAll { $0.id == line.id } } }

    func messageHistory(of app: LabApp) async -> [InAppMessage]? { state.withLock { $0.messages } }

    func setOnlyScheduled(_ onlyScheduled: Bool, for app: LabApp) async -> Bool { state.withLock { !$0.isRefusing } }

    func send(_ text: String) {
      state.withLock { state in
        let message = InAppMessage(sequence: Int64(state.messages.count + 1), content: text)
        state.messages.append(message)
        for line in state.open { line.send(message) }
      }
    }

    func cut() {
      for line in state.withLock({ $0.open }) { line.cut() }
    }
  }

  private func run(_ body: (PhoneLab, Service) async throws -> Void) async throws {
    let simulator = try await APNSSimulator.start()
    let service = Service()
    let lab = PhoneLab(courier: simulator.courier, clock: SystemClock(), service: service)
    await lab.add(PhoneSettings(iosVersion: IOSVersion(18)), named: "a")
    var app = LabScene.app
    app.usesMessages = true
    app.liveActivities = LiveActivitySupport(attributesTypes: ["Match"])
    app.script[.pushToStartTokenUpdates] = [.handActivityTokensToService]
    await lab.perform([.installApp(app), .launch(bundleID: LabScene.bundle), .answerPrompt(allow: true)], on: "a")
    do { try await body(lab, service) } catch { Issue.record("\(error)") }
    await lab.close()
    await simulator.stop()
  }

  private func newest(_ lab: PhoneLab, is number: Int64) async -> Bool {
    await lab.wait(for: "a", within: .seconds(20)) { entries in
      entries.contains { entry in
        guard case .callback(let callback) = entry.what, case .message(let message) = callback.arguments else {
          return false
        }
        return message.sequence == number
      }
    }
  }

  private func callback(_ lab: PhoneLab, _ method: Callback.Method) async -> Callback? {
    @Sendable func found(_ entries: [TimelineEntry]) -> Callback? {
      for case .callback(let callback) in entries.map(\.what) where callback.method == method { return callback }
      return nil
    }
    _ = await lab.wait(for: "a", within: .seconds(20)) { found($0) != nil }
    return found(await lab.take(from: "a"))
  }

  @Test("D-303 D-304 D-305 messages come while the app is in front; what was missed comes first; a cut is mended")
  func messages() async throws {
    try await run { lab, service in
      service.send("one")
      #expect(await newest(lab, is: 1))
      await lab.perform(.home, on: "a")
      #expect(await lab.phone("a")?.isConnectedForMessages(LabScene.bundle) == false)
      service.send("two")
      await lab.perform(.launch(bundleID: LabScene.bundle), on: "a")
      #expect(await newest(lab, is: 2))
      await lab.settle()
      service.cut()
      await lab.settle()
      service.send("three")
      #expect(await newest(lab, is: 3), "the SDK connected again and asked for what it missed")
      #expect(service.state.withLock { $0.asked } == [0, 1, 2])
    }
  }

  @Test("D-302 the history, whole")
  func history() async throws {
    try await run { lab, service in
      for text in ["one", "two"] { service.send(text) }
      await lab.perform(.app(bundleID: LabScene.bundle, .fetchMessageHistory), on: "a")
      let all = service.state.withLock { $0.messages }
      #expect(await callback(lab, .messageHistory)?.arguments == .messages(all))
    }
  }

  @Test("D-332 the preference is what the service took", arguments: [true, false])
  func preference(isRefusing: Bool) async throws {
    try await run { lab, service in
      service.state.withLock { $0.isRefusing = isRefusing }
      await lab.perform(.app(bundleID: LabScene.bundle, .setPreference(onlyScheduled: true)), on: "a")
      _ = await callback(lab, .preferenceAnswer)
      #expect(await lab.phone("a")?.onlyScheduled(of: LabScene.bundle) == !isRefusing)
    }
  }

  @Test("D-016 D-189 tokens of Live Activities are handed on as what they are, not as the app's device token")
  func tokens() async throws {
    try await run { lab, service in
      _ = await lab.wait(for: "a", within: .seconds(20)) { entries in entries.contains { $0.rule == "D-018" } }
      _ = await eventually { service.state.withLock { $0.tokens.count } == 2 }
      let tokens = Set(service.state.withLock { $0.tokens })
      #expect(tokens == [.remote, .liveActivityStart(attributesType: "Match")])
      #expect(await lab.phone("a")?.registrationID(of: LabScene.bundle) == "id-of-a")
    }
  }
}
