public import Basics
public import PushPayload

/// Notices that a topic is wrong for everybody: after a few identical refusals in a row the pushes of that topic are
/// held, the operator is told once, and no token is blamed (case C37).
public struct TopicWatch: Sendable {
  public enum Event: Equatable, Sendable {
    case accepted(topic: String)
    case refused(topic: String, RefusalReason)
  }

  public enum Effect: Equatable, Sendable {
    /// Send nothing more under this topic; the text is for the operator.
    case hold(topic: String, String)
    /// Said once until a push of that topic is accepted.
    case alarm(topic: String, String)
  }

  public struct Settings: Equatable, Sendable {
    /// Identical refusals in a row. Default 10.
    public var limit = 10
    /// How long the topic is held before one push tries again. Default 10 minutes.
    public var probe = Instant.Span.minutes(10)
    public init() {}
  }

  private struct Suspect {
    var reason: RefusalReason
    var count: Int
    var heldSince: Instant.Span?
    var told = false
  }

  public let settings: Settings
  private var suspects: [String: Suspect] = [:]

  public init(_ settings: Settings = Settings()) { self.settings = settings }

  /// Whether anything is suspected at all; while false, acceptances need not be reported.
  public var isQuiet: Bool { suspects.isEmpty }

  /// Topics that are suspected or held.
  public var count: Int { suspects.count }

  /// Why pushes of this topic are held now, nil if they are not.
  public func held(topic: String, at now: Instant.Span) -> String? {
    guard let suspect = suspects[topic], let since = suspect.heldSince, now - since < settings.probe else { return nil }
    return words(topic, suspect)
  }

  public mutating func handle(_ event: Event, at now: Instant.Span) -> [Effect] {
    switch event {
    case .accepted(let topic):
      suspects[topic] = nil
      return []
    case .refused(let topic, let reason):
      guard reason.concernsTopic else { return [] }
      var suspect = suspects[topic] ?? Suspect(reason: reason, count: 0)
      if suspect.reason != reason { suspect = Suspect(reason: reason, count: 0, told: suspect.told) }
      suspect.count += 1
      defer { suspects[topic] = suspect }
      guard suspect.count >= settings.limit else { return [] }
      let isNew = suspect.heldSince.map { now - $0 >= settings.probe } ?? true
      guard isNew else { return [] }
      suspect.heldSince = now
      let words = words(topic, suspect)
      guard !suspect.told else { return [.hold(topic: topic, words)] }
      suspect.told = true
      return [.alarm(topic: topic, words), .hold(topic: topic, words)]
    }
  }

  private func words(_ topic: String, _ suspect: Suspect) -> String {
    "APNs answered \(suspect.reason.rawValue) to every push of \(topic). \(suspect.reason.remedy)"
  }
}
