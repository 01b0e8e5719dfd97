internal import COpenSSL

/// The words of the opening handshake (RFC 6455 §4).
enum WebSocketHandshake {
  /// `Sec-WebSocket-Accept` for a key.
  static func accept(key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
    return base64(digest)
  }

  /// 16 bytes in base64: 24 characters, two of them padding.
  static func isKey(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 24 && bytes.suffix(2).elementsEqual("==".utf8)
      && bytes.dropLast(2).allSatisfy { alphabet.contains($0) }
  }

  static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        text.append(place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Whether a comma-separated header value has the word, whatever its case.
  static func lists(_ value: String?, _ word: String) -> Bool {
    value?.split(separator: ",").contains { part in
      part.split(separator: " ").joined().lowercased() == word
    } ?? false
  }

  /// The head of a client's request.
  static func request(host: String, target: String, key: String) -> [UInt8] {
    Array(
      ("GET \(target) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n\r\n").utf8)
  }

  /// What is wrong with a server's answer; nil when it is a WebSocket from here on.
  static func fault(inAnswer head: String, key: String) -> String? {
    let lines = head.split(separator: "\r\n")
    guard let status = lines.first, status.hasPrefix("HTTP/1.1 101") else {
      return "the server did not switch to WebSocket: \(lines.first ?? "no answer")"
    }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields[line[..<colon].lowercased()] = String(value)
    }
    guard fields["sec-websocket-accept"] == accept(key: key) else {
      return "the server's Sec-WebSocket-Accept does not belong to our key"
    }
    guard lists(fields["upgrade"], "websocket"), lists(fields["connection"], "upgrade") else {
      return "the server's answer lacks Upgrade: websocket"
    }
    return nil
  }
}
