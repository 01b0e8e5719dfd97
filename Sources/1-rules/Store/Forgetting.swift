public import Basics

/// What is old enough to be removed; nil: none of its kind is.
public struct Forgetting: Sendable, Equatable {
  /// Pushes whose last device ended before, with all that is known of each of their devices; and uses of `cid`.
  public var pushesBefore: Instant?
  /// What came of due times of schedules.
  public var firingsBefore: Instant?
  /// Update tokens of Live Activities that were told before: the activity is over.
  public var activitiesBefore: Instant?
  /// Devices whose token was found dead before.
  public var deadBefore: Instant?
  /// In-app messages that were accepted before.
  public var messagesBefore: Instant?
  /// Lines of the audit log.
  public var auditBefore: Instant?
  /// Files that had expired by then.
  public var filesExpiredBy: Instant?

  public init(
    pushesBefore: Instant? = nil, firingsBefore: Instant? = nil, activitiesBefore: Instant? = nil,
    deadBefore: Instant? = nil, messagesBefore: Instant? = nil, auditBefore: Instant? = nil,
    filesExpiredBy: Instant? = nil
  ) {
    self.pushesBefore = pushesBefore
    self.firingsBefore = firingsBefore
    self.activitiesBefore = activitiesBefore
    self.deadBefore = deadBefore
    self.messagesBefore = messagesBefore
    self.auditBefore = auditBefore
    self.filesExpiredBy = filesExpiredBy
  }
}
