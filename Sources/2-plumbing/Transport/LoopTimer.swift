import Basics
import CLibuv

/// A body that a loop runs once, later. Keeps itself alive until it ran, was cancelled, or its loop stopped.
public final class LoopTimer: @unchecked Sendable, LoopResident {  // everything but `loop` by the loop's thread
  let loop: EventLoop
  private var body: (() -> Void)?
  private var handle: UnsafeMutablePointer<uv_timer_t>?
  private var isCancelled = false

  init(loop: EventLoop, body: @escaping () -> Void) {
    self.loop = loop
    self.body = body
  }

  /// On the loop. Starts, or starts again with another span.
  func start(after span: Instant.Span) {
    guard !isCancelled else { return }
    if handle == nil {
      guard loop.admit(self) else { return abandon() }
      let made = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
      uv_timer_init(loop.uv, made)
      made.pointee.data = Unmanaged.passRetained(self).toOpaque()
      handle = made
    }
    uv_timer_start(handle, { LoopTimer.owning($0!).fire() }, UInt64(clamping: span.milliseconds), 0)
  }

  /// On the loop. Like `start`, for a timer that fires more than once: it stays open after firing.
  private var staysOpen = false

  static func reusable(on loop: EventLoop, body: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(loop: loop, body: body)
    timer.staysOpen = true
    return timer
  }

  private static func owning(_ handle: UnsafeMutablePointer<uv_timer_t>) -> LoopTimer {
    Unmanaged<LoopTimer>.fromOpaque(handle.pointee.data).takeUnretainedValue()
  }

  private func fire() {
    if staysOpen {
      body?()
    } else {
      let due = body
      abandon()
      due?()
    }
  }

  /// From any thread. On its loop, the body does not run once this returned.
  public func cancel() {
    if loop.isCurrent {
      abandon()
    } else {
      loop.execute { self.abandon() }
    }
  }

  func abandon() {
    isCancelled = true
    body = nil
    guard let handle else { return }
    self.handle = nil
    loop.dismiss(self)
    uv_close(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) { closed in
      let timer = UnsafeMutableRawPointer(closed!).assumingMemoryBound(to: uv_timer_t.self)
      Unmanaged<LoopTimer>.fromOpaque(timer.pointee.data).release()
      timer.deallocate()
    }
  }
}
