internal import Basics
internal import COpenSSL

/// The words of the opening handshake (RFC 6455 §4).
enum WebSocketHandshake {
  /// `Sec-WebSocket-Accept` for a key.
  static func accept(key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
    return digest.base64
  }

  /// 16 bytes in base64: 24 characters, two of them padding.
  static func isKey(_ text: String) -> Bool {
    text.utf8.count == 24 && text.hasSuffix("==") && bytes(fromBase64: text.utf8)?.count == 16
  }

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
