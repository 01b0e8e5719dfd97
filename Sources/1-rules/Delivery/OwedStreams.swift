/// The pushes that a connection owes an answer, by stream. Streams are odd and grow by two (RFC 9113 §5.1.1), so a ring
/// indexed by the stream's number does what a dictionary would, without hashing; what lies too far ahead of the oldest
/// one for a ring, which only a driver's mistake can bring, goes to a dictionary.
struct OwedStreams: Sendable {
  private static let none = UInt32.max
  private static let longest = 1 << 20

  /// A power of two long; the push of stream `s` lies at `s / 2` modulo that.
  private var ring: [UInt32] = Array(repeating: none, count: 1024)
  /// No stream of the ring is below it.
  private var oldest = 0
  /// The ring holds nothing at or above it.
  private var end = 0
  private var inRing = 0
  private var far: [StreamID: PushID] = [:]

  var count: Int { inRing + far.count }
  var isEmpty: Bool { count == 0 }

  subscript(stream: StreamID) -> PushID? {
    let place = Int(stream.rawValue) >> 1
    if stream.rawValue & 1 == 1, place >= oldest, place < end {
      let push = ring[place & (ring.count - 1)]
      return push == Self.none ? nil : PushID(rawValue: push)
    }
    return far.isEmpty ? nil : far[stream]
  }

  /// The push that had the stream before, if any.
  mutating func insert(_ push: PushID, on stream: StreamID) -> PushID? {
    let place = Int(stream.rawValue) >> 1
    if inRing == 0 { (oldest, end) = (place, place) }
    guard stream.rawValue & 1 == 1, push.rawValue != Self.none, place >= oldest, place - oldest < Self.longest,
      far.isEmpty || far[stream] == nil
    else { return far.updateValue(push, forKey: stream) }
    if place - oldest >= ring.count { grow(toHold: place - oldest + 1) }
    let slot = place & (ring.count - 1)
    if place >= end {
      // what is skipped holds nothing, since only places in use are filled
      end = place + 1
    }
    let before = ring[slot]
    ring[slot] = push.rawValue
    guard before == Self.none else { return PushID(rawValue: before) }
    inRing += 1
    return nil
  }

  mutating func remove(_ stream: StreamID) -> PushID? {
    let place = Int(stream.rawValue) >> 1
    guard stream.rawValue & 1 == 1, place >= oldest, place < end else {
      return far.isEmpty ? nil : far.removeValue(forKey: stream)
    }
    let slot = place & (ring.count - 1)
    let push = ring[slot]
    guard push != Self.none else { return nil }
    ring[slot] = Self.none
    inRing -= 1
    if place == oldest {
      repeat { oldest += 1 } while oldest < end && ring[oldest & (ring.count - 1)] == Self.none
    }
    return PushID(rawValue: push)
  }

  mutating func removeAll() -> [PushID] {
    let all = inOrder.map(\.push)
    self = OwedStreams()
    return all
  }

  /// Lowest stream first.
  var inOrder: [(stream: StreamID, push: PushID)] {
    var all: [(stream: StreamID, push: PushID)] = []
    all.reserveCapacity(count)
    for place in oldest..<max(oldest, end) {
      let push = ring[place & (ring.count - 1)]
      if push != Self.none { all.append((StreamID(rawValue: Int32(place << 1 | 1)), PushID(rawValue: push))) }
    }
    guard !far.isEmpty else { return all }
    all += far.map { ($0.key, $0.value) }
    return all.sorted { $0.stream < $1.stream }
  }

  private mutating func grow(toHold span: Int) {
    var size = ring.count
    while size < span { size *= 2 }
    var larger = Array(repeating: Self.none, count: size)
    for place in oldest..<max(oldest, end) { larger[place & (size - 1)] = ring[place & (ring.count - 1)] }
    ring = larger
  }
}
