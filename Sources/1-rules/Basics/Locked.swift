import CShims

/// A value behind a lock, for the few places that no actor and no loop owns. Hold it briefly, never across an `await`;
/// two of them never nest. (Swift's `Mutex` is avoided because ThreadSanitizer reports races in it that are not there.)
public final class Locked<Value: ~Copyable>: @unchecked Sendable {  // `lock` guards `value`
  private let lock = belfry_lock_create()
  private var value: Value

  public init(_ value: consuming sending Value) { self.value = value }

  deinit { belfry_lock_destroy(lock) }

  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    belfry_lock_take(lock)
    defer { belfry_lock_give(lock) }
    return try body(&value)
  }
}
