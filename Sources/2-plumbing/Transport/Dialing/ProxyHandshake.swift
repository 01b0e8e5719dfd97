import Basics

/// What is said to a proxy before the tunnel stands, apart from sockets.
///
/// `begin()` once, then `handle` with the proxy's bytes in whatever pieces they come; ends with one `through` or one
/// `failed`, after which nothing more comes. Holds at most 16 KiB of what the proxy says.
struct ProxyHandshake: Sendable {
  enum Effect: Equatable, Sendable {
    case send([UInt8])
    /// The tunnel stands; `rest` is what the far end has already said.
    case through(rest: [UInt8])
    case failed(ProxyRefusal)
  }

  private enum Tongue {
    case connect(ConnectHandshake)
    case socks5(SOCKS5Handshake)
  }

  private var tongue: Tongue

  init(_ proxy: Proxy, to target: Endpoint) {
    tongue =
      switch proxy {
      case .httpConnect(_, let credentials): .connect(ConnectHandshake(to: target, credentials))
      case .socks5(_, let credentials): .socks5(SOCKS5Handshake(to: target, credentials))
      }
  }

  mutating func begin() -> [Effect] {
    switch tongue {
    case .connect(let handshake): return [.send(handshake.request)]
    case .socks5(let handshake): return [.send(handshake.greeting)]
    }
  }

  mutating func handle(_ bytes: some Collection<UInt8>) -> [Effect] {
    switch tongue {
    case .connect(var handshake):
      defer { tongue = .connect(handshake) }
      return handshake.handle(bytes)
    case .socks5(var handshake):
      defer { tongue = .socks5(handshake) }
      return handshake.handle(bytes)
    }
  }
}

/// Why a proxy brought us nowhere. Words hold no secret.
struct ProxyRefusal: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    /// User and password are missing or wrong.
    case authentication
    /// The proxy does not want to, or cannot, reach the place.
    case refused
    /// What came is not the proxy's language.
    case garbage
  }

  var kind: Kind
  var what: String
  var remedy: String

  func fault(at place: String) -> TransportFault {
    let kind: TransportFault.Kind =
      switch kind {
      case .authentication: .proxyAuthentication
      case .refused: .proxyRefused
      case .garbage: .protocolViolation
      }
    return TransportFault(kind, at: place, what: what, remedy: remedy)
  }
}

/// CONNECT (RFC 9110 §9.3.6): a request, and an answer of which only the status counts; a 2xx has no body.
struct ConnectHandshake: Sendable {
  private let target: Endpoint
  private let credentials: Proxy.Credentials?
  private var head: [UInt8] = []
  private var isOver = false

  init(to target: Endpoint, _ credentials: Proxy.Credentials?) {
    self.target = target
    self.credentials = credentials
  }

  var request: [UInt8] {
    var text = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\nUser-Agent: belfry\r\n"
    if let credentials {
      text += "Proxy-Authorization: Basic \(Array("\(credentials.user):\(credentials.password)".utf8).base64)\r\n"
    }
    return Array((text + "\r\n").utf8)
  }

  mutating func handle(_ bytes: some Collection<UInt8>) -> [ProxyHandshake.Effect] {
    guard !isOver else { return [] }
    head += bytes
    while true {
      let start = Array("HTTP/1.".utf8)
      guard head.starts(with: start.prefix(head.count)) else {
        return end(.failed(Self.garbage(head)))
      }
      guard let end = head.indexAfterHead(from: 0) else {
        guard head.count <= 16_384 else {
          return self.end(
            .failed(
              ProxyRefusal(
                kind: .garbage, what: "the proxy's answer has more than 16 KiB of header",
                remedy: "Check that a proxy listens there.")))
        }
        return []
      }
      let lines = String(decoding: head[..<end], as: UTF8.self).split(separator: "\r\n")
      let rest = Array(head[end...])
      let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
      guard words.count >= 2, words[1].count == 3, let status = Int(words[1]) else {
        return self.end(.failed(Self.garbage(head)))
      }
      switch status {
      case 100..<200: head = rest  // an interim answer (RFC 9110 §15.2)
      case 200..<300: return self.end(.through(rest: rest))
      default: return self.end(.failed(refusal(status, words.count > 2 ? words[2] : "", lines)))
      }
    }
  }

  private mutating func end(_ effect: ProxyHandshake.Effect) -> [ProxyHandshake.Effect] {
    isOver = true
    head = []
    return [effect]
  }

  private func refusal(_ status: Int, _ phrase: Substring, _ lines: [Substring]) -> ProxyRefusal {
    let said = phrase.isEmpty ? "\(status)" : "\(status) \(printable(phrase, 60))"
    switch status {
    case 407:
      let schemes = lines.compactMap { line -> Substring? in
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "proxy-authenticate" else { return nil }
        return parts[1].split(separator: " ").first
      }
      if !schemes.isEmpty, !schemes.contains(where: { $0.lowercased() == "basic" }) {
        return ProxyRefusal(
          kind: .authentication,
          what: "the proxy asks for \(printable(schemes.joined(separator: ", ")[...], 60)), and only Basic is spoken",
          remedy: "Allow Basic authentication, or this machine without any.")
      }
      return credentials == nil
        ? ProxyRefusal(
          kind: .authentication, what: "the proxy asks for user and password (\(said))",
          remedy: "Give http://USER:PASSWORD@HOST:PORT.")
        : ProxyRefusal(
          kind: .authentication, what: "the proxy does not take this user and password (\(said))",
          remedy: "Check both; percent-encode what is no letter or digit.")
    case 403:
      return ProxyRefusal(
        kind: .refused, what: "the proxy forbids a connection to \(target) (\(said))",
        remedy: "Let the proxy pass CONNECT to this host and port.")
    default:
      return ProxyRefusal(
        kind: .refused, what: "the proxy did not reach \(target) (\(said))",
        remedy: status >= 500
          ? "It may pass; else see the proxy's log." : "Check that it is a proxy that knows CONNECT.")
    }
  }

  private static func garbage(_ head: [UInt8]) -> ProxyRefusal {
    let found =
      switch head.first {
      case 0x15, 0x16: "it speaks TLS"
      case 0x05, 0x00: "it may be a SOCKS proxy"
      default: "\"\(printable(String(decoding: head.prefix(40), as: UTF8.self)[...], 40))\""
      }
    return ProxyRefusal(
      kind: .garbage, what: "what listens there does not answer as an HTTP proxy: \(found)",
      remedy: "Check kind, host and port of the proxy.")
  }
}

/// A stranger's words, safe to print.
private func printable(_ text: Substring, _ length: Int) -> String {
  String(text.prefix(length).map { $0.isASCII && !$0.isNewline && $0.asciiValue ?? 0 >= 0x20 ? $0 : "?" })
}
