import Basics

/// A proxy that brings a connection to the place it names; the name is looked up by the proxy, not by us.
public enum Proxy: Hashable, Sendable {
  /// CONNECT of HTTP/1.1 (RFC 9110 §9.3.6), Basic authentication where it has credentials.
  case httpConnect(Endpoint, Credentials? = nil)
  /// SOCKS 5 (RFC 1928), with user and password where it has credentials (RFC 1929).
  case socks5(Endpoint, Credentials? = nil)

  /// Never printed: not in messages, not in descriptions.
  public struct Credentials: Hashable, Sendable, CustomStringConvertible {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
      self.user = user
      self.password = password
    }

    public var description: String { "\(user):…" }
  }

  public var endpoint: Endpoint {
    switch self {
    case .httpConnect(let endpoint, _), .socks5(let endpoint, _): endpoint
    }
  }

  public var credentials: Credentials? {
    switch self {
    case .httpConnect(_, let credentials), .socks5(_, let credentials): credentials
    }
  }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible {
  /// The form that `init(_:)` reads, the password left out.
  public var description: String {
    let user = credentials.map { "\(Self.encoded($0.user)):…@" } ?? ""
    return switch self {
    case .httpConnect: "http://\(user)\(endpoint)"
    case .socks5: "socks5://\(user)\(endpoint)"
    }
  }

  public var debugDescription: String { description }

  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let character = Character(UnicodeScalar(byte))
      guard !(character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))) else {
        return String(character)
      }
      return "%" + [byte].hex
    }.joined()
  }
}

/// Why a text names no proxy. Holds nothing of the text but its scheme, since there may be a password in it.
public struct ProxyFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let found: String
  public let remedy = "Give http://[USER:PASSWORD@]HOST:PORT or socks5://[USER:PASSWORD@]HOST:PORT."
  public init(found: String) { self.found = found }
  public var description: String { "\(found). \(remedy)" }
}

extension Proxy {
  /// `http://HOST[:PORT]` (80 if none), `socks5://HOST[:PORT]` (1080), `socks5h://` the same, `HOST:PORT` as http; user and
  /// password before an `@`, percent-encoded where they hold `:`, `@`, `/` or `%`.
  public init(_ text: String) throws(ProxyFault) {
    var rest = text[...]
    var scheme = "http"
    if let end = text.firstRange(of: "://") {
      scheme = text[..<end.lowerBound].lowercased()
      rest = text[end.upperBound...]
    }
    let isSOCKS: Bool
    switch scheme {
    case "http": isSOCKS = false
    case "socks5", "socks5h": isSOCKS = true
    case "https": throw ProxyFault(found: "a proxy that is itself spoken to by TLS is not supported")
    case "socks4", "socks4a", "socks": throw ProxyFault(found: "of SOCKS only version 5 is supported")
    default: throw ProxyFault(found: "'\(scheme.prefix(20))' is no kind of proxy")
    }
    while rest.last == "/" { rest = rest.dropLast() }
    var credentials: Credentials?
    if let at = rest.lastIndex(of: "@") {
      credentials = try Self.credentials(rest[..<at], isSOCKS: isSOCKS)
      rest = rest[rest.index(after: at)...]
    }
    guard let endpoint = Endpoint(String(rest), defaultPort: isSOCKS ? 1080 : 80), endpoint.port != 0,
      !endpoint.host.contains(where: { "?#@".contains($0) })
    else {
      throw ProxyFault(found: "the proxy's address has no host, no valid port, or more than both")
    }
    self = isSOCKS ? .socks5(endpoint, credentials) : .httpConnect(endpoint, credentials)
  }

  private static func credentials(_ text: Substring, isSOCKS: Bool) throws(ProxyFault) -> Credentials? {
    guard !text.isEmpty else { return nil }
    let colon = text.firstIndex(of: ":")
    guard let user = HTTPTarget.percentDecoded(text[..<(colon ?? text.endIndex)].utf8, plusIsSpace: false),
      let password = HTTPTarget.percentDecoded(
        (colon.map { text[text.index(after: $0)...] } ?? "").utf8, plusIsSpace: false)
    else {
      throw ProxyFault(found: "user or password of the proxy has a '%' without two hex digits, or is not UTF-8")
    }
    if isSOCKS, !(1...255).contains(user.utf8.count) || !(1...255).contains(password.utf8.count) {
      throw ProxyFault(found: "user and password of a SOCKS proxy have 1 to 255 bytes each")
    }
    if !isSOCKS, user.contains(":") { throw ProxyFault(found: "the user of an HTTP proxy cannot hold a ':'") }
    return Credentials(user: user, password: password)
  }
}
