public import Basics
import CLibuv
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One thread that waits for sockets and timers (libuv) and runs the jobs of the actors pinned to it.
///
///     actor Connection {
///       let loop: EventLoop
///       nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
///     }
///
/// Callbacks of sockets and timers run on the same thread, so such an actor may enter itself with `assumeIsolated` from
/// them. Jobs and `execute` bodies run in the order in which they were handed over. After `stop()` jobs still run, one
/// at a time, on a thread made for them: an actor never hangs because its loop is gone; sockets and timers do not.
/// A loop that nobody stops lives as long as the process.
public final class EventLoop: SerialExecutor, @unchecked Sendable {  // guards: `inbox`'s lock, else the thread
  private enum Work {
    case job(UnownedJob)
    case body(@Sendable () -> Void)
  }

  private enum Phase {
    case running
    /// Handles close, the thread ends soon; `run` looks after what comes in.
    case closing
    case stopped(drainerRuns: Bool)
  }

  private struct Inbox {
    var work: [Work] = []
    var wakeSent = false
    var phase = Phase.running
    var stopRequested = false
    var awaitingStop: [CheckedContinuation<Void, Never>] = []
  }

  /// For thread listings and messages.
  public let name: String

  let uv: UnsafeMutablePointer<uv_loop_t>
  private let inbox = Locked(Inbox())
  private let wake: UnsafeMutablePointer<uv_async_t>
  private let beforeWait: UnsafeMutablePointer<uv_prepare_t>
  /// The thread that runs our work now; 0 for none.
  private let runner = Atomic<UInt>(0)
  private var spare: [Work] = []
  private var flushes: [any LoopFlushable] = []
  private var residents: [ObjectIdentifier: any LoopResident] = [:]
  private var isClosing = false
  /// Read by every socket of this loop in turn; what it holds is used up before the next read.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
  /// Decrypted bytes on their way to a handler; same rule.
  let plainBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
  /// Frames gathered for one write; same rule.
  let batchBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
  let sealed = SealedOutput()
  /// Objects that hold this loop, for tests that look for leaks.
  let liveStreams = Atomic<Int>(0)
  let liveSessions = Atomic<Int>(0)

  /// Starts the thread. Traps only when the system gives neither memory nor a thread.
  public init(name: String = "loop") {
    self.name = name
    uv = .allocate(capacity: 1)
    wake = .allocate(capacity: 1)
    beforeWait = .allocate(capacity: 1)
    let made = uv_loop_init(uv)
    precondition(made == 0, "no event loop: \(uvMessage(made))")
    uv.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    uv_async_init(uv, wake) { EventLoop.owning($0!.pointee.loop).drain() }
    uv_prepare_init(uv, beforeWait)
    uv_prepare_start(beforeWait) { EventLoop.owning($0!.pointee.loop).prepareToWait() }
    var thread = uv_thread_t()
    let started = uv_thread_create(
      &thread,
      { argument in Unmanaged<EventLoop>.fromOpaque(argument!).takeRetainedValue().run() },
      Unmanaged.passRetained(self).toOpaque())
    precondition(started == 0, "no thread for an event loop: \(uvMessage(started))")
    detach(thread)
  }

  deinit {
    uv.deallocate()
    wake.deallocate()
    beforeWait.deallocate()
    readBuffer.deallocate()
    plainBuffer.deallocate()
    batchBuffer.deallocate()
  }

  static func owning(_ loop: UnsafeMutablePointer<uv_loop_t>) -> EventLoop {
    Unmanaged<EventLoop>.fromOpaque(loop.pointee.data).takeUnretainedValue()
  }

  // MARK: Executor

  public func enqueue(_ job: consuming ExecutorJob) { accept(.job(UnownedJob(job))) }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func checkIsolated() { preconditionCurrent() }

  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Whether the caller runs on this loop.
  public var isCurrent: Bool { runner.load(ordering: .relaxed) == currentThread() }

