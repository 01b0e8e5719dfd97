public import Basics

/// What the dates of a client certificate mean for sending. Apple's push certificates are good for about a year, and APNs
/// says nothing before one ends (case C28).
public enum CertificateTerm: Equatable, Sendable {
  /// Good only from then on; with a right clock that is rare, so the clock is to be looked at too.
  case notBegun(Instant)
  case good
  /// Good, but for no more than `days` days from now, the least of `notices` that holds.
  case ending(Instant, days: Int64)
  case ended(Instant)

  /// How many days ahead an end is told, each once.
  public static let notices: [Int64] = [30, 7, 1]

  public init(notBefore: Instant, notAfter: Instant, at now: Instant) {
    if now < notBefore {
      self = .notBegun(notBefore)
    } else if now > notAfter {
      self = .ended(notAfter)
    } else {
      let days = Self.notices.last { notAfter - now <= .days($0) }
      self = days.map { .ending(notAfter, days: $0) } ?? .good
    }
  }

  /// Whether a server may take it.
  public var isValid: Bool {
    switch self {
    case .good, .ending: true
    case .notBegun, .ended: false
    }
  }

  /// What is the matter with the certificate called `name`, and what to do; nil when nothing is.
  public func words(for name: String) -> String? {
    switch self {
    case .good: nil
    case .notBegun(let time):
      "The certificate \(name) is good from \(time) on only. Check this machine's clock, or wait"
    case .ending(let time, let days):
      "The certificate \(name) ends at \(time), in no more than \(days == 1 ? "a day" : "\(days) days"). "
        + "Make a new one in Apple's developer portal before that, and put it in the old one's place"
    case .ended(let time):
      "The certificate \(name) ended at \(time). Make a new one in Apple's developer portal"
    }
  }
}
