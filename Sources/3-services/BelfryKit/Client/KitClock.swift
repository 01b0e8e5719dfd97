internal import Dispatch

/// A clock that only goes forward, in milliseconds.
protocol KitClock: Sendable {
  var now: Int64 { get }
  func sleep(milliseconds: Int64) async throws
}

struct SystemKitClock: KitClock {
  var now: Int64 { Int64(clamping: DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  func sleep(milliseconds: Int64) async throws {
    try await Task.sleep(nanoseconds: UInt64(clamping: max(0, milliseconds)) * 1_000_000)
  }
}