  /// Traps unless the caller runs on this loop: our own misuse, never a peer's doing.
  func preconditionCurrent() {
    precondition(isCurrent, "must be called on its event loop \"\(name)\"")
  }

  /// Runs `body` on the loop, after what was handed over before. From any thread; returns at once.
  public func execute(_ body: @escaping @Sendable () -> Void) { accept(.body(body)) }

  private func accept(_ work: Work) {
    enum Next { case nothing, drainer }
    let onLoop = isCurrent
    let next: Next = inbox.withLock { inbox in
      inbox.work.append(work)
      switch inbox.phase {
      case .running:
        // On the loop itself `prepareToWait` looks again before the thread sleeps.
        guard !inbox.wakeSent, !onLoop else { return .nothing }
        inbox.wakeSent = true
        // Sent under the lock: after `stopped` is set under it the handle may be closed.
        uv_async_send(wake)
        return .nothing
      case .closing, .stopped(drainerRuns: true): return .nothing
      case .stopped(drainerRuns: false):
        inbox.phase = .stopped(drainerRuns: true)
        return .drainer
      }
    }
    switch next {
    case .nothing: break
    case .drainer: startDrainer()
    }
  }

  private func drain() {
    inbox.withLock { inbox in
      inbox.wakeSent = false
      swap(&inbox.work, &spare)
    }
    for work in spare { perform(work) }
    spare.removeAll(keepingCapacity: true)
  }

  private func perform(_ work: Work) {
    switch work {
    case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
    case .body(let body): body()
    }
  }

  // MARK: The loop's own thread

  private func run() {
    blockBrokenPipe()
    runner.store(currentThread(), ordering: .relaxed)
    uv_run(uv, UV_RUN_DEFAULT)
    let left = uv_loop_close(uv)
    precondition(left == 0, "an event loop ended with open handles")
    let (waiting, mustDrain) = inbox.withLock { inbox in
      defer { inbox.awaitingStop = [] }
      runner.store(0, ordering: .relaxed)
      inbox.phase = .stopped(drainerRuns: !inbox.work.isEmpty)
      return (inbox.awaitingStop, !inbox.work.isEmpty)
    }
    if mustDrain { startDrainer() }
    for continuation in waiting { continuation.resume() }
  }

  /// Runs just before the thread waits: what was handed over and written during this turn goes out together.
  private func prepareToWait() {
    for _ in 0..<16 {
      drain()
      runFlushes()
      if flushes.isEmpty, inbox.withLock({ $0.work.isEmpty }) { return }
    }
    uv_async_send(wake)  // more to do, but sockets first
  }

  private func runFlushes() {
    guard !flushes.isEmpty else { return }
    var due: [any LoopFlushable] = []
    swap(&due, &flushes)
    for flushable in due { flushable.flush() }
    due.removeAll(keepingCapacity: true)
    if flushes.isEmpty { swap(&due, &flushes) }
  }

  /// Calls `flush()` once before the loop waits next. The caller sees to it that one object asks once a turn.
  func flushLater(_ flushable: any LoopFlushable) { flushes.append(flushable) }

  /// Milliseconds of a clock that nobody sets, as of the start of this turn.
  var turnTime: Int64 { Int64(clamping: uv_now(uv)) }

  /// When `turnTime` will be that much higher.
  func later(_ span: Instant.Span) -> Int64 {
    let (sum, overflow) = turnTime.addingReportingOverflow(span.milliseconds)
    return overflow ? .max : sum
  }

  // MARK: Timers

  /// Runs `body` once on the loop after `span`, unless cancelled. From any thread. After `stop()` it never runs.
  @discardableResult
  public func schedule(after span: Instant.Span, _ body: @escaping @Sendable () -> Void) -> LoopTimer {
    let timer = LoopTimer(loop: self, body: body)
    if isCurrent {
      timer.start(after: span)
    } else {
      execute { timer.start(after: span) }
    }
    return timer
  }

  // MARK: Stopping

