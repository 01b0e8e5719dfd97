internal import PushPayload
internal import Transport

/// Why the control API did not do what was asked: where, what was found, what to do.
struct ControlFault: Error {
  var status: Int
  /// A field of the body, a parameter of the query, a part of the path; nil for the whole request.
  var place: String?
  var found: String
  var remedy: String

  init(_ status: Int, at place: String? = nil, _ found: String, _ remedy: String) {
    self.status = status
    self.place = place
    self.found = found
    self.remedy = remedy
  }

  var response: HTTPResponse {
    .json(
      status,
      [
        "error": [
          "place": place.map { .string($0) } ?? .null, "found": .string(found), "remedy": .string(remedy),
        ]
      ])
  }
}

extension HTTPResponse {
  static func json(_ status: Int, _ value: JSONValue) -> HTTPResponse { json(status, bytes: value.encoded()) }

  static func json(_ status: Int, bytes: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: bytes + [UInt8(ascii: "\n")])
  }
}

extension HTTPRequest {
  /// A body of `true` or `false` and nothing else; nil for any other.
  var truth: Bool? {
    switch String(decoding: body, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined() {
    case "true": true
    case "false": false
    default: nil
    }
  }
}
