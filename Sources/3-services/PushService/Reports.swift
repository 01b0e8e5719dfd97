import PushPayload
import Store

extension PushService {
  /// The app's pushes below a message id, the newest first.
  public func reports(
    _ app: AppRecord, before: Int64 = .max, limit: Int
  ) async throws(RequestFault) -> [PushReport] {
    try await faulting(
      as: .push, await store.pushes(app: app.id, before: before, limit: limit).map(PushReport.init))
  }

  /// nil when the app has no such push.
  public func report(_ app: AppRecord, messageID: Int64) async throws(RequestFault) -> PushReport? {
    try await faulting(as: .push, await store.progress(app: app.id, push: messageID).map(PushReport.init))
  }

  /// Whether each device has said that it had the push, in the order given.
  public func arrivals(
    _ app: AppRecord, messageID: Int64, registrationIDs: [String]
  ) async throws(RequestFault) -> [PushArrival] {
    var arrivals = try await faulting(
      as: .push,
      await store.reportStandings(app: app.id, push: messageID, registrationIDs: registrationIDs).map(PushArrival.init))
    guard try await faulting(as: .push, await store.message(app: app.id, id: messageID)) != nil else { return arrivals }
    for (index, id) in registrationIDs.enumerated() {
      switch arrivals[index] {
      case .arrived, .noSuchDevice: break
      case .notArrived, .notTargeted:
        let trace = try await faulting(
          as: .push, await store.messageTrace(app: app.id, id: messageID, registrationID: id))
        switch trace?.state {
        case .delivered: arrivals[index] = .arrived
        case .waiting, .waitingForAlias: arrivals[index] = .notArrived
        case .notMeant, nil: break
        }
      }
    }
    return arrivals
  }

  /// nil when the app has no such push.
  public func countLists(_ app: AppRecord, messageID: Int64) async throws(RequestFault) -> PushCountLists? {
    try await faulting(as: .push, await store.breakdown(app: app.id, push: messageID).map(PushCountLists.init))
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
    isOfLiveActivity = progress.push.pushType == PushType.liveactivity.rawValue
    isCall = progress.push.pushType == PushType.voip.rawValue
    message = progress.message.map { MessageCounts($0) }
    companion = progress.companion
    companionOf = progress.push.companionOf
    if case .channel(let id) = progress.push.address {
      broadcast = Broadcast(channel: id, requestID: BroadcastSender.requestID(of: messageID))
    }
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
      let channel = progress.push.channel.map { ", or not the channel “\($0)”" } ?? ""
      warnings.append(
        "\(skippedByPreference) devices were skipped by the user's preference: only the scheduled push is wanted\(channel)"
      )
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
