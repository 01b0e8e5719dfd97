public import Basics
public import Delivery
import PushPayload
public import Transport

/// A provider client of APNs for one credential in one environment: one pool of HTTP/2 connections on one event loop.
///
/// Every push gets exactly one outcome: accepted, refused by Apple's reason, or unanswered after all that the retry
/// policy allows, always under the same `apns-id`. Streams that APNs did not process go again at once. Callable from any
/// task; a batch costs one hop to the loop, so batches of hundreds are much cheaper than single pushes.
///
/// Stop it by `close`; the loop and the clock belong to the caller and must outlive it.
/// (Apple, "Sending notification requests to APNs"; all decisions are those of `SendingPool` in Delivery.)
public actor APNSClient: PushSender {
  public struct Configuration: Sendable {
    public var server: APNSServer
    public var credential: Credential
    /// Who vouches for the server. Default: the machine's certificate store, which must hold Apple's root.
    public var trust = TLSClientContext.Trust.system
    /// Brings connections to the server; it looks the server's name up. Default: none.
    public var proxy: Proxy?
    /// Who looks up names, before each connection. Default: the machine.
    public var resolver: any NameResolver = SystemResolver()
    /// Connections, streams, times and retries; `firstAlone` is set by the credential.
    public var pool = SendingPool.Settings()
    public var topics = TopicWatch.Settings()
    /// How devices that APNs answers TooManyRequests for are spared.
    public var devices = DevicePauses.Settings()
    /// Seeds the jitter of retries. Default: by chance.
    public var seed = UInt64.random(in: .min ... .max)
    /// Called on the loop; must not block.
    public var onEvent: @Sendable (APNSClientEvent) -> Void = { _ in }

    public init(server: APNSServer, credential: Credential) {
      self.server = server
      self.credential = credential
    }
  }

  /// Pushes that came together and whose outcomes go back together.
  final class Batch {
    let number: UInt64
    let pushes: [OutgoingPush]
    var outcomes: [PushOutcome?]
    var ids: [PushID] = []
    var missing: Int
    var waiter: CheckedContinuation<[PushOutcome], Never>?

    init(_ number: UInt64, _ pushes: [OutgoingPush], _ waiter: CheckedContinuation<[PushOutcome], Never>) {
      self.number = number
      self.pushes = pushes
      self.waiter = waiter
      outcomes = Array(repeating: nil, count: pushes.count)
      missing = pushes.count
    }
  }

  /// Where the push with an id came from.
  struct Slot {
    var batch: Batch
    var index: Int
    var generation = ProviderTokenLife.Generation(rawValue: 0)
    /// When it last left.
    var sentAt: Instant.Span?
  }

  public nonisolated let server: APNSServer
  nonisolated let loop: EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  let clock: any WallClock
  let onEvent: @Sendable (APNSClientEvent) -> Void
  let trust: TLSClientContext.Trust
  var tls: TLSClientContext?
  let dialer: Dialer
  let inbox: TurnInbox
  var gate: CredentialGate
  /// Counts the credentials; a connection keeps to the one that it was opened with.
  var epoch = 0
  var lastEpoch = 0
  var successor: Successor?
  var pool: SendingPool
  var topics: TopicWatch
  var devices: DevicePauses
  var meter = ClientMeter()
  var blocks: HeaderBlocks
  let own = OwnFields()
  let open: OpenLinks
  var links: [ConnectionID: ConnectionLink] {
    get { open.links }
    _modify { yield &open.links }
  }
  var slots: [Slot?] = []
  var freeIDs: [UInt32] = []
  var batches: [UInt64: Batch] = [:]
  var nextBatch: UInt64 = 0
  var effects: [SendingPool.Effect] = []
  /// What this turn of the loop brought and the pool has not seen yet.
  var pending: [SendingPool.Event] = []
  var warrant: Warrant?
  var isHeld = false
  var heldWords: String?
  var lastFault: TransportFault?
  var ticker: Task<Void, Never>?
  var tickerDue: Instant.Span?
  var isClosed = false
  var closeWaiters: [CheckedContinuation<Void, Never>] = []

  /// Connects lazily. Throws when trust or certificate cannot be used.
  public init(_ configuration: Configuration, clock: any WallClock, loop: EventLoop) throws(TLSFault) {
    server = configuration.server
    self.loop = loop
    self.clock = clock
    onEvent = configuration.onEvent
    gate = CredentialGate(configuration.credential)
    topics = TopicWatch(configuration.topics)
    devices = DevicePauses(configuration.devices)
    blocks = HeaderBlocks(server: configuration.server)
    var settings = configuration.pool
    settings.firstAlone = configuration.credential.isToken
    pool = SendingPool(settings, dice: Dice(seed: configuration.seed))
    trust = configuration.trust
    tls = try Self.tls(server: configuration.server, credential: configuration.credential, trust: configuration.trust)
    dialer = Dialer(
      proxy: configuration.proxy, resolver: configuration.resolver, seed: configuration.seed, clock: clock)
    open = OpenLinks(loop: loop)
    inbox = TurnInbox(loop: loop)
    inbox.client = self
  }

  deinit { ticker?.cancel() }

  // MARK: For callers

  public func send(_ batch: [OutgoingPush]) async -> [PushOutcome] {
    guard !batch.isEmpty else { return [] }
    let number = nextBatch
    nextBatch &+= 1
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in start(batch, number, waiter) }
    } onCancel: {
      Task { await self.cancel(number) }
    }
  }

  /// Sends one push and returns what APNs said of it. For many, give batches: each call costs a hop to the loop.
  public func send(_ push: OutgoingPush) async -> PushOutcome {
    await send([push]).first ?? .unanswered(.closed)
  }

  /// Finishes what was given, refuses what is new, and closes every connection. What has no answer after `grace` ends
  /// as `unanswered(.closed)`. Returns when nothing is left; may be called again.
  public func close(grace: Instant.Span = .seconds(20)) async {
    handle(.close, Moment(any: clock))
    guard !isClosed else { return }
    let limit = Task { [clock, weak self] in
      guard (try? await clock.sleep(for: grace)) != nil else { return }
      await self?.closeNow()
    }
    await withCheckedContinuation { waiter in
      if isClosed { waiter.resume() } else { closeWaiters.append(waiter) }
    }
    limit.cancel()
  }

  /// Lets held pushes try again: the operator has mended key, clock or topic.
  public func resume() {
    let moment = Moment(any: clock)
    gate.resume(at: moment)
    topics = TopicWatch(topics.settings)
    isHeld = false
    heldWords = nil
    handle(.resumed, moment)
  }

  public var health: APNSClientHealth {
    APNSClientHealth(
      connections: pool.upCount, unfinished: pool.unfinished, waiting: pool.backlog, held: heldWords,
      lastFault: lastFault)
  }

  /// The client in numbers; a hop to its loop, nothing that sending pays for.
  public var metrics: APNSClientMetrics {
    var metrics = meter.metrics
    (metrics.inFlight, metrics.waiting) = (pool.inFlight, pool.unfinished - pool.inFlight)
    (metrics.connections, metrics.connecting) = (pool.upCount, pool.connectionCount - pool.upCount)
    (metrics.streamsInUse, metrics.streamsAllowed) = pool.streams
    (metrics.pausedDevices, metrics.suspectedTopics) = (devices.count, topics.count)
    gate.report(&metrics.credential, at: Moment(any: clock))
    metrics.credential.isRotating = successor != nil
    if metrics.credential.standing == .good, pool.isProving { metrics.credential.standing = .probing }
    return metrics
  }

  /// Addresses of the server (with a proxy: of the proxy) that were silent lately and are tried last (case C40).
  public nonisolated var darkAddresses: [DarkAddress] { dialer.darkAddresses }

  // MARK: In and out

  private func start(_ pushes: [OutgoingPush], _ number: UInt64, _ waiter: CheckedContinuation<[PushOutcome], Never>) {
    let batch = Batch(number, pushes, waiter)
    let moment = Moment(any: clock)
    admit(moment)
    if successor != nil { trySuccessor(moment) }
    var offers: [SendingPool.Offer] = []
    offers.reserveCapacity(pushes.count)
    let isCancelled = Task.isCancelled
    for (index, push) in pushes.enumerated() {
      if isCancelled {
        meter.cancelledUnsent()
        settle(batch, index, .unanswered(.cancelled))
      } else if let reason = push.certainRefusal {
        meter.refusedUnsent(reason.rawValue)
        settle(batch, index, push.refusedUnsent(reason))
      } else if !topics.isQuiet, let words = topics.held(topic: push.topic, at: moment.uptime) {
        meter.suspendedUnsent()
        settle(batch, index, .unanswered(.suspended(words)))
      } else {
        let id = takeID(Slot(batch: batch, index: index))
        batch.ids.append(id)
        offers.append(SendingPool.Offer(id, expiration: push.expiration))
      }
    }
    guard batch.missing > 0 else { return }
    batches[number] = batch
    handle(.offered(offers), moment)
  }

  private func cancel(_ number: UInt64) {
    guard let batch = batches[number] else { return }
    let mine = batch.ids.filter { slots[Int($0.rawValue)]?.batch === batch }
    handle(.withdrawn(mine, .cancelled), Moment(any: clock))
  }

  private func closeNow() { handle(.closeNow, Moment(any: clock)) }

  private func takeID(_ slot: Slot) -> PushID {
    if let free = freeIDs.popLast() {
      slots[Int(free)] = slot
      return PushID(rawValue: free)
    }
    slots.append(slot)
    return PushID(rawValue: UInt32(slots.count - 1))
  }

  func settle(_ batch: Batch, _ index: Int, _ outcome: PushOutcome) {
    batch.outcomes[index] = outcome
    batch.missing -= 1
    guard batch.missing == 0, let waiter = batch.waiter else { return }
    batch.waiter = nil
    batches[batch.number] = nil
    waiter.resume(returning: batch.outcomes.map { $0 ?? .unanswered(.closed) })
  }
}

extension Moment {
  init(any clock: any WallClock) { self.init(wall: clock.now, uptime: clock.uptime) }
}
