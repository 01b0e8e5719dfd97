public import Basics
public import Store

/// The use cases behind connections of apps. May be called from any task.
public final class MessageService: Sendable {
  public struct Settings: Sendable, Equatable {
    /// Of what waits for a device that comes back, only the newest so many are sent; nil: all. The rest is in its history.
    public var mostWaiting: Int?

    public init() {}
  }

  /// Whose credentials they are; nil when they are wrong. Notes that the device was heard of.
  public typealias Authenticate =
    @Sendable (_ appKey: String, _ registrationID: String, _ secret: String) async throws -> SessionDevice?

  private let store: any MessageStore
  private let clock: any WallClock
  private let settings: Settings
  private let authenticate: Authenticate
  private let pending = Locked(Pending())
  private let heartbeats = Locked<[SessionDevice: Int32]>([:])
  private let counts = Locked(Counts())

  private struct Pending {
    var list: [InboxAcknowledgement] = []
    var isWriting = false
  }

  public struct Counts: Sendable, Equatable {
    public var acknowledged = 0
    public var storeFaults = 0
  }

  public init(
    store: any MessageStore, clock: any WallClock, settings: Settings = Settings(),
    authenticate: @escaping Authenticate
  ) {
    self.store = store
    self.clock = clock
    self.settings = settings
    self.authenticate = authenticate
  }

  public var metrics: Counts { counts.withLock { $0 } }

  /// There is one listener.
  public func follow(_ body: @escaping @Sendable (InboxNews) -> Void) { store.followInboxes(body) }

  // MARK: Entering

  public enum Answer: Sendable, Equatable {
    case admitted(Entrance)
    case refused(SessionEnd)
  }

  /// A cursor that is right is as good as an acknowledgement up to it.
  public func enter(_ hello: Hello) async -> Answer {
    guard hello.version >= 1 else { return .refused(.badVersion) }
    do {
      guard let device = try await authenticate(hello.appKey, hello.registrationID, hello.secret) else {
        return .refused(.refused)
      }
      return try await entrance(device, hello.cursor).map { .admitted($0) } ?? .refused(.refused)
    } catch {
      counts.withLock { $0.storeFaults += 1 }
      return .refused(.unavailable)
    }
  }

  /// nil: it was deleted since its credentials were looked at.
  private func entrance(_ device: SessionDevice, _ cursor: Hello.Cursor?) async throws(StoreFault) -> Entrance? {
    guard let state = try await store.inboxState(app: device.app, ordinal: device.ordinal) else { return nil }
    var entrance = Entrance(
      device: device, position: state.acknowledged, last: state.last, cursor: .none, isComplete: true,
      heartbeat: heartbeats.withLock { $0[device] })
    if let cursor {
      let id = try await store.inboxID(app: device.app, ordinal: device.ordinal, position: cursor.position)
      if id == cursor.id {
        entrance.cursor = .known
        entrance.position = cursor.position
        if cursor.position > state.acknowledged {
          acknowledge(
            InboxAcknowledgement(app: device.app, ordinal: device.ordinal, position: cursor.position, delivered: nil))
        }
      } else {
        entrance.cursor = .unknown
      }
    }
    entrance.isComplete = entrance.position >= state.forgotten
    guard let most = settings.mostWaiting else { return entrance }
    let waiting = try await store.inbox(
      app: device.app, ordinal: device.ordinal,
      InboxRange(after: entrance.position, newestFirst: true, limit: most), at: clock.now)
    if waiting.hasMore, let oldest = waiting.entries.last {
      entrance.position = oldest.position - 1
      entrance.isComplete = false
    }
    return entrance
  }

  public func rememberLoss(_ device: SessionDevice, heartbeat: Int32) {
    heartbeats.withLock { known in
      if known.count >= 100_000 { known = [:] }
      known[device] = heartbeat
    }
  }

  // MARK: Reading

  /// nil: the store did not answer.
  public func page(_ device: SessionDevice, _ range: InboxRange) async -> InboxPage? {
    do throws(StoreFault) {
      return try await store.inbox(app: device.app, ordinal: device.ordinal, range, at: clock.now)
    } catch {
      counts.withLock { $0.storeFaults += 1 }
      return nil
    }
  }

  public func history(_ device: SessionDevice, _ request: HistoryRequest) async -> InboxPage? {
    await page(
      device,
      InboxRange(
        after: request.after, before: request.before, newestFirst: request.newestFirst, limit: request.limit))
  }

  // MARK: What apps say

  /// Kept with what else is said meanwhile. What is lost with the process is said anew by the cursor of the next hello.
  public func acknowledge(_ acknowledgement: InboxAcknowledgement) {
    let mustWrite = pending.withLock { pending in
      pending.list.append(acknowledgement)
      defer { pending.isWriting = true }
      return !pending.isWriting
    }
    guard mustWrite else { return }
    Task {
      while true {
        let list: [InboxAcknowledgement] = pending.withLock { pending in
          var list: [InboxAcknowledgement] = []
          swap(&list, &pending.list)
          pending.isWriting = !list.isEmpty
          return list
        }
        if list.isEmpty { return }
        do throws(StoreFault) {
          try await store.acknowledge(list, at: clock.now)
          counts.withLock { $0.acknowledged += list.count }
        } catch {
          counts.withLock { $0.storeFaults += 1 }
        }
      }
    }
  }

  public func noteRead(_ device: SessionDevice, ids: [Int64]) async {
    do throws(StoreFault) {
      _ = try await store.noteRead(app: device.app, ordinal: device.ordinal, ids: ids, at: clock.now)
    } catch {
      counts.withLock { $0.storeFaults += 1 }
    }
  }

  /// Returns once what was said is kept.
  public func settle() async {
    while pending.withLock({ $0.isWriting }) { try? await clock.sleep(for: .milliseconds(5)) }
  }
}
