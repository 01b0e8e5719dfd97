public import Audience
public import Basics
import Store

/// A saved audience, evaluated anew each time it is named.
public struct SegmentView: Sendable, Equatable {
  public var id: String
  /// JSON as it was given.
  public var document: [UInt8]
  public var audience: AudienceExpression
  public var updatedAt: Instant
  /// Grows by each change, from 1.
  public var version: Int64

  init(_ segment: StoredSegment) {
    id = segment.id
    document = segment.document
    audience = segment.audience
    updatedAt = segment.updatedAt
    version = segment.version
  }
}

extension PushService {
  /// By id, those after the given one; at most `limit`.
  public func segments(
    _ app: AppRecord, after: String?, limit: Int
  ) async throws(RequestFault) -> [SegmentView] {
    try await faulting(
      as: .push, await store.segments(app: app.id, after: after, limit: limit).map(SegmentView.init))
  }

  public func segment(_ app: AppRecord, id: String) async throws(RequestFault) -> SegmentView? {
    try await faulting(as: .push, await store.segment(app: app.id, id: id).map(SegmentView.init))
  }

  /// Keeps a new segment or replaces the one of its id; 9412 when `ifVersion` is not that of the one that is there. An
  /// expression that names a segment is refused, so that none can come to mean itself; so is one that names a file, which
  /// would expire in it.
  public func keepSegment(
    _ app: AppRecord, id: String, document: [UInt8], _ audience: AudienceExpression, ifVersion: Int64?
  ) async throws(RequestFault) -> SegmentView {
    try NameRule.resource.check(id, .invalidParameter, at: "id")
    try AudienceRule.check(audience)
    for case .segment(let inner) in audience.leaves {
      throw RequestFault(
        .invalidParameter, at: "audience", found: "the segment \(quoted(inner)) in a segment",
        remedy: "Write out what it stands for.")
    }
    for case .file(let file) in audience.leaves {
      throw RequestFault(
        .invalidParameter, at: "audience", found: "the file \(quoted(file)) in a segment, which would outlive it",
        remedy: "Name it in the push, beside the segment.")
    }
    _ = try await resolved(audience, app)
    let segment = StoredSegment(id: id, document: document, audience: audience, updatedAt: clock.now)
    let kept = try await faulting(
      as: .push,
      await store.keepSegment(
        app: app.id, segment, ifVersion: ifVersion, audit: note(.segmentKept, app, id)))
    guard let kept else { throw Self.changedMeanwhile("the segment") }
    return SegmentView(kept)
  }

  public func deleteSegment(_ app: AppRecord, id: String) async throws(RequestFault) {
    let wasThere = try await faulting(
      as: .push, await store.deleteSegment(app: app.id, id: id, audit: note(.segmentDeleted, app, id)))
    guard wasThere else { throw Self.noSuch("segment", id) }
  }

  static func changedMeanwhile(_ what: String) -> RequestFault {
    RequestFault(
      .changedMeanwhile, found: "\(what) was changed since it was read",
      remedy: "Read it again, then send the change with its new ETag.")
  }

  public static func noSuch(_ what: String, _ id: String) -> RequestFault {
    RequestFault(
      .noSuchResource, at: "id", found: "this app has no \(what) \(quoted(id))",
      remedy: "List what there is, and check the spelling.")
  }
}
