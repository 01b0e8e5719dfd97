/// What the bytes and the name of a `.p8` file tell beside the key (case C26).
public struct KeyFile: Sendable {
  private let bytes: [UInt8]
  private let name: String

  /// - Parameter path: the file's name, with or without its folders.
  public init(_ bytes: [UInt8], path: String) {
    self.bytes = bytes
    name = path.split(separator: "/").last.map(String.init) ?? path
  }

  /// What an editor, a shell or a mail made of it; nil when it is as Apple hands it out.
  public var disguise: String? {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return "begins with a byte order mark" }
    if bytes.contains(0x0D) { return "has line ends of Windows (CRLF)" }
    return String(decoding: bytes, as: UTF8.self).contains("\\n")
      ? "has the two characters \\n where lines should end" : nil
  }

  /// The key id in the name that Apple gives it, `AuthKey_<key id>.p8`.
  public var keyIDInName: String? {
    guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
    let told = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    return told.utf8.count == 10 ? told : nil
  }
}
