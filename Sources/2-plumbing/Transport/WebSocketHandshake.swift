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

  enum Verdict {
    /// With `Sec-WebSocket-Accept`.
    case accepted(String)
    case refused(HTTPResponse)
  }

  /// What a server answers (RFC 6455 §4.2). `refusal` is asked for a request that may become a WebSocket.
  static func verdict(_ request: HTTPRequest, _ refusal: (HTTPRequest) -> HTTPResponse? = { _ in nil }) -> Verdict {
    func refuse(_ status: Int, _ words: String, _ headers: HTTPHeaders = [:]) -> Verdict {
      var headers = headers
      headers["Content-Type"] = "text/plain; charset=utf-8"
      return .refused(HTTPResponse(status: status, headers: headers, body: Array((words + "\n").utf8)))
    }
    guard request.method == "GET" else { return refuse(405, "A WebSocket begins with GET.", ["Allow": "GET"]) }
    guard lists(request.headers["Upgrade"], "websocket"), lists(request.headers["Connection"], "upgrade") else {
      return refuse(426, "Connect by WebSocket (Upgrade: websocket).", ["Upgrade": "websocket"])
    }
    guard request.headers["Sec-WebSocket-Version"] == "13" else {
      return refuse(426, "Only version 13 of WebSocket is spoken here.", ["Sec-WebSocket-Version": "13"])
    }
    guard let key = request.headers["Sec-WebSocket-Key"], isKey(key) else {
      return refuse(400, "Sec-WebSocket-Key must be 16 bytes in base64.")
    }
    if let response = refusal(request) { return .refused(response) }
    return .accepted(accept(key: key))
  }

  /// A request of HTTP/1.1 by its head, blank line and all; nil when it is none.
  static func request(inHead head: some Collection<UInt8>, peer: Endpoint?) -> HTTPRequest? {
    guard let text = String(validating: head, as: UTF8.self) else { return nil }
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    let parts = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2] == "HTTP/1.1", parts[1].hasPrefix("/"), !parts[0].isEmpty else { return nil }
    var headers = HTTPHeaders()
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex, line.first != " ", line.first != "\t" else {
        return nil
      }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      headers.add(String(line[..<colon]), String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed()))
    }
    guard headers["Host"] != nil else { return nil }
    let target = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return HTTPRequest(
      method: String(parts[0]), path: String(target[0]), query: target.count > 1 ? String(target[1]) : nil,
      headers: headers, peer: peer)
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
