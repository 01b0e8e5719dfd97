internal import Messages
internal import Store

/// When credentials were last told to be good no more, so that whoever was being let in just then is looked at again. Devices
/// share slots: now and then one is looked at for another's sake, never left out for it.
struct Endings: Sendable {
  /// Grows with each.
  private(set) var count: UInt64 = 0
  private var last = [UInt64](repeating: 0, count: 1024)

  mutating func note(app: Int64, _ end: InboxEnd) {
    count += 1
    switch end {
    case .appDeleted: for slot in last.indices { last[slot] = count }
    case .deviceDeleted(let ordinal), .secretReplaced(let ordinal):
      last[slot(SessionDevice(app: app, ordinal: ordinal))] = count
    }
  }

  /// Whether the device's may have ended since there were so many.
  func mayHaveEnded(_ device: SessionDevice, since count: UInt64) -> Bool { last[slot(device)] > count }

  private func slot(_ device: SessionDevice) -> Int {
    Int(truncatingIfNeeded: device.app &* 31 &+ Int64(device.ordinal)) & (last.count - 1)
  }
}
