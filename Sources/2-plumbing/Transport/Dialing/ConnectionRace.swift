import Basics

/// Which of a host's addresses to try, when, and which attempt wins (RFC 8305): the next one begins when the last began
/// `delay` ago or has failed, the first that is through wins, and the others are let go.
///
/// A value: no clock, no socket. Attempts are numbers, in the order of the addresses. Times are milliseconds of any
/// clock that nobody sets.
struct ConnectionRace: Sendable {
  enum Event: Equatable, Sendable {
    /// TCP, and what stands on it (proxy, TLS), are up.
    case through(Int)
    case failed(Int)
    case tick
  }

  enum Effect: Equatable, Sendable {
    case connect(Int)
    /// Let it go: another was faster.
    case cancel(Int)
    /// It began long enough before the winner, and yet said nothing: its address may be dark.
    case silent(Int)
    case won(Int)
    /// Every address has failed.
    case lost
  }

  private enum Attempt: Equatable {
    case waiting
    case running(since: Int64)
    case ended
  }

  private var attempts: [Attempt]
  private let delay: Int64
  /// When the next begins although none has failed; nil when there is none, or the race is over.
  private(set) var nextDue: Int64?
  private var isOver = false

  /// - Parameter delay: the Connection Attempt Delay of RFC 8305 §5, which recommends 250 ms.
  init(addresses: Int, delay: Int64 = 250) {
    attempts = Array(repeating: .waiting, count: max(0, addresses))
    self.delay = max(1, delay)
  }

  mutating func start(at now: Int64) -> [Effect] {
    guard !isOver, nextDue == nil else { return [] }
    return next(now)
  }

  mutating func handle(_ event: Event, at now: Int64) -> [Effect] {
    guard !isOver else { return [] }
    switch event {
    case .tick:
      guard let nextDue, now >= nextDue else { return [] }
      return next(now)
    case .failed(let number):
      guard attempts.indices.contains(number), case .running = attempts[number] else { return [] }
      attempts[number] = .ended
      return next(now)
    case .through(let number):
      guard attempts.indices.contains(number), case .running(let since) = attempts[number] else { return [] }
      isOver = true
      nextDue = nil
      var effects: [Effect] = []
      for (other, attempt) in attempts.enumerated() where other != number {
        guard case .running(let before) = attempt else { continue }
        if since - before >= delay { effects.append(.silent(other)) }
        effects.append(.cancel(other))
      }
      attempts[number] = .ended
      return effects + [.won(number)]
    }
  }

  private mutating func next(_ now: Int64) -> [Effect] {
    if let number = attempts.firstIndex(of: .waiting) {
      attempts[number] = .running(since: now)
      nextDue = attempts.contains(.waiting) ? now + delay : nil
      return [.connect(number)]
    }
    nextDue = nil
    guard attempts.allSatisfy({ $0 == .ended }) else { return [] }
    isOver = true
    return [.lost]
  }
}

/// In which order a host's addresses are tried.
enum AddressOrder {
  /// Spread by chance over the answers of each family, as Apple asks ("Do an uncached look-up, and spread over the
  /// answers"), the families alternating from that of the first answer on (RFC 8305 §4); dark ones come last.
  static func spread(
    _ addresses: [Endpoint], isDark: (Endpoint) -> Bool, dice: inout Dice
  ) -> [Endpoint] {
    var seen: Set<Endpoint> = []
    let unique = addresses.filter { seen.insert($0).inserted }
    return interleaved(unique.filter { !isDark($0) }, &dice) + interleaved(unique.filter(isDark), &dice)
  }

  private static func interleaved(_ addresses: [Endpoint], _ dice: inout Dice) -> [Endpoint] {
    guard let first = addresses.first else { return [] }
    var ours = addresses.filter { $0.isIPv6 == first.isIPv6 }.shuffled(using: &dice)[...]
    var others = addresses.filter { $0.isIPv6 != first.isIPv6 }.shuffled(using: &dice)[...]
    var order: [Endpoint] = []
    while !ours.isEmpty || !others.isEmpty {
      if let address = ours.popFirst() { order.append(address) }
      if let address = others.popFirst() { order.append(address) }
    }
    return order
  }
}

extension Endpoint {
  /// Of an address in digits.
  var isIPv6: Bool { host.contains(":") }
}