  func admit(_ resident: any LoopResident) -> Bool {
    guard !isClosing else { return false }
    residents[ObjectIdentifier(resident)] = resident
    return true
  }

  func dismiss(_ resident: any LoopResident) { residents[ObjectIdentifier(resident)] = nil }

  /// What still lives on this loop: sockets and timers.
  var residentCount: Int { residents.count }

  /// Whether sockets and timers may still be made here; on the loop only.
  var isOpen: Bool { !isClosing }

  /// Closes every socket and timer of the loop and ends its thread; returns once that is done. Closing is at once:
  /// whoever wants to drain does so first. May be called again, also from an actor pinned to this loop.
  public func stop() async {
    await withCheckedContinuation { continuation in
      enum Next { case ask, wait, done }
      let next: Next = inbox.withLock { inbox in
        if case .stopped = inbox.phase { return .done }
        inbox.awaitingStop.append(continuation)
        defer { inbox.stopRequested = true }
        return inbox.stopRequested ? .wait : .ask
      }
      switch next {
      case .ask: execute { self.closeAll() }
      case .wait: break
      case .done: continuation.resume()
      }
    }
  }

  private func closeAll() {
    isClosing = true
    for resident in residents.values { resident.abandon() }
    flushes = []
    // The handle that wakes us goes last: until `phase` says stopped, others may send to it.
    uv_close(UnsafeMutableRawPointer(beforeWait).assumingMemoryBound(to: uv_handle_t.self), nil)
    inbox.withLock { inbox in
      inbox.phase = .closing
      uv_close(UnsafeMutableRawPointer(wake).assumingMemoryBound(to: uv_handle_t.self), nil)
    }
  }

  // MARK: After the end

  private func startDrainer() {
    var thread = uv_thread_t()
    let started = uv_thread_create(
      &thread,
      { argument in Unmanaged<EventLoop>.fromOpaque(argument!).takeRetainedValue().runAfterEnd() },
      Unmanaged.passRetained(self).toOpaque())
    precondition(started == 0, "no thread for an event loop: \(uvMessage(started))")
    detach(thread)
  }

  private func runAfterEnd() {
    runner.store(currentThread(), ordering: .relaxed)
    while true {
      var batch: [Work] = []
      let done = inbox.withLock { inbox in
        swap(&inbox.work, &batch)
        guard batch.isEmpty else { return false }
        inbox.phase = .stopped(drainerRuns: false)
        runner.store(0, ordering: .relaxed)
        return true
      }
      if done { return }
      for work in batch { perform(work) }
    }
  }
}

/// Something that collects output during a turn of the loop and sends it at its end.
protocol LoopFlushable: AnyObject {
  func flush()
}

/// Something with libuv handles on a loop.
protocol LoopResident: AnyObject {
  /// The loop ends: close every handle now. Called once, on the loop.
  func abandon()
}

/// A few loops, one thread each; connections are dealt out in turn.
public final class LoopGroup: Sendable {
  public let loops: [EventLoop]
  private let turn = Atomic<Int>(0)

  /// At least one.
  public init(count: Int) {
    loops = (0..<max(1, count)).map { EventLoop(name: "loop \($0)") }
  }

  public func next() -> EventLoop {
    let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    return loops[Int(UInt(bitPattern: number) % UInt(loops.count))]
  }

  /// Stops every loop; see `EventLoop.stop`.
  public func stop() async {
    for loop in loops { await loop.stop() }
  }
}

private func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

/// A peer that vanished is an error of the write (EPIPE), not a signal that ends the process. This thread only: what the
/// rest of the program does with signals is not ours.
private func blockBrokenPipe() {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}

private func detach(_ thread: uv_thread_t) {
  #if canImport(Darwin)
    if let thread { pthread_detach(thread) }
  #else
    pthread_detach(thread)
  #endif
}

/// libuv's words for a negative result.
func uvMessage(_ code: Int32) -> String { String(cString: uv_strerror(code)) }
