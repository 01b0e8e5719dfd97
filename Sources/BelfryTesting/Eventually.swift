/// Waits until something holds that other threads or processes bring about, which no clock of a test can hurry; false when
/// it does not within `tries` looks, 5 ms apart. Where time alone decides, move a `VirtualClock` instead.
public func eventually(tries: Int = 2000, _ holds: () async -> Bool) async -> Bool {
  for _ in 0..<tries {
    if await holds() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return false
}
