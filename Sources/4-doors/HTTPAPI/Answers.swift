internal import PushPayload
internal import PushService
internal import Transport

/// Builds answers: JSON always, success with JPush's keys only, faults as `{"error": {"code", "message"}}` (jpush.md §3).
enum Answers {
  static func ok(_ value: JSONValue) -> HTTPResponse { json(200, value) }

  /// JPush's "N/A": 200 without a body, with the content type all the same.
  static var empty: HTTPResponse { HTTPResponse(status: 200, headers: ["Content-Type": "application/json"]) }

  /// Of our own calls only: `/v3` answers 200 or a fault.
  static var noContent: HTTPResponse { HTTPResponse(status: 204) }

  static func json(_ status: Int, _ value: JSONValue) -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: value.encoded())
  }

  static func fault(_ fault: RequestFault, family: APIFamily) -> HTTPResponse {
    let code = fault.code.asSeen(in: family)
    var answer = refusal(
      status: code.httpStatus, code: code.rawValue, message: fault.description, place: fault.place,
      illegalIDs: fault.illegalIDs, family: family)
    if code.httpStatus == 401 { answer.headers["WWW-Authenticate"] = "Basic realm=\"Belfry\", charset=\"UTF-8\"" }
    if code.httpStatus == 503 { answer.headers["Retry-After"] = "1" }
    return answer
  }

  /// Our own families answer RFC 9457 problems, which carry the `error` object too.
  static func refusal(
    status: Int, code: Int, message: String, place: String? = nil, illegalIDs: [String] = [], family: APIFamily
  ) -> HTTPResponse {
    let error = error(code: code, message: message, illegalIDs: illegalIDs)
    guard family.hasProblems else { return json(status, ["error": error]) }
    var problem: JSONObject = [
      "type": .string("docs/api.md#\(code)"), "title": .string(title(of: status)),
      "status": .number(JSONNumber(status)),
      "detail": .string(message), "code": .number(JSONNumber(code)),
    ]
    problem["place"] = place.map(JSONValue.string)
    problem["error"] = error
    var answer = json(status, .object(problem))
    answer.headers["Content-Type"] = "application/problem+json"
    return answer
  }

  /// The `error` object of an answer, or of one entry of an answer.
  static func error(code: Int, message: String, illegalIDs: [String] = []) -> JSONValue {
    var members: JSONObject = ["code": .number(JSONNumber(code)), "message": .string(message)]
    if !illegalIDs.isEmpty { members["illegal_rids"] = .array(illegalIDs.map(JSONValue.string)) }
    return .object(members)
  }

  static func error(_ fault: RequestFault) -> JSONValue {
    error(code: fault.code.rawValue, message: fault.description, illegalIDs: fault.illegalIDs)
  }

  private static func title(of status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 503: "Service Unavailable"
    default: "Error"
    }
  }

  // MARK: warnings

  private static let mostWarningBytes = 4096

  /// The value of `X-Belfry-Warnings`: a JSON array of sentences in ASCII, at most 4 KiB; nil without warnings.
  static func warningHeader(_ warnings: [String]) -> String? {
    guard !warnings.isEmpty else { return nil }
    var shown: [String] = []
    var size = 0
    for warning in warnings {
      let text = ascii(warning)
      size += text.utf8.count + 2
      guard size <= mostWarningBytes else {
        shown.append("\"\(warnings.count - shown.count) more are in the push's record\"")
        break
      }
      shown.append(text)
    }
    return "[\(shown.joined(separator: ", "))]"
  }

  /// A JSON string of ASCII only.
  private static func ascii(_ text: String) -> String {
    var result = ""
    for unit in JSONValue.string(text).text.utf16 {
      if unit < 0x7F, unit >= 0x20 {
        result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
      } else {
        let hex = String(unit, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      }
    }
    return result
  }
}

extension RequestFault.Code {
  /// The number that a family of calls has for it.
  func asSeen(in family: APIFamily) -> RequestFault.Code {
    let numbers = FamilyNumbers(family)
    let own: RequestFault.Code? =
      switch self {
      case .internalError: numbers.internalError
      case .authenticationFailed: numbers.authenticationFailed
      case .temporarilyUnavailable: numbers.temporarilyUnavailable
      case .invalidParameter, .missingParameter, .unknownKey: numbers.invalid
      case .audienceEmpty, .overLimit: numbers.refused
      case .noSuchAPI: numbers.noSuchAPI
      case .methodNotAllowed: numbers.methodNotAllowed
      case .noSuchResource: numbers.noSuchResource
      case .tooLarge, .rateLimited, .forbidden, .reportInternalError, .reportAuthenticationFailed,
        .reportInvalidParameter, .reportUnitMismatch, .reportSpanTooLong, .deviceInternalError,
        .deviceCredentialsMissing, .deviceInvalidParameter, .deviceAuthenticationFailed, .devicePartlyInvalid,
        .aliasFull, .tooManyTags, .deviceTemporarilyUnavailable, .scheduleInvalid, .scheduleAuthenticationFailed,
        .noSuchSchedule, .scheduleInternalError, .scheduleTemporarilyUnavailable, .adminMethodNotAllowed,
        .adminInvalid, .adminAuthenticationFailed, .conflict, .changedMeanwhile:
        nil
      }
    return own ?? self
  }
}

/// The numbers that a family of calls has of its own; nil where it has that of all.
private struct FamilyNumbers {
  var internalError: RequestFault.Code?
  var authenticationFailed: RequestFault.Code?
  var temporarilyUnavailable: RequestFault.Code?
  /// For what is wrong, missing or unknown.
  var invalid: RequestFault.Code?
  /// For a push that is well-formed, but not taken.
  var refused: RequestFault.Code?
  var noSuchAPI: RequestFault.Code?
  var methodNotAllowed: RequestFault.Code?
  var noSuchResource: RequestFault.Code?

  init(_ family: APIFamily) {
    switch family {
    case .push, .server, .native: break
    case .schedule:
      internalError = .scheduleInternalError
      authenticationFailed = .scheduleAuthenticationFailed
      temporarilyUnavailable = .scheduleTemporarilyUnavailable
      invalid = .scheduleInvalid
      refused = .scheduleInvalid
      noSuchAPI = .noSuchSchedule
    case .admin:
      internalError = .reportInternalError
      authenticationFailed = .adminAuthenticationFailed
      invalid = .adminInvalid
      methodNotAllowed = .adminMethodNotAllowed
    case .report:
      internalError = .reportInternalError
      authenticationFailed = .reportAuthenticationFailed
      invalid = .reportInvalidParameter
    case .device, .registration:
      internalError = .deviceInternalError
      authenticationFailed = .deviceAuthenticationFailed
      temporarilyUnavailable = .deviceTemporarilyUnavailable
      invalid = .deviceInvalidParameter
      noSuchResource = .deviceInvalidParameter
      if family == .device { methodNotAllowed = .noSuchAPI }
    }
  }
}
