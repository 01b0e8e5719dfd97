import Audience
public import Basics
import Delivery
import PushPayload
import Schedule
import Store

/// Why a device got a push, or did not: every decision about it that is known, oldest first (DESIGN §6).
public struct PushExplanation: Sendable, Equatable {
  public enum Outcome: String, Sendable {
    case notTargeted, pending, accepted, refused, expired, unanswered, skipped, skippedByPreference, withdrawn
  }

  public var messageID: Int64
  public var registrationID: String
  public var outcome: Outcome
  public var decisions: [Decision]

  public struct Decision: Sendable, Equatable {
    /// nil where only its place among the others is known.
    public var at: Instant?
    public var by: Teller
    public var words: String

    public init(at: Instant?, by: Teller, words: String) {
      self.at = at
      self.by = by
      self.words = words
    }
  }

  /// Who decided or saw it.
  public enum Teller: String, Sendable {
    case service, apns
    /// By its own word, over `/device/v1`.
    case device
    /// A simulated one, in this process.
    case phone
  }
}

/// Knows what became of a push after APNs took it, where APNs and phones are simulated ones of this process.
public protocol PhoneWitness: Sendable {
  /// What is known of the push, oldest first; nothing for one that never came, or is forgotten.
  func testimony(of push: PushMark) async -> [PushExplanation.Decision]
}

/// How APNs and phones know a push to one device.
public struct PushMark: Sendable, Hashable {
  /// `apns-id`.
  public var apnsID: String
  /// `_j_msgid` in the payload.
  public var messageID: Int64
  /// `apns-collapse-id`, by which the phone names its notification; nil: it makes none.
  public var collapseID: String?
}

extension PushService {
  /// nil when the app has no such push or device. What was true when the push was planned is told as far as it is kept:
  /// that the device was in the audience, always; why it was not, by the device as it is now, and with the words that it
  /// has changed since when it has.
  public func explain(
    _ app: AppRecord, messageID: Int64, registrationID: String
  ) async throws(RequestFault) -> PushExplanation? {
    let answer = try await faulting(
      as: .push, await store.trace(app: app.id, push: messageID, registrationID: registrationID))
    switch answer {
    case .noSuchPush, .noSuchDevice: return nil
    case .found(let trace):
      var explanation = PushExplanation(trace, early: early(trace))
      let message = try await faulting(
        as: .push, await store.messageTrace(app: app.id, id: messageID, registrationID: registrationID))
      if let message {
        explanation.add(message, isAlone: trace.push.isMessageAlone, at: clock.now)
      }
      if trace.state != .notTargeted, let witness {
        let mark = PushMark(
          apnsID: PushIdentity.apnsID(message: messageID, device: trace.device.ordinal).text, messageID: messageID,
          collapseID: trace.push.shownID)
        explanation.add(await witness.testimony(of: mark))
      }
      return explanation
    }
  }
}

extension PushService {
  /// Why a device that is owed the push must wait for a time of its place.
  private func early(_ trace: DeviceTrace) -> String? {
    guard case .pending = trace.state, let timing = trace.push.timing, let scheduling else { return nil }
    let told = trace.device.facts.timeZone.flatMap { zone in scheduling.zone(zone).map { (zone, $0) } }
    let (zone, rules) = told ?? (timing.timeZone, scheduling.zone(timing.timeZone) ?? .utc)
    switch timing.heeding(trace.device.quietHours).verdict(at: clock.now, in: rules) {
    case .now, .dropped: return nil
    case .dueAt(let at): return "waits until \(rules.local(at: at)) of \(zone), when it is due there"
    case .quietUntil(let at): return "waits until \(rules.local(at: at)) of \(zone), when the quiet hours end"
    }
  }
}

