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

/// What waits for a moment, earliest first (a binary heap).
struct DueHeap: Sendable {
  private var heap: [(due: Instant.Span, ticket: Ticket)] = []

  var earliest: Instant.Span? { heap.first?.due }
  var count: Int { heap.count }

  mutating func insert(_ ticket: Ticket, due: Instant.Span) {
    heap.append((due, ticket))
    var child = heap.count - 1
    while child > 0, heap[child].due < heap[(child - 1) / 2].due {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func popDue(at now: Instant.Span) -> Ticket? {
    guard let first = heap.first, first.due <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].due < heap[least].due {
        least = child
      }
      guard least != parent else { break }
      heap.swapAt(parent, least)
      parent = least
    }
    return first.ticket
  }

  mutating func removeAll() -> [Ticket] {
    defer { heap = [] }
    return heap.map(\.ticket)
  }
}
