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
  final class Batch {  // confined to the client's loop
    let number: UInt64
    let pushes: PushBatch
    /// Where they lie in `pushes`.
    let wires: [PushBatch.Wire]
    /// Accepted, unless something else was put there.
    var outcomes: [PushOutcome]
    @exclusivity(unchecked) var missing: Int  // confined, no overlap: a counter
    var waiter: CheckedContinuation<[PushOutcome], Never>?
    /// The header block of each `shared`, for the credential and the generation told.
    @exclusivity(unchecked) private var blocks: [HTTP2FieldBlock?]  // confined, no overlap: a table
    private var generation: ProviderTokenLife.Generation?
    private var epoch = 0

    init(_ number: UInt64, _ pushes: PushBatch, _ waiter: CheckedContinuation<[PushOutcome], Never>) {
      self.number = number
      self.pushes = pushes
      wires = pushes.wires()
      self.waiter = waiter
      outcomes = Array(repeating: .accepted(uniqueID: nil), count: pushes.count)
      missing = pushes.count
      blocks = Array(repeating: nil, count: pushes.shared.count)
    }

    func block(_ index: Int, _ epoch: Int, _ generation: ProviderTokenLife.Generation) -> HTTP2FieldBlock? {
      self.generation == generation && self.epoch == epoch ? blocks[index] : nil
    }

    func keep(_ block: HTTP2FieldBlock, _ index: Int, _ epoch: Int, _ generation: ProviderTokenLife.Generation) {
      if self.generation != generation || self.epoch != epoch {
        (self.generation, self.epoch) = (generation, epoch)
        for index in blocks.indices { blocks[index] = nil }
      }
      blocks[index] = block
    }

    /// Whether what its pushes share is shared by many.
    var isRepetitive: Bool { pushes.count >= 16 * pushes.shared.count }
  }

  /// Where the push with an id came from.
  struct Slot {
    /// Kept by `batches` until all its pushes have ended.
    private let unmanaged: Unmanaged<Batch>
    let index: Int
    var generation = ProviderTokenLife.Generation(rawValue: 0)
    /// When it last left.
    var sentAt: Instant.Span?

    init(_ batch: Batch, _ index: Int) {
      unmanaged = .passUnretained(batch)
      self.index = index
    }

    var batch: Batch { unmanaged.takeUnretainedValue() }

    @inline(__always)
    func withBatch<Result>(_ body: (Batch) -> Result) -> Result { unmanaged._withUnsafeGuaranteedRef(body) }

    var token: [UInt8] { batch.pushes.token(at: index) }
    var topic: String { batch.pushes.shared(at: index).topic }
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
  @exclusivity(unchecked) var pool: SendingPool  // on the loop; calls nothing back
  var topics: TopicWatch
  var devices: DevicePauses
  @exclusivity(unchecked) var meter = ClientMeter()  // on the loop; calls nothing back
  var blocks: HeaderBlocks
  let open: OpenLinks
  var links: [ConnectionID: ConnectionLink] {
    get { open.links }
    _modify { yield &open.links }
  }
  @exclusivity(unchecked) var slots: [Slot?] = []  // on the loop, no overlap: a table
  @exclusivity(unchecked) var freeIDs: [UInt32] = []  // on the loop, no overlap: a table
  var batches: [UInt64: Batch] = [:]
  var nextBatch: UInt64 = 0
  /// Only appended to while it is gone through.
  @exclusivity(unchecked) var effects: [SendingPool.Effect] = []  // on the loop, no overlap
  /// `effects` is being gone through.
  var isPerforming = false
  /// The pool has answers after which it has given out no streams yet.
  var owesPump = false
  /// What this turn of the loop brought and the pool has not seen yet.
  var pending: [SendingPool.Event] = []
  var warrant: Warrant? {
    didSet { if case .send(_, let generation) = warrant { ready = generation } else { ready = nil } }
  }
  /// The generation of `warrant` when pushes may leave.
  var ready: ProviderTokenLife.Generation?
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

  public func send(_ pushes: [OutgoingPush]) async -> [PushOutcome] {
    guard !Task.isCancelled else {
      return pushes.map { _ in
        meter.cancelledUnsent()
        return .unanswered(.cancelled)
      }
    }
    var outcomes: [PushOutcome] = []
    outcomes.reserveCapacity(pushes.count)
    let good = pushes.filter { push in
      let reason = push.certainRefusal
      if let reason { meter.refusedUnsent(reason.rawValue) }
      outcomes.append(reason.map { push.refusedUnsent($0) } ?? .unanswered(.closed))
      return reason == nil
    }
    guard !good.isEmpty else { return outcomes }
    let sent = await send(PushBatch(good))
    guard good.count < pushes.count else { return sent }
    var next = 0
    for (index, outcome) in outcomes.enumerated() where outcome == .unanswered(.closed) {
      outcomes[index] = sent[next]
      next += 1
    }
    return outcomes
  }

  /// The same for pushes that lie ready in memory, which they leave from without being copied or counted one by one: for
  /// campaigns. Batches of a thousand or more are best.
  public func send(_ pushes: PushBatch) async -> [PushOutcome] {
    guard !pushes.isEmpty else { return [] }
    let number = nextBatch
    nextBatch &+= 1
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in start(pushes, number, waiter) }
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
      connections: pool.upCount, unfinished: pool.unfinished, waiting: pool.backlog, answeredPings: pool.answeredPings,
      held: heldWords, lastFault: lastFault)
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

  private func start(_ pushes: PushBatch, _ number: UInt64, _ waiter: CheckedContinuation<[PushOutcome], Never>) {
    let batch = Batch(number, pushes, waiter)
    batches[number] = batch
    let moment = Moment(any: clock)
    admit(moment)
    if successor != nil { trySuccessor(moment) }
    var offers: [SendingPool.Offer] = []
    offers.reserveCapacity(pushes.count)
    let isCancelled = Task.isCancelled
    let faults = pushes.shared.map(\.certainRefusal)
    let expirations = pushes.shared.map(\.expiration)
    let limits = pushes.shared.map(\.pushType.sizeLimit)
    for (index, wire) in batch.wires.enumerated() {
      let shared = wire.shared
      if isCancelled {
        meter.cancelledUnsent()
        settle(batch, index, .unanswered(.cancelled))
      } else if let reason = wire.certainRefusal(sizeLimit: limits[shared], shared: faults[shared]) {
        meter.refusedUnsent(reason.rawValue)
        settle(batch, index, pushes.push(at: index).refusedUnsent(reason))
      } else if !topics.isQuiet, let words = topics.held(topic: pushes.shared[shared].topic, at: moment.uptime) {
        meter.suspendedUnsent()
        settle(batch, index, .unanswered(.suspended(words)))
      } else {
        offers.append(SendingPool.Offer(takeID(Slot(batch, index)), expiration: expirations[shared]))
      }
    }
    guard !offers.isEmpty else { return }
    handle(.offered(offers), moment)
  }

  private func cancel(_ number: UInt64) {
    guard let batch = batches[number] else { return }
    let mine = slots.indices.filter { slots[$0]?.batch === batch }.map { PushID(rawValue: UInt32($0)) }
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
    switch outcome {
    case .accepted(uniqueID: nil): break  // is what stands there
    case .accepted, .refused, .unanswered: batch.outcomes[index] = outcome
    }
    batch.missing -= 1
    guard batch.missing == 0, let waiter = batch.waiter else { return }
    batch.waiter = nil
    batches[batch.number] = nil
    waiter.resume(returning: batch.outcomes)
  }
}

extension Moment {
  init(any clock: any WallClock) { self.init(wall: clock.now, uptime: clock.uptime) }
}
