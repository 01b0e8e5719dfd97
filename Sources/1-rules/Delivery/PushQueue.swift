import Basics

/// A place in a queue: the push, and which use of its id is meant, so that what was withdrawn can be passed over later
/// instead of searched for now.
struct Ticket: Equatable, Sendable {
  var push: PushID
  var use: UInt32
}

/// First in, first out, with a short cut for what goes again: its turn has been once.
struct PushQueue: Sendable {
  private var again: [Ticket] = []
  private var waiting: [Ticket] = []
  private var taken = 0

  /// Tickets, withdrawn ones among them.
  var count: Int { again.count + waiting.count - taken }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ ticket: Ticket) { waiting.append(ticket) }

  mutating func putInFront(_ ticket: Ticket) { again.append(ticket) }

  mutating func popFirst() -> Ticket? {
    if let ticket = again.popLast() { return ticket }
    guard taken < waiting.count else { return nil }
    defer {
      taken += 1
      if taken == waiting.count {
        waiting.removeAll(keepingCapacity: true)
        taken = 0
      } else if taken > 4096, taken * 2 > waiting.count {
        waiting.removeFirst(taken)
        taken = 0
      }
    }
    return waiting[taken]
  }

  mutating func removeAll() -> [Ticket] {
    let all = Array(again.reversed()) + waiting[taken...]
    self = PushQueue()
    return all
  }
}
