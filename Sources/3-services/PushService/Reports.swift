import Audience
public import Basics
import Schedule
import Store

extension PushService {
  /// The app's pushes below a message id, the newest first.
  public func reports(
    _ app: AppRecord, before: Int64 = .max, limit: Int
  ) async throws(RequestFault) -> [PushReport] {
    do throws(StoreFault) {
      return try await store.pushes(app: app.id, before: before, limit: limit).map(PushReport.init)
    } catch {
      throw RequestFault(error, .push)
    }
  }

  /// nil when the app has no such push.
  public func report(_ app: AppRecord, messageID: Int64) async throws(RequestFault) -> PushReport? {
    do throws(StoreFault) {
      return try await store.progress(app: app.id, push: messageID).map(PushReport.init)
    } catch {
      throw RequestFault(error, .push)
    }
  }

  /// Whether each device has said that it had the push, in the order given.
  public func arrivals(
    _ app: AppRecord, messageID: Int64, registrationIDs: [String]
  ) async throws(RequestFault) -> [PushArrival] {
    do throws(StoreFault) {
      return try await store.reportStandings(app: app.id, push: messageID, registrationIDs: registrationIDs)
        .map(PushArrival.init)
    } catch {
      throw RequestFault(error, .push)
    }
  }

  /// nil when the app has no such push.
  public func countLists(_ app: AppRecord, messageID: Int64) async throws(RequestFault) -> PushCountLists? {
    do throws(StoreFault) {
      return try await store.breakdown(app: app.id, push: messageID).map(PushCountLists.init)
    } catch {
      throw RequestFault(error, .push)
    }
  }

  /// What is known of one device in one push, in order; nil when the app has no such push or device.
  public func explain(
    _ app: AppRecord, messageID: Int64, registrationID: String
  ) async throws(RequestFault) -> PushExplanation? {
    do throws(StoreFault) {
      guard let progress = try await store.progress(app: app.id, push: messageID) else { return nil }
      let trace = try await store.trace(app: app.id, push: messageID, registrationID: registrationID)
      return PushExplanation(progress.push, trace, early: early(progress.push, trace))
    } catch {
      throw RequestFault(error, .push)
    }
  }
}

extension PushReport {
  init(_ progress: PushProgress) {
    self.init(
      messageID: progress.push.id,
      state: State(progress),
      acceptedAt: progress.push.acceptedAt, finishedAt: progress.finishedAt, targeted: progress.targeted,
      wrongEnvironment: progress.push.wrongEnvironment, deadTokens: progress.push.deadTokens, accepted: 0,
      refused: [], expired: 0, unanswered: 0, skipped: 0, skippedByPreference: 0, withdrawn: 0,
      received: progress.reports[.received] ?? 0, shown: progress.reports[.shown] ?? 0,
      clicked: progress.reports[.clicked] ?? 0, warnings: progress.push.warnings)
    for (kind, count) in progress.counts {
      switch kind {
      case .accepted: accepted = count
      case .refused(let reason): refused.append(Refused(reason: reason, count: count))
      case .expired: expired = count
      case .unanswered: unanswered = count
      case .skipped: skipped = count
      case .skippedByPreference: skippedByPreference = count
      case .withdrawn: withdrawn = count
      }
    }
    if skippedByPreference > 0 {
      warnings.append(
        "\(skippedByPreference) devices were skipped by the user's preference: only the scheduled push is wanted")
    }
    refused.sort { ($1.count, $0.reason) < ($0.count, $1.reason) }
  }
}

extension PushReport.State {
  init(_ progress: PushProgress) {
    switch (progress.control, progress.finishedAt) {
    case (.withdrawn, _): self = .withdrawn
    case (.running, _?), (.paused, _?): self = .finished
    case (.paused, nil): self = .paused
    case (.running, nil): self = progress.waiting.map { .waiting(reason: $0) } ?? .sending
    }
  }
}

extension PushCounts {
  init(_ tally: PushTally) {
    for (kind, count) in tally.outcomes {
      switch kind {
      case .accepted: accepted += count
      case .refused: refused += count
      case .expired: expired += count
      case .unanswered: unanswered += count
      case .skipped: skipped += count
      case .skippedByPreference: skippedByPreference += count
      case .withdrawn: withdrawn += count
      }
    }
    received = tally.reports[.received] ?? 0
    shown = tally.reports[.shown] ?? 0
    clicked = tally.reports[.clicked] ?? 0
  }
}

