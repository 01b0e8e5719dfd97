internal import PushPayload
internal import PushService
internal import Transport

extension Call {
  /// The query's items, each a string; of two with one name the first counts, but our own calls refuse the second.
  func query(_ codes: FaultCodes) throws(RequestFault) -> Fields {
    guard let items = HTTPTarget.items(ofQuery: request.query ?? "") else {
      throw RequestFault(
        codes.invalid, found: "the query is not percent-encoded UTF-8", remedy: "Encode it as RFC 3986 says.")
    }
    var object = JSONObject()
    for (name, value) in items {
      guard object[name] == nil else {
        guard family.hasProblems else { continue }
        throw RequestFault(
          codes.invalid, at: name, found: "it comes twice in the query",
          remedy: "Remove one of the two, so that it is clear which is meant.")
      }
      object[name] = .string(value)
    }
    return Fields(object: object, path: .root, codes: codes)
  }
}
