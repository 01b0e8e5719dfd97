public import Basics

/// What the dates of a client certificate mean for sending. Apple's push certificates are good for about a year, and APNs
/// says nothing before one ends (case C28).
public enum CertificateTerm: Equatable, Sendable {
  /// Good only from then on; with a right clock that is rare, so the clock is to be looked at too.
  case notBegun(Instant)
  case good
  /// Good, but for less than `notice` from now.
  case ending(Instant)
  case ended(Instant)

  /// How long ahead an end is told.
  public static let notice = Instant.Span.days(30)

  public init(notBefore: Instant, notAfter: Instant, at now: Instant) {
    if now < notBefore {
      self = .notBegun(notBefore)
    } else if now > notAfter {
      self = .ended(notAfter)
    } else {
      self = notAfter - now < Self.notice ? .ending(notAfter) : .good
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
    case .ending(let time):
      "The certificate \(name) ends at \(time). Make a new one in Apple's developer portal before that"
    case .ended(let time):
      "The certificate \(name) ended at \(time). Make a new one in Apple's developer portal"
    }
  }
}
