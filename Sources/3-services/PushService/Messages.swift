public import Basics
public import PushPayload
import Store

/// An in-app message as the app's server sees it.
public struct MessageView: Sendable, Equatable {
  /// Of the push that it came in.
  public var id: Int64
  /// What the app is given.
  public var body: JSONObject
  public var acceptedAt: Instant
  /// nil: it lasts.
  public var expiresAt: Instant?
  public var withdrawnAt: Instant?
  public var counts: MessageCounts

  init(_ message: MessageProgress) {
    id = message.id
    body = JSONObject(ofMessage: message.body)
    acceptedAt = message.acceptedAt
    expiresAt = message.expiresAt
    withdrawnAt = message.withdrawnAt
    counts = MessageCounts(message)
  }
}

/// An in-app message in a device's history.
public struct DeviceMessage: Sendable, Equatable {
  /// Grows along the device's messages.
  public var position: Int64
  public var id: Int64
  public var body: JSONObject
  public var acceptedAt: Instant
  /// The app has said that it has it.
  public var isDelivered: Bool
}

extension PushService {
  /// Those of the app with an id below `before`, newest first; at most `limit`.
  public func messages(
    _ app: AppRecord, before id: Int64, limit: Int
  ) async throws(RequestFault) -> [MessageView] {
    try await faulting(as: .push, await store.messages(app: app.id, before: id, limit: limit).map(MessageView.init))
  }

  public func message(_ app: AppRecord, id: Int64) async throws(RequestFault) -> MessageView {
    guard let message = try await faulting(as: .push, await store.message(app: app.id, id: id)) else {
      throw Self.noSuch("message", String(id))
    }
    return MessageView(message)
  }

  /// Takes the message alone from every app that has it, and from those that it waits for; a notification of the same push
  /// goes on. Once more it changes nothing.
  public func deleteMessage(_ app: AppRecord, id: Int64) async throws(RequestFault) {
    guard try await message(app, id: id).withdrawnAt == nil else { return }
    let note = note(.messageWithdrawn, app, String(id))
    _ = try await faulting(
      as: .push, await store.withdrawMessage(app: app.id, id: id, at: clock.now, audit: note))
  }

  /// What the app on the device finds in its history: those below a position, newest first, at most `limit`.
  public func messages(
    _ app: AppRecord, registrationID: String, before position: Int64, limit: Int
  ) async throws(RequestFault) -> [DeviceMessage] {
    let device = try await faulting(as: .push, await store.device(app: app.id, registrationID: registrationID))
    guard let device,
      let state = try await faulting(as: .push, await store.inboxState(app: app.id, ordinal: device.ordinal))
    else { throw Self.noSuch("device", registrationID) }
    var found: [DeviceMessage] = []
    var range = InboxRange(before: position, newestFirst: true, limit: limit)
    while found.count < limit {
      let page = try await faulting(
        as: .push, await store.inbox(app: app.id, ordinal: device.ordinal, range, at: clock.now))
      for entry in page.entries {
        range.before = entry.position
        guard found.count < limit, case .message(let body) = entry.kind else { continue }
        found.append(
          DeviceMessage(
            position: entry.position, id: entry.id,
            body: JSONObject(ofMessage: body), acceptedAt: entry.at,
            isDelivered: entry.position <= state.acknowledged))
      }
      guard page.hasMore else { break }
    }
    return found
  }
}

extension JSONObject {
  /// As `MessageContent.body` wrote it.
  fileprivate init(ofMessage body: [UInt8]) { self = (try? JSONReader.read(body))?.value.object ?? JSONObject() }
}
