import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import Foundation
import PushService
import Store
import StoreSQLite
import Testing

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/belfry-test-\(UUID().uuidString)"
  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// What a killed process leaves: the files as they are.
  func snapshot() throws -> TemporaryFolder {
    let copy = TemporaryFolder()
    try FileManager.default.copyItem(atPath: path, toPath: copy.path)
    return copy
  }
}

/// A service on a store in a folder, with a sender that records, and time that the test moves.
final class ServiceBench: Sendable {
  let folder: TemporaryFolder
  let store: StoreSQLite
  let bus: any Bus
  let clock: VirtualClock
  let sender: RecordingPushSender
  let channels = MemoryChannels()
  let events = Recorder<ServiceEvent>()
  let service: PushService

  init(
    _ folder: TemporaryFolder = TemporaryFolder(), store: StoreSQLite? = nil, bus: (any Bus)? = nil,
    clock: VirtualClock = VirtualClock(), sender: RecordingPushSender = RecordingPushSender(), seed: UInt64 = 1,
    scheduling: Scheduling? = nil, retention: Retention? = nil, hasCredential: @escaping @Sendable () -> Bool = { true }
  ) async throws {
    self.folder = folder
    if let store {
      self.store = store
    } else {
      self.store = try await StoreSQLite.open(folder: folder.path)
    }
    self.bus = bus ?? InProcessBus(clock: clock)
    self.clock = clock
    self.sender = sender
    service = PushService(
      store: self.store, bus: self.bus, clock: clock, seed: seed, scheduling: scheduling,
      retention: retention,
      senders: { _, _ in hasCredential() ? sender : nil },
      broadcasts: { [channels] _, _ in hasCredential() ? channels : nil }, onEvent: { [events] in events.record($0) })
  }

  /// The bench of a process that starts where the other's files were left.
  func afterCrash() async throws -> ServiceBench {
    try await ServiceBench(folder.snapshot(), clock: clock, seed: 2, scheduling: service.scheduling)
  }

  func app() async throws -> AppRecord {
    try await service.createApp(bundleID: "com.example.bell", name: nil).app
  }

  /// Registration ids of new devices, by their numbers.
  func devices(
    _ count: Int, of app: AppRecord, _ environment: APNSEnvironment = .production
  ) async throws -> [String] {
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for number in 0..<count {
        group.addTask { [service] in
          let token = StoreSamples.token(number).hex
          let registration = DeviceRegistration(token: token, environment: environment)
          return (number, try await service.register(appKey: app.key, registration).registrationID)
        }
      }
      return try await group.reduce(into: Array(repeating: "", count: count)) { $0[$1.0] = $1.1 }
    }
  }

  /// What `/metrics` says became of devices.
  var outcomes: [String: Int] {
    let metrics = service.metrics().filter { $0.name == "belfry_device_outcomes_total" }
    return Dictionary(uniqueKeysWithValues: metrics.map { ($0.labels[0].value, Int($0.value)) })
  }

  /// Waits until every device of the push ended.
  func finish(_ receipt: PushReceipt) async {
    await events.wait { events in
      events.contains { if case .finished(_, receipt.messageID) = $0 { true } else { false } }
    }
  }

  /// Says that something was mended, and waits until the push is finished; more than once, since a turn that has just been
  /// refused may be put off after the first.
  func finish(_ receipt: PushReceipt, resuming: Bool) async throws {
    for _ in 0..<2000 {
      let done = events.values.contains { if case .finished(_, receipt.messageID) = $0 { true } else { false } }
      if done { return }
      if resuming { await service.resume() }
      try await Task.sleep(for: .milliseconds(2))
    }
    Issue.record("push \(receipt.messageID) is never finished")
  }

  /// Lets the clock run until the push is finished: for what is tried again later.
  func finish(_ receipt: PushReceipt, advancing step: Instant.Span) async throws {
    for _ in 0..<10_000 {
      let done = events.values.contains { if case .finished(_, receipt.messageID) = $0 { true } else { false } }
      if done { return }
      clock.advance(by: step)
      try await Task.sleep(for: .milliseconds(1))
    }
    Issue.record("push \(receipt.messageID) is never finished")
  }
}

/// The fault of a call that must have one.
func fault<Result>(
  _ body: () async throws(RequestFault) -> Result, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> RequestFault {
  let result: Result
  do throws(RequestFault) {
    result = try await body()
  } catch {
    return error
  }
  Issue.record("no fault but \(result)", sourceLocation: sourceLocation)
  throw CancellationError()
}
