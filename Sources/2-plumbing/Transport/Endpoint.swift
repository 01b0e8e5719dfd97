/// Where to connect or listen: a host name or address and a port. Port 0 means any free one, when listening.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  /// A name, an IPv4 address, or an IPv6 address without brackets.
  public var host: String
  public var port: UInt16

  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// `HOST:PORT`, `127.0.0.1:8080`, `[::1]:8080`; nil for anything else, an unbracketed IPv6 address among it.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
      return nil
    }
    var host = text[..<colon]
    if host.first == "[" {
      guard host.last == "]" else { return nil }
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" || $0 == "\0" }) else { return nil }
    self.init(host: String(host), port: port)
  }

  /// The same, the port left out where it is the usual one.
  public init?(_ text: String, defaultPort: UInt16) {
    guard let endpoint = Endpoint(text) ?? Endpoint("\(text):\(defaultPort)") else { return nil }
    self = endpoint
  }

  /// Where this machine reaches a listener that may listen on every address.
  public var reachable: Endpoint {
    switch host {
    case "0.0.0.0": Endpoint(host: "127.0.0.1", port: port)
    case "::": Endpoint(host: "::1", port: port)
    default: self
    }
  }

  /// The form that `init(_:)` reads.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
