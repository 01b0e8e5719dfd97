/// Why a request was not taken, in a form that a caller can act on. Safe to show: holds no token, key or payload text.
/// What only operators may see is told as a `ServiceEvent` where it happened, under the same `code`.
public struct RequestFault: Error, Hashable, Sendable {
  public let code: Code
  /// JSON path (`notification.ios.badge`); nil when the whole request is meant.
  public let place: String?
  /// What was found, in words; at most 80 characters of the caller's own input.
  public let found: String
  /// What to do next; a whole sentence.
  public let remedy: String
  /// The registration ids that are at fault, where a call names many.
  public let illegalIDs: [String]

  public init(
    _ code: Code, at place: String? = nil, found: String, remedy: String, illegalIDs: [String] = []
  ) {
    self.code = code
    self.place = place
    self.found = found
    self.remedy = remedy
    self.illegalIDs = illegalIDs
  }

  /// JPush's numbers (jpush.md §10), and from 9000 on those of our own calls: never renumbered, never reused.
  public enum Code: Int, CaseIterable, Sendable {
    // push
    case internalError = 1000
    case methodNotAllowed = 1001
    case missingParameter = 1002
    case invalidParameter = 1003
    case authenticationFailed = 1004
    case tooLarge = 1005
    case unknownKey = 1009
    case audienceEmpty = 1011
    case overLimit = 1012
    case temporarilyUnavailable = 1030
    case rateLimited = 2002
    case forbidden = 2003
    // report
    case reportInternalError = 10
    case reportAuthenticationFailed = 3001
    case reportInvalidParameter = 3002
    case reportUnitMismatch = 3004
    case reportSpanTooLong = 3005
    // device
    case deviceInternalError = 7000
    case deviceCredentialsMissing = 7001
    case deviceInvalidParameter = 7002
    case deviceAuthenticationFailed = 7004
    case noSuchAPI = 7010
    case devicePartlyInvalid = 7013
    case aliasFull = 7015
    case tooManyTags = 7016
    case deviceTemporarilyUnavailable = 7030
    // schedule
    case scheduleInvalid = 8100
    case scheduleAuthenticationFailed = 8101
    case noSuchSchedule = 8104
    case scheduleInternalError = 8200
    case scheduleTemporarilyUnavailable = 8203
    // admin
    case adminMethodNotAllowed = 4001
    case adminInvalid = 4003
    case adminAuthenticationFailed = 4004
    // our own
    case noSuchResource = 9404
    case conflict = 9409
    case changedMeanwhile = 9412

    public var httpStatus: Int {
      switch self {
      case .internalError, .reportInternalError, .deviceInternalError, .scheduleInternalError: 500
      case .methodNotAllowed, .adminMethodNotAllowed: 405
      case .missingParameter, .invalidParameter, .tooLarge, .unknownKey, .audienceEmpty, .overLimit,
        .adminInvalid, .reportInvalidParameter, .reportUnitMismatch, .reportSpanTooLong, .deviceInvalidParameter,
        .devicePartlyInvalid,
        .aliasFull, .tooManyTags,
        .scheduleInvalid:
        400
      case .authenticationFailed, .adminAuthenticationFailed, .reportAuthenticationFailed, .deviceCredentialsMissing,
        .deviceAuthenticationFailed,
        .scheduleAuthenticationFailed:
        401
      case .forbidden: 403
      case .noSuchAPI, .noSuchResource, .noSuchSchedule: 404
      case .conflict: 409
      case .changedMeanwhile: 412
      case .rateLimited: 429
      case .temporarilyUnavailable, .deviceTemporarilyUnavailable, .scheduleTemporarilyUnavailable: 503
      }
    }

    /// Whether the same request may succeed later, unchanged.
    public var isTemporary: Bool { httpStatus == 503 || httpStatus == 429 }
  }
}

extension RequestFault: CustomStringConvertible {
  public var description: String { "\(place.map { "\($0): " } ?? "")\(found). \(remedy)" }
}
