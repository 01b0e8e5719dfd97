internal import Basics
internal import PushPayload

/// Tokens begin, end and change.
extension ServiceState {
  mutating func issueToken(to owner: TokenRecord.Owner, isFresh: Bool = false) -> TokenRecord {
    let size = owner.kind == .liveactivity && !owner.detail.isEmpty ? rules.activities.tokenSize : rules.tokenSize
    let record = registry.issue(to: owner, isFresh: isFresh, size: size, dice: &dice)
    changedTokens.insert(record.bytes)
    schedule.add(owner.device)
    return record
  }

  /// Makes exactly this token live for `owner`, also one that was dead or another's.
  mutating func register(_ bytes: [UInt8], to owner: TokenRecord.Owner) -> TokenRecord {
    let former = registry.records[bytes]?.owner.device
    let record = TokenRecord(bytes: bytes, owner: owner)
    registry.adopt(record)
    changedTokens.insert(bytes)
    // What waits for the device that it was of must not be shown there (case C36).
    if let former, former != owner.device { schedule.mark(bytes, of: former, isGone: true) }
    schedule.add(owner.device)
    schedule.mark(bytes, of: owner.device, isGone: false)
    return record
  }

  /// Ends a token. With `isToldAtOnce` the very next push gets 410 and what waits is dropped. Otherwise nobody knows yet:
  /// pushes are still taken, and 410 begins a little after one of them has reached the phone; a phone that cannot be
  /// reached keeps its token for ever (spec apns.md §11.4). nil for an unknown token.
  mutating func end(
    _ token: [UInt8], reason: RefusalReason, since: Instant, isToldAtOnce: Bool, now: Instant
  ) -> TokenRecord? {
    guard let record = registry.end(token, reason: reason, since: since, toldFrom: isToldAtOnce ? now : nil) else {
      return nil
    }
    changedTokens.insert(token)
    let device = record.owner.device
    if isToldAtOnce {
      var outcome = Outcome()
      apply(schedule.drop(token, of: device, why: DropWords.removed, now: now), to: &outcome, now: now)
    } else {
      schedule.mark(token, of: device, isGone: true)
    }
    return record
  }

  /// Ends every token of an app on a device, in both environments: it was removed.
  mutating func uninstall(device: String, bundleID: String, now: Instant) -> Int {
    let tokens = registry.tokens(device: device, bundleID: bundleID)
    for token in tokens { _ = end(token, reason: .unregistered, since: now, isToldAtOnce: false, now: now) }
    unsubscribeAll(device: device, bundleID: bundleID, now: now)
    activities.removeAll(device, bundleID: bundleID)
    disabledAlerts.forget(device, bundleID)
    return tokens.count
  }

  /// Every living token of the device, or of one app on it, ends and a new one takes its place. The old ones die by the
  /// rules of any removed app, or at once.
  mutating func renew(
    device: String, bundleID: String?, reason: RenewalReason, isToldAtOnce: Bool, now: Instant
  ) -> [TokenRenewal] {
    // An activity of the board changes its own.
    let keepsActivities = schedule.device(device)?.keepsActivities ?? false
    let living = registry.livingTokens(device: device)
      .filter { bundleID == nil || $0.owner.bundleID == bundleID }
      .filter { keepsActivities || $0.owner.kind != .liveactivity || $0.owner.detail.isEmpty }
    let renewals = living.map { old in
      _ = end(old.bytes, reason: reason.end, since: now, isToldAtOnce: isToldAtOnce, now: now)
      let new = issueToken(to: old.owner, isFresh: true)
      return TokenRenewal(
        bundleID: old.owner.bundleID, environment: old.owner.environment, kind: old.owner.kind,
        detail: old.owner.detail, topic: new.topicText, former: old.bytes, token: new.bytes, reason: reason)
    }
    if !renewals.isEmpty { untoldTokens[device, default: []] += renewals }
    return renewals
  }

  /// The new tokens that a phone can be told now: emptied by this. A phone that cannot be reached asks when it is back.
  mutating func takeUntoldTokens(of device: String) -> [TokenRenewal] {
    guard let untold = untoldTokens[device], schedule.device(device)?.isConnected == true,
      schedule.device(device)?.isOnline == true
    else { return [] }
    untoldTokens[device] = nil
    return untold
  }
}
