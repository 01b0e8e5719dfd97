internal import PushService
internal import Transport

extension Call {
  /// The client id that `Idempotency-Key` stands for, apart from every `cid` of `/v3`, which has no colon; nil without one.
  func idempotencyKey() throws(RequestFault) -> String? {
    guard let key = request.headers["Idempotency-Key"] else { return nil }
    guard 1...64 ~= key.utf8.count, key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw RequestFault(
        .invalidParameter, at: "Idempotency-Key", found: "\(quoted(key)) is no key",
        remedy: "Give 1 to 64 visible characters of ASCII, for example a UUID.")
    }
    return "key:\(key)"
  }
}
