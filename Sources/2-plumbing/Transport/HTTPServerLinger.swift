internal import Basics

/// Sockets whose request was answered before it was read to its end. Closing one with bytes unread makes TCP reset it,
/// and the peer, still sending, would lose the answer. So what it sends is read and dropped for a while first.
final class HTTPLinger: Sendable {
  private static let patience = Duration.seconds(2)
  private static let mostBytes = 16 * 1024 * 1024
  private static let mostSockets = 64

  private let lingering = Locked<[Entry]>([])

  private struct Entry {
    var descriptor: Int32
    var until: ContinuousClock.Instant
    var dropped = 0
  }

  /// Keeps the connection open by a descriptor of its own; the given one may be closed at once.
  func keep(_ descriptor: Int32) {
    let hasRoom = lingering.withLock { $0.count < Self.mostSockets }
    guard hasRoom, let own = HTTPSocket.duplicate(descriptor) else { return }
    let entry = Entry(descriptor: own, until: .now + Self.patience)
    let isFirst = lingering.withLock { entries in
      entries.append(entry)
      return entries.count == 1
    }
    if isFirst { Task { await run() } }
  }

  private func run() async {
    while lingering.withLock({ Self.dropWhatCame(&$0) }) { try? await Task.sleep(for: .milliseconds(10)) }
  }

  /// Whether any is left.
  private static func dropWhatCame(_ entries: inout [Entry]) -> Bool {
    for index in entries.indices.reversed() {
      let isOver: Bool
      switch HTTPSocket.drain(entries[index].descriptor) {
      case .ended:
        isOver = true
      case .nothing:
        isOver = .now >= entries[index].until
      case .more(let count):
        entries[index].dropped += count
        isOver = .now >= entries[index].until || entries[index].dropped > mostBytes
      }
      guard isOver else { continue }
      HTTPSocket.release(entries[index].descriptor)
      entries.remove(at: index)
    }
    return !entries.isEmpty
  }
}