extension PushExplanation {
  init(_ trace: DeviceTrace, early: String? = nil) {
    messageID = trace.push.id
    registrationID = trace.device.registrationID
    outcome = Outcome(trace.state)
    decisions = []
    tell(trace.push.acceptedAt, .service, "the push was accepted, for \(trace.whom) of \(trace.push.environment)")
    if case .notTargeted = trace.state {
      tell(trace.push.acceptedAt, .service, trace.whyNotTargeted)
    } else {
      tell(trace.push.acceptedAt, .service, trace.whyTargeted)
    }
    for step in trace.stepsMet { tell(step.at, .service, step.words) }
    switch trace.state {
    case .notTargeted: break
    case .pending(let waiting): tell(nil, .service, trace.whyPending(waiting, early))
    case .accepted(let at): tell(at, .apns, "APNs accepted it")
    case .ended(let end, let at): tell(at, end)
    }
    if let later = trace.replacedBy, let collapseID = trace.push.shownID {
      tell(
        later.acceptedAt, .service,
        "push \(later.push) has the same collapse id \(quoted(collapseID)): it takes this one's place on the phone, and at "
          + "APNs when this one was not delivered yet")
    }
    for report in trace.reports { tell(report.at, .device, report.kind.words) }
    if let death = trace.device.death {
      tell(death.notedAt, .service, "token dead: \(death.words(registeredAt: trace.device.registeredAt))")
    }
    order()
  }

  private mutating func tell(_ at: Instant?, _ by: Teller, _ words: String) {
    decisions.append(Decision(at: at, by: by, words: words))
  }

  mutating func add(_ testimony: [Decision]) {
    decisions += testimony
    order()
  }

  /// By time; what has none stays behind what it was told after.
  private mutating func order() {
    var last = Instant(milliseconds: .min)
    let keyed = decisions.enumerated().map { index, decision in
      last = decision.at ?? last
      return (at: last, index: index, decision: decision)
    }
    decisions = keyed.sorted { ($0.at, $0.index) < ($1.at, $1.index) }.map(\.decision)
  }

  private mutating func tell(_ at: Instant, _ end: DeviceOutcome) {
    let note = end.note.map { ": \($0)" } ?? ""
    switch end.kind {
    case .accepted: tell(at, .apns, "APNs accepted it")
    case .refused(let reason):
      let status = end.status.map { "\($0) " } ?? ""
      let known = RefusalReason(rawValue: reason).map { ". \($0.meaning) \($0.remedy)" } ?? ""
      tell(at, .apns, "APNs refused it: \(status)\(reason)\(note)\(known)")
    case .expired: tell(at, .service, "expired unsent: its time to live had passed")
    case .unanswered:
      tell(at, .service, "sent, and no answer came\(note); the phone may have shown it")
    case .skipped: tell(at, .service, "not sent\(note)")
    case .withdrawn: tell(at, .service, "not sent: the push was withdrawn before\(note)")
    case .skippedByPreference:
      tell(at, .service, "skipped by the user's preference: \(end.note ?? "only the scheduled push is wanted")")
    }
  }
}

extension PushExplanation.Outcome {
  init(_ state: DeviceTrace.State) {
    switch state {
    case .notTargeted: self = .notTargeted
    case .pending: self = .pending
    case .accepted: self = .accepted
    case .ended(let end, _):
      switch end.kind {
      case .accepted: self = .accepted
      case .refused: self = .refused
      case .expired: self = .expired
      case .unanswered: self = .unanswered
      case .skipped: self = .skipped
      case .skippedByPreference: self = .skippedByPreference
      case .withdrawn: self = .withdrawn
      }
    }
  }
}

extension DeviceTrace {
  /// Those of the push's steps that came while the device was owed it.
  fileprivate var stepsMet: [PushStep] {
    switch state {
    case .notTargeted: []
    case .pending: steps
    case .accepted(let end): steps.filter { step in end.map { step.at <= $0 } ?? true }
    case .ended(_, let end): steps.filter { $0.at <= end }
    }
  }

