public import Audience
public import Basics

/// What the services keep of in-app messages. All that `Store` says of an engine holds here too.
///
/// A message has a **position**, a number that grows by one with each message of its app. It is given in the transaction
/// that accepts the message, so that whoever reads an app's messages up to a position misses none below it.
///
/// What many devices are meant by is kept once with the set of them, what a few are meant by in their inboxes; no answer
/// tells the two apart.
public protocol MessageStore: Sendable {
  /// Tells from now on of everything that is put into inboxes, and of inboxes that nobody may read any more, once it is
  /// durable and before the operation returns that did it. Of one app in the order of positions, each once. `body` is
  /// called on a thread of the engine's and must not wait. Before it there was nobody who listened; there is one listener.
  func followInboxes(_ body: @escaping @Sendable (InboxNews) -> Void)

  /// nil when there is no such device, or its app was deleted.
  func inboxState(app: Int64, ordinal: DeviceOrdinal) async throws(StoreFault) -> InboxState?

  /// What is in a device's inbox, without what was withdrawn or has expired at `now`; of what was withdrawn the
  /// withdrawal, after it.
  func inbox(
    app: Int64, ordinal: DeviceOrdinal, _ range: InboxRange, at now: Instant
  ) async throws(StoreFault) -> InboxPage

  /// The message id at a position of the device's inbox, also of what was withdrawn or has expired; nil: the device has
  /// nothing there.
  func inboxID(app: Int64, ordinal: DeviceOrdinal, position: Int64) async throws(StoreFault) -> Int64?

  /// Moves each device on to its position, in one transaction, and counts what was delivered that lies above where it
  /// was. Nothing moves back, so that saying it again counts nothing.
  func acknowledge(_ acknowledgements: [InboxAcknowledgement], at now: Instant) async throws(StoreFault)

  /// The device's user has read the messages; counted once for each. Answers those that are not the device's.
  func noteRead(
    app: Int64, ordinal: DeviceOrdinal, ids: [Int64], at now: Instant
  ) async throws(StoreFault) -> [Int64]

  /// From here on nobody is given the message, and whoever was meant by it finds the withdrawal in the inbox. Once more it
  /// changes nothing. false when the app has no such message.
  func withdrawMessage(
    app: Int64, id: Int64, at now: Instant, audit: AuditNote?
  ) async throws(StoreFault) -> Bool

  /// nil when the app has no such message.
  func message(app: Int64, id: Int64) async throws(StoreFault) -> MessageProgress?

  /// Those with an id below `before`, the highest first; at most `limit`.
  func messages(app: Int64, before: Int64, limit: Int) async throws(StoreFault) -> [MessageProgress]

  /// nil when the app has no such message or device.
  func messageTrace(app: Int64, id: Int64, registrationID: String) async throws(StoreFault) -> MessageTrace?
}
