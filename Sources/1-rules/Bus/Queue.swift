/// First in, first out, both in constant time.
struct Queue<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var count: Int { elements.count - head }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head]
    elements[head] = nil
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: head <= 1024)
      head = 0
    } else if head >= 1024, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Linear; for the rare.
  mutating func removeFirst(where matches: (Element) -> Bool) -> Element? {
    guard let index = elements.indices.dropFirst(head).first(where: { elements[$0].map(matches) ?? false }) else {
      return nil
    }
    return elements.remove(at: index)
  }
}