  fileprivate func whyPending(_ waiting: String?, _ early: String?) -> String {
    let control = steps.reversed().lazy.compactMap { if case .control(let control) = $0.kind { control } else { nil } }
    switch control.first ?? .running {
    case .paused: return "not sent yet: the push is paused"
    case .withdrawn: return "not sent: the push is withdrawn"
    case .running: break
    }
    if let waiting { return "it waits: \(waiting)" }
    if let early { return early }
    let pace = push.pace.map { ": the push leaves to \($0.devices) devices in \($0.per.milliseconds / 1000) s" } ?? ""
    return "not sent yet\(pace)"
  }

  fileprivate var whom: String {
    switch push.address {
    case .device, .special: "\(targeted) devices"
    case .channel(let id): "the broadcast channel \(id)"
    }
  }

  fileprivate var whyTargeted: String {
    let whom = push.audience.map { ": \($0.words)" } ?? ""
    return "the device was in the audience\(whom); its token was alive and of \(push.environment)"
  }

  /// By what is kept: the device as it is now, whether it has changed since the push, and the times of its token.
  fileprivate var whyNotTargeted: String {
    if case .channel = push.address {
      return "it went to no device by itself; who listens to the channel only APNs knows"
    }
    if device.createdAt > push.acceptedAt {
      return "not in the audience: the device registered only after, at \(device.createdAt)"
    }
    let exclusion = push.audience?.exclusion(of: subject, at: push.acceptedAt)
    let clause = exclusion.map { $0.place.isEmpty ? $0.words : "\($0.words) (\($0.place))" }
    if let clause {
      guard hasChanged else { return "not in the audience: \(clause)" }
      return
        "not in the audience, nor would it be as it is now: \(clause). It has changed since; what it was then is not kept"
    }
    let isSameToken = device.registeredAt <= push.acceptedAt
    if let death = device.death, isSameToken, death.notedAt <= push.acceptedAt {
      return "left out: its token was dead, \(death.words(registeredAt: device.registeredAt))"
    }
    if isSameToken, device.environment != push.environment {
      return "left out: its token is of \(device.environment), the push is for \(push.environment)"
    }
    if !isSameToken {
      let also = hasChanged ? ", or it was not in the audience: it has changed since" : ""
      return
        "left out: its token was dead or of another environment then\(also). It registered again at \(device.registeredAt)"
    }
    guard push.audience != nil else {
      return "not in the audience; an older Belfry accepted the push and did not keep whom it was for"
    }
    if hasChanged {
      return
        "not in the audience then, though it would be now: its tags, alias or what it tells of itself changed since"
    }
    return "not in the audience then: what puts it there was changed while the push was being planned"
  }

  /// Also that it was heard of again, where the audience asks for that.
  private var hasChanged: Bool {
    changedSince || (device.seenAt > push.acceptedAt && push.audience?.asksForLastSeen ?? false)
  }
}

extension AudienceExpression {
  fileprivate var asksForLastSeen: Bool {
    switch self {
    case .lastSeen: true
    case .all(let parts), .any(let parts): parts.contains { $0.asksForLastSeen }
    case .not(let part), .saved(_, let part): part.asksForLastSeen
    case .everyone, .tag, .alias, .registrationID, .file, .appVersion, .osVersion, .language, .timeZone, .model,
      .permission, .holds, .created, .segment, .variant, .share:
      false
    }
  }
}

extension PushStep {
  fileprivate var words: String {
    switch kind {
    case .waits(let reason): "the push waits for an operator: \(reason)"
    case .goesOn, .control(.running): "the push goes on"
    case .control(.paused): "the push was paused"
    case .control(.withdrawn): "the push was withdrawn"
    }
  }
}

extension ReportKind {
  fileprivate var words: String {
    switch self {
    case .received: "the device says that it received it"
    case .shown: "the device says that it was shown"
    case .clicked: "the device says that its user opened it"
    }
  }
}
