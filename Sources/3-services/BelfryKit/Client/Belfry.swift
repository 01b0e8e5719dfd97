public import Foundation

/// An app's side of a Belfry push service: the registration of its device, alias and tags, badge, preferences, reports, and
/// in-app messages. One for each app (`appKey`) and process; may be used from any task.
///
/// It connects for messages while the app is in front and has a network, as it is told by `enterForeground()`,
/// `enterBackground()` and `networkChanged(_:)`. On iOS `observeApplication()` tells all three. (device.md D-016, D-303 … D-306)
///
/// What it must not forget is in a file: the registration, messages that the app has not handled yet, and calls and reports
/// that wait for a network. Each change of it is durable before anything is built upon it.
public actor Belfry {
  public struct Configuration: Sendable {
    /// As `belfry app create` printed it. No secret.
    public var appKey: String
    /// Of the push service, as `https://push.example.com`.
    public var service: URL
    /// Of its gateway, as `wss://push.example.com:8443`; nil: no in-app messages.
    public var gateway: URL?
    /// Where its file is; made when it is not there. Give the folder of an app group where a service extension reports pushes
    /// too. The default is in Application Support.
    public var folder: URL
    /// What the service is told of the device.
    public var facts = DeviceFacts.ofThisDevice

    public init(appKey: String, service: URL, gateway: URL? = nil, folder: URL? = nil) {
      self.appKey = appKey
      self.service = service
      self.gateway = gateway
      self.folder = folder ?? Self.usualFolder
    }

    private static var usualFolder: URL {
      let places = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
      return (places.first ?? FileManager.default.temporaryDirectory).appendingPathComponent(
        "Belfry", isDirectory: true)
    }

    var gatewayURL: URL? { gateway?.appendingPathComponent("gateway/v1") }
  }

  /// What happened that no call of the app's was waiting for.
  public enum News: Hashable, Sendable {
    /// The service knows this device by that id.
    case registered(registrationID: String)
    /// A call that had been queued was refused, and will not be tried again.
    case refused(String, BelfryFault)
    /// Messages that this device never had were removed from the service for their age. The history has what is left.
    case messagesMissed
  }

  let configuration: Configuration
  let transport: any BelfryTransport
  let clock: any KitClock
  let store: AppStore
  var facts: DeviceFacts

  // the registration, as the file has it
  var registration: Registration?
  var isLoaded = false
  /// The gateway refused the one that there is.
  var needsSecret = false
  /// The last call to the service: they go one after the other.
  var turn: Task<Void, Never>?
  var retries = Backoff()
  var retry: Task<Void, Never>?

  // the connection
  var connection: MessageConnection
  var line: Line?
  var alarm: Task<Void, Never>?
  var isClosed = false
  var waitingForHistory: [Int: CheckedContinuation<HistoryPage?, Never>] = [:]
  var lastRequest = 0

  // whoever listens
  var arrivals = 0
  var reader = 0
  var readerWaits: CheckedContinuation<Void, Never>?
  private var statusListeners: [Int: AsyncStream<ConnectionStatus>.Continuation] = [:]
  private var newsListeners: [Int: AsyncStream<News>.Continuation] = [:]
  private var lastListener = 0

  /// Throws `BelfryFault` when its file cannot be opened.
  public init(_ configuration: Configuration, transport: any BelfryTransport) throws {
    try self.init(configuration, transport: transport, clock: SystemKitClock(), times: MessageConnection.Times())
  }

  init(
    _ configuration: Configuration, transport: any BelfryTransport, clock: any KitClock,
    times: MessageConnection.Times
  ) throws {
    self.configuration = configuration
    self.transport = transport
    self.clock = clock
    facts = configuration.facts
    connection = MessageConnection(times)
    do {
      try FileManager.default.createDirectory(at: configuration.folder, withIntermediateDirectories: true)
      store = try AppStore(folder: configuration.folder)
    } catch let fault as DatabaseFault {
      throw BelfryFault(fault)
    } catch {
      throw BelfryFault(.disk, "The library's folder cannot be made: \(error)")
    }
    Task { await begin() }
  }

  deinit {
    line?.reading.cancel()
    alarm?.cancel()
    retry?.cancel()
  }

  /// A registration of an earlier life of the process counts from the start.
  private func begin() async {
    guard !isLoaded else { return }
    await load()
    tryWaiting()
  }

  func load() async {
    guard !isLoaded else { return }
    do throws(BelfryFault) {
      let found = try await store.registration()
      guard !isLoaded else { return }
      isLoaded = true
      // another app key is another app: what the file has was for a former one
      registration = found?.appKey == configuration.appKey ? found : nil
    } catch { return }
    if registration != nil { await handle(.credentials(true)) }
  }

  /// Ends the connection and whatever waits. The app's messages, calls and reports stay in the file. For tests, and for apps
  /// that go over to another service.
  public func close() async {
    isClosed = true
    await handle(.background)
    await line?.reading.value
    alarm?.cancel()
    retry?.cancel()
    await turn?.value
    readerWaits?.resume()
    readerWaits = nil
    for listener in statusListeners.values { listener.finish() }
    for listener in newsListeners.values { listener.finish() }
  }

  // MARK: Listening

  public var status: ConnectionStatus { connection.status }

  /// As it is now, and whenever it changes. Each call makes a stream of its own.
  public func statuses() -> AsyncStream<ConnectionStatus> {
    let (stream, listener) = AsyncStream<ConnectionStatus>.makeStream(bufferingPolicy: .bufferingNewest(16))
    let number = newListener()
    statusListeners[number] = listener
    listener.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
    listener.yield(status)
    return stream
  }

  /// From now on. Each call makes a stream of its own.
  public func news() -> AsyncStream<News> {
    let (stream, listener) = AsyncStream<News>.makeStream(bufferingPolicy: .bufferingNewest(256))
    let number = newListener()
    newsListeners[number] = listener
    listener.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
    return stream
  }

  private func newListener() -> Int {
    lastListener += 1
    return lastListener
  }

  private func forget(_ listener: Int) {
    statusListeners[listener] = nil
    newsListeners[listener] = nil
  }

  func tell(_ status: ConnectionStatus) { for listener in statusListeners.values { listener.yield(status) } }

  func tell(_ news: News) { for listener in newsListeners.values { listener.yield(news) } }
}
