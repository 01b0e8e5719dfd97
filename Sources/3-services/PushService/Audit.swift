import Basics
public import Store

/// Who asks for what the current task does, for the audit log. A door sets it around a call, and tells it who that turned
/// out to be; outside of any the service itself does what it does.
public final class AuditContext: Sendable {
  @TaskLocal public static var current: AuditContext?

  let address: String?
  private let known: Locked<AuditDoer?>

  /// - Parameters:
  ///   - doer: nil when it is not known before credentials were looked at.
  ///   - address: the caller's, as the door saw it.
  public init(_ doer: AuditDoer? = nil, address: String? = nil) {
    known = Locked(doer)
    self.address = address
  }

  /// Whose credentials were right.
  public func identify(_ doer: AuditDoer) { known.withLock { $0 = doer } }

  var doer: AuditDoer? { known.withLock { $0 } }
}

/// A line of the audit log.
public struct AuditLine: Sendable, Hashable {
  public var entry: AuditEntry
  /// Of the app that it is about; nil where it is no app's.
  public var appKey: String?
}

extension PushService {
  /// Newest first, those with an id below `before`; at most `limit`. The filter's app is the one given.
  public func audit(
    _ app: AppRecord?, _ filter: AuditFilter, before: Int64?, limit: Int
  ) async throws(RequestFault) -> [AuditLine] {
    var filter = filter
    filter.app = app?.id
    var lines: [AuditLine] = []
    for entry in try await faulting(as: .push, await store.audit(filter, before: before, limit: limit)) {
      var key = app?.key
      if let id = entry.note.app, key == nil {
        key = try await faulting(as: .push, await credentials.app(id: id))?.key
      }
      lines.append(AuditLine(entry: entry, appKey: key))
    }
    return lines
  }

  /// The whole store was written to a file.
  public func noteBackup(_ name: String) async throws(RequestFault) {
    try await faulting(as: .push, await store.note(AuditNote(.backupMade, at: clock.now, subject: name)))
  }

  /// nil where nobody is asked for: a device speaks for itself, or the service does.
  func noteOfCaller(_ kind: AuditKind, _ app: AppRecord, _ subject: String?, _ words: String? = nil) -> AuditNote? {
    AuditContext.current?.doer == nil ? nil : note(kind, app, subject, words)
  }

  /// Of what was done elsewhere, and is not undone where the note cannot be kept.
  func keep(_ note: AuditNote) async {
    do throws(StoreFault) { try await store.note(note) } catch {
      metricCounts.change { $0.storeFaults += 1 }
      onEvent(.storeTrouble("\(error)"))
    }
  }

  func note(_ kind: AuditKind, _ app: AppRecord, _ subject: String?, _ words: String? = nil) -> AuditNote {
    AuditNote(kind, of: app, at: clock.now, subject: subject, words: words)
  }
}

extension AuditNote {
  /// By whoever asks for what the current task does.
  init(_ kind: AuditKind, of app: AppRecord? = nil, at now: Instant, subject: String?, words: String? = nil) {
    let context = AuditContext.current
    self.init(
      kind, at: now, app: app?.id, doer: context?.doer ?? AuditDoer(.service), address: context?.address,
      subject: subject, words: words)
  }
}
