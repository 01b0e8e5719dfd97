internal import Basics
internal import PushPayload

/// Which of the pushes that came are meant: every condition that is there must hold. Read by `NotificationFilter+Reading`.
struct NotificationFilter: Equatable, Sendable {
  var token: [UInt8]?
  var topic: String?
  var bundle: String?
  var device: String?
  /// `apns-id`, compared without case.
  var id: String?
  var pushType: PushType?
  var priority: PushPriority?
  var collapseID: String?
  var environment: SimulatedEnvironment?
  var state: NotificationState?
  var finding: LintCode?
  var findings: FindingBar?
  /// Numbers above it, times from it on.
  var since: Bound?
  /// Numbers up to it, times before it.
  var until: Bound?

  enum Bound: Equatable, Sendable {
    /// A notification's `number`.
    case number(UInt64)
    /// When APNs took it.
    case time(Instant)

    /// A number stands behind its own push, a time before all that came in that millisecond.
    func isBefore(_ entry: LoggedNotification) -> Bool {
      switch self {
      case .number(let number): number < entry.number
      case .time(let time): time <= entry.push.receivedAt
      }
    }
  }

  /// What lint may have found.
  enum FindingBar: Equatable, Sendable {
    case nothing
    /// At least one of that severity or a graver one.
    case atLeast(Severity)

    func holds(_ found: [Finding]) -> Bool {
      switch self {
      case .nothing: found.isEmpty
      case .atLeast(let severity): found.contains { $0.severity >= severity }
      }
    }
  }

  /// What never changes about a push and is quickly compared; may be asked on the path of a push.
  func concerns(_ entry: LoggedNotification) -> Bool {
    let push = entry.push
    if let token, push.token != token { return false }
    if let topic, push.topic != topic { return false }
    if let bundle, push.bundleID != bundle { return false }
    if let device, entry.device != device { return false }
    if let id, push.id.lowercased() != id { return false }
    if let pushType, push.pushType != pushType { return false }
    if let priority, push.priority != priority { return false }
    if let collapseID, push.collapseID != collapseID { return false }
    if let environment, push.environment != environment { return false }
    if let since, !since.isBefore(entry) { return false }
    if let until, until.isBefore(entry) { return false }
    return true
  }

  func matches(_ entry: LoggedNotification) -> Bool {
    guard concerns(entry) else { return false }
    if let state, NotificationState(entry.fate) != state { return false }
    guard finding != nil || findings != nil else { return true }
    let found = entry.findings
    if let finding, !found.contains(where: { $0.code == finding }) { return false }
    return findings?.holds(found) ?? true
  }
}

/// What became of a push, as the control API calls it.
enum NotificationState: String, CaseIterable, Sendable {
  case stored, grouped, throttled, queued, sent, delivered, replaced, expired, dropped

  init(_ fate: LoggedNotification.Fate) {
    switch fate {
    case .stored: self = .stored
    case .grouped: self = .grouped
    case .throttled: self = .throttled
    case .queued: self = .queued
    case .sent: self = .sent
    case .delivered: self = .delivered
    case .replaced: self = .replaced
    case .expired: self = .expired
    case .dropped: self = .dropped
    }
  }
}
