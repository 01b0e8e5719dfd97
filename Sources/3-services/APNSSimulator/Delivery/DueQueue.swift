internal import Basics

/// Which device is to be looked at next: a binary heap. An entry may be out of date; whoever takes it out asks the device.
struct DueQueue: Sendable {
  struct Entry: Hashable, Sendable {
    var due: Instant
    var device: String
  }

  private var heap: [Entry] = []

  init(_ entries: [Entry] = []) { for entry in entries { add(entry) } }

  var first: Entry? { heap.first }
  var count: Int { heap.count }

  mutating func add(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].due < heap[parent].due else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() -> Entry? {
    guard let last = heap.popLast() else { return nil }
    guard let first = heap.first else { return last }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].due < heap[least].due {
        least = child
      }
      guard least != parent else { return first }
      heap.swapAt(least, parent)
      parent = least
    }
  }
}
