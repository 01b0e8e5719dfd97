public import Audience
public import Basics
public import Store

extension StoreSQLite {
  public func followInboxes(_ body: @escaping @Sendable (InboxNews) -> Void) { writer.follow(body) }

  public func inboxState(app: Int64, ordinal: DeviceOrdinal) async throws(StoreFault) -> InboxState? {
    try await reader.run { database throws(StoreFault) in try InboxTable(database).state(app: app, ordinal: ordinal) }
  }

  public func inbox(
    app: Int64, ordinal: DeviceOrdinal, _ range: InboxRange, at now: Instant
  ) async throws(StoreFault) -> InboxPage {
    try await reader.run { database throws(StoreFault) in
      try InboxTable(database).page(app: app, ordinal: ordinal, range, at: now)
    }
  }

  public func inboxID(app: Int64, ordinal: DeviceOrdinal, position: Int64) async throws(StoreFault) -> Int64? {
    try await reader.run { database throws(StoreFault) in
      try InboxTable(database).id(app: app, ordinal: ordinal, position: position)
    }
  }

  public func acknowledge(_ acknowledgements: [InboxAcknowledgement], at now: Instant) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in
      try InboxTable(database).acknowledge(acknowledgements, at: now)
    }
  }

  public func noteRead(
    app: Int64, ordinal: DeviceOrdinal, ids: [Int64], at now: Instant
  ) async throws(StoreFault) -> [Int64] {
    try await writer.run { database throws(StoreFault) in
      try MessageTable(database).noteRead(app: app, ordinal: ordinal, ids: ids, at: now)
    }
  }

  public func withdrawMessage(
    app: Int64, id: Int64, at now: Instant, audit: AuditNote?
  ) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try MessageTable(database).withdraw(app: app, id: id, at: now)
    }
  }

  public func message(app: Int64, id: Int64) async throws(StoreFault) -> MessageProgress? {
    try await reader.run { database throws(StoreFault) in try MessageTable(database).progress(app: app, id: id) }
  }

  public func messages(app: Int64, before: Int64, limit: Int) async throws(StoreFault) -> [MessageProgress] {
    try await reader.run { database throws(StoreFault) in
      try MessageTable(database).messages(app: app, before: before, limit: limit)
    }
  }

  public func messageTrace(app: Int64, id: Int64, registrationID: String) async throws(StoreFault) -> MessageTrace? {
    try await reader.run { database throws(StoreFault) in
      try MessageTable(database).trace(app: app, id: id, registrationID: registrationID)
    }
  }
}