extension PushCountLists {
  init(_ breakdown: PushBreakdown) {
    hours = breakdown.hours.sorted { $0.key < $1.key }.map { ($0.key, PushCounts($0.value)) }
    appVersions = breakdown.appVersions.sorted { $0.key < $1.key }.map {
      ($0.key.isEmpty ? nil : $0.key, PushCounts($0.value))
    }
  }
}

extension PushService {
  /// Why a device that is owed the push must wait for a time of its place.
  private func early(_ push: StoredPush, _ trace: DeviceTrace) -> String? {
    guard case .pending(let device, _) = trace, let timing = push.timing, let scheduling else { return nil }
    let told = device.facts.timeZone.flatMap { zone in scheduling.zone(zone).map { (zone, $0) } }
    let (zone, rules) = told ?? (timing.timeZone, scheduling.zone(timing.timeZone) ?? .utc)
    switch timing.verdict(at: clock.now, in: rules) {
    case .now, .dropped: return nil
    case .dueAt(let at): return "waits until \(rules.local(at: at)) of \(zone), when it is due there"
    case .quietUntil(let at): return "waits until \(rules.local(at: at)) of \(zone), when the quiet hours end"
    }
  }
}

/// Why a device got a push, or did not (DESIGN §6).
public struct PushExplanation: Sendable, Equatable {
  public enum Outcome: String, Sendable {
    case notTargeted, pending, accepted, refused, expired, unanswered, skipped, skippedByPreference, withdrawn
  }

  public struct Line: Sendable, Equatable {
    /// nil where only the order is known.
    public var at: Instant?
    public var words: String
  }

  public var outcome: Outcome
  public var lines: [Line]

  /// nil when there is nothing to tell of.
  init?(_ push: StoredPush, _ trace: DeviceTrace, early: String? = nil) {
    lines = [Line(at: push.acceptedAt, words: "push accepted for \(push.environment)")]
    let device: StoredDevice
    switch trace {
    case .noSuchPush, .noSuchDevice: return nil
    case .notTargeted(let found):
      (device, outcome) = (found, .notTargeted)
      lines.append(
        Line(at: push.acceptedAt, words: Self.whyNotTargeted(found, push)))
    case .pending(let found, let waiting):
      (device, outcome) = (found, .pending)
      lines.append(Line(at: nil, words: waiting.map { "waits: \($0)" } ?? early ?? "not sent yet"))
    case .accepted(let found):
      (device, outcome) = (found, .accepted)
      lines.append(Line(at: nil, words: "APNs accepted it"))
    case .ended(let found, let end, let at):
      device = found
      switch end.kind {
      case .accepted: outcome = .accepted
      case .refused: outcome = .refused
      case .expired: outcome = .expired
      case .unanswered: outcome = .unanswered
      case .skipped: outcome = .skipped
      case .skippedByPreference: outcome = .skippedByPreference
      case .withdrawn: outcome = .withdrawn
      }
      lines.append(Line(at: at, words: Self.words(end)))
    }
    if let death = device.death {
      lines.append(
        Line(at: death.notedAt, words: "token dead: \(death.words(registeredAt: device.registeredAt))"))
    }
  }

  private static func whyNotTargeted(_ device: StoredDevice, _ push: StoredPush) -> String {
    if device.registeredAt > push.acceptedAt { return "registered only after the push was accepted" }
    if device.environment != push.environment {
      return "its token is of \(device.environment), the push is for \(push.environment)"
    }
    if let exclusion = push.audience?.exclusion(of: device.subject, at: push.acceptedAt) {
      let place = exclusion.place.isEmpty ? "" : " (\(exclusion.place))"
      return "not in the audience: \(exclusion.words)\(place)"
    }
    return "its token was dead, or it came into the audience only later"
  }

  private static func words(_ outcome: DeviceOutcome) -> String {
    let note = outcome.note.map { ": \($0)" } ?? ""
    switch outcome.kind {
    case .accepted: return "APNs accepted it"
    case .refused(let reason): return "APNs refused it: \(outcome.status.map { "\($0) " } ?? "")\(reason)\(note)"
    case .expired: return "expired unsent"
    case .unanswered: return "sent, no answer\(note)"
    case .skipped: return "not sent\(note)"
    case .withdrawn: return "not sent: the push was withdrawn before\(note)"
    case .skippedByPreference: return "skipped by the user's preference: only the scheduled push is wanted\(note)"
    }
  }
}
