internal import PushPayload
internal import PushService

/// A request's body as the JSON object it must be. The content type is not looked at (jpush.md §1).
enum RequestBody {
  /// Deep enough for any payload that fits, shallow enough for everything that walks it by recursion.
  static let depth = 64

  static func object(_ body: [UInt8], codes: FaultCodes) throws(RequestFault) -> Fields {
    let document: JSONDocument
    do {
      document = try JSONReader.read(body, limits: .init(depth: depth, bytes: .max))
    } catch {
      throw RequestFault(
        codes.invalid, at: "line \(error.line), column \(error.column)", found: "the body is not JSON: \(error.found)",
        remedy: error.remedy)
    }
    if let twice = document.duplicateKeys.first {
      throw RequestFault(
        codes.invalid, at: twice.description, found: "the key comes twice in its object",
        remedy: "Remove one of the two, so that it is clear which is meant.")
    }
    guard case .object(let object) = document.value else {
      throw RequestFault(
        codes.invalid, found: "the body is \(document.value.kindInWords)", remedy: "Send a JSON object.")
    }
    return Fields(object: object, path: .root, codes: codes)
  }
}
