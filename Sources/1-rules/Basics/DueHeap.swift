/// What waits for a moment, earliest first (a binary heap).
public struct DueHeap<Element: Sendable>: Sendable {
  private var heap: [(due: Instant.Span, element: Element)] = []

  public var earliest: Instant.Span? { heap.first?.due }
  public var count: Int { heap.count }

  public init() {}

  public mutating func insert(_ element: Element, due: Instant.Span) {
    heap.append((due, element))
    var child = heap.count - 1
    while child > 0, heap[child].due < heap[(child - 1) / 2].due {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  public mutating func popDue(at now: Instant.Span) -> Element? {
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
    return first.element
  }

  public mutating func removeAll() -> [Element] {
    defer { heap = [] }
    return heap.map(\.element)
  }
}
