import COpenSSL

/// What OpenSSL's error queue of this thread says, oldest first; emptied by asking.
struct OpenSSLErrors {
  var reasons: [String] = []

  static func take() -> OpenSSLErrors {
    var errors = OpenSSLErrors()
    while true {
      let code = ERR_get_error()
      guard code != 0 else { return errors }
      errors.reasons.append(ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)")
    }
  }

  func mentions(_ words: String...) -> Bool { reasons.contains { reason in words.contains { reason.contains($0) } } }

  var text: String { reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ") }

  /// A failure that no input explains.
  func libraryFault(_ doing: String) -> TLSFault {
    TLSFault(
      .library, what: "OpenSSL failed \(doing): \(text)", remedy: "Report this with the version of OpenSSL in use.")
  }
}

/// Runs `encode` (an `i2d_…` function) and takes what it allocated.
func derBytes(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8]? {
  var memory: UnsafeMutablePointer<UInt8>?
  let length = encode(&memory)
  guard length > 0, let memory else { return nil }
  defer { CRYPTO_free(memory, nil, 0) }
  return Array(UnsafeBufferPointer(start: memory, count: Int(length)))
}

/// Runs `body` with a BIO that reads `bytes`.
func withBIO<Result>(reading bytes: [UInt8], _ body: (OpaquePointer) -> Result) -> Result {
  bytes.withUnsafeBytes { raw in
    let bio = BIO_new_mem_buf(raw.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!, Int32(clamping: raw.count))!
    defer { BIO_free(bio) }
    return body(bio)
  }
}

/// What `write` put into a BIO.
func bytesWritten(_ write: (OpaquePointer) -> Int32) -> [UInt8]? {
  let bio = BIO_new(BIO_s_mem())!
  defer { BIO_free(bio) }
  guard write(bio) == 1 else { return nil }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = BIO_read(bio, &chunk, Int32(chunk.count))
    guard count > 0 else { return bytes }
    bytes.append(contentsOf: chunk[..<Int(count)])
  }
}
