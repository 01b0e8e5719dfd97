public import Audience
public import Basics
public import Bus
public import Delivery
public import Store

/// The use cases of the push service. Every call may come from any task.
public final class PushService: Sendable {
  /// Answers the sender of an app in an environment; nil when the app has no credential there, then its pushes wait.
  public typealias Senders = @Sendable (AppRecord, APNSEnvironment) async -> (any PushSender)?

  private let store: any Store
  private let bus: any Bus

  /// Nothing runs before `start`.
  public init(
    store: any Store, bus: any Bus, clock: any WallClock, seed: UInt64, senders: @escaping Senders,
    onEvent: @escaping @Sendable (ServiceEvent) -> Void = { _ in }
  ) {
    self.store = store
    self.bus = bus
  }

  /// Resumes what a former process left unfinished, and sends from now on.
  public func start() async throws(RequestFault) { throw notYet }

  /// Takes nothing more, lets what already left for APNs be answered, and returns.
  public func stop() async {}

  public func createApp(bundleID: String, name: String?) async throws(RequestFault) -> NewApp { throw notYet }

  /// All apps, oldest first.
  public func apps() async throws(RequestFault) -> [AppRecord] { throw notYet }

  /// 1004 for an unknown key and a wrong secret alike, in the same time.
  public func authenticate(appKey: String, masterSecret: String) async throws(RequestFault) -> AppRecord {
    throw notYet
  }

  /// For the device's own calls: the app and registration id that the secret belongs to; else 7004.
  public func authenticateDevice(
    appKey: String, registrationID: String, secret: String
  ) async throws(RequestFault) -> AppRecord { throw notYet }

  /// The same token registers the same device again and revives it.
  public func register(appKey: String, _ registration: DeviceRegistration) async throws(RequestFault) -> Registered {
    throw notYet
  }

  /// 7002 when the app has no such device.
  public func device(_ app: AppRecord, registrationID: String) async throws(RequestFault) -> DeviceView {
    throw notYet
  }

  public func changeDevice(
    _ app: AppRecord, registrationID: String, _ change: DeviceChange
  ) async throws(RequestFault) { throw notYet }

  /// Returns once the push is durable; it is sent from there on, also after a crash.
  public func push(_ app: AppRecord, _ order: PushOrder) async throws(RequestFault) -> PushReceipt { throw notYet }

  /// All checks of `push`; nothing is kept or sent. The receipt's message id is 0.
  public func validate(_ app: AppRecord, _ order: PushOrder) async throws(RequestFault) -> PushReceipt {
    throw notYet
  }

  /// nil when the app has no such push.
  public func report(_ app: AppRecord, messageID: Int64) async throws(RequestFault) -> PushReport? { throw notYet }

  public func metrics() -> [Metric] { [] }

  /// Whether the store takes writes and sending has started.
  public func ready() async -> Bool { false }

  private var notYet: RequestFault {
    RequestFault(.temporarilyUnavailable, found: "not yet built", remedy: "Wait for the next commit.")
  }
}
